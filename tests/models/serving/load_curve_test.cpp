#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/serving/arrivals/queueing.h"
#include "models/serving/fleet/load_ladder.h"
#include "models/serving/fleet/load_run.h"
#include "models/serving/fleet/plain_fleet.h"
#include "models/serving/prefix/serving_sessions.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

/// Requests of a plain queue with exponential services of 0.1 s.
std::vector<ServingRequest> tenths(std::int64_t requests, double rate_per_s, std::uint64_t seed = 3) {
  return make_requests(
      {.requests = requests, .rate_per_s = rate_per_s, .seed = seed, .service_s = 0.1, .lengths = false});
}

LoadRun plain_run(std::int64_t measured, double rate_per_s, PlainFleetSetup setup) {
  const std::vector<ServingRequest> requests = tenths(measured + measured / 5, rate_per_s);
  const ServingWindow window =
      window_of(requests, static_cast<std::size_t>(measured / 10), static_cast<std::size_t>(measured));
  setup.measure_from_s = window.from_s;
  setup.measure_until_s = window.until_s;
  return condense_run(requests, simulate_plain_fleet(requests, setup), {.servers = setup.replicas * setup.servers},
                      window, rate_per_s, static_cast<double>(setup.servers));
}

}  // namespace

// M/M/1: the time in the system is exponential with rate mu - lambda, so that 90 % are within a second up to
// lambda = mu - ln 10.
TEST_CASE("load curve: the knee of M/M/1 is where the closed form has it") {
  const LoadLadder ladder = load_ladder(10);
  const LoadSearch found = highest_load(ladder, [&](std::int64_t steps) -> std::optional<bool> {
    const LoadFigures f = figures_under(plain_run(60'000, ladder.rate(steps), {}), {.ttft_s = 1});
    return !f.overloaded && f.in_time >= 0.9;
  });
  REQUIRE(found.highest);
  CHECK(near(ladder.rate(*found.highest), 10 - std::log(10.0), 0.01));
  CHECK_FALSE(found.open);
}

TEST_CASE("load curve: shares under limits follow M/M/1, and a queue that grows is said") {
  const LoadRun run = plain_run(60'000, 8, {});
  const LoadFigures f = figures_under(run, {.ttft_s = 1});
  CHECK(near(f.in_time, 1 - std::exp(-2.0), 0.02));
  CHECK(near(f.in_time + f.late + f.slow + f.sent_away, 1, 1e-12));
  CHECK(near(f.goodput_per_s, f.in_time * f.throughput_per_s, 1e-12));
  CHECK(std::abs(f.goodput_per_s - 8 * (1 - std::exp(-2.0))) < 2 * f.goodput_half_per_s);
  CHECK_FALSE(f.overloaded);
  const LoadFigures grows = figures_under(plain_run(5'000, 12, {}), {.ttft_s = 1});
  CHECK(grows.overloaded);
  CHECK(std::isnan(grows.goodput_half_per_s));
  CHECK(near(grows.throughput_per_s, 10, 0.03));
  CHECK(grows.goodput_per_s < 0.1 * f.goodput_per_s);
}

// What a queue is worth: Mitzenmacher 2001, and Erlang C for one line in front of all servers.
TEST_CASE("load curve: two choices win most of what the shortest queue wins, and one line wins more than any router") {
  const auto wait_s = [](std::int64_t replicas, std::int64_t servers, FleetRouter router) {
    return plain_run(40'000, 72, {.replicas = replicas, .servers = servers, .router = router}).figures.mean_wait_s;
  };
  const double turns = wait_s(8, 1, FleetRouter::round_robin), two = wait_s(8, 1, FleetRouter::two_choices),
               fewest = wait_s(8, 1, FleetRouter::least_requests), line = wait_s(1, 8, FleetRouter::round_robin);
  CHECK(turns > 2 * two);
  CHECK(two > fewest);
  CHECK(fewest > line);
  CHECK(near(line, mmc_wait_s(8, 72, 0.1).value_or(0), 0.12));
}

// M/M/1/K: with at most K - 1 in the queue, (1 - r) r^K / (1 - r^(K + 1)) of the arrivals are refused.
TEST_CASE("load curve: a shortest queue at the door refuses what M/M/1/K says") {
  const LoadRun run = plain_run(60'000, 12, {.longest_queue = 4});
  const double r = 1.2, refused = (1 - r) * std::pow(r, 5) / (1 - std::pow(r, 6));
  const LoadFigures f = figures_under(run, {.ttft_s = 1});
  CHECK(near(f.sent_away, refused, 0.03));
  CHECK(near(f.throughput_per_s, 12 * (1 - refused), 0.02));
  CHECK_FALSE(f.overloaded);
  // Who gives up instead of waiting longer than 0.3 s leaves nobody behind who did.
  const LoadRun given_up = plain_run(5'000, 12, {.drop_after_s = 0.3});
  for (const RequestFate& fate : given_up.fates)
    if (!fate.sent_away) CHECK(fate.start_s - fate.arrival_s <= 0.3 + 1e-9);
  CHECK(given_up.counts.dropped > 500);
}

TEST_CASE("load curve: one plain queue is the engine's own, and a condensed run has its goodput") {
  const std::vector<ServingRequest> requests = tenths(3'000, 15);
  const ServingSetup setup{.policy = ServingPolicy::single, .servers = 2};
  const ServingRun engine = simulate_serving(requests, setup);
  FleetRun run = simulate_plain_fleet(requests, {.servers = 2});
  for (std::size_t i = 0; i < requests.size(); ++i) REQUIRE(run.served[i].finish_s == engine.served[i].finish_s);
  CHECK(near(run.in_system_s, engine.in_system_s, 1e-9));
  CHECK(near(run.busy_s, engine.busy_s, 1e-9));
  const ServingWindow window = window_of(requests, 300, 2'400);
  const double summed = summarize_serving(requests, engine, setup, 0.2, 1, window).goodput_per_s;
  CHECK(near(figures_under(condense_run(requests, run, setup, window, 15, 2), {.ttft_s = 0.2}).goodput_per_s, summed,
             1e-12));
}

TEST_CASE("load curve: the search ends at the last load that keeps the promise, also where none or all do") {
  const LoadLadder ladder = load_ladder(100);
  CHECK(ladder.step_per_s == 0.5);
  CHECK(ladder.rate(ladder.rungs.back()) == 130);
  const auto below = [&](double rate) {
    return highest_load(
        ladder, [&ladder, rate](std::int64_t steps) -> std::optional<bool> { return ladder.rate(steps) <= rate; });
  };
  for (const double rate : {0.5, 3.0, 77.5, 92.0, 130.0, 200.0}) {
    const LoadSearch found = below(rate);
    REQUIRE(found.highest);
    CHECK(ladder.rate(*found.highest) == rate);
    CHECK(found.asked < 40);
  }
  CHECK_FALSE(below(0.4).highest);
  CHECK(below(1e9).open);
  const LoadSearch stopped = highest_load(ladder, [](std::int64_t) -> std::optional<bool> { return {}; });
  CHECK(stopped.stopped);
  CHECK(stopped.asked == 1);
  CHECK(load_ladder(0).rungs.empty());
  // Half of 200 that leave one a second, between the fifth and the four fifths.
  std::vector<double> leave_s;
  for (int i = 0; i < 200; ++i) leave_s.push_back(i < 20 ? 0.0 : static_cast<double>(i));
  CHECK(near(saturated_rate(leave_s), 1, 1e-12));
  CHECK(near(saturated_rate({4, 1, 2}), 0.75, 1e-12));
  CHECK(saturated_rate({}) == 0);
}

// The figures were written down before waves were added.
TEST_CASE("load curve: waves leave streams without them as they were, and swing the rate of others") {
  RequestStream stream{.requests = 20'000, .rate_per_s = 7.5, .seed = 42, .lengths = false};
  CHECK(near(make_requests(stream)[19'999].arrival_s, 0x1.4bf9b01c1f8fap+11, 1e-14));
  stream.bursty = true;
  CHECK(near(make_requests(stream)[19'999].arrival_s, 0x1.2d8b58cb021afp+11, 1e-14));
  stream.bursty = false;
  stream.wave = 0.8;
  stream.wave_s = 100;
  const std::vector<ServingRequest> requests = make_requests(stream);
  double low = 0, high = 0, before_s = 0;
  for (const ServingRequest& r : requests) {
    CHECK(r.arrival_s >= before_s);
    before_s = r.arrival_s;
    if (r.arrival_s >= 2600) continue;  // the last wave is not whole
    const double phase = std::fmod(r.arrival_s, 100.0);
    low += phase < 10 || phase >= 90;
    high += phase >= 40 && phase < 60;
  }
  // The mean of 1 -+ 0.8 cos over a fifth of a turn around its ends.
  const double part = 0.8 * std::sin(0.2 * 3.14159265358979) / (0.2 * 3.14159265358979);
  CHECK(near(high / low, (1 + part) / (1 - part), 0.1));
  CHECK(near(20'000 / requests.back().arrival_s, 7.5, 0.03));
}

TEST_CASE("load curve: a window of waves is whole waves, where one lies inside") {
  const std::vector<ServingRequest> requests =
      make_requests({.requests = 9'460, .rate_per_s = 10, .wave = 0.5, .wave_s = 100, .lengths = false});
  const ServingWindow window = load_window(requests, 100);
  CHECK(near(window.from_s, 300, 0.01));
  CHECK(near(window.until_s, 800, 0.01));
  CHECK(load_window(requests).first == 2'200);
  CHECK(load_window(requests).count == 6'600);
  CHECK(load_window(requests, 1e4).first == 2'200);
}

TEST_CASE("load curve: turns of a conversation repeat all that was said") {
  std::vector<ServingRequest> requests =
      make_requests({.requests = 4'000, .rate_per_s = 5, .prompt_tokens = 100, .output_tokens = 50});
  const std::vector<ServingRequest> alone = requests;
  CHECK(draw_sessions(requests, {}).empty());
  CHECK(requests == alone);
  const std::vector<PromptPrefix> prefixes = draw_sessions(requests, {.turns = 4, .open = 20});
  REQUIRE(prefixes.size() == requests.size());
  std::vector<std::int64_t> said(prefixes.size() + 100, 0);
  std::int32_t sessions = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto& before = said[static_cast<std::size_t>(prefixes[i].session)];
    REQUIRE(prefixes[i].tokens == before);
    REQUIRE(requests[i].prompt_tokens == alone[i].prompt_tokens + before);
    before = std::int64_t{requests[i].prompt_tokens} + requests[i].output_tokens;
    sessions = std::max(sessions, prefixes[i].session + 1);
  }
  CHECK(near(4'000.0 / sessions, 4, 0.1));
}
