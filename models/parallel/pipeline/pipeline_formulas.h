#pragma once
#include <string_view>

#include "models/parallel/pipeline/pipeline_run.h"

namespace models::parallel {

/// A published bubble of one step: idle time of the busiest rank.
struct PipelineFormula {
  std::string_view formula;  ///< empty: none is known for these times
  double bubble_s = 0;
};
/// The closed form of the wall bubble where one holds exactly: equal ranks, and the conditions on times, link and
/// micro-batches under which it is true (Narayanan 2021; Qi 2023; DeepSeek 2025). `times` are those of one stage.
PipelineFormula closed_form(const PipelineSpec& spec, const PipelineTimes& times);

}  // namespace models::parallel
