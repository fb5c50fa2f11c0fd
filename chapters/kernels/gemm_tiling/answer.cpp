#include "chapters/kernels/gemm_tiling/lab.h"
#include "widgets/number/number.h"

namespace chapters::kernels::gemm_tiling {
namespace {

namespace gpu = models::gpu;
using gpu::GemmFit, gpu::GemmGate;
using widgets::figure;

std::string seconds(double s) { return figure(s, "s"); }
double time_at(const Outputs& out, GemmGate gate) { return out.study.at(gate).time_s; }
std::string arithmetic_name(Gate gate) { return gate == Gate::fma ? "the FMA pipes" : "the Tensor Cores"; }

/// Why the block cannot run at all.
std::string refusal_of(const Outputs& out) {
  const gpu::GemmBudget& b = out.study.budget;
  switch (b.fit) {
    case GemmFit::shared_memory:
      return "needs " + figure(b.shared_bytes, "B", 3, widgets::Prefix::binary) + " of shared memory, and may have " +
             figure(b.shared_limit_bytes, "B", 3, widgets::Prefix::binary) + ".";
    case GemmFit::registers:
      return "needs " + figure(static_cast<double>(b.registers), "") + " registers in each of " +
             figure(static_cast<double>(b.threads), "") + " threads, more than there are.";
    case GemmFit::threads:
      return "has " + figure(static_cast<double>(b.threads), "") + " threads, more than a block may have.";
    case GemmFit::tensor_memory:
      return "has more sums than the tensor memory of an SM holds.";
    case GemmFit::fits:
      break;
  }
  return {};
}

/// The verdict on what is set.
std::string verdict_of(const Outputs& out, Gate arithmetic) {
  if (const std::string why = refusal_of(out); !why.empty()) return "This block cannot run: it " + why;
  const std::string work = arithmetic_name(arithmetic);
  const std::string gate = seconds(out.study.gate_s);
  switch (out.slowest) {
    case Gate::tensor:
    case Gate::fma:
      return (out.slowest == Gate::fma ? "The FMA pipes" : "The Tensor Cores") +
             std::string(" are the slowest gate, ") + gate + "; L2 needs " + seconds(time_at(out, GemmGate::l2)) +
             ", and DRAM is busy " + figure(out.hbm_busy, "%") + " of the time.";
    case Gate::hbm:
      return "DRAM is the slowest gate, " + gate + "; L2 needs " + seconds(time_at(out, GemmGate::l2)) + ", and " +
             work + " " + seconds(time_at(out, GemmGate::arithmetic)) + ".";
    case Gate::l2:
    case Gate::shared:
    case Gate::registers:
    case Gate::none:
      break;
  }
  const std::string name = out.slowest == Gate::l2       ? "L2 is"
                           : out.slowest == Gate::shared ? "Shared memory is"
                                                         : "Registers are";
  return name + " the slowest gate, " + gate + ", though " + work + " need only " +
         seconds(time_at(out, GemmGate::arithmetic)) + " and DRAM is busy " + figure(out.hbm_busy, "%") +
         " of the time.";
}

/// What the other block would do, with its edge.
std::string with_other(const Inputs& in, const Outputs& out) {
  if (out.other.budget.fit != GemmFit::fits)
    return "Square blocks of " + figure(static_cast<double>(in.other_block), "") + " would not fit an SM.";
  const bool arithmetic = out.other_slowest == Gate::tensor || out.other_slowest == Gate::fma;
  return "With square blocks of " + figure(static_cast<double>(in.other_block), "") + " the slowest gate would be " +
         (arithmetic ? "the " : "") + std::string(gate_name(out.other_slowest)) + ", " + seconds(out.other.gate_s) +
         ", with DRAM busy " + figure(out.other_hbm_busy, "%") + ".";
}

/// What would fit where the block does not; empty where it does, or where stages are too many.
std::string smaller_of(const gpu::GemmBudget& b) {
  switch (b.fit) {
    case GemmFit::threads:
      return "Larger warp tiles, or a smaller block, would fit.";
    case GemmFit::registers:
      return b.registers > gpu::SmLimits::thread_registers ? "Smaller warp tiles, or a smaller block, would fit."
                                                           : "A smaller block would fit.";
    case GemmFit::tensor_memory:
      return "A smaller block would fit.";
    case GemmFit::shared_memory:
    case GemmFit::fits:
      break;
  }
  return {};
}

/// What would help, or what else costs.
std::string help_of(const Inputs& in, const Outputs& out) {
  const double wait_s = out.study.time_s - out.study.gate_s;
  if (out.study.budget.fit == GemmFit::shared_memory)
    return out.study.budget.max_stages > 0
               ? "It would fit with " + figure(static_cast<double>(out.study.budget.max_stages), "") +
                     (out.study.budget.max_stages == 1 ? " stage" : " stages") + " in place of those set."
               : "Not even one stage fits: make the block smaller, or less deep.";
  if (const std::string fits = smaller_of(out.study.budget); !fits.empty()) return fits;
  if (out.study.pass_s > 0.02 * out.study.time_s)
    return "The epilogue's own pass adds " + seconds(out.study.pass_s) +
           ": in the same kernel it would be nearly free.";
  if (wait_s > 0.25 * out.study.gate_s)
    return "In all it takes " + seconds(out.study.time_s) + ", since only " + figure(out.wave_efficiency, "%") +
           " of the SMs' time is used.";
  if (out.slowest == Gate::tensor && out.instruction_share < 100)
    return "With mma.sync at most " + figure(out.instruction_share, "%") + " of the peak can be reached here.";
  if (out.other.gate_s < 0.98 * out.study.gate_s || out.slowest == Gate::tensor || out.slowest == Gate::fma)
    return with_other(in, out);
  switch (out.slowest) {
    case Gate::hbm:
      return "No tile opens it: each matrix passes only once, " + figure(out.study.gates[0].intensity, "FLOP/B") + ".";
    case Gate::l2:
      return "A larger block opens it: each value that arrives then serves more sums.";
    case Gate::shared:
      return "A larger warp tile opens it: each value that a warp reads then serves more sums.";
    default:
      return "A larger thread tile opens it: each value that a thread reads then serves more sums.";
  }
}

}  // namespace

std::string_view gate_name(Gate gate) {
  switch (gate) {
    case Gate::hbm:
      return "DRAM";
    case Gate::l2:
      return "L2";
    case Gate::shared:
      return "shared memory";
    case Gate::registers:
      return "registers";
    case Gate::tensor:
      return "Tensor Cores";
    case Gate::none:
      return "none";
    case Gate::fma:
      break;
  }
  return "FMA pipes";
}

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  const Gate arithmetic = run.cut.tile.unit == gpu::GemmUnit::fma ? Gate::fma : Gate::tensor;
  return verdict_of(out, arithmetic) + "\n" + help_of(in, out);
}

}  // namespace chapters::kernels::gemm_tiling
