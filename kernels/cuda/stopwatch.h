#pragma once
#include <functional>
#include <vector>

#include "kernels/cuda/session.h"
#include "kernels/statistics.h"

namespace kernels::cuda {

/// Times work on the device by events. Runs of 20 us and more are timed one by one behind a spinning kernel, so that
/// the host's gaps lie outside; shorter ones many together, replayed as a graph (or launched in a row where capture
/// fails), so that the half microsecond that an event resolves does not count. All calls throw Failure.
class Stopwatch {
 public:
  /// `enqueue` puts one run on the session's stream, and takes the next set of operands each time. `rotation`: after
  /// how many runs the operands come round. `seconds`: about how much device time to spend on samples.
  Stopwatch(const Session& session, std::function<void()> enqueue, std::int64_t rotation, double seconds);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  double warm_up();   ///< at least 3 runs and 25 ms (at most 1000 runs); returns about how long a run takes
  void sample();      ///< a few more samples
  bool done() const;  ///< 30 samples and 0.2 s with the median known to 1 %, or `seconds` spent
  Summary summary() const { return summarize(samples_s_); }

 private:
  double elapsed_s(std::size_t pair) const;
  void record(std::size_t event) const;
  void capture();
  void replay();

  const Session& session_;
  std::function<void()> enqueue_;
  std::int64_t rotation_, runs_a_sample_ = 1;
  double seconds_, run_s_ = 0, spent_s_ = 0;
  std::vector<Event> events_;
  Graph graph_ = nullptr;
  GraphExec exec_ = nullptr;
  bool capture_tried_ = false;
  std::vector<double> samples_s_;
};

}  // namespace kernels::cuda
