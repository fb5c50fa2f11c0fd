#pragma once
#include <cstdint>

#include "models/trace/measure/pipeline_what_if.h"

/// Two jobs of ByteDance-Seed/StragglerAnalysis (Apache-2.0) as figures: forward and backward of every worker and
/// micro-batch of some steps whose slowdown is that of the whole recording; what communicates takes its usual time.
namespace models::trace {

enum class RecordedPipeline : std::uint8_t {
  lengths,  ///< "SE": 2 stages x 32 replicas, 8 micro-batches, steps 17 and 414 of 45
  stages    ///< "ST": 4 stages x 2 replicas, 4 micro-batches, steps 263, 519, 525 and 535 of 32
};
const PipelineJob& recorded_pipeline(RecordedPipeline which);
/// Over all steps of the recording.
const UsualTimes& recorded_usual_times(RecordedPipeline which);
/// The published analysis of all steps: its step, its ideal, their ratio, M_W and M_S.
struct PublishedWhatIf {
  double step_s, ideal_s, slowdown, worst_workers_share, last_stage_share;
};
PublishedWhatIf published_what_if(RecordedPipeline which);

}  // namespace models::trace
