#pragma once
#include <functional>
#include <vector>

#include "kernels/opengl/session.h"
#include "kernels/statistics.h"

namespace kernels::opengl {

/// Times work on the device by a pair of timestamps with a barrier between. GL_TIME_ELAPSED is not used: llvmpipe
/// answers 0 for compute. Short runs are repeated within a pair, so that what submitting costs does not count. All
/// calls throw Failure.
class Stopwatch {
 public:
  /// `enqueue` puts one run into the queue, and takes the next set of operands each time. `seconds`: about how much
  /// device time to spend on samples.
  Stopwatch(const Session& session, std::function<void()> enqueue, double seconds);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Seconds that `runs` runs take together, after what is in the queue is done.
  double time_of(std::int64_t runs);
  double warm_up();   ///< at least 3 runs and 25 ms (at most 1000 runs); returns about how long a run takes
  void sample();      ///< one sample
  bool done() const;  ///< 30 samples and 0.2 s with the median known to 1 %, or `seconds` spent
  Summary summary() const { return summarize(samples_s_); }

 private:
  const Session& session_;
  std::function<void()> enqueue_;
  double seconds_, run_s_ = 0, spent_s_ = 0;
  Name queries_[2] = {0, 0};
  std::vector<double> samples_s_;
};

}  // namespace kernels::opengl
