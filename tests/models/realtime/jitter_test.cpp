#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>

#include "models/realtime/jitter.h"
#include "models/realtime/jitter_summary.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

constexpr std::int64_t many = 400000;

JitterInputs calm(std::vector<JitterSource> sources) {
  return {
      .base_s = 10e-3,
      .spread = 0,
      .rate_hz = 5,
      .frames = many,
      .seed = 3,
      .sources = std::move(sources),
  };
}
JitterRun run_of(const JitterInputs& in) {
  const auto run = run_jitter(in);
  INFO(run.error);
  REQUIRE(run);
  return *run;
}
JitterSource source(JitterPattern pattern, double probability, std::int64_t every, JitterShape shape, double size_s) {
  return {"s", true, pattern, probability, every, shape, size_s};
}

}  // namespace

// Closed forms: exponential quantile -m ln(1 - q); uniform on [0, 2m]; Pareto with exponent 3: (2m/3) (1 - q)^(-1/3).
TEST_CASE("percentiles of a run agree with the closed form of its one source") {
  const auto added = [](JitterShape shape) {
    const auto s = summarize(run_of(calm({source(JitterPattern::random, 1, 1, shape, 4e-3)})));
    return std::array<double, 3>{s.p50_s - 10e-3, s.p99_s - 10e-3, s.p999_s - 10e-3};
  };
  const std::array<double, 3> q{0.5, 0.99, 0.999};
  const auto exponential = added(JitterShape::exponential), uniform = added(JitterShape::uniform),
             heavy = added(JitterShape::heavy);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(near(exponential[i], -4e-3 * std::log(1 - q[i]), 0.03));
    CHECK(near(uniform[i], 8e-3 * q[i], 0.01));
    CHECK(near(heavy[i], 4e-3 * 2 / 3 / std::cbrt(1 - q[i]), 0.06));
  }
  CHECK(near(added(JitterShape::constant)[0], 4e-3, 1e-5));
}

TEST_CASE("sources hit as often as they say: at random, periodically, and as a state") {
  const auto hits = [](const JitterSource& s) { return static_cast<double>(run_of(calm({s})).hits[0].hits) / many; };
  CHECK(near(hits(source(JitterPattern::random, 0.02, 1, JitterShape::constant, 1e-3)), 0.02, 0.05));
  CHECK(near(hits(source(JitterPattern::periodic, 0.5, 160, JitterShape::constant, 1e-3)), 1.0 / 160, 1e-9));
  CHECK(hits(source(JitterPattern::random, 1, 1, JitterShape::constant, 1e-3)) == 1);
  // On for 100 frames, off for 1 / 0.0025 = 400 on average: a fifth of the time.
  CHECK(near(hits(source(JitterPattern::state, 0.0025, 100, JitterShape::constant, 1e-3)), 0.2, 0.1));
}

TEST_CASE("the undisturbed frame is bell-shaped: its spread is the one set, and it is bounded") {
  JitterInputs in = calm({});
  in.spread = 0.1;
  const auto run = run_of(in);
  double sum = 0, squares = 0, least = 1, most = 0;
  for (const float x : run.response_s) {
    const double z = (static_cast<double>(x) - 10e-3) / 1e-3;
    sum += z;
    squares += z * z;
    least = std::min(least, z);
    most = std::max(most, z);
  }
  CHECK(std::abs(sum / many) <= 0.01);
  CHECK(near(squares / many, 1, 0.02));
  CHECK((most <= 3.47 && least >= -3.47));
}

// Constant times of 15 ms every 10 ms: after n frames n x 5 ms are left over (Lindley).
TEST_CASE(
    "an overloaded stack: waiting grows without end, skipping drops every second frame, reuse answers at the limit") {
  JitterInputs in{
      .base_s = 15e-3,
      .spread = 0,
      .rate_hz = 100,
      .frames = 1000,
  };
  const auto waits = run_of(in);
  CHECK(near(static_cast<double>(waits.response_s[999]), 15e-3 + 999 * 5e-3, 1e-4));
  CHECK(waits.late == 1000);
  CHECK(waits.longest_missed_run == 1000);
  in.policy = JitterPolicy::skip;
  const auto skips = run_of(in);
  CHECK(skips.skipped == 500);
  CHECK(skips.late == 500);
  CHECK(near(static_cast<double>(*std::max_element(skips.response_s.begin(), skips.response_s.end())), 15e-3, 1e-6));
  in.policy = JitterPolicy::reuse;
  in.watchdog = 0.9;
  const auto reuses = run_of(in);
  CHECK(reuses.reused == 1000);
  CHECK(near(static_cast<double>(reuses.response_s[999]), 9e-3, 1e-6));
  in.policy = JitterPolicy::small;
  in.small_share = 0.4;
  in.recover_frames = 9;
  // One frame of 15 ms, one of 6 that starts 5 ms late and warns again, nine more of 6: eleven frames, two of them
  // late, 91 times begun.
  const auto small = run_of(in);
  CHECK(small.small == 909);
  CHECK(small.late == 182);
  CHECK(near(static_cast<double>(small.response_s[1]), 11e-3, 1e-6));
}

TEST_CASE("the same seed is the same run, another is not, and switching one source off leaves the others' luck alone") {
  JitterInputs in = calm({source(JitterPattern::random, 0.1, 1, JitterShape::exponential, 1e-3),
                          source(JitterPattern::random, 0.1, 1, JitterShape::heavy, 2e-3)});
  in.frames = 60000;
  const auto a = run_of(in), b = run_of(in);
  CHECK(a.response_s == b.response_s);
  in.sources[1].on = false;
  const auto off = run_of(in);
  CHECK(off.hits[0].added_s == a.hits[0].added_s);
  CHECK(off.hits[1].hits == 0);
  auto without = off.response_s;
  CHECK(a.hits[1].p99_without_s == percentile_in_place(without, 0.99));
  in.sources[1].on = true;
  in.seed = 4;
  CHECK(run_of(in).response_s != a.response_s);
}

TEST_CASE("a state slows the network, so that the smaller one suffers less") {
  JitterInputs in{
      .base_s = 9e-3,
      .spread = 0,
      .rate_hz = 100,
      .frames = 100,
      .sources = {source(JitterPattern::state, 1, 1000000, JitterShape::constant, 4e-3)},
      .policy = JitterPolicy::small,
      .small_share = 0.5,
      .recover_frames = 1000,
  };
  const auto run = run_of(in);
  CHECK(near(static_cast<double>(run.response_s[0]), 13e-3, 1e-6));
  CHECK(near(static_cast<double>(run.response_s[99]), 6.5e-3, 1e-6));
}

TEST_CASE("a summary: nearest rank, shares that add up, and a tail that falls") {
  std::vector<float> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  CHECK(percentile_in_place(ten, 0.5) == 5);
  CHECK(percentile_in_place(ten, 0.9) == 9);
  CHECK(percentile_in_place(ten, 0.91) == 10);
  CHECK(percentile_in_place(ten, 0) == 1);
  JitterInputs in{.frames = 50000, .sources = example_sources()};
  const auto run = run_of(in);
  const auto s = summarize(run);
  double total = 0;
  for (const double share : s.bin_share) total += share;
  CHECK((total <= 100.0001 && total >= 99.89));  // all but what lies beyond P99.9
  CHECK(std::is_sorted(s.tail_s.begin(), s.tail_s.end()));
  CHECK(std::is_sorted(s.tail_share.rbegin(), s.tail_share.rend()));
  CHECK(s.tail_s.back() == s.worst_s);
  CHECK((s.best_s <= s.p50_s && s.p50_s <= s.p99_s && s.p99_s <= s.p999_s && s.p999_s <= s.worst_s));
  const auto e = envelope_of(run, 100);
  CHECK(e.frame.size() == 100);
  CHECK(*std::max_element(e.high_s.begin(), e.high_s.end()) == s.worst_s);
}

TEST_CASE("a run can be stopped, and refuses what makes no sense in one sentence") {
  JitterInputs in = calm({});
  CHECK(run_jitter(in, [](double fraction) { return fraction < 0.5; })->cancelled);
  in.rate_hz = 0;
  CHECK(run_jitter(in).error == "The camera's rate must be above 0, at most 1 MHz.");
  in.rate_hz = std::nan("");
  CHECK_FALSE(run_jitter(in));
  in = calm({source(JitterPattern::random, 0.5, 1, JitterShape::constant, -1)});
  CHECK(run_jitter(in).error == "'s' must add 0 to 3,600 s.");
}

// 460 ms at 5 Hz: the frame is late, and the next one waits 260 ms for it. Both are owed to the pause, though the
// second was not hit.
TEST_CASE("a miss is owed to what added most since the stack was last idle, or to the frames' own time") {
  const JitterRun run = run_of(calm({source(JitterPattern::random, 0.5, 1, JitterShape::constant, 1e-3),
                                     source(JitterPattern::periodic, 0, 1000, JitterShape::constant, 0.45)}));
  CHECK(run.misses() == 800);
  CHECK(run.hits[1].misses == 800);
  CHECK(run.hits[0].misses == 0);
  CHECK(run.own_misses == 0);
  for (std::size_t i = 0; i < run.fate.size(); ++i)
    if (run.cause[i] != (run.fate[i] == FrameFate::fresh ? no_jitter_cause : 1)) FAIL("frame " << i);
  JitterInputs slow = calm({source(JitterPattern::random, 0.5, 1, JitterShape::constant, 1e-3)});
  slow.base_s = 0.3;
  slow.frames = 1000;
  const JitterRun endless = run_of(slow);
  CHECK(endless.misses() == 1000);
  CHECK(endless.own_misses == 1000);
}

// NVIDIA's 3DSparseConvolution on Drive Orin, CenterPoint in FP16 over 6,019 frames: mean 19.7459 ms, deviation 6.0806,
// P50 20.039, P99 33.016, P99.9 36.596, P99 / P50 1.6476.
TEST_CASE("jitter: lidar frames have the quantiles that were measured on Orin, with nothing that disturbs them") {
  JitterInputs in = calm({});
  in.base_s = 20.039e-3;
  in.shape = FrameShape::lidar;
  const JitterRun run = run_of(in);
  const JitterDistribution s = summarize(run);
  CHECK(near(s.p50_s, 20.039e-3, 0.005));
  CHECK(near(s.p99_s, 33.016e-3, 0.005));
  CHECK(near(s.p999_s, 36.596e-3, 0.015));  // 400 frames lie beyond it: 0.4 % is a standard error
  CHECK(near(s.p99_s / s.p50_s, 1.6476, 0.01));
  CHECK(near(s.mean_s, 19.7459e-3, 0.01));
  CHECK(near(mean_of(FrameShape::lidar), 19.7459 / 20.039, 0.005));
  CHECK(near(lidar_frame_quantile(1), 39.785 / 20.039, 1e-12));
  CHECK(near(lidar_frame_quantile(0), 5.44 / 20.039, 1e-12));
}

TEST_CASE("jitter: the runs without each source change no frame of the run, and are left out where nobody asks") {
  JitterInputs in{.frames = 3000, .sources = example_sources()};
  const auto with = run_jitter(in);
  in.each_off = false;
  const auto without = run_jitter(in);
  REQUIRE((with && without));
  CHECK(with->response_s == without->response_s);
  CHECK(with->hits[1].p99_without_s < with->hits[2].p99_without_s);
  CHECK(without->hits[1].p99_without_s == without->hits[2].p99_without_s);
}

// A full frame of 30 ms of every 33.3 and a light one of 20: no queue. Of 42 and 32 ms where frames are dropped while
// the stack is busy, a full frame costs the next one, and a light one comes after it: two of three are run.
TEST_CASE("every second frame that is run takes less, whichever frames are dropped") {
  JitterInputs in{.base_s = 30e-3, .spread = 0, .rate_hz = 30, .frames = 300, .every_second_saves_s = 10e-3};
  const JitterRun all = run_of(in);
  for (std::size_t i = 0; i < all.response_s.size(); ++i)
    CHECK(near(all.response_s[i], i % 2 == 0 ? 30e-3 : 20e-3, 1e-6));
  in.base_s = 42e-3;
  in.policy = JitterPolicy::skip;
  const JitterRun dropped = run_of(in);
  CHECK(dropped.skipped == 100);
  for (std::size_t i = 0; i < dropped.response_s.size(); i += 3) {
    CHECK(near(dropped.response_s[i], 42e-3, 1e-6));
    CHECK(dropped.fate[i + 1] == FrameFate::skipped);
    CHECK(near(dropped.response_s[i + 2], 32e-3, 1e-6));
  }
  in.every_second_saves_s = 50e-3;
  CHECK_FALSE(run_jitter(in));
}
