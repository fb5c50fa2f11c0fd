#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "models/base/result.h"
#include "models/trace/measure/pipeline_ops.h"

/// How much faster a pipeline would step if every operation took its usual time, and whose fault the difference is: the
/// what-if analysis of "Understanding Stragglers in Large Model Training Using What-if Analysis" (ByteDance, OSDI 2025),
/// over the dependencies of pipeline and data parallelism.
namespace models::trace {

/// What each operation would take without stragglers, by kind: the mean over workers, steps and micro-batches of what
/// computes, and the median of what communicates.
using UsualTimes = std::array<double, pipeline_op_count>;
UsualTimes usual_times(const PipelineJob& job);

/// How a step runs: each node waits for others, and some end together.
class PipelineGraph {
 public:
  /// Fails when the order recorded runs in a circle.
  static Result<PipelineGraph> of(const PipelineJob& job);
  /// Length of each step with these durations (nodes x lanes, as in the job), without delays of launching.
  std::vector<double> step_times(const std::vector<double>& duration_s) const;

 private:
  struct Group {
    std::vector<int> members;
    bool all_replicas = false;  ///< waits for the same operation of every replica
  };
  void depend(int node, int on);
  void depend_stage(const PipelineJob& job, int stage);
  void group_transfers(const PipelineJob& job);
  Status sort();

  std::size_t replicas_ = 0, lanes_ = 0;
  std::vector<std::vector<int>> waits_for_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;  ///< by node; -1: it waits for nobody else to come
  std::vector<int> order_;     ///< nodes that compute by themselves, and -1 - group where a group has come together
  std::vector<int> last_;      ///< the optimizers
};

enum class StragglerCause : std::uint8_t { none, slow_workers, stage_split, sequence_lengths, other };

struct PipelineWhatIf {
  double step_s = 0, ideal_s = 0;               ///< means over the steps
  double slowdown = 1;                          ///< step_s / ideal_s
  std::array<double, pipeline_op_count> by_op;  ///< ideal with this kind as it was, over ideal
  std::vector<double> by_replica, by_stage;     ///< ideal with this one as it was, over ideal
  std::vector<double> worker;                   ///< stages x replicas: the smaller of its replica's and its stage's
  double worst_workers_share = 0;  ///< of the slowdown, won with the worst 3 % of workers as usual (M_W)
  double last_stage_share = 0;     ///< of the slowdown, won with the last stage as usual (M_S); over 1 where it becomes fast
  double even_stages_s = 0;        ///< won when every stage's computing had the mean of all stages
  double even_batches_s = 0;       ///< won when every micro-batch took its stage's mean
  double length_correlation = 0;   ///< of forward and backward times of a micro-batch, each over its stage's mean
  StragglerCause cause = StragglerCause::none;
};

/// From this slowdown on a job has stragglers: the published analysis counts those above 10 %.
inline constexpr double straggling_slowdown = 1.1;

/// `usual` is what the job is compared with: usual_times(job) unless more steps are known than it holds.
Result<PipelineWhatIf> pipeline_what_if(const PipelineJob& job, const UsualTimes& usual);

}  // namespace models::trace
