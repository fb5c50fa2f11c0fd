#include <algorithm>
#include <cmath>

#include "chapters/kernels/gemm_tiling/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/base/integer_math.h"
#include "models/gpu/gemm_tiling/cutlass_name.h"
#include "widgets/number/number.h"

namespace chapters::kernels::gemm_tiling {
namespace {

namespace gpu = models::gpu;
using gpu::GemmGate, gpu::GemmUnit;

std::string whole(std::int64_t n) { return widgets::format_text(models::as_double(n), "", 12); }

Computed infeasible(std::string why) {
  Computed none;
  none.facts.reason = std::move(why);
  return none;
}

Cut cut_as_set(const Inputs& in) {
  Cut cut;
  cut.shape = {in.m, in.n, in.k, in.element_bytes, in.output_bytes > 0 ? in.output_bytes : in.element_bytes};
  cut.tile = {.block_m = in.block_m,
              .block_n = in.block_n,
              .block_k = in.block_k,
              .warp_m = std::min(in.warp_m, in.block_m),
              .warp_n = std::min(in.warp_n, in.block_n),
              .thread_m = std::min({in.thread_m, in.warp_m, in.block_m}),
              .thread_n = std::min({in.thread_n, in.warp_n, in.block_n}),
              .stages = in.stages,
              .cluster_m = in.unit == GemmUnit::wgmma ? in.cluster_m : 1,
              .cluster_n = in.unit == GemmUnit::wgmma ? in.cluster_n : 1,
              .unit = in.unit};
  cut.epilogue = {in.reads_c, in.bias, in.activation, in.fused};
  cut.options = {in.schedule, in.splits, in.other_registers};
  return cut;
}

std::string words_of_name(const gpu::CutlassKernel& k, std::int64_t stages) {
  const gpu::GemmTile& t = k.tile;
  return whole(t.block_m) + " × " + whole(t.block_n) + " × " + whole(t.block_k) + ", " + whole(stages) +
         (stages == 1 ? " stage" : " stages") + (k.automatic_stages ? " that fit" : "") + ", warp tiles of " +
         whole(t.warp_m) + " × " + whole(t.warp_n);
}

/// Puts what the name says in the place of what is set; the sentence why it cannot be, empty where it can.
std::string take_name(const Inputs& in, const models::Chip& chip, Cut& cut, std::string& named) {
  const auto kernel = gpu::parse_cutlass_name(in.kernel);
  if (!kernel) return kernel.error;
  const auto capability = gpu::capability_in(chip.architecture);
  const gpu::SmLimits* sm = capability ? gpu::sm_limits(*capability) : nullptr;
  if (!sm) return {};  // refused with the rates
  const bool too_new = kernel->capability > *capability;
  const bool other_family = kernel->tile.unit == GemmUnit::wgmma && kernel->capability / 10 != *capability / 10;
  if (too_new || other_family)
    return "The kernel is for compute capability " + std::to_string(kernel->capability / 10) + "." +
           std::to_string(kernel->capability % 10) + ", and the " + chip.name + " has " +
           std::to_string(*capability / 10) + "." + std::to_string(*capability % 10) +
           ": choose a GPU that it was built for.";
  const gpu::GemmTile set = cut.tile;
  cut.tile = kernel->tile;
  // Lanes of CUTLASS's SIMT warps stand 4 by 8 (python/cutlass_library/generator.py).
  const bool lanes = cut.tile.unit == GemmUnit::fma;
  cut.tile.thread_m = lanes ? std::max<std::int64_t>(1, cut.tile.warp_m / 4) : set.thread_m;
  cut.tile.thread_n = lanes ? std::max<std::int64_t>(1, cut.tile.warp_n / 8) : set.thread_n;
  cut.shape.element_bytes = kernel->element_bytes;
  cut.shape.output_bytes = kernel->output_bytes;
  cut.epilogue.activation |= kernel->activation;
  if (kernel->stream_k) cut.options.schedule = models::Schedule::stream_k;
  if (kernel->automatic_stages) {
    constexpr std::int64_t most_stages = 12;
    const auto budget = gpu::gemm_budget(cut.tile, cut.shape.element_bytes, in.other_registers, *sm);
    cut.tile.stages = std::clamp<std::int64_t>(budget.max_stages, 1, most_stages);
  }
  named = words_of_name(*kernel, cut.tile.stages);
  return {};
}

Gate gate_of(GemmGate gate, GemmUnit unit) {
  if (gate == GemmGate::arithmetic) return unit == GemmUnit::fma ? Gate::fma : Gate::tensor;
  return static_cast<Gate>(gate);
}

std::string tile_words(const Cut& cut, GemmGate gate) {
  const gpu::GemmTile& t = cut.tile;
  const auto pair = [](std::int64_t a, std::int64_t b) { return whole(a) + " × " + whole(b); };
  switch (gate) {
    case GemmGate::hbm:
      return "each matrix once";
    case GemmGate::l2:
      return "block " + pair(t.block_m, t.block_n);
    case GemmGate::shared:
      return (t.unit == GemmUnit::wgmma ? "group " : "warp ") + pair(t.warp_m, t.warp_n);
    case GemmGate::registers:
      return "thread " + pair(t.thread_m, t.thread_n);
    case GemmGate::arithmetic:
      break;
  }
  return {};
}

void add_gates(const Cut& cut, Outputs& out) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < gate_count; ++i) {
    const auto which = static_cast<GemmGate>(i);
    const gpu::GemmGateTime &g = out.study.gates[i], &other = out.other.gates[i];
    if (which == GemmGate::registers && !(g.bytes > 0)) continue;
    GateRow row{.name = std::string(gate_name(gate_of(which, cut.tile.unit))),
                .tile = which == GemmGate::arithmetic ? std::string(models::format_label(out.rates.format))
                                                      : tile_words(cut, which),
                .bytes = g.bytes,
                .intensity = g.intensity,
                .rate = g.rate,
                .time_s = g.time_s,
                .other_s = other.time_s};
    if (which == GemmGate::arithmetic) row.bytes = row.intensity = row.rate = none;
    out.gates.push_back(std::move(row));
  }
}

/// A block that no SM holds takes no time: it moves nothing.
void forget_times(gpu::GemmStudy& study) {
  if (study.budget.fit == gpu::GemmFit::fits) return;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (gpu::GemmGateTime& gate : study.gates) gate.time_s = none;
  study.gate_s = study.pass_s = study.time_s = none;
}

Gate slowest_of(const gpu::GemmStudy& study, GemmUnit unit) {
  return study.budget.fit == gpu::GemmFit::fits ? gate_of(study.slowest, unit) : Gate::none;
}

/// The part of the time in which main memory moves something, in %: what a profiler prints.
double dram_busy(const gpu::GemmStudy& s) { return 100 * (s.at(GemmGate::hbm).time_s + s.pass_s) / s.time_s; }

/// "; mma.sync at 65 % of the peak, as measured".
std::string words_of_share(const Inputs& in, const gpu::GemmRates& rates) {
  if (rates.instruction_share >= 1) return {};
  return "; mma.sync at " + widgets::format_text(100 * rates.instruction_share, "%") + " of the peak, " +
         (in.mma_share > 0            ? "as set"
          : rates.instruction_assumed ? "assumed"
                                      : "measured on H100s");
}

void rate_study(const Inputs& in, const Cut& cut, Outputs& out) {
  const gpu::GemmStudy &s = out.study, &o = out.other;
  out.slowest = slowest_of(s, cut.tile.unit);
  out.other_slowest = slowest_of(o, cut.tile.unit);
  out.hbm_busy = dram_busy(s);
  out.other_hbm_busy = dram_busy(o);
  out.instruction_share = 100 * out.rates.instruction_share;
  out.l2_intensity = s.traffic.flops / s.traffic.l2_bytes;
  out.bound_flops_per_s = s.traffic.flops / s.time_s;
  out.peak_share = 100 * out.bound_flops_per_s / out.rates.peak_flops_per_s;
  out.wave_efficiency = 100 * s.tiling.wave_efficiency;
  out.whole_tiles = 100 / s.padding;
  if (cut.tile.unit == GemmUnit::fma) {
    const gpu::GemmGateTime& lanes = s.at(GemmGate::registers);
    out.registers_s = lanes.time_s;
    out.register_bytes = lanes.bytes;
    out.register_intensity = lanes.intensity;
  }
  if (s.budget.accumulators > 0) out.accumulators = s.budget.accumulators;
  const bool set = in.l2_rate > 0;
  out.rates_from =
      std::string("L2 ") +
      (set                     ? "as set"
       : out.rates.l2_measured ? "measured"
                               : "assumed, " + whole(std::llround(out.rates.l2_assumed)) + " B a clock and SM") +
      "; shared memory " + (out.rates.shared_measured ? "measured" : "128 B a clock and SM") +
      words_of_share(in, out.rates);
}

std::string too_many_splits(const Cut& cut) {
  const std::int64_t steps = models::ceil_div(cut.shape.k, cut.tile.block_k);
  if (cut.options.schedule != models::Schedule::split_k || cut.options.splits <= steps) return {};
  return "Depth K = " + whole(cut.shape.k) + " is " + whole(steps) + (steps == 1 ? " step" : " steps") + " of " +
         whole(cut.tile.block_k) + ", too few for " + whole(cut.options.splits) +
         " splits: set fewer, or a smaller depth of the block.";
}

}  // namespace

Computed compute(const Inputs& in) {
  const auto chip = find_chip(in.chip);
  if (!chip) return infeasible(chip.error);
  Outputs out;
  auto run = std::make_shared<Run>();
  Cut& cut = run->cut;
  cut = cut_as_set(in);
  if (!in.kernel.empty())
    if (std::string why = take_name(in, **chip, cut, out.named); !why.empty()) return infeasible(std::move(why));
  if (out.named.empty()) out.named = "no name given";
  const auto rates = gpu::gemm_rates(**chip, cut.tile.unit, cut.shape.element_bytes, in.mma_share / 100);
  if (!rates) return infeasible(rates.error);
  if (std::string why = too_many_splits(cut); !why.empty()) return infeasible(std::move(why));
  out.rates = *rates;
  if (in.l2_rate > 0) out.rates.l2_bytes_per_s = in.l2_rate;
  run->other = cut;
  gpu::GemmTile& other = run->other.tile;
  other.block_m = other.block_n = in.other_block;
  other.warp_m = std::min(other.warp_m, other.block_m);
  other.warp_n = std::min(other.warp_n, other.block_n);
  cut.instruction = gpu::gemm_instruction(cut.tile.unit, cut.shape.element_bytes, rates->sm->capability);
  for (const bool mine : {true, false}) {
    const Cut& of = mine ? cut : run->other;
    const auto study = gpu::study_gemm(of.shape, of.tile, of.epilogue, out.rates, of.options);
    if (!study) return infeasible(study.error);
    (mine ? out.study : out.other) = *study;
  }
  forget_times(out.study);
  forget_times(out.other);
  rate_study(in, cut, out);
  add_gates(cut, out);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::kernels::gemm_tiling
