#include "models/trace/replay/host_spans.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/training/step_simulation.h"
#include "tests/models/trace/written.h"

using namespace models;

namespace {

constexpr std::int64_t recorded_steps = 6;

/// The last steps of a simulated training that reads its loss every `sync_every` steps.
StepRun run_of(std::int64_t sync_every, double log_s) {
  StepSetup setup;
  setup.sync_every = sync_every;
  setup.log_s = log_s;
  auto run = simulate_steps(setup, {.steps = 4 + recorded_steps, .record_from = 4, .record_traces = true});
  INFO(run.error);
  REQUIRE(run);
  return std::move(*run);
}

const trace::HostSpanWin& span_named(const trace::HostSpanWins& wins, std::string_view name) {
  const auto at = std::find_if(wins.spans.begin(), wins.spans.end(), [&](const auto& s) { return s.name == name; });
  REQUIRE(at != wins.spans.end());
  return *at;
}

}  // namespace

TEST_CASE("a host's span wins what the step loses by it: the log, and next to nothing of the wait before it") {
  const StepRun run = run_of(1, 20e-3);
  const auto wins = trace::host_span_wins(run.traces.front(), 64);
  REQUIRE(wins);
  CHECK(wins->fit.explained > 0.95);
  const auto& log = span_named(*wins, "log_metrics");
  CHECK(log.count == recorded_steps);
  CHECK(std::abs(static_cast<double>(log.longest_ns) - 20e6) <= 1e3);
  // The simulator itself, run without the log, is faster by as much.
  const StepRun without = run_of(1, 0);
  double slower_ns = 0;
  for (std::size_t i = run.steps.size() - recorded_steps; i < run.steps.size(); ++i)
    slower_ns += static_cast<double>(run.steps[i].period_ns - without.steps[i].period_ns);
  INFO("won " << log.won_ns << ", simulated " << slower_ns);
  CHECK(slower_ns > 0);
  CHECK(std::abs(static_cast<double>(log.won_ns) - slower_ns) <= 0.01 * slower_ns);
  // Whoever waits for kernels waits as long for them elsewhere.
  const auto& item = span_named(*wins, "aten::item");
  CHECK(item.total_ns > log.total_ns);
  CHECK(std::is_sorted(wins->spans.begin(), wins->spans.end(),
                       [](const auto& a, const auto& b) { return a.won_ns > b.won_ns; }));
  for (const auto& s : wins->spans) CHECK(s.won_ns >= -1000);
}

TEST_CASE("what is asked of host spans without work on a device is refused with a sentence") {
  CHECK(trace::host_span_wins(trace::Trace{}).error == "No device did any work in this recording.");
}
