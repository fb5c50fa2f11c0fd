#pragma once
#include <string>
#include <string_view>

#include "chapters/distributed/planner/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "models/parallel/planner/planner_data.h"

/// What the doors of a plan are made from.
namespace chapters::distributed::planner {

/// A priced plan cause by cause.
struct PlannerDoor {
  PlannerDoor(const models::parallel::PlannerJob& job, const models::parallel::PricedPlan& price);
  PlannerDoor(const PlannerDoor&) = delete;
  PlannerDoor& operator=(const PlannerDoor&) = delete;

  const models::parallel::PlannerJob& job;
  const models::parallel::PricedPlan& price;
  const models::memory::TrainingPlan& plan;
  models::parallel::MicroBatchTimes times;
  models::parallel::PlannerStages stages;
  models::parallel::StepWork work;  ///< refers to `stages`
};

/// What labs call a plan's recomputation and loss.
inline std::string_view recompute_key(const models::memory::TrainingPlan& plan) {
  return recompute_choices()[static_cast<std::size_t>(plan.recompute)].id;
}
inline std::string_view loss_key(const models::memory::TrainingPlan& plan) {
  return loss_choices()[static_cast<std::size_t>(plan.loss)].id;
}

/// Links to the labs of what GPUs send each other: overlap, tensor-parallel, context, moe, collectives, topology. Fails
/// with a sentence where such a lab cannot hold the plan, and where there is no such lab.
models::Result<std::string> write_exchange(LinkWriter& w, const Inputs& in, const PlannerDoor& door,
                                           std::string_view lab);

}  // namespace chapters::distributed::planner
