#pragma once
#include <string>
#include <vector>

#include "models/parallel/planner/planner_search.h"

/// The way from one plan to another in single changes, each of them a plan that runs.
namespace models::parallel {

struct PlanStep {
  PlanPoint plan;       ///< with its step time and memory
  std::string changed;  ///< what this step changed: "tensor parallel 8 to tensor parallel 4"
  std::string brief;    ///< what it has now, in few letters: "TP 4"
  double gain_s = 0;    ///< what the step before took less this one; negative where it is slower
};

/// Changes one axis at a time (tensor, pipeline, context, expert parallel, order and chunks, ZeRO and its group,
/// micro-batch, recomputation; data parallel follows), each to what `to` has. Among all orders of the changes whose
/// plans all run it takes one that is never slower than the plan before where there is one, else the least slower in
/// sum; plans that do not fit are avoided first. Two axes change at once only where no single change runs. Empty where
/// the plans are the same, where either cannot run, or where no order of changes runs.
std::vector<PlanStep> plan_path(const PlannerJob& job, const PlanPoint& from, const PlanPoint& to);

}  // namespace models::parallel
