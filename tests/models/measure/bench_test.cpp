#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "models/measure/bench_power.h"
#include "models/measure/bench_runs.h"
#include "tests/support/base/near.h"

using namespace models::measure;
using support::near;

namespace {

/// No drift, no cold start, independent noise of 2 %.
Bench steady_bench(Order order = Order::random) {
  return {.noise = 0.02, .correlation = 0, .drift = 0, .cold = 0, .runs = 40, .discard = 0, .order = order};
}

TrialCounts trials_of(const Bench& bench, bool paired, std::int64_t repeats, std::int64_t every = 1) {
  const Trials trials{.bench = bench, .method = {.paired = paired}, .repeats = repeats, .look_every = every, .seed = 3};
  const std::array<double, 1> gains{bench.gain};
  return run_trials(trials, gains, [](double) { return true; });
}

/// Within four standard errors of a share of so many trials.
bool agrees(double share, double expected, std::int64_t trials) {
  const double error = std::sqrt(std::max(expected * (1 - expected), 1e-4) / static_cast<double>(trials));
  return std::abs(share - expected) <= 4 * error;
}

}  // namespace

TEST_CASE("measure: an order says who runs when, and every version its own first runs away", "[measure]") {
  const auto order_of = [](Order order) {
    std::string text;
    Bench bench = steady_bench(order);
    bench.runs = 8;
    for (const Slot& s : slots_of(bench, 1)) text += s.is_b ? 'B' : 'A';
    return text;
  };
  CHECK(order_of(Order::new_first) == "BBBBAAAA");
  CHECK(order_of(Order::old_first) == "AAAABBBB");
  CHECK(order_of(Order::alternate) == "ABABABAB");
  CHECK(order_of(Order::mirrored) == "ABBAABBA");
  const std::string coins = order_of(Order::random);
  for (std::size_t i = 0; i < coins.size(); i += 2) CHECK(coins[i] != coins[i + 1]);
  Bench bench = steady_bench(Order::alternate);
  bench.discard = 3;
  const KeptRuns kept = kept_of(slots_of(bench, 1));
  CHECK(kept.pairs() == 17);
  CHECK(kept.a.front() == 6);
  CHECK(kept.b.front() == 7);
}

TEST_CASE("measure: the order of runs alone makes a gain of equals, and turns take it away", "[measure]") {
  Bench bench{.noise = 0.01, .drift = 0.08, .heat_runs = 22, .cold = 0.3, .runs = 40, .discard = 2};
  const auto bias = [&](Order order) {
    bench.order = order;
    return expected_gain(bench, slots_of(bench, 1)).of_equals;
  };
  // Worked out by hand from the factors of runs 2 to 19 and 22 to 39.
  CHECK(near(bias(Order::new_first), 0.028777, 1e-4));
  CHECK(bias(Order::old_first) < -0.02);
  CHECK(std::abs(bias(Order::alternate)) < 0.003);
  CHECK(std::abs(bias(Order::mirrored)) < 0.0005);
  // Without noise the estimate is that bias.
  bench.noise = 1e-9;
  bench.order = Order::new_first;
  const auto slots = slots_of(bench, 1);
  const auto times = times_of(bench, slots, 9);
  const KeptRuns kept = kept_of(slots);
  double a = 0, b = 0;
  for (const std::size_t k : kept.a) a += times[k];
  for (const std::size_t k : kept.b) b += times[k];
  CHECK(near(1 - b / a, 0.028777, 1e-4));
  bench.gain = 0.1;
  CHECK(near(expected_gain(bench, slots).of_these, 1 - 0.9 * (1 - 0.0287774), 1e-5));
}

// 2 (2.02 + 0.85)^2 and the rule of sixteen (Lehr, 1992): 16 (2 / 1)^2 = 64 runs of each version. What B saves its
// noise saves too: with q = 1 - gain the difference spreads by sqrt((1 + q^2) / 2) of what it does with equal noise, so
// that the 3.013 % and 0.998 % of equal noise are 3.013 x 0.985 and 0.998 x 0.995.
TEST_CASE("measure: the smallest gain falls with the root of the runs, and sixteen is the rule", "[measure]") {
  Bench bench = steady_bench();
  const auto smallest = [&](std::int64_t runs) {
    bench.runs = runs;
    return smallest_gain(prospect_of(bench, slots_of(bench, 1), false), 0.05, 0.8);
  };
  CHECK(near(smallest(16), 0.030133 * std::sqrt((1 + 0.9703 * 0.9703) / 2), 1e-3));
  CHECK(near(smallest(128), 0.009981 * std::sqrt((1 + 0.99 * 0.99) / 2), 1e-3));
  CHECK(near(smallest(400) / smallest(100), 0.5, 0.02));
  bench.gain = 0.01;
  CHECK(runs_needed(bench, false, 0.05, 0.8) == 128);
  CHECK(rule_of_sixteen(run_spread(bench), bench.gain) == 64);
  CHECK(rule_of_sixteen(0.02, 0.015) == 29);  // 28.4, and there are no parts of runs
  CHECK(rule_of_sixteen(0.02, 0.1) == 1);
  bench.gain = 1e-5;
  CHECK(runs_needed(bench, false, 0.05, 0.8) == 0);
}

TEST_CASE("measure: computed and simulated chances agree within standard errors", "[measure]") {
  constexpr std::int64_t repeats = 400;
  const auto check = [&](const Bench& bench, bool paired) {
    const Prospect p = prospect_of(bench, slots_of(bench, 3), paired);
    const TrialCounts t = trials_of(bench, paired, repeats);
    CHECK(t.repeats == repeats);
    CHECK(agrees(t.faster[0], chance_of_faster(p, bench.gain, 0.05), repeats));
    CHECK(agrees(t.false_alarm, chance_of_false_alarm(p, 0.05), repeats));
  };
  for (const bool paired : {true, false}) {
    Bench bench = steady_bench();
    bench.gain = 0.02;
    check(bench, paired);
  }
  // Neighbours share noise: pairs in turns see more than their t test thinks, blocks call equals different.
  Bench turns = steady_bench(Order::alternate);
  turns.correlation = 0.6;
  turns.gain = 0.01;
  check(turns, true);
  Bench blocks = steady_bench(Order::old_first);
  blocks.correlation = 0.5;
  blocks.gain = 0.02;
  check(blocks, false);
  CHECK(chance_of_false_alarm(prospect_of(blocks, slots_of(blocks, 3), false), 0.05) > 0.2);
}

// Cold starts that are kept are the same in every experiment, so that the standard error hardly varies; interruptions
// make all times longer, and the gain is a share of that.
TEST_CASE("measure: computed and simulated chances agree with cold starts kept and with interruptions", "[measure]") {
  constexpr std::int64_t repeats = 400;
  Bench cold{.noise = 0.02, .correlation = 0.3, .drift = 0, .cold = 0.6, .runs = 40, .discard = 0};
  Bench cut = steady_bench();
  cut.runs = 400;
  cut.outlier_share = 0.3;
  cut.outlier = 2;
  for (Bench bench : {cold, cut}) {
    const Prospect p = prospect_of(bench, slots_of(bench, 3), false);
    bench.gain = smallest_gain(p, 0.05, 0.8);
    CHECK(agrees(trials_of(bench, false, repeats).faster[0], 0.8, repeats));
  }
  // Mean square of an exponential: 2 x 2^2 in 0.3 of the runs, less the square of the mean 0.6; runs take 1.6 on
  // average.
  CHECK(near(run_spread(cut), std::sqrt(0.02 * 0.02 + 0.3 * 8 - 0.36) / 1.6, 1e-9));
}

TEST_CASE("measure: a clock that counts in steps is right on average, and spreads as it is computed", "[measure]") {
  // Runs of 10.3 steps without noise: 10 or 11, with a variance of 0.3 x 0.7 steps.
  Bench bench = steady_bench();
  bench.noise = 1e-9;
  bench.tick = 1 / 10.3;
  CHECK(near(clock_variance(bench, 1), 0.21 / (10.3 * 10.3), 0.02));
  // Noise of many steps: a sixth of a step squared.
  bench.noise = 0.2;
  CHECK(near(clock_variance(bench, 1), 1.0 / 6 / (10.3 * 10.3), 1e-6));
  double sum = 0, squares = 0;
  constexpr int runs = 20'000;
  for (int k = 0; k < runs; ++k) {
    const double shown = on_the_clock(10.3, 1, clock_phase(5, static_cast<std::size_t>(k)));
    sum += shown;
    squares += shown * shown;
  }
  const double mean = sum / runs;
  CHECK(std::abs(mean - 10.3) < 0.015);
  CHECK(near(squares / runs - mean * mean, 0.21, 0.03));
  // What a budget sees through it, computed and simulated.
  bench.noise = 0.01;
  bench.tick = 0.1;
  bench.gain = 0.03;
  constexpr std::int64_t repeats = 400;
  const TrialCounts t = trials_of(bench, false, repeats);
  const Prospect p = prospect_of(bench, slots_of(bench, 3), false);
  CHECK(agrees(t.false_alarm, chance_of_false_alarm(p, 0.05), repeats));
  CHECK(smallest_gain(p, 0.05, 0.8) > 1.5 * 0.0089);  // without steps 0.9 %
}

// Armitage, McPherson and Rowe, 1969: 14.2 % with five equally spaced looks, 19.3 % with ten, for a known variance.
TEST_CASE("measure: looking five times at 5 % calls equals different in one of seven experiments", "[measure]") {
  Bench bench = steady_bench();
  bench.runs = 200;
  const TrialCounts t = trials_of(bench, true, 600, 20);
  CHECK(t.looks == std::vector<std::int64_t>{20, 40, 60, 80, 100});
  CHECK(agrees(t.peeking, 0.142, 600));
  CHECK(agrees(t.single_by.back(), 0.05, 600));
  CHECK(t.split <= t.peeking);
  CHECK(t.split < 0.09);  // at most 5 %, and four standard errors
  // Pocock 1977: 1.58 % at each of five looks. A twentieth of 600 experiments is 30, with a standard error of 5.3; the
  // chance of a call grows nearly as the limit does, so that three standard errors leave half to twice of it.
  CHECK((t.fair_limit > 0.0158 / 2 && t.fair_limit < 0.0158 * 2));
  const TrialCounts every = trials_of(bench, true, 200, 1);
  CHECK(every.fair_limit < t.fair_limit);
  CHECK(every.peeking > 0.2);
  CHECK(every.looks.size() == 96);
}

TEST_CASE("measure: experiments are the same for the same seed, and end when nobody waits", "[measure]") {
  const Bench bench = steady_bench();
  CHECK(trials_of(bench, true, 60).peeking_by == trials_of(bench, true, 60).peeking_by);
  const Trials trials{.bench = bench, .repeats = 60};
  const TrialCounts none = run_trials(trials, {}, [](double) { return false; });
  CHECK(none.repeats == 0);
}

TEST_CASE("measure: experiments on measured runs are drawn from them, made equal", "[measure]") {
  std::vector<double> a, b;
  for (int i = 0; i < 30; ++i) {
    a.push_back(1 + 0.01 * ((i * 7) % 13));
    b.push_back(2 + 0.02 * ((i * 5) % 11));
  }
  const Trials trials{.a = a, .b = b, .method = {.paired = false}, .repeats = 800, .look_every = 30};
  const std::array<double, 1> gains{0.2};
  const TrialCounts t = run_trials(trials, gains, [](double) { return true; });
  CHECK(t.faster[0] == 1);
  // Runs of a pair go against each other here (correlation -0.65), which Welch does not know: an independent simulation
  // of the same lists gives 12.7 %.
  CHECK(agrees(t.false_alarm, 0.127, 800));
  const Prospect p = prospect_of(a, b, false);
  CHECK(p.bias == 0);
  CHECK(p.real.at(1) == p.nominal.at(1));
}
