#pragma once
#include "models/parallel/pipeline/pipeline_run.h"

namespace models::parallel {

/// From a time on, so much is kept.
struct KeptActivations {
  double time_s = 0, kept = 0;
};

/// What one rank keeps for its backwards, in activations of one micro-batch on one stage: a whole one from the start of
/// F to the end of B or I, and from there `after_input_gradient` of it to the end of W. 1 counts the micro-batches from
/// F to W, 0 those from F to I. Sorted by time; of a run that got stuck, as far as it came.
std::vector<KeptActivations> kept_activations(const PipelinePlan& plan, const PipelineTimes& times,
                                              const PipelineRun& run, std::size_t rank,
                                              double after_input_gradient = 1);

/// The largest of it, of each rank.
std::vector<double> peak_activations(const PipelinePlan& plan, double after_input_gradient = 1);

/// What asynchronous updates ask of a rank.
struct WeightVersions {
  std::int64_t versions = 1;  ///< kept at once, the newest included
  std::int64_t staleness =
      0;                 ///< updates that a rank's newest weights are ahead of those which a backward used, at most
  bool missing = false;  ///< a forward would need weights that are not made yet
};
/// Replays a rank's order of the PipeDream schedules. PipeDream updates after every B and keeps the weights that F used
/// until its B. PipeDream-2BW updates after `update_every` micro-batches, and micro-batch k (from 0) uses version
/// max(k / update_every - 1, 0) in both F and B. Other schedules keep one version.
WeightVersions weight_versions(const PipelinePlan& plan, std::size_t rank, std::int64_t update_every);

}  // namespace models::parallel
