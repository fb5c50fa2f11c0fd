#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "chapters/profiling/measure/lab.h"
#include "models/base/counter_random.h"
#include "models/base/printable.h"
#include "models/learning/practice.h"
#include "models/measure/students_t.h"

namespace chapters::profiling::measure {
namespace {

using models::measure::Bench, models::measure::Comparison, models::measure::Method, models::measure::Prospect,
    models::measure::Slot, models::measure::Timings;
using Times = std::vector<double>;

std::uint64_t seed_of(const Inputs& in) { return static_cast<std::uint64_t>(in.seed); }
/// Random numbers for the bootstrap that reads the runs.
std::uint64_t reading_stream(const Inputs& in) { return models::random_stream(in.seed, 77); }

Times picked(const Run& run, const std::vector<std::size_t>& slots) {
  Times out;
  out.reserve(slots.size());
  for (const std::size_t k : slots) out.push_back(run.times_s[k]);
  return out;
}

void take_recorded(const Inputs& in, const Timings& timings, std::string where, Run& run) {
  run.a_name = timings.names[0];
  run.b_name = timings.names[1];
  run.where = std::move(where);
  run.runs_there = timings.runs.size();
  std::int64_t a = 0, b = 0;
  // The budget takes half of its runs from either version, also where one came after the other.
  const std::int64_t half = (in.runs + 1) / 2;
  for (const auto& r : timings.runs) {
    std::int64_t& of_its_kind = r.is_b ? b : a;
    if (of_its_kind >= half || a + b >= in.runs) continue;
    run.slots.push_back({.is_b = r.is_b, .of_its_kind = of_its_kind, .kept = of_its_kind >= in.discard});
    run.times_s.push_back(r.time_s);
    ++of_its_kind;
  }
}

/// What was timed here; before that, runs of two rungs that were recorded elsewhere.
void take_timed(const Inputs& in, Run& run) {
  if (in.timed_runs.empty()) return take_recorded(in, models::measure::recorded_rungs(), "recorded elsewhere", run);
  Timings timings{.names = {"A", "B"}, .runs = {}};
  if (!in.timed.empty()) {
    const TimedPair& pair = in.timed.front();
    timings.names = {models::printable(pair.a), models::printable(pair.b)};
    if (pair.a == pair.b) timings.names[1] += " again";
  }
  timings.runs.reserve(in.timed_runs.size());
  for (const TimedRow& row : in.timed_runs) timings.runs.push_back({row.is_b, row.time_s});
  take_recorded(in, timings, "timed here", run);
}

/// Empty, or why there are no runs.
std::string take_runs(const Inputs& in, Run& run) {
  if (in.source == Source::drawn) {
    const Bench bench = bench_of(in);
    run.base_s = bench.base_s;
    run.slots = models::measure::slots_of(bench, seed_of(in));
    run.times_s = models::measure::times_of(bench, run.slots, seed_of(in));
  } else if (in.source == Source::file) {
    if (in.file.text.empty())
      return "There are no times yet: drop a CSV with the columns version and time_s onto the window.";
    const auto read = models::measure::read_timings(in.file.text);
    if (!read) return read.error;
    take_recorded(in, *read, "of your file", run);
  } else if (in.source == Source::machine) {
    take_timed(in, run);
  } else {
    const bool same = in.source == Source::recorded_same;
    take_recorded(in, same ? models::measure::recorded_same() : models::measure::recorded_two(), "recorded", run);
  }
  run.kept = models::measure::kept_of(run.slots);
  if (run.kept.pairs() < 4 && in.source == Source::machine)
    return "Of \"" + run.a_name + "\" and \"" + run.b_name +
           "\" fewer than four runs each were timed and count: time them again, or throw away fewer.";
  if (run.kept.pairs() < 4)
    return "Fewer than four runs of a version count: give a larger budget, or throw away fewer.";
  return {};
}

/// Runs of a version that the method reads: of pairs those that have a partner.
std::span<const double> read_of(const Method& method, std::span<const double> x, std::size_t pairs) {
  return method.paired ? x.first(pairs) : x;
}

Statistic compared_by(const Method& method) {
  return method.test == Test::t ? Statistic::mean : method.test == Test::ranks ? Statistic::median : method.statistic;
}

/// Percent of A's time.
struct Reading {
  Comparison of;  ///< in seconds
  double scale = 1;
  double percent(double seconds) const { return 100 * seconds / scale; }
};

Reading read_runs(const Method& method, std::span<const double> a, std::span<const double> b, std::uint64_t stream) {
  const auto of_a = read_of(method, a, std::min(a.size(), b.size()));
  return {models::measure::compare(method, a, b, stream), models::measure::statistic_of(compared_by(method), of_a)};
}

Verdict verdict_of(const Reading& r) {
  return r.of.lo > 0 ? Verdict::faster : r.of.hi < 0 ? Verdict::slower : Verdict::undecided;
}

std::string_view verdict_words(Verdict v) {
  return v == Verdict::faster ? "B is faster" : v == Verdict::slower ? "B is slower" : "no difference shown";
}

void state_runs(const Inputs& in, const Run& run, const Times& a, const Times& b, Outputs& out) {
  const Method method = method_of(in);
  const Reading r = read_runs(method, a, b, reading_stream(in));
  out.verdict = verdict_of(r);
  out.found = r.percent(r.of.difference);
  out.found_lo = r.percent(r.of.lo);
  out.found_hi = r.percent(r.of.hi);
  out.found_size = std::abs(out.found);
  out.half_width = (out.found_hi - out.found_lo) / 2;
  out.p = r.of.p;
  if (method.test == Test::t) {
    out.standard_error = r.percent(r.of.standard_error);
    out.critical_t = models::measure::student_t_critical(alpha, r.of.degrees);
  }
  const std::size_t pairs = run.kept.pairs();
  const auto read_a = read_of(method, a, pairs), read_b = read_of(method, b, pairs);
  out.a_time_s = models::measure::statistic_of(compared_by(method), read_a);
  out.b_time_s = models::measure::statistic_of(compared_by(method), read_b);
  const double mean_a = models::measure::mean_of(a);
  const auto spread = [&](std::span<const double> x) {
    return 100 * std::sqrt(models::measure::variance_of(x)) / mean_a;
  };
  out.a_spread = spread(a);
  out.b_spread = spread(b);
  Times d(pairs);
  for (std::size_t i = 0; i < pairs; ++i) d[i] = a[i] - b[i];
  out.pair_spread = spread(d);
  out.pair_correlation = models::measure::correlation_of(std::span(a).first(pairs), std::span(b).first(pairs));
  out.pairs = static_cast<std::int64_t>(pairs);
  out.runs_used = static_cast<std::int64_t>(read_a.size() + read_b.size());
  out.thrown_away = static_cast<std::int64_t>(run.slots.size() - a.size() - b.size());
}

Prospect prospect(const Inputs& in, const Run& run, const Times& a, const Times& b, bool paired) {
  if (in.source == Source::drawn) return models::measure::prospect_of(bench_of(in), run.slots, paired);
  return models::measure::prospect_of(a, b, paired);
}

/// Percent; nobody saves more than all of the time.
double shown_gain(const Prospect& p) {
  const double gain = models::measure::smallest_gain(p, alpha, wanted_power);
  return gain < 1 ? 100 * gain : no_figure;
}

void state_prospects(const Inputs& in, const Run& run, const Times& a, const Times& b, Outputs& out) {
  const Prospect p = prospect(in, run, a, b, in.paired), other = prospect(in, run, a, b, !in.paired);
  out.smallest = shown_gain(p);
  out.smallest_other = shown_gain(other);
  out.power_computed = 100 * models::measure::chance_of_faster(p, in.gain / 100, alpha);
  out.alarm_computed = 100 * models::measure::chance_of_false_alarm(p, alpha);
  out.run_spread = in.source == Source::drawn ? 100 * models::measure::run_spread(bench_of(in)) : out.a_spread;
  if (in.gain != 0) out.rule_pairs = models::measure::rule_of_sixteen(out.run_spread, in.gain);
  const bool against_itself =
      in.source == Source::machine && !in.timed.empty() && in.timed.front().a == in.timed.front().b;
  if (in.source == Source::recorded_same || against_itself) out.real_gain = 0;
  if (in.source != Source::drawn) return;
  const Bench bench = bench_of(in);
  const auto expected = models::measure::expected_gain(bench, run.slots);
  out.order_bias = 100 * expected.of_equals;
  out.expected_found = 100 * expected.of_these;
  out.real_gain = in.gain;
  out.clock_spread = 100 * std::sqrt(models::measure::clock_variance(bench, 1));
  const std::int64_t needed = models::measure::runs_needed(bench, in.paired, alpha, wanted_power);
  if (needed > 0) out.runs_needed = static_cast<double>(needed);
}

/// The 95 % interval of a share that so many trials had; percent.
struct ShareRange {
  double lo = 0, hi = 100;
  ShareRange(double share, double trials)
      : lo(100 * models::wilson_lower(share * trials, trials)),
        hi(100 - 100 * models::wilson_lower((1 - share) * trials, trials)) {}
  double reach(double share) const { return std::max(hi - 100 * share, 100 * share - lo); }
};

/// In how many experiments the method is asked: slow ones in fewer, so that the longest budget takes no second.
std::int64_t method_repeats(const Inputs& in, std::size_t a, std::size_t b) {
  const double runs = static_cast<double>(a + b), pairs = static_cast<double>(a) * static_cast<double>(b);
  const double most = in.test == Test::bootstrap ? 20'000 / runs : in.test == Test::ranks ? 4e6 / pairs : 1e6;
  return static_cast<std::int64_t>(std::max(50.0, most));
}

/// False where it was cancelled before the first experiment.
bool state_trials(const Inputs& in, const Times& a, const Times& b, Progress& progress, Run& run, Outputs& out) {
  models::measure::Trials trials{.bench = bench_of(in),
                                 .method = method_of(in),
                                 .repeats = in.repeats,
                                 .look_every = in.look_every,
                                 .seed = seed_of(in)};
  trials.method.resamples = 100;
  trials.method_repeats = method_repeats(in, a.size(), b.size());
  if (in.source != Source::drawn) {
    trials.a = a;
    trials.b = b;
  }
  std::vector<double> gains{in.gain / 100};
  constexpr std::size_t power_points = 7;
  // Where a t test would show none, other methods may: up to a half.
  const double widest = std::isnan(out.smallest) ? 0.5 : std::min(0.9, 2 * out.smallest / 100);
  if (!progress.facts_alone)
    for (std::size_t i = 0; i < power_points; ++i)
      gains.push_back(widest * static_cast<double>(i) / (power_points - 1));
  run.trials = models::measure::run_trials(trials, gains, [&](double share) {
    progress.fraction = share;
    return !progress.cancelled.load();
  });
  const auto& t = run.trials;
  if (t.repeats == 0) return false;
  const auto made = static_cast<double>(t.repeats), asked = static_cast<double>(t.method_repeats);
  out.trials = t.repeats;
  out.power_simulated = 100 * t.faster[0];
  out.power_error = ShareRange(t.faster[0], asked).reach(t.faster[0]);
  out.alarm_simulated = 100 * t.false_alarm;
  out.peeking = 100 * t.peeking;
  out.split = 100 * t.split;
  out.fair_limit = 100 * t.fair_limit;
  out.alarm_error = ShareRange(t.peeking, made).reach(t.peeking);
  out.one_look = t.single_by.empty() ? 0 : 100 * t.single_by.back();
  out.looks = static_cast<std::int64_t>(t.looks.size());
  out.independent_looks = 100 * (1 - std::pow(1 - alpha, static_cast<double>(t.looks.size())));
  const Prospect p = prospect(in, run, a, b, in.paired);
  for (std::size_t i = 1; i < gains.size(); ++i) {
    const ShareRange range(t.faster[i], asked);
    run.power.push_back({.gain = 100 * gains[i],
                         .computed = 100 * models::measure::chance_of_faster(p, gains[i], alpha),
                         .simulated = 100 * t.faster[i],
                         .lo = range.lo,
                         .hi = range.hi});
  }
  return true;
}

constexpr std::array<std::string_view, 6> method_names{"Welch's t",       "t of pairs",     "Mann-Whitney",
                                                       "Wilcoxon, pairs", "bootstrap mean", "bootstrap, pairs"};

void list_methods(const Inputs& in, const Times& a, const Times& b, Outputs& out) {
  for (std::size_t i = 0; i < method_names.size(); ++i) {
    Method m = method_of(in);
    m.test = static_cast<Test>(i / 2);
    m.statistic = Statistic::mean;
    m.paired = i % 2 == 1;
    const Reading r = read_runs(m, a, b, reading_stream(in));
    out.methods.push_back({std::string(method_names[i]), r.percent(r.of.difference), r.percent(r.of.lo),
                           r.percent(r.of.hi), r.of.p, std::string(verdict_words(verdict_of(r)))});
  }
}

constexpr std::array<std::string_view, models::measure::order_count> order_names{"BBBB AAAA", "AAAA BBBB", "AB AB",
                                                                                 "AB BA", "a coin for each pair"};

void list_orders(const Inputs& in, Outputs& out) {
  Bench bench = bench_of(in);
  for (std::size_t i = 0; i < order_names.size(); ++i) {
    bench.order = static_cast<Order>(i);
    const auto slots = models::measure::slots_of(bench, seed_of(in));
    const Prospect p = models::measure::prospect_of(bench, slots, in.paired);
    out.orders.push_back({std::string(order_names[i]), 100 * models::measure::expected_gain(bench, slots).of_equals,
                          100 * models::measure::chance_of_false_alarm(p, alpha), shown_gain(p)});
  }
}

/// What the method says after the first pairs, at no more than forty places.
void follow_interval(const Inputs& in, const Times& a, const Times& b, Run& run) {
  Method m = method_of(in);
  m.resamples = 400;
  const std::size_t pairs = run.kept.pairs();
  const double scale = read_runs(m, a, b, reading_stream(in)).scale;
  for (std::size_t i = 0; i < pairs; ++i) run.pair_gains.push_back(100 * (a[i] - b[i]) / scale);
  const std::size_t every = std::max<std::size_t>(1, pairs / 40);
  for (std::size_t n = 3; n <= pairs; n = n < pairs && n + every > pairs ? pairs : n + every) {
    const Reading r = n == pairs ? read_runs(method_of(in), a, b, reading_stream(in))
                                 : read_runs(m, std::span(a).first(n), std::span(b).first(n), reading_stream(in));
    run.funnel.push_back({.pairs = static_cast<std::int64_t>(n),
                          .found = r.percent(r.of.difference),
                          .lo = r.percent(r.of.lo),
                          .hi = r.percent(r.of.hi)});
  }
}

}  // namespace

Bench bench_of(const Inputs& in) {
  return {.gain = in.gain / 100,
          .noise = in.noise / 100,
          .correlation = in.correlation,
          .drift = in.drift / 100,
          .heat_runs = in.heat_runs,
          .cold = in.cold / 100,
          .outlier_share = in.outlier_share / 100,
          .outlier = in.outlier / 100,
          .tick = in.tick_s / Bench{}.base_s,
          .runs = in.runs,
          .discard = in.discard,
          .order = in.order};
}

Method method_of(const Inputs& in) {
  return {.test = in.test, .paired = in.paired, .statistic = in.statistic, .resamples = 1000, .alpha = alpha};
}

Computed compute(const Inputs& in, Progress& progress) {
  auto run = std::make_shared<Run>();
  if (std::string why = take_runs(in, *run); !why.empty()) return infeasible<Computed>(std::move(why));
  const Times a = picked(*run, run->kept.a), b = picked(*run, run->kept.b);
  Outputs out;
  state_runs(in, *run, a, b, out);
  state_prospects(in, *run, a, b, out);
  if (!state_trials(in, a, b, progress, *run, out))
    return infeasible<Computed>("The experiments were stopped before the first one was made.");
  list_methods(in, a, b, out);
  if (in.source == Source::drawn) list_orders(in, out);
  out.next = in.source == Source::machine ? next_of(in) : "nothing";
  if (!progress.facts_alone) follow_interval(in, a, b, *run);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::profiling::measure
