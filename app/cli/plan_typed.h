#pragma once
#include <span>
#include <string>

#include "chapters/mechanism/field.h"
#include "models/base/result.h"
#include "models/parallel/planner/planner_path.h"

/// The plan that `ridgeline plan --plan` is given.
namespace app::cli {

/// "ring, gather or all_to_all": the ids of a lab's choices.
std::string ids_of(std::span<const chapters::Choice> choices);

/// Reads "rank=16,on=attention,base=bf16" into the job's adapters; one sentence where a word is none.
std::string take_adapters(const std::string& text, models::parallel::PlannerJob& job);

/// Reads "tp=8,pp=4,recompute=full": axes that are not named are 1, ZeRO 1, nothing recomputed, 1F1B. Data parallel is
/// what the GPUs leave. Fails with a sentence on an unknown axis, a value out of range, an axis that is named twice, or
/// a plan that cannot run.
models::Result<models::parallel::PlanPoint> typed_plan(const models::parallel::PlannerJob& job,
                                                       const std::string& text);

}  // namespace app::cli
