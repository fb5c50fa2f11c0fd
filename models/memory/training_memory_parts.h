#pragma once
#include <cstddef>
#include <vector>

#include "models/memory/activation_formulas.h"
#include "models/memory/loss_peak.h"
#include "models/memory/state_bytes.h"
#include "models/memory/training_memory.h"
#include "models/memory/unit_moments.h"

/// The memory of a training step in three parts, so that a search over many plans computes each part once.
/// training_memory() is made of them: training_memory_of(a, p, options, micro_batch_memory(a, p), stage_memory(a, p)).
namespace models::memory {

/// What one micro-batch needs, whatever the stage. It depends on everything in the plan but pipeline,
/// virtual_pipeline, data, zero_stage and stage, and on data, micro_batches and zero_stage only by gradients_grow(plan)
/// and gathers_units(plan).
struct MicroBatchMemory {
  std::vector<KindFigures> kinds;  ///< in the order of layer_kinds(architecture)
  BytesPerParameter per_parameter;
  LossPeak loss;            ///< What the last stage holds at the loss.
  FormulaSizes sizes;       ///< The sizes that Korthikanti's formula takes.
  double stream_bytes = 0;  ///< Bytes of the residual stream.
};

/// What one stage holds, whatever runs on it. It depends on the plan's tensor, pipeline, virtual_pipeline, expert,
/// stage and parameters alone.
struct StageMemory {
  StageParameters parameters;
  StageEnds ends;
  std::vector<std::size_t> layers;  ///< the index in layer_kinds of each layer of the stage, in order
  std::vector<double> counts;       ///< layers of each kind
  double largest_unit = 0;          ///< parameters of the largest that ZeRO-3 gathers at once: a layer or an end
  std::vector<GatherUnit> units;  ///< gather_units of one plan with this stage; `held` is of its data and context alone
};

MicroBatchMemory micro_batch_memory(const Architecture& architecture, const TrainingPlan& plan);
StageMemory stage_memory(const Architecture& architecture, const TrainingPlan& plan);

/// The sum. The plan must be one that plan_problem accepts, and the parts those of this plan; the formula must not be
/// asked for a model with experts.
TrainingMemory training_memory_of(const Architecture& architecture, const TrainingPlan& plan,
                                  const TrainingMemoryOptions& options, const MicroBatchMemory& micro,
                                  const StageMemory& stage);

}  // namespace models::memory
