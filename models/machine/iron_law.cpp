#include "models/machine/iron_law.h"

#include <algorithm>
#include <cmath>

namespace models {
namespace {

/// The output matrix's share of the weights that a decode step of Llama 3 70B reads: 128,256 x 8,192 of 69.5 billion.
constexpr double output_matrix_share = 128256.0 * 8192 / (70553706496.0 - 128256.0 * 8192);

//                                                         bytes      bandwidth    operations  rate     efficiency
//                                                         latency
constexpr std::array<Technique, 14> all_techniques{{
    {"weights_8bit",
     "8-bit weights",
     {0.5, 1, 1, 1, 1, 1},
     Reach::weights,
     false,
     "one byte a weight in place of two, in the output matrix too; everything else is left as it is"},
    {"weights_4bit",
     "4-bit weights, groups of 128",
     {(1 - output_matrix_share) * 4.125 / 16 + output_matrix_share, 1, 1, 1, 1, 1},
     Reach::weights,
     false,
     "4 bits and a 16-bit scale for 128 weights: 4.125 bits in place of 16; the output matrix, assumed 1.5 % of the "
     "weights as in Llama 3 70B, stays in 16, and so does arithmetic"},
    {"fp8_math",
     "FP8 matrix units",
     {0.5, 1, 1, 2, 1, 1},
     Reach::all_bytes,
     false,
     "operands of one byte in place of two, and twice the dense rate (H100: 1978.9 against 989.4 TFLOP/s)"},
    {"tensor_cores",
     "Tensor Cores in BF16",
     {1, 1, 1, 16, 1, 1},
     Reach::all_bytes,
     false,
     "A100: 312 TFLOP/s against 19.5 TFLOP/s of the FP32 lanes"},
    {"fusion",
     "Operator fusion",
     {1.0 / 3, 1, 1, 1, 1, 0.6},
     Reach::other_bytes,
     false,
     "three element-wise kernels in a row become one: two memory trips in place of six; of a layer's ten launches, six "
     "become two (an assumption)"},
    {"flash_attention",
     "Tiled attention",
     {8.4 / 545.3, 1, 1, 1, 1, 0.8},
     Reach::other_bytes,
     false,
     "8192 tokens, one head of 128 in two bytes: 8.4 MB of attention traffic in place of 545.3 MB; of a layer's ten "
     "launches, three become one"},
    {"tiling",
     "Larger tiles",
     {0.5, 1, 1, 1, 1.25, 1},
     Reach::other_bytes,
     false,
     "twice the tile side reads operands again half as often; a quarter more of the rate is an assumption"},
    {"padding",
     "Padding to aligned sizes",
     {1, 1, 1, 1, 1.5, 1},
     Reach::all_bytes,
     false,
     "assumption: a third of the rate goes to misaligned rows; an H100 lost far more in our own run, see the tiling "
     "lab"},
    {"batching",
     "Batch of 8",
     {1.0 / 8, 1, 1, 1, 1, 1.0 / 8},
     Reach::weights,
     false,
     "for each sequence of a batch of 8: an eighth of the weight reads and of the launches; its own cache and "
     "activations stay"},
    {"speculation",
     "Speculative decoding, 4 drafts at 0.8",
     {1 / 3.3616, 1, 5 / 3.3616, 1, 1, 1 / 3.3616},
     Reach::all_bytes,
     false,
     "(1 - 0.8^5) / (1 - 0.8) = 3.36 tokens a pass, five positions computed in each; the draft model's own cost left "
     "out"},
    {"sparsity_2_4",
     "2:4 sparsity",
     {0.5625, 1, 1, 2, 1, 1},
     Reach::weights,
     false,
     "half of the 16-bit weights and two bits of position for each kept; twice the dense rate"},
    {"distillation",
     "Model of half the size",
     {0.5, 1, 0.5, 1, 1, 1},
     Reach::all_bytes,
     false,
     "half of the parameters: half of the bytes and of the operations"},
    {"cuda_graphs",
     "CUDA graphs",
     {1, 1, 1, 1, 1, 0.9 / 3.3},
     Reach::all_bytes,
     false,
     "80 small kernels measured by CUDA.jl: 0.9 us each in a graph, 3.3 us each without"},
    {"overlap",
     "Asynchronous copies",
     {1, 1, 1, 1, 1, 1},
     Reach::all_bytes,
     true,
     "loads of the next tile run while this one is computed (cp.async, TMA): the longer of both counts"},
}};

}  // namespace

std::string_view iron_term_label(IronTerm term) {
  static constexpr std::string_view labels[] = {"bytes moved", "memory bandwidth", "operations",
                                                "peak rate",   "efficiency",       "latency"};
  static_assert(std::size(labels) == static_cast<std::size_t>(IronTerm::latency) + 1);
  return labels[static_cast<std::size_t>(term)];
}

double iron_value(const IronLaw& law, IronTerm term) {
  const std::array<double, iron_term_count> values{
      law.bytes, law.bandwidth_bytes_per_s, law.operations, law.rate_flops_per_s, law.efficiency, law.latency_s};
  return values[static_cast<std::size_t>(term)];
}

Result<IronTime> iron_time(const IronLaw& law) {
  using Out = Result<IronTime>;
  const auto not_negative = [](double x) { return x >= 0 && std::isfinite(x); };
  const auto positive = [](double x) { return x > 0 && std::isfinite(x); };
  if (!not_negative(law.bytes) || !not_negative(law.operations) || !not_negative(law.latency_s))
    return Out::fail("Bytes, operations and latency must be 0 or more.");
  if (!positive(law.bandwidth_bytes_per_s) || !positive(law.rate_flops_per_s))
    return Out::fail("Bandwidth and rate must be above 0.");
  if (!(law.efficiency > 0 && law.efficiency <= 1)) return Out::fail("Efficiency must be above 0 and at most 1.");
  if (!(law.weight_share >= 0 && law.weight_share <= 1))
    return Out::fail("The weights' share of the bytes must be from 0 to 1.");
  IronTime out;
  out.memory_s = law.bytes / law.bandwidth_bytes_per_s;
  out.compute_s = law.operations / (law.rate_flops_per_s * law.efficiency);
  out.latency_s = law.latency_s;
  out.time_s = out.latency_s +
               (law.combine == Combine::added ? out.memory_s + out.compute_s : std::max(out.memory_s, out.compute_s));
  const double longest = std::max({out.memory_s, out.compute_s, out.latency_s});
  out.dominant = longest == out.memory_s    ? IronTime::Dominant::memory
                 : longest == out.compute_s ? IronTime::Dominant::compute
                                            : IronTime::Dominant::latency;
  if (!std::isfinite(out.time_s))
    return Out::fail("The time is beyond any number: raise bandwidth, rate or efficiency.");
  return Out::ok(out);
}

std::span<const Technique> techniques() { return all_techniques; }

const Technique* find_technique(std::string_view id) {
  for (const Technique& technique : all_techniques)
    if (technique.id == id) return &technique;
  return nullptr;
}

bool moves(const Technique& technique, IronTerm term) { return technique.factor[static_cast<std::size_t>(term)] != 1; }

IronLaw apply(const IronLaw& law, const Technique& technique, double strength) {
  if (strength == 0) return law;  // to the last bit
  const auto factor = [&](IronTerm term) {
    return std::pow(technique.factor[static_cast<std::size_t>(term)], strength);
  };
  IronLaw out = law;
  const double weights =
      law.bytes * law.weight_share * (technique.reach == Reach::other_bytes ? 1 : factor(IronTerm::bytes));
  const double others =
      law.bytes * (1 - law.weight_share) * (technique.reach == Reach::weights ? 1 : factor(IronTerm::bytes));
  if (moves(technique, IronTerm::bytes)) {
    out.bytes = weights + others;
    if (out.bytes > 0) out.weight_share = weights / out.bytes;
  }
  out.bandwidth_bytes_per_s *= factor(IronTerm::bandwidth);
  out.operations *= factor(IronTerm::operations);
  out.rate_flops_per_s *= factor(IronTerm::rate);
  out.efficiency = std::min(1.0, out.efficiency * factor(IronTerm::efficiency));
  out.latency_s *= factor(IronTerm::latency);
  if (technique.overlaps && strength > 0) out.combine = Combine::overlapped;
  return out;
}

IronLaw apply_all(IronLaw law, std::span<const Technique* const> chosen, double strength) {
  for (const Technique* technique : chosen)
    if (technique) law = apply(law, *technique, strength);
  return law;
}

}  // namespace models
