#include "models/serving/engine/serving_bound.h"

#include <algorithm>

#include "models/machine/roofline.h"
#include "models/transformer/weight_storage.h"

namespace models {

Result<ServingBound> serving_bound(const Architecture& architecture, const ServingMachine& m, double sequences,
                                   double prompt, double output, bool batch_waits) {
  using Outcome = Result<ServingBound>;
  const auto one = machine_of(*m.chip, m.format);
  if (!one) return Outcome::fail(one.error);
  const ParameterCount count = count_parameters(architecture);
  const double peak = one->peak_flops_per_s * m.chips, bandwidth = one->bandwidth_bytes_per_s * m.chips,
               parameters = static_cast<double>(count.active_without_input_embedding),
               weight_bytes = stored_bits(m.format, m.format) / 8, read_bytes = parameters * weight_bytes,
               context = prompt + output / 2, held_bytes = static_cast<double>(count.total) * weight_bytes,
               cache_bytes = kv_cache_bytes(architecture, context, kv_number_bytes(m.kv)),
               room = (m.chips * m.chip->memory_bytes - held_bytes) / cache_bytes;
  ServingBound out;
  out.sequences = std::max(1.0, std::min(sequences, room));
  out.tpot_s = std::max((read_bytes + out.sequences * cache_bytes) / bandwidth, 2 * parameters * out.sequences / peak);
  out.ttft_s = std::max(read_bytes / bandwidth, 2 * parameters * prompt / peak);
  const double computed_per_s = peak / (2 * parameters * (prompt + output) / output);
  const double prompts_s = 2 * parameters * out.sequences * prompt / peak;
  out.tokens_per_s = batch_waits ? out.sequences * output / (prompts_s + output * out.tpot_s)
                                 : std::min(out.sequences / out.tpot_s, computed_per_s);
  return Outcome::ok(out);
}

}  // namespace models
