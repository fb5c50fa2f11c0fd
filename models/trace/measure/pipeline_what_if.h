#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "models/base/result.h"
#include "models/trace/measure/pipeline_ops.h"
#include "models/trace/replay/replay.h"

/// How much faster a pipeline would step if every operation took its usual time, and whose fault the difference is: the
/// what-if analysis of "Understanding Stragglers in Large Model Training Using What-if Analysis" (ByteDance, OSDI
/// 2025), over the dependencies of pipeline and data parallelism.
namespace models::trace {

/// What each operation would take without stragglers, by kind: the mean over workers, steps and micro-batches of what
/// computes, and the median of what communicates.
using UsualTimes = std::array<double, pipeline_op_count>;
UsualTimes usual_times(const PipelineJob& job);

/// The job as a graph to be run again: a task an operation, in the order of PipelineJob::duration_s, and a meeting
/// where sender and receiver, stages or replicas have to come together. Delays of launching are left out.
JobGraph pipeline_graph(const PipelineJob& job);
/// A duration as the graph counts it: whole nanoseconds, and none below 0.
std::int64_t pipeline_ns(double seconds);
/// The end of each step's last optimizer, every step from 0.
std::vector<double> pipeline_step_times(const PipelineJob& job, const JobTimes& times);

enum class StragglerCause : std::uint8_t { healthy, slow_workers, stage_split, sequence_lengths, other };

struct PipelineWhatIf {
  double step_s = 0, ideal_s = 0;                 ///< means over the steps
  double slowdown = 1;                            ///< step_s / ideal_s
  std::array<double, pipeline_op_count> by_op{};  ///< ideal with this kind as it was, over ideal
  std::vector<double> by_replica, by_stage;       ///< ideal with this one as it was, over ideal
  std::vector<double> worker;                     ///< stages x replicas: the smaller of its replica's and its stage's
  double worst_workers_share = 0;  ///< part of the slowdown that is won with the worst 3 % of workers as usual (M_W)
  double last_stage_share =
      0;  ///< part of the slowdown that is won with the last stage as usual (M_S); over 1 where it becomes fast
  double even_stages_s = 0;       ///< won when every stage's computing had the mean of all stages
  double even_batches_s = 0;      ///< won when every micro-batch took its stage's mean
  double length_correlation = 0;  ///< that of forward and backward times of a micro-batch, each over its stage's mean
  StragglerCause cause = StragglerCause::healthy;
};

/// From this slowdown on a job has stragglers: the published analysis counts those above 10 %.
inline constexpr double straggling_slowdown = 1.1;

/// `usual` is what the job is compared with: usual_times(job) unless more steps are known than it holds.
Result<PipelineWhatIf> pipeline_what_if(const PipelineJob& job, const UsualTimes& usual);

}  // namespace models::trace
