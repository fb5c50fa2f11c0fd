#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/base/result.h"

/// Frame times of a real-time stack, one by one: a base time, what disturbs it, and what the stack does when a frame is
/// late. Every draw is a hash of (seed, source, frame): the same whatever else is switched on, so that settings compare
/// on the same luck.
namespace models {

enum class JitterPattern : std::uint8_t {
  random,    ///< hits a frame with `probability`
  periodic,  ///< hits every `every_frames`-th frame
  state  ///< begins with `probability` a frame, then slows every frame and ends with probability 1 / `every_frames` a
         ///< frame
};
/// How the sizes of hits are spread about their mean. `heavy`: Pareto with exponent 3, so that one in a thousand is 6.7
/// means.
enum class JitterShape : std::uint8_t { constant, uniform, exponential, heavy };

struct JitterSource {
  std::string name = "Source";
  bool on = true;
  JitterPattern pattern = JitterPattern::random;
  double probability = 0.01;
  std::int64_t every_frames = 100;
  JitterShape shape = JitterShape::exponential;
  double size_s = 2e-3;  ///< mean of what a hit adds to a frame
  bool operator==(const JitterSource&) const = default;
};

enum class JitterPolicy : std::uint8_t {
  wait,   ///< frames queue behind a late one
  skip,   ///< a frame that arrives while the stack is busy is dropped
  reuse,  ///< at the watchdog's limit the frame is given up and the last result is published again
  small   ///< after a frame beyond the watchdog's limit a smaller network runs for `recover_frames` frames
};

/// How undisturbed times are spread. `lidar`: as measured of a sparse lidar backbone, whose time follows the occupied
/// voxels of a scene; drawn frame by frame, though frames in a row are alike on a road.
enum class FrameShape : std::uint8_t { bell, lidar };

/// The quantile of a frame's time over its median, for `lidar`: CenterPoint's backbone in FP16 on Drive Orin over 6,019
/// nuScenes frames (NVIDIA's Lidar_AI_Solution, 3DSparseConvolution): least 5.44, P1 8.442, P50 20.039, P90 27.574, P99
/// 33.016, P99.9 36.596, most 39.785 ms; between them P10, P25 and P75 lie where mean and deviation (19.746 and 6.081
/// ms) are met within 2 %.
double lidar_frame_quantile(double share);
inline constexpr double lidar_median_s = 20.039e-3;
/// Mean undisturbed time over the base time.
double mean_of(FrameShape shape);

struct JitterInputs {
  double base_s = 27e-3;  ///< mean of `bell`, median of `lidar`
  FrameShape shape = FrameShape::bell;
  double spread = 0.02;  ///< standard deviation over the mean of a `bell`, within 3.5 of them
  double rate_hz = 30;   ///< frames arrive at it, and each is due when the next arrives
  std::int64_t frames = 100000;
  std::int64_t seed = 1;
  std::vector<JitterSource> sources;
  JitterPolicy policy = JitterPolicy::wait;
  double watchdog = 0.95;           ///< limit as a share of the deadline, 0 to 1
  double every_second_saves_s = 0;  ///< what every second frame that is run takes less, undisturbed
  double small_share = 0.5;         ///< time of the small network over that of the full one; throttling scales with it
  std::int64_t recover_frames = 30;
  bool each_off = true;  ///< the run is also made with each source off, for JitterHits::p99_without_s
};

enum class FrameFate : std::uint8_t { fresh, late, reused, skipped };

/// Causes that are no source: of a frame that is no miss, and of one that its own undisturbed time made late.
inline constexpr std::uint8_t no_jitter_cause = 255, own_jitter_cause = 254;

struct JitterHits {
  std::int64_t hits = 0;    ///< frames it added to
  std::int64_t misses = 0;  ///< missed frames that it had the largest part in
  double added_s = 0, largest_s = 0;
  double p99_without_s = 0;  ///< p99 of the same frames with this source off, where that was run
};

/// What a run comes to, without its frames.
struct JitterTotals {
  std::int64_t late = 0, reused = 0, skipped = 0, small = 0;
  std::int64_t longest_missed_run = 0;    ///< frames in a row without a fresh result in time
  std::int64_t longest_missed_first = 0;  ///< the first frame of the earliest such run
  std::int64_t own_misses = 0;            ///< those that no source had the largest part in
  std::int64_t misses() const { return late + reused + skipped; }
};

struct JitterRun : JitterTotals {
  std::vector<float> response_s;  ///< from arrival to an answer; of a skipped frame 0
  std::vector<FrameFate> fate;
  /// One a frame: what took most of the time since the stack was last idle, of a frame that missed. A source's index;
  /// `own_jitter_cause` where what undisturbed frames took beyond the period is more; else `no_jitter_cause`.
  std::vector<std::uint8_t> cause;
  std::vector<JitterHits> hits;  ///< one a source
  bool cancelled = false;
};

/// Frame i arrives at i / rate. Work left over w follows Lindley: w' = max(0, w + time - period); the response is w +
/// time. `keep_going` is told the fraction done and stops the run by returning false. Infeasible: frames outside 1 to 4
/// million, a rate or time that is not positive and finite, a share outside 0 to 1.
Result<JitterRun> run_jitter(const JitterInputs& inputs, const std::function<bool(double fraction)>& keep_going = {});

/// A stack of 27 ms in Python on a shared computer: allocation, collection, contention, throttling and the scheduler.
std::vector<JitterSource> example_sources();

}  // namespace models
