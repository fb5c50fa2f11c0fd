#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/memory/checkpoint_plan.h"
#include "models/memory/operation_times.h"

/// The memory of training steps over time on one GPU: every operation with what it allocates and frees.
namespace models::memory {

enum class StepPhase : std::uint8_t { forward, loss, backward, again, optimizer };
inline constexpr std::size_t step_phase_count = 5;
std::string_view phase_name(StepPhase phase);

/// How the optimizer walks over the parameters.
enum class OptimizerLoop : std::uint8_t {
  fused,      ///< one kernel a chunk of parameters, no copies
  foreach,    ///< a whole list at once: one FP32 number a parameter lives in passing (torch.optim, foreach=True)
  per_tensor  ///< one tensor after the other: the same for the largest tensor alone
};

struct TimelineSetting {
  TrainingPlan plan;              ///< pipeline must be 1
  std::vector<LayerKeep> layers;  ///< what becomes of each layer; missing ones are kept
  OptimizerLoop loop = OptimizerLoop::fused;
  std::int64_t steps = 1;
  bool first_step = false;      ///< the first step of a run: moments are allocated in its optimizer
  bool keep_gradients = false;  ///< zero_grad(set_to_none=False): gradients stay allocated from the first step on
  bool keep_outputs = false;    ///< a leak: the 16-bit logits of every micro-batch are appended to a list
  double roof_share = 0.7;
};

/// A layer's pass, the loss, or the optimizer.
struct StepSpan {
  double begin_s = 0, end_s = 0;
  StepPhase phase = StepPhase::forward;
  std::int32_t layer = -1;  ///< 0-based; -1 outside of the layers
  std::int16_t micro_batch = 0, step = 0;
};

/// What is held while one operation runs, at its fullest; it holds until the next point.
struct MemoryPoint {
  double time_s = 0;
  HeldBytes held;
  std::uint32_t span = 0;
  std::uint32_t operation = 0;  ///< index in StepTimeline::operations
};

struct StepTimeline {
  std::vector<MemoryPoint> points;  ///< by time; the last one is at the end
  std::vector<StepSpan> spans;
  std::vector<std::string> operations;
  std::size_t peak = 0;                                             ///< index of the fullest point
  double peak_bytes = 0, end_of_forward_bytes = 0, rest_bytes = 0;  ///< rest: behind the last optimizer
  double loss_peak_bytes = 0;                                       ///< the highest sum during the loss
  double step_s = 0;                                                ///< The time of one step.
  double recompute_s = 0;                                           ///< The part of step_s in which layers run again.
};

/// Infeasible: as plan and times are, and a pipeline of more than one stage.
Result<StepTimeline> step_timeline(const Architecture& architecture, const TimelineSetting& setting,
                                   const Machine& machine);

}  // namespace models::memory
