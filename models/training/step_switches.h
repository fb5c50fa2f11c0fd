#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/memory/training_memory.h"
#include "models/training/step_simulation.h"

/// A training job with nine switches. What is on decides the kernels of the step, what is kept in memory and how the
/// step is simulated; no switch has a multiplier.
namespace models {

enum class StepSwitch : std::uint8_t {
  loader,           ///< as many workers as the job's `workers` instead of those of its loader
  bf16,             ///< BF16 weights, gradients and activations with FP32 master weights; products in BF16
  compile,          ///< neighbouring element-wise operations in one kernel
  fused_optimizer,  ///< AdamW in one pass instead of a pass an operation
  flash,            ///< attention in one kernel: scores are never stored
  fp8,              ///< products inside layers in FP8, delayed scales, one for each tensor
  overlap,          ///< gradients are exchanged while the backward pass runs
  accumulate,       ///< the batch in micro-batches; gradients are exchanged after the last
  checkpoint        ///< each layer's input alone is kept; its forward pass runs again
};
inline constexpr std::size_t step_switch_count = 9;
inline constexpr std::array<StepSwitch, step_switch_count> all_step_switches{
    StepSwitch::loader, StepSwitch::bf16,    StepSwitch::compile,    StepSwitch::fused_optimizer, StepSwitch::flash,
    StepSwitch::fp8,    StepSwitch::overlap, StepSwitch::accumulate, StepSwitch::checkpoint};

/// Which of them are on.
struct SwitchSet {
  std::uint16_t bits = 0;
  constexpr bool has(StepSwitch s) const { return (bits >> static_cast<unsigned>(s) & 1u) != 0; }
  constexpr SwitchSet with(StepSwitch s, bool on = true) const {
    const auto bit = static_cast<std::uint16_t>(1u << static_cast<unsigned>(s));
    return {static_cast<std::uint16_t>(on ? bits | bit : bits & ~bit)};
  }
  bool operator==(const SwitchSet&) const = default;
};

struct SwitchedJob {
  Architecture architecture;
  const Chip* chip = nullptr;
  std::int64_t batch = 4, sequence = 2048;  ///< sequences and tokens of one GPU and step
  std::int64_t micro_batches = 2;           ///< behind `accumulate`
  std::int64_t workers = 8;                 ///< behind `loader`
  Format found_format = Format::tf32;       ///< format of products before BF16: tf32 or fp32
  /// RMSNorm in six operations (eight in 16 bits) and rotary embedding in five for queries and keys each, FP32 in
  /// between, as transformers/models/llama/modeling_llama.py writes them; otherwise each is one kernel. A compiler
  /// fuses them.
  bool by_hand = true;
  double roof_share = 0.7;  ///< share of peak and of bandwidth that kernels reach
  memory::LossKind loss = memory::LossKind::eager;
  double fixed_bytes = 1e9;  ///< CUDA context and workspaces
  /// What no switch changes: the loader as found, of the whole batch, copies, launches, ranks and links.
  StepSetup host;
};

/// What the kernels of forward and backward pass do.
enum class KernelWork : std::uint8_t { products, attention, elementwise, casts, again };
inline constexpr std::size_t kernel_work_count = 5;

struct SwitchedStep {
  StepSetup setup;                                   ///< to simulate
  memory::TrainingPlan plan;                         ///< what the memory is worked out from
  std::array<double, kernel_work_count> kernel_s{};  ///< forward and backward, all micro-batches
  double forward_flops = 0, backward_flops = 0;      ///< matrix products of the model, all micro-batches
  double fp8_copies = 0;       ///< bytes of 8-bit weights, one copy for each direction they are read in
  double fp8_layer_bytes = 0;  ///< more (or fewer) bytes kept of all layers and one micro-batch
};

/// Every operation takes the longer of its arithmetic at the format's peak and its traffic, both at `roof_share`.
/// Infeasible: a batch that the micro-batches do not divide, a chip without a peak for a format, a plan out of range.
Result<SwitchedStep> switched_step(const SwitchedJob& job, SwitchSet on);

/// The fullest moment of that step: memory::training_memory of its plan, counted operation by operation, with what FP8
/// adds and saves. Infeasible: as training_memory is.
Result<memory::TrainingMemory> switched_memory(const SwitchedJob& job, const SwitchedStep& step);

}  // namespace models
