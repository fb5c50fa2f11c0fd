#include "models/gpu/gemm_tiling/gemm_study.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/integer_math.h"

namespace models::gpu {
namespace {

constexpr std::int64_t warp_threads = 32, group_warps = 4, loader_registers = 40, barrier_bytes = 16;
constexpr std::int64_t tensor_columns = 512, tensor_lanes = 128;

bool has_tensor_memory(int capability) { return capability >= 100 && capability < 120; }

/// The peak of a unit for elements of a size, and the format that has it. What is stored narrower than anything that
/// the chip multiplies is widened first.
std::optional<std::pair<Format, double>> peak_for(const Chip& chip, GemmUnit unit, double bytes) {
  const auto stated = [&](Format f) -> std::optional<std::pair<Format, double>> {
    const auto peak = chip.peak_flops_per_s(f);
    return peak ? std::optional(std::pair{f, *peak}) : std::nullopt;
  };
  if (unit == GemmUnit::fma) return stated(bytes > 4 ? Format::fp64 : Format::fp32);
  if (bytes > 4) return stated(Format::fp64_matrix);
  if (bytes > 2) return stated(Format::tf32);
  const auto half = stated(Format::bf16) ? stated(Format::bf16) : stated(Format::fp16);
  if (bytes > 1) return half;
  for (const Format f : {Format::fp4, Format::fp8, Format::int8}) {
    if (f == Format::fp4 && bytes > 0.5) continue;
    // An INT8 peak below that of 16 bits is the vector units' (V100).
    if (const auto found = stated(f); found && (!half || found->second >= half->second)) return found;
  }
  return half;
}

/// What is missing of a chip for this lab; empty where nothing is.
std::string missing_of(const Chip& c, const SmLimits* sm, GemmUnit unit) {
  if (c.is_several()) return c.name + " is several GPUs in one entry: choose a single one, such as an A100 or a B200.";
  if (!sm)
    return "The " + c.name +
           " has no SM of NVIDIA whose shared memory and registers are known here: choose a V100, an A100, an H100 or "
           "another NVIDIA GPU.";
  if (!c.boost_clock_hz || !c.compute_units || !(c.memory_bandwidth_bytes_per_s > 0))
    return "The " + c.name +
           " states no clock, number of SMs or bandwidth, without which shared memory has no rate: choose another "
           "GPU.";
  if (unit == GemmUnit::wgmma && (sm->capability < 90 || sm->capability >= 120))
    return "The Tensor Cores of the " + c.name +
           " take no operands from shared memory: choose fragments in registers (mma.sync), or an H100 or a B200.";
  return {};
}

/// The occupancy of what may run, and else what is in the way.
void fit_block(const GemmTile& t, const SmLimits& sm, std::int64_t warps, GemmBudget& out) {
  std::int64_t registers = out.registers;
  if (t.unit == GemmUnit::wgmma)  // Launched with equal shares, which the warps then move among them (setmaxnreg).
    registers = ceil_div(warps * out.registers + loader_registers, warps + 1);
  if (has_tensor_memory(sm.capability) && t.unit == GemmUnit::wgmma &&
      ceil_div(t.block_m, tensor_lanes) * t.block_n > tensor_columns)
    out.fit = GemmFit::tensor_memory;
  if (out.registers > SmLimits::thread_registers) out.fit = GemmFit::registers;
  if (out.threads > 1024) out.fit = GemmFit::threads;
  if (out.shared_bytes > out.shared_limit_bytes) out.fit = GemmFit::shared_memory;
  if (out.fit != GemmFit::fits) return;
  const auto held = occupancy(sm, {.threads = out.threads,
                                   .registers = registers,
                                   .dynamic_shared_bytes = static_cast<std::int64_t>(std::ceil(out.shared_bytes)),
                                   .max_dynamic_shared_bytes = sm.block_shared_bytes,
                                   .barriers = 1});
  if (held && held->blocks > 0)
    out.occupancy = *held;
  else
    out.fit = GemmFit::registers;
}

}  // namespace

double instruction_share(GemmUnit unit, double element_bytes, int capability) {
  if (unit != GemmUnit::mma || element_bytes > 4) return 1;
  return capability == 90 ? mma_share_hopper : has_tensor_memory(capability) ? mma_share_blackwell : 1;
}

Result<GemmRates> gemm_rates(const Chip& c, GemmUnit unit, double element_bytes, double mma_share) {
  using Out = Result<GemmRates>;
  const auto capability = capability_in(c.architecture);
  GemmRates r;
  r.sm = capability ? sm_limits(*capability) : nullptr;
  if (std::string why = missing_of(c, r.sm, unit); !why.empty()) return Out::fail(std::move(why));
  const auto peak = peak_for(c, unit, element_bytes);
  if (!peak)
    return Out::fail("The " + c.name + " states no peak of " +
                     (unit == GemmUnit::fma ? "its FMA pipes" : "Tensor Cores") +
                     " for elements of this size: choose 2 bytes, or another GPU.");
  r.sms = *c.compute_units;
  r.hbm_bytes_per_s = c.memory_bandwidth_bytes_per_s;
  const double clocks = as_double(r.sms) * *c.boost_clock_hz;
  r.l2_measured = c.measured.l2_bytes_per_s.has_value();
  if (!r.l2_measured)
    r.l2_assumed = has_tensor_memory(r.sm->capability) ? l2_bytes_per_clock_blackwell : l2_bytes_per_clock;
  r.l2_bytes_per_s = c.measured.l2_bytes_per_s.value_or(r.l2_assumed * clocks);
  r.shared_measured = c.measured.l1_bytes_per_s.has_value();
  r.sm_clocks_per_s = clocks;
  r.shared_bytes_per_s = c.measured.l1_bytes_per_s.value_or(shared_bytes_per_clock * clocks);
  r.register_bytes_per_s = r.shared_bytes_per_s;
  r.format = peak->first;
  r.peak_flops_per_s = peak->second;
  const bool set = unit == GemmUnit::mma && mma_share > 0;
  r.instruction_share = set ? mma_share : instruction_share(unit, element_bytes, r.sm->capability);
  r.instruction_assumed = !set && r.instruction_share < 1 && has_tensor_memory(r.sm->capability);
  r.flops_per_s = r.instruction_share * r.peak_flops_per_s;
  return Out::ok(r);
}

GemmBudget gemm_budget(const GemmTile& t, double element_bytes, std::int64_t other_registers, const SmLimits& sm) {
  GemmBudget out;
  const bool grouped = t.unit == GemmUnit::wgmma;
  const std::int64_t warps = gemm_warps(t), lanes = warp_threads * (grouped ? group_warps : 1);
  out.stage_bytes = as_double(t.block_m + t.block_n) * as_double(t.block_k) * element_bytes;
  out.shared_bytes = as_double(t.stages) * out.stage_bytes;
  out.shared_limit_bytes = as_double(sm.block_shared_bytes);
  out.max_stages =
      static_cast<std::int64_t>(out.shared_limit_bytes / (out.stage_bytes + (grouped ? barrier_bytes : 0)));
  out.threads = warps * lanes + (grouped ? lanes : 0);
  if (!(grouped && has_tensor_memory(sm.capability)))
    out.accumulators = as_double(t.warp_m) * as_double(t.warp_n) / as_double(lanes);
  const double words = element_bytes > 4 ? 2 : 1;
  out.registers = static_cast<std::int64_t>(std::ceil(words * out.accumulators)) + other_registers;
  fit_block(t, sm, warps, out);
  return out;
}

Result<GemmStudy> study_gemm(const GemmShape& s, const GemmTile& t, const GemmEpilogue& e, const GemmRates& r,
                             const GemmOptions& o) {
  GemmStudy out;
  out.traffic = gemm_traffic(s, t, e);
  out.budget = gemm_budget(t, s.element_bytes, o.other_registers, *r.sm);
  out.slots = r.sms;
  const auto tiling = tile_matmul({.m = s.m,
                                   .n = s.n,
                                   .k = s.k,
                                   .tile_m = t.block_m,
                                   .tile_n = t.block_n,
                                   .tile_k = t.block_k,
                                   .sm_count = r.sms,
                                   .tiles_per_sm = 1,
                                   .schedule = o.schedule,
                                   .split = o.schedule == Schedule::split_k ? o.splits : 1,
                                   .element_bytes = s.element_bytes,
                                   .peak_flops_per_s = r.flops_per_s,
                                   .vector_flops_per_s = r.flops_per_s,
                                   .bandwidth_bytes_per_s = r.hbm_bytes_per_s,
                                   .misaligned_rate = 1,
                                   .partly_aligned_rate = 1});
  if (!tiling) return Result<GemmStudy>::fail(tiling.error);
  out.tiling = *tiling;
  out.padding = gemm_padding(s, t, r.sm->capability);
  out.hbm_wave_bytes = gemm_wave_bytes(s, t, out.slots);
  const auto gate = [&](GemmGate which, double bytes, double rate, double whole) {
    out.gates[static_cast<std::size_t>(which)] = {.bytes = bytes,
                                                  .rate = rate,
                                                  .intensity = bytes > 0 ? out.traffic.flops / bytes : 0,
                                                  .time_s = bytes * whole / rate};
  };
  gate(GemmGate::hbm, out.traffic.hbm_bytes, r.hbm_bytes_per_s, 1);
  gate(GemmGate::l2, out.traffic.l2_read_bytes, r.l2_bytes_per_s, 1);
  gate(GemmGate::shared, out.traffic.shared_read_bytes, r.shared_bytes_per_s, out.padding);
  gate(GemmGate::registers, out.traffic.register_bytes, r.register_bytes_per_s, out.padding);
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  out.gates.back() = {.bytes = none,
                      .rate = r.flops_per_s,
                      .intensity = none,
                      .time_s = out.traffic.flops * out.padding / r.flops_per_s};
  double inside_s = 0;
  for (std::size_t i = 0; i < gemm_gate_count; ++i) {
    const double time_s = out.gates[i].time_s;
    if (i > 0) inside_s = std::max(inside_s, time_s);
    // Where gates are as slow as each other it is the one nearer to the arithmetic: opening the other would win
    // nothing.
    constexpr double equal = 0.999;
    if (time_s >= equal * out.gate_s) out.slowest = static_cast<GemmGate>(i);
    out.gate_s = std::max(out.gate_s, time_s);
  }
  out.pass_s = out.traffic.pass_bytes / r.hbm_bytes_per_s;
  out.time_s = std::max(out.at(GemmGate::hbm).time_s, inside_s / out.tiling.wave_efficiency) + out.tiling.reduction_s +
               out.pass_s;
  return Result<GemmStudy>::ok(out);
}

}  // namespace models::gpu
