#include <algorithm>
#include <cmath>

#include "models/base/counter_random.h"
#include "models/measure/bench_power.h"
#include "models/measure/students_t.h"

/// The whole experiment over and over.
namespace models::measure {
namespace {

/// Sums of the first pairs, from which their t follows.
struct RunningPairs {
  double n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;

  void add(double x, double y) {
    n += 1;
    a += x;
    b += y;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  /// t, and the degrees of freedom in `degrees`.
  double t(bool paired, double& degrees) const {
    const double va = std::max(0.0, (aa - a * a / n) / (n - 1)), vb = std::max(0.0, (bb - b * b / n) / (n - 1));
    const double shared = (ab - a * b / n) / (n - 1);
    const double variance = paired ? std::max(0.0, va + vb - 2 * shared) : va + vb;
    const double squares = va * va + vb * vb;
    degrees = paired || !(squares > 0) ? n - 1 : (n - 1) * (va + vb) * (va + vb) / squares;
    const double difference = (a - b) / n;
    if (variance > 0) return difference / std::sqrt(variance / n);
    return difference == 0 ? 0 : std::copysign(HUGE_VAL, difference);
  }
};

/// What a t must exceed at a look, for the fewest and the most degrees of freedom that it can have.
struct Threshold {
  double alpha = 0.05, most = 0, least = 0;

  Threshold(double chance, std::int64_t pairs, bool paired) : alpha(chance) {
    const double n = static_cast<double>(pairs);
    most = student_t_critical(alpha, n - 1);
    least = paired ? most : student_t_critical(alpha, 2 * n - 2);
  }
  bool exceeded(double t, double degrees) const {
    const double far = std::abs(t);
    if (far > most) return true;
    return far > least && student_t_p(t, degrees) < alpha;
  }
};

class TrialRunner {
 public:
  TrialRunner(const Trials& trials, std::span<const double> gains) : trials_(trials), gains_(gains) {
    if (trials.a.empty()) {
      slots_ = slots_of(trials.bench, trials.seed);
      kept_ = kept_of(slots_);
      a_.resize(kept_.a.size());
      equal_.resize(kept_.b.size());
      noise_.resize(slots_.size());
    } else {
      const std::size_t pairs = std::min(trials.a.size(), trials.b.size());
      a_.resize(pairs);
      equal_.resize(pairs);
      const Statistic compared = trials.method.test == Test::t       ? Statistic::mean
                                 : trials.method.test == Test::ranks ? Statistic::median
                                                                     : trials.method.statistic;
      to_equal_ = statistic_of(compared, trials.a.first(pairs)) / statistic_of(compared, trials.b.first(pairs));
    }
    b_.resize(equal_.size());
    const auto pairs = static_cast<std::int64_t>(std::min(a_.size(), equal_.size()));
    counts_.looks = looks_of(pairs, trials.look_every);
    const double split = trials.method.alpha / static_cast<double>(counts_.looks.size());
    for (const std::int64_t look : counts_.looks) {
      single_.emplace_back(trials.method.alpha, look, trials.method.paired);
      split_.emplace_back(split, look, trials.method.paired);
    }
    counts_.faster.assign(gains.size(), 0);
    counts_.peeking_by.assign(counts_.looks.size(), 0);
    counts_.split_by = counts_.single_by = counts_.peeking_by;
  }

  TrialCounts run(const std::function<bool(double)>& go_on) {
    while (counts_.repeats < trials_.repeats) {
      if (counts_.repeats % 16 == 0 &&
          !go_on(static_cast<double>(counts_.repeats) / static_cast<double>(trials_.repeats)))
        break;
      one(static_cast<std::uint64_t>(counts_.repeats++));
    }
    if (counts_.repeats == 0) return std::move(counts_);
    const double all = static_cast<double>(counts_.repeats);
    const auto share = [&](double& count) { count /= all; };
    for (auto* curve : {&counts_.peeking_by, &counts_.split_by, &counts_.single_by})
      std::for_each(curve->begin(), curve->end(), share);
    counts_.method_repeats = std::min(counts_.repeats, trials_.method_repeats);
    const double asked = static_cast<double>(counts_.method_repeats);
    for (double& count : counts_.faster) count /= asked;
    counts_.false_alarm /= asked;
    counts_.fair_limit = fair_limit();
    if (!counts_.looks.empty()) {
      counts_.peeking = counts_.peeking_by.back();
      counts_.split = counts_.split_by.back();
    }
    return std::move(counts_);
  }

 private:
  /// The share alpha of all experiments has a lowest p below this; at most alpha.
  double fair_limit() {
    const double alpha = trials_.method.alpha;
    const auto rank = static_cast<std::size_t>(alpha * static_cast<double>(counts_.repeats));
    if (lowest_p_.size() <= rank) return alpha;
    const auto at = lowest_p_.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(lowest_p_.begin(), at, lowest_p_.end());
    return *at;
  }

  /// Times of two equal versions.
  void draw(std::uint64_t seed) {
    if (!trials_.a.empty()) {
      for (std::size_t i = 0; i < a_.size(); ++i) {
        const auto from =
            std::min(a_.size() - 1, static_cast<std::size_t>(unit_draw(seed, i) * static_cast<double>(a_.size())));
        a_[i] = trials_.a[from];
        equal_[i] = trials_.b[from] * to_equal_;
      }
      return;
    }
    draw_noise(trials_.bench, seed, noise_);
    for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = shown(seed, kept_.a[i], 1);
    for (std::size_t i = 0; i < equal_.size(); ++i) equal_[i] = shown(seed, kept_.b[i], 1);
  }
  /// What the clock shows of a run that takes this part of A's time.
  double shown(std::uint64_t seed, std::size_t slot, double part) const {
    const double time = noise_[slot] * slots_[slot].factor * part, tick = trials_.bench.tick;
    return tick > 0 ? on_the_clock(time, tick, clock_phase(seed, slot)) : time;
  }

  void look() {
    RunningPairs sums;
    bool called = false, called_split = false;
    double lowest_p = 1;
    std::size_t at = 0;
    // About A's first time, since squares of times that are all alike would leave nothing of their differences.
    const double about = a_.empty() ? 0 : a_.front();
    for (std::size_t i = 0; at < counts_.looks.size() && i < std::min(a_.size(), equal_.size()); ++i) {
      sums.add(a_[i] - about, equal_[i] - about);
      if (static_cast<std::int64_t>(i) + 1 != counts_.looks[at]) continue;
      double degrees = 1;
      const double t = sums.t(trials_.method.paired, degrees);
      const bool now = single_[at].exceeded(t, degrees);
      called = called || now;
      if (now) lowest_p = std::min(lowest_p, student_t_p(t, degrees));
      called_split = called_split || split_[at].exceeded(t, degrees);
      counts_.single_by[at] += now;
      counts_.peeking_by[at] += called;
      counts_.split_by[at] += called_split;
      ++at;
    }
    if (called) lowest_p_.push_back(lowest_p);
  }

  void one(std::uint64_t repeat) {
    const std::uint64_t seed = random_stream(static_cast<std::int64_t>(trials_.seed), 1000 + repeat);
    draw(seed);
    look();
    if (static_cast<std::int64_t>(repeat) >= trials_.method_repeats) return;
    const auto called = [&](const std::vector<double>& b) {
      return compare(trials_.method, a_, b, random_stream(static_cast<std::int64_t>(seed), 1));
    };
    const auto significant = [&](const Comparison& c) {
      // A bootstrap is read by its interval, the others by their p.
      return trials_.method.test == Test::bootstrap ? c.lo > 0 || c.hi < 0 : c.p < trials_.method.alpha;
    };
    counts_.false_alarm += significant(called(equal_));
    for (std::size_t g = 0; g < gains_.size(); ++g) {
      const double part = 1 - gains_[g];
      const bool on_ticks = trials_.a.empty() && trials_.bench.tick > 0;
      for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = on_ticks ? shown(seed, kept_.b[i], part) : equal_[i] * part;
      const Comparison c = called(b_);
      counts_.faster[g] += significant(c) && c.difference > 0;
    }
  }

  const Trials& trials_;
  std::span<const double> gains_;
  std::vector<Slot> slots_;
  KeptRuns kept_;
  std::vector<double> noise_, a_, b_, equal_;
  double to_equal_ = 1;
  std::vector<Threshold> single_, split_;
  std::vector<double> lowest_p_;  ///< over the looks, of experiments that call at some look
  TrialCounts counts_;
};

}  // namespace

std::vector<std::int64_t> looks_of(std::int64_t pairs, std::int64_t every) {
  std::vector<std::int64_t> looks;
  every = std::max<std::int64_t>(1, every);
  for (std::int64_t at = every; at < pairs; at += every)
    if (at >= first_look) looks.push_back(at);
  if (pairs >= 2) looks.push_back(pairs);
  return looks;
}

TrialCounts run_trials(const Trials& trials, std::span<const double> gains, const std::function<bool(double)>& go_on) {
  return TrialRunner(trials, gains).run(go_on);
}

}  // namespace models::measure
