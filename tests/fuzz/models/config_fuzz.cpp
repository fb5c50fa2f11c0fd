// A config.json: what is accepted can be counted, and the operations of every phase hold the same parameters as the
// count.
#include <cmath>

#include "models/transformer/layer_ops.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = models::parse_config(fuzz::text_of(data, size), "config.json");
  if (!fuzz::accepted(read)) return 0;
  const models::Architecture& a = *read;
  const auto count = models::count_parameters(a);
  fuzz::require(count.total > 0 && count.active > 0 && count.active <= count.total, "a count that cannot be",
                a.model_type);
  const double near = models::approximate_parameters(a);
  fuzz::require(std::abs(near - static_cast<double>(count.total)) <= 1e-6 * near, "integer and floating counts differ",
                a.model_type);
  for (const auto phase : {models::Phase::train, models::Phase::prefill, models::Phase::decode}) {
    models::Workload w;
    w.phase = phase;
    w.batch = 3;
    const auto totals = models::total_operations(models::model_operations(a, w), w);
    fuzz::require(std::isfinite(totals.flops) && totals.flops > 0 && std::isfinite(totals.bytes) && totals.bytes > 0,
                  "operations without work", a.model_type);
    fuzz::require(totals.parameters == count.total, "operations hold other parameters than the count", a.model_type);
  }
  return 0;
}
