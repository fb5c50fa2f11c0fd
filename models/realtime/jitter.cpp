#include "models/realtime/jitter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "models/base/counter_random.h"
#include "models/realtime/jitter_summary.h"

namespace models {
namespace {

constexpr std::size_t block = 4096;

std::uint64_t stream_of(std::int64_t seed, std::uint64_t source, std::uint64_t use) {
  return counter_hash(counter_hash(static_cast<std::uint64_t>(seed), source), use);
}

/// Frame f takes draw f - 1 of its stream; of frame 0 the counter wraps, which leaves the hash of the stream itself.
constexpr std::uint64_t draw_of(std::uint64_t stream, std::uint64_t frame) { return counter_hash(stream, frame - 1); }

struct FrameKnot {
  double share, time_ms;
};
constexpr double lidar_median_ms = 1e3 * lidar_median_s;
constexpr std::array<FrameKnot, 10> lidar_knots{{{0, 5.44},
                                                 {0.01, 8.442},
                                                 {0.1, 11.0},
                                                 {0.25, 15.3},
                                                 {0.5, lidar_median_ms},
                                                 {0.75, 23.6},
                                                 {0.9, 27.574},
                                                 {0.99, 33.016},
                                                 {0.999, 36.596},
                                                 {1, 39.785}}};

/// A share from the upper bits of a draw, in [0, 1).
inline double share_of(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// The sum of four uniform 16-bit numbers, standardized: mean 0, variance 1, within 3.46. Irwin-Hall.
inline float bell(std::uint64_t bits) {
  const auto part = [&](int shift) { return static_cast<std::int32_t>((bits >> shift) & 0xFFFF); };
  constexpr float scale = 2.6429e-5f;  // sqrt(12 / 4) / 65536
  return static_cast<float>(part(0) + part(16) + part(32) + part(48) - 131070) * scale;
}

double size_of(const JitterSource& s, double u) {
  switch (s.shape) {
    case JitterShape::constant:
      return s.size_s;
    case JitterShape::uniform:
      return s.size_s * 2 * u;
    case JitterShape::exponential:
      return -s.size_s * std::log1p(-u);
    case JitterShape::heavy:
      break;
  }
  return s.size_s * (2.0 / 3.0) / std::cbrt(1 - u);
}

/// One source's additions, block by block in order.
class Generator {
 public:
  Generator(const JitterSource& source, std::int64_t seed, std::size_t index)
      : s_(source),
        when_(stream_of(seed, index, 0)),
        how_(stream_of(seed, index, 1)),
        end_(stream_of(seed, index, 2)),
        every_(static_cast<std::uint64_t>(std::max<std::int64_t>(1, source.every_frames))) {
    next_ = draw_of(when_, 0) % every_;
    const double p = std::clamp(source.probability, 0.0, 1.0);
    certain_ = p >= 1;
    threshold_ = certain_ ? 0 : static_cast<std::uint64_t>(p * 0x1p64);
  }
  bool scales_with_network() const { return s_.pattern == JitterPattern::state; }
  const JitterHits& hits() const { return hits_; }

  void fill(std::size_t first, std::span<float> out) {
    std::fill(out.begin(), out.end(), 0.0f);
    if (!s_.on) return;
    switch (s_.pattern) {
      case JitterPattern::random:
        for (std::size_t i = 0; i < out.size(); ++i)
          if (certain_ || draw_of(when_, first + i) < threshold_) hit(first + i, out[i]);
        break;
      case JitterPattern::periodic:
        for (; next_ < first + out.size(); next_ += every_) hit(next_, out[next_ - first]);
        break;
      case JitterPattern::state:
        for (std::size_t i = 0; i < out.size(); ++i) {
          if (!active_)
            active_ = certain_ || draw_of(when_, first + i) < threshold_;
          else
            active_ = unit_draw(end_, first + i - 1) * static_cast<double>(every_) >= 1;
          if (active_) hit(first + i, out[i]);
        }
        break;
    }
  }

 private:
  void hit(std::uint64_t frame, float& out) {
    const double s = size_of(s_, unit_draw(how_, frame - 1));
    out = static_cast<float>(s);
    ++hits_.hits;
    hits_.added_s += s;
    hits_.largest_s = std::max(hits_.largest_s, s);
  }
  const JitterSource& s_;
  std::uint64_t when_, how_, end_, every_, next_ = 0, threshold_ = 0;
  bool certain_ = false, active_ = false;
  JitterHits hits_;
};

/// The stack's own state from frame to frame: work left over, and how long the small network still runs.
class Stack {
 public:
  explicit Stack(const JitterInputs& in)
      : in_(in), period_(1 / in.rate_hz), limit_(in.watchdog / in.rate_hz), due_(period_ * (1 + 1e-9)) {}

  /// Nothing is left over when the next frame arrives.
  bool idle() const { return left_ <= 1e-6 * period_; }

  struct Answer {
    double response_s;
    FrameFate fate;
    bool small;
  };
  /// `network_s` shrinks with the small network, `fixed_s` does not.
  Answer step(double network_s, double fixed_s) {
    if (in_.policy == JitterPolicy::skip && !idle()) {  // ready just as it arrives is not busy, whatever rounding says
      left_ = std::max(0.0, left_ - period_);
      return {0, FrameFate::skipped, false};
    }
    const bool light = ran_;
    ran_ = !ran_;
    if (light) network_s = std::max(0.0, network_s - in_.every_second_saves_s);
    const bool small = recover_ > 0;
    recover_ -= small;
    double response = left_ + (small ? in_.small_share * network_s : network_s) + fixed_s;
    bool reused = false;
    if (in_.policy == JitterPolicy::reuse && response > limit_) {
      response = limit_;
      reused = true;
    }
    if (in_.policy == JitterPolicy::small && response > limit_) recover_ = in_.recover_frames;
    left_ = std::max(0.0, response - period_);
    return {response, reused ? FrameFate::reused : response <= due_ ? FrameFate::fresh : FrameFate::late, small};
  }

 private:
  const JitterInputs& in_;
  double period_, limit_, due_, left_ = 0;
  std::int64_t recover_ = 0;
  bool ran_ = false;  ///< an odd number of frames was run
};

/// What each source has added since the stack was last idle, to say which of them a miss is owed to.
class Blame {
 public:
  explicit Blame(std::size_t sources) : added_s_(sources, 0) {}
  void start_anew() {
    std::fill(added_s_.begin(), added_s_.end(), 0.0);
    own_s_ = 0;
  }
  void add(std::size_t source, double added_s) { added_s_[source] += added_s; }
  void add_own(double excess_s) { own_s_ += std::max(0.0, excess_s); }
  std::uint8_t largest() const {
    const auto top = std::max_element(added_s_.begin(), added_s_.end());
    const bool source = top != added_s_.end() && *top > own_s_;
    return source ? static_cast<std::uint8_t>(top - added_s_.begin()) : own_jitter_cause;
  }

 private:
  std::vector<double> added_s_;
  double own_s_ = 0;
};

std::string problem_of(const JitterInputs& in) {
  const auto share = [](double x) { return x >= 0 && x <= 1; };
  if (in.frames < 1 || in.frames > 4000000) return "A run takes 1 to 4,000,000 frames.";
  if (!(in.rate_hz > 0 && in.rate_hz <= 1e6)) return "The camera's rate must be above 0, at most 1 MHz.";
  if (!(in.base_s > 0 && in.base_s <= 3600)) return "The undisturbed time must be above 0, at most 3,600 s.";
  if (!(in.every_second_saves_s >= 0 && in.every_second_saves_s <= in.base_s))
    return "What every second frame saves must be from 0 to its undisturbed time.";
  if (!share(in.watchdog) || !share(in.small_share) || !(in.spread >= 0 && in.spread <= 0.28))
    return "Watchdog and small network are shares from 0 to 1, the spread one from 0 to 0.28.";
  for (const JitterSource& s : in.sources)
    if (!(s.size_s >= 0 && s.size_s <= 3600)) return "'" + s.name + "' must add 0 to 3,600 s.";
  return "";
}

/// The largest of a run's response times, as many as its 99th percentile needs.
class SlowestFrames {
 public:
  explicit SlowestFrames(std::size_t frames) : keep_(frames / 100 + 2) { values_.reserve(2 * keep_); }
  void add(float response_s) {
    ++count_;
    if (response_s <= floor_) return;
    values_.push_back(response_s);
    if (values_.size() < 2 * keep_) return;
    select(keep_ - 1);
    values_.resize(keep_);
    floor_ = values_.back();
  }
  double p99_s() {
    if (count_ == 0) return 0;
    const std::size_t from_above = count_ - 1 - percentile_rank(count_, 0.99);
    select(from_above);
    return static_cast<double>(values_[from_above]);
  }

 private:
  void select(std::size_t from_above) {
    std::nth_element(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(from_above), values_.end(),
                     std::greater<>());
  }
  std::size_t keep_, count_ = 0;
  float floor_ = -1;
  std::vector<float> values_;
};

/// The run once more, with one of its sources off.
struct RunWithout {
  RunWithout(const JitterInputs& in, std::size_t source)
      : off(source), stack(in), slowest(static_cast<std::size_t>(in.frames)) {}

  std::size_t off;
  Stack stack;
  SlowestFrames slowest;
};

/// Runs the frames a block at a time: times of the network and of the sources, the run without each source, the run.
class JitterFrames {
 public:
  explicit JitterFrames(const JitterInputs& in)
      : in_(in),
        slowest_(static_cast<std::size_t>(in.frames)),
        block_parts_(in.sources.size()),
        blame_(in.sources.size()),
        misses_(in.sources.size(), 0),
        stack_(in) {
    const auto n = static_cast<std::size_t>(in.frames);
    run_.response_s.resize(n);
    run_.fate.resize(n);
    run_.cause.assign(n, no_jitter_cause);
    for (std::size_t k = 0; k < in.sources.size(); ++k) sources_.emplace_back(in.sources[k], in.seed, k);
    for (std::size_t k = 0; k < in.sources.size(); ++k)
      if (in.each_off && in.sources[k].on) without_.emplace_back(in, k);
  }

  JitterRun run(const std::function<bool(double)>& keep_going) {
    const std::size_t n = run_.response_s.size();
    for (std::size_t first = 0; first < n; first += block) {
      if (keep_going && !keep_going(static_cast<double>(first) / static_cast<double>(n))) {
        run_.cancelled = true;
        return std::move(run_);
      }
      const std::size_t m = std::min(block, n - first);
      fill_block(first, m);
      for (RunWithout& other : without_) run_without(other, m);
      for (std::size_t i = 0; i < m; ++i) run_frame(first, i);
    }
    count_hits();
    return std::move(run_);
  }

 private:
  /// Draws the undisturbed times of `m` frames and what each source adds to them.
  void fill_block(std::size_t first, std::size_t m) {
    const std::uint64_t base_stream = stream_of(in_.seed, 1u << 20, 0);
    const float base = static_cast<float>(in_.base_s), sigma = static_cast<float>(in_.base_s * in_.spread);
    if (in_.shape == FrameShape::lidar) {
      for (std::size_t i = 0; i < m; ++i)
        network_[i] = base * static_cast<float>(lidar_frame_quantile(share_of(draw_of(base_stream, first + i))));
    } else {
      for (std::size_t i = 0; i < m; ++i) network_[i] = base + sigma * bell(draw_of(base_stream, first + i));
    }
    std::copy_n(network_.begin(), m, undisturbed_.begin());
    std::fill_n(fixed_.begin(), m, 0.0f);
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      auto& part = block_parts_[k];
      if (!in_.sources[k].on) continue;
      sources_[k].fill(first, {part.data(), m});
      auto& sum = sources_[k].scales_with_network() ? network_ : fixed_;
      for (std::size_t i = 0; i < m; ++i) sum[i] += part[i];
    }
  }

  void run_without(RunWithout& other, std::size_t m) {
    std::copy_n(undisturbed_.begin(), m, other_network_.begin());
    std::fill_n(other_fixed_.begin(), m, 0.0f);
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      if (!in_.sources[k].on || k == other.off) continue;
      auto& sum = sources_[k].scales_with_network() ? other_network_ : other_fixed_;
      for (std::size_t i = 0; i < m; ++i) sum[i] += block_parts_[k][i];
    }
    for (std::size_t i = 0; i < m; ++i) {
      const auto answer =
          other.stack.step(static_cast<double>(other_network_[i]), static_cast<double>(other_fixed_[i]));
      if (answer.fate != FrameFate::skipped) other.slowest.add(static_cast<float>(answer.response_s));
    }
  }

  /// Frame `i` of the block that begins with frame `first`.
  void run_frame(std::size_t first, std::size_t i) {
    if (stack_.idle()) blame_.start_anew();
    const auto answer = stack_.step(static_cast<double>(network_[i]), static_cast<double>(fixed_[i]));
    if (answer.fate != FrameFate::skipped) {
      blame_.add_own(static_cast<double>(undisturbed_[i]) - 1 / in_.rate_hz);
      for (std::size_t k = 0; k < sources_.size(); ++k)
        if (in_.sources[k].on && block_parts_[k][i] > 0) blame_.add(k, static_cast<double>(block_parts_[k][i]));
    }
    if (answer.fate != FrameFate::fresh) {
      const std::uint8_t cause = run_.cause[first + i] = blame_.largest();
      ++(cause == own_jitter_cause ? run_.own_misses : misses_[cause]);
    }
    run_.response_s[first + i] = static_cast<float>(answer.response_s);
    if (answer.fate != FrameFate::skipped) slowest_.add(run_.response_s[first + i]);
    run_.fate[first + i] = answer.fate;
    count_frame(answer, first + i);
  }

  void count_frame(const Stack::Answer& answer, std::size_t frame) {
    run_.late += answer.fate == FrameFate::late;
    run_.reused += answer.fate == FrameFate::reused;
    run_.skipped += answer.fate == FrameFate::skipped;
    run_.small += answer.small;
    missed_run_ = answer.fate == FrameFate::fresh ? 0 : missed_run_ + 1;
    if (missed_run_ <= run_.longest_missed_run) return;
    run_.longest_missed_run = missed_run_;
    run_.longest_missed_first = static_cast<std::int64_t>(frame) + 1 - missed_run_;
  }

  void count_hits() {
    const double p99_s = slowest_.p99_s();
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      run_.hits.push_back(sources_[k].hits());
      run_.hits[k].misses = misses_[k];
      run_.hits[k].p99_without_s = p99_s;
    }
    for (RunWithout& other : without_) run_.hits[other.off].p99_without_s = other.slowest.p99_s();
  }

  const JitterInputs& in_;
  JitterRun run_;
  std::vector<Generator> sources_;
  std::vector<RunWithout> without_;
  std::array<float, block> network_, fixed_, undisturbed_, other_network_, other_fixed_;
  SlowestFrames slowest_;
  std::vector<std::array<float, block>> block_parts_;  ///< what each source adds to the frames of the block
  Blame blame_;
  std::vector<std::int64_t> misses_;
  Stack stack_;
  std::int64_t missed_run_ = 0;
};

}  // namespace

double lidar_frame_quantile(double share) {
  std::size_t k = 1;
  while (k + 1 < lidar_knots.size() && lidar_knots[k].share < share) ++k;
  const FrameKnot &a = lidar_knots[k - 1], &b = lidar_knots[k];
  const double along = std::clamp((share - a.share) / (b.share - a.share), 0.0, 1.0);
  return (a.time_ms + (b.time_ms - a.time_ms) * along) / lidar_median_ms;
}

double mean_of(FrameShape shape) {
  if (shape == FrameShape::bell) return 1;
  double mean = 0;
  for (std::size_t k = 1; k < lidar_knots.size(); ++k)
    mean += (lidar_knots[k].share - lidar_knots[k - 1].share) * (lidar_knots[k].time_ms + lidar_knots[k - 1].time_ms) /
            2 / lidar_median_ms;
  return mean;
}

Result<JitterRun> run_jitter(const JitterInputs& in, const std::function<bool(double)>& keep_going) {
  if (std::string problem = problem_of(in); !problem.empty()) return Result<JitterRun>::fail(std::move(problem));
  return Result<JitterRun>::ok(JitterFrames(in).run(keep_going));
}

std::vector<JitterSource> example_sources() {
  using enum JitterPattern;
  using enum JitterShape;
  return {{"Allocation", true, random, 0.02, 100, exponential, 3e-3},
          {"Garbage collection", true, periodic, 0.01, 120, uniform, 14e-3},
          {"Memory contention", true, random, 0.1, 100, exponential, 1.5e-3},
          {"Thermal throttle", true, state, 0.0001, 300, constant, 4e-3},
          {"Scheduler", true, random, 0.005, 100, heavy, 8e-3}};
}

}  // namespace models
