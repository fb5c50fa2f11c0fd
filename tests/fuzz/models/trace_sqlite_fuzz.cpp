// An Nsight Systems export: refused in a sentence, or measurable.
#include "models/trace/measure/metrics.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = models::trace::read_trace(std::string(fuzz::text_of(data, size)), "report.sqlite");
  if (!fuzz::accepted(read)) return 0;
  for (const auto& loss : read->losses) fuzz::require_sentence(loss);
  for (const auto& d : models::trace::measure(*read).devices)
    fuzz::require(d.busy_ns >= 0 && d.busy_ns + d.idle_ns == d.span_ns, "times that do not add up");
  return 0;
}
