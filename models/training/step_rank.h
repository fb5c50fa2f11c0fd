#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/training/step_recorder.h"
#include "models/training/step_simulation.h"

namespace models {

/// One rank while it is simulated: its loader, its host and its device. A step is before_collectives(), then
/// end_collective() for every bucket, then after_collectives().
class StepRank {
 public:
  StepRank(const StepSetup& setup, const StepOptions& options, std::int64_t rank);

  /// Load, copy, forward and backward of a step, micro-batch by micro-batch.
  void before_collectives(std::int64_t step);
  /// When the device and the host of this rank let bucket `b` begin.
  std::int64_t bucket_start_ns(std::size_t b) const;
  void end_collective(std::size_t b, std::int64_t start_ns, std::int64_t end_ns);
  /// Optimizer, and the reading of the loss where this step has one.
  void after_collectives();
  std::size_t buckets() const { return buckets_.size(); }

  void finish(StepRun& run);
  trace::Trace finish_trace();

 private:
  struct Bucket {
    std::int64_t ready_ns = 0, launched_ns = 0, correlation = 0;
  };
  struct Segment {
    std::int64_t start_ns = 0, end_ns = 0, step = 0;
    StepWork work{}, phase{};
  };
  /// Kernel `first` + i begins at start_ns + i * stride_ns.
  struct Starts {
    std::int64_t first = 0, count = 0, start_ns = 0, stride_ns = 0;
    std::int64_t at(std::int64_t kernel) const { return start_ns + (kernel - first) * stride_ns; }
  };
  struct Group {
    StepWork phase{};
    std::int64_t kernels = 1, kernel_ns = 0, depends_ns = 0;
    StepCause cause{};  ///< why the device waits until depends_ns
    std::int64_t layer = 0;
  };

  bool keeps_blocks() const { return options_.record_blocks && step_ >= options_.record_from; }
  bool keeps_trace() const { return recorder_ && step_ >= options_.record_from; }
  void host(StepWork work, std::int64_t until_ns, StepWork phase = StepWork::idle);
  void block(StepRow row, StepWork work, std::int64_t start_ns, std::int64_t end_ns, std::int32_t lane = 0,
             StepCause cause = StepCause::data);
  void run_micro_batch(bool last);
  void load();
  void copy();
  void launch_bucket(std::int64_t ready_ns);
  void run(const Group& group);
  std::int64_t run_some(const Group& group, std::int64_t done, std::int64_t& end_ns);
  void record_kernel(const Group& group, std::int64_t i, std::int64_t called_ns, std::int64_t start_ns);
  void wait_for_room(std::int64_t until_ns, const Group& group);
  void keep_starts(std::int64_t count, std::int64_t start_ns, std::int64_t stride_ns);
  void count_lead();
  void idle(std::int64_t from_ns, std::int64_t to_ns, StepCause cause);
  void idle_by_host(std::int64_t from_ns, std::int64_t to_ns);
  void find_causes(const Group& group, std::int64_t host_ns, std::int64_t launched_ns, std::int64_t first_ns);
  void read_loss();
  void memory(std::int64_t time_ns, double change);
  std::int64_t& busy_of(StepWork phase);

  const StepSetup& setup_;
  const StepOptions& options_;
  BatchLoader loader_;
  std::unique_ptr<StepRecorder> recorder_;
  double slowness_ = 1;
  std::int64_t launch_ns_ = 0, latency_ns_ = 0;

  std::int64_t step_ = 0, step_start_ns_ = 0;
  std::int64_t host_ns_ = 0, kernel_end_ns_ = 0, stream_free_ns_ = 0, copies_free_ns_ = 0, collectives_free_ns_ = 0;
  std::int64_t copy_start_ns_ = 0, copy_end_ns_ = 0, last_bucket_ns_ = 0;
  std::vector<Bucket> buckets_;
  std::vector<Segment> segments_;
  std::size_t segment_ = 0;    ///< the first that ends after the last gap
  std::deque<Starts> starts_;  ///< by kernel, back to the one whose beginning makes room for the next launch
  std::size_t begun_ = 0;      ///< index in starts_ of the last kernel that had begun
  std::int64_t launches_ = 0, largest_lead_ = 0, waited_ns_ = 0;
  double bytes_ = 0;
  StepLedger ledger_;
  std::vector<StepLedger> ledgers_;
  std::vector<StepBlock> blocks_;
  std::vector<StepMemory> memory_;
};

/// Kernels and the bytes that they move, of one update of the weights.
std::int64_t optimizer_kernels(const StepSetup& setup);
double optimizer_time_s(const StepSetup& setup);

}  // namespace models
