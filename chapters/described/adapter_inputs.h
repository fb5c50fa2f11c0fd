#pragma once
#include <cstdint>

#include "chapters/mechanism/field.h"
#include "models/base/result.h"
#include "models/memory/training_plan.h"
#include "models/parallel/planner/planner_job.h"

/// Adapters beside frozen weights as inputs, the same in every lab that can train them.
namespace chapters {

/// In what the matrices of a frozen model are kept.
enum class FrozenIn : std::uint8_t { bf16, fp8, nf4 };
const Choices& frozen_in_choices();
const Choices& adapter_target_choices();  ///< in the order of models::memory::AdapterTargets

/// Low-rank pairs beside frozen matrices; of rank 0 none, and all weights are trained.
struct AdapterInputs {
  std::int64_t rank = 0;
  models::memory::AdapterTargets targets = models::memory::AdapterTargets::attention;
  FrozenIn frozen = FrozenIn::bf16;
  bool operator==(const AdapterInputs&) const = default;
};
/// As the planner's job has them.
models::parallel::PlannerAdapters planner_adapters(std::int64_t rank, models::memory::AdapterTargets targets,
                                                   FrozenIn frozen);
/// The inputs `adapter_rank`, `adapter_targets` and `frozen`.
void describe_adapters(Fields& fields, std::int64_t& rank, models::memory::AdapterTargets& targets, FrozenIn& frozen);
/// Puts them into a plan. Fails with a sentence where the model has no such matrices.
models::Status put_adapters(const models::Architecture& architecture, const AdapterInputs& adapters,
                            models::memory::TrainingPlan& plan);

}  // namespace chapters
