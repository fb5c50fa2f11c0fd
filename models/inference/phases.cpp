#include "models/inference/phases.h"

#include <algorithm>
#include <array>

#include "models/base/integer_math.h"
#include "models/transformer/layer_ops.h"
#include "models/transformer/roofline_ops.h"

namespace models::inference {
namespace {

/// Product flops of attention alone, all layers, of one workload.
double attention_flops(const Architecture& a, const Workload& w) {
  double flops = 0;
  for (const LayerOperation& op : model_operations(a, w))
    if (op.group == OperationGroup::attention) flops += as_double(op.count) * op.product_flops;
  return flops;
}

DecodeStep step_of(const Architecture& a, const PhaseSetup& s) {
  const OpSizes sizes{.batch = s.batch, .context = s.context, .element_bytes = s.weight_bytes_each};
  DecodeStep step = decode_step(a, sizes, s.weight_bytes_each);
  step.activation_bytes_per_token = 0;
  step.kv_bytes_per_token = kv_cache_bytes(a, step.context_tokens, s.kv_bytes_each) / step.context_tokens;
  return step;
}

// Fitted by least absolute relative error on every second run of llama.cpp's published single-GPU table, Llama 3 8B and
// 70B in F16 and Q4_K_M at four lengths each; tests/models/inference/phases_test.cpp holds runs and errors.
constexpr std::array<DecodeFit, 4> decode_table{{
    {"rtx4090", "llama.cpp", 2.75e-3, 0.935, 8, 0.020, 0.093},
    {"l40s", "llama.cpp", 2.20e-3, 0.830, 8, 0.016, 0.083},
    {"a100_80_sxm", "llama.cpp", 3.40e-3, 0.520, 12, 0.053, 0.087},
    {"h100_pcie", "llama.cpp", 2.80e-3, 0.565, 12, 0.061, 0.094},
}};

}  // namespace

PhaseWork prefill_work(const Architecture& a, const PhaseSetup& s) {
  const double tokens = as_double(s.batch) * as_double(s.prompt);
  const Workload w{.phase = Phase::prefill, .batch = s.batch, .sequence = s.prompt};
  // A prompt's tokens touch experts as a batch of as many requests would.
  const OpSizes sizes{.batch = s.batch * s.prompt, .context = 1, .element_bytes = s.weight_bytes_each};
  const DecodeStep read = decode_step(a, sizes, s.weight_bytes_each);
  return {.matmul_flops = read.flops_per_token * tokens,
          .attention_flops = attention_flops(a, w),
          .weight_bytes = read.weight_bytes,
          .cache_bytes = as_double(s.batch) * kv_cache_bytes(a, as_double(s.prompt), s.kv_bytes_each)};
}

PhaseWork decode_step_work(const Architecture& a, const PhaseSetup& s) {
  const DecodeStep step = step_of(a, s);
  const double batch = as_double(s.batch);
  return {.matmul_flops = batch * step.flops_per_token,
          .attention_flops = batch * step.attention_flops_per_token,
          .weight_bytes = step.weight_bytes,
          .cache_bytes = batch * step.context_tokens * step.kv_bytes_per_token};
}

PhaseBound phase_bound(const PhaseWork& work, const PhaseSetup& s) {
  const double peak = s.machine.peak_flops_per_s * as_double(s.chips),
               bandwidth = s.machine.bandwidth_bytes_per_s * as_double(s.chips);
  PhaseBound out{.arithmetic_s = work.matmul_flops / peak,
                 .bytes_s = work.bytes() / bandwidth,
                 .attention_s = work.attention_flops / peak};
  out.time_s = std::max(out.arithmetic_s, out.bytes_s);
  return out;
}

double phase_intensity(const PhaseWork& work) { return work.flops() / work.bytes(); }

Result<double> phase_critical_batch(const Architecture& a, const PhaseSetup& s) {
  PhaseSetup one = s;
  one.batch = 1;
  return critical_batch(step_of(a, one), ridge_flops_per_byte(s.machine));
}

std::span<const DecodeFit> decode_fits() { return decode_table; }

const DecodeFit* find_decode_fit(std::string_view chip) {
  const auto at =
      std::find_if(decode_table.begin(), decode_table.end(), [&](const DecodeFit& f) { return f.chip == chip; });
  return at == decode_table.end() ? nullptr : &*at;
}

double expected_step_s(const DecodeFit& fit, const PhaseWork& step, const Machine& machine) {
  return fit.start_s + step.bytes() / (fit.efficiency * machine.bandwidth_bytes_per_s);
}

}  // namespace models::inference
