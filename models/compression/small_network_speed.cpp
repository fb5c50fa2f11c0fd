#include "models/compression/small_network_speed.h"

#include "models/compression/sparsity.h"

namespace models {

CompressionSpeed compression_speed(const SmallNetwork& original, const Compressed& now, const Plan& plan,
                                   const Chip& chip) {
  CompressionSpeed out;
  const bool integer =
      plan.weights.bits > 0 && plan.weights.bits <= 8 && plan.activation_bits > 0 && plan.activation_bits <= 8;
  const auto bf16 = chip.peak_flops_per_s(Format::bf16), int8 = chip.peak_flops_per_s(Format::int8);
  const bool runs_int8 = integer && bf16 && int8 && *bf16 > 0 && *int8 > *bf16;
  if (runs_int8) out.format_rate = *int8 / *bf16;
  if (plan.pruning == Pruning::two_four)
    out.pattern_rate = two_four_rate(chip, runs_int8 ? Format::int8 : Format::bf16);
  const double before =
      2 * static_cast<double>(original.weight_count()) + 4 * static_cast<double>(original.bias_count());
  out.memory_bound = before / now.size.total_bytes();
  out.compute_bound = static_cast<double>(original.multiply_adds()) / static_cast<double>(now.network.multiply_adds()) *
                      out.format_rate * out.pattern_rate;
  return out;
}

}  // namespace models
