#include <algorithm>
#include <limits>
#include <utility>

#include "chapters/serving/slo/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::slo {
namespace {

using widgets::format_text;

/// Runs of one scenario, asked one after the other; a bar over them all.
class Loads {
 public:
  Loads(const Inputs& key, const Scenario& scenario, Progress& progress)
      : key_(key), scenario_(scenario), progress_(progress) {}
  /// Null: cancelled, or too long.
  std::shared_ptr<const models::LoadRun> at(double rate_per_s) {
    auto run = progress_.cancelled ? nullptr : run_at(key_, scenario_, rate_per_s, progress_);
    ++asked_;
    progress_.fraction = std::min(1.0, asked_ / (static_cast<double>(scenario_.ladder.rungs.size()) + 10));
    return run;
  }

 private:
  const Inputs& key_;
  const Scenario& scenario_;
  Progress& progress_;
  double asked_ = 0;
};

constexpr double slo_none = std::numeric_limits<double>::quiet_NaN();

/// Takes out what only says how long the run was.
void drop_grown(models::ServingSummary& s) {
  for (double* value : {&s.mean_wait_s, &s.mean_latency_s, &s.p50_latency_s, &s.p90_latency_s, &s.p99_latency_s,
                        &s.longest_latency_s, &s.ttft_p50_s, &s.ttft_p99_s, &s.mean_waiting, &s.mean_in_system,
                        &s.half.mean_wait_s, &s.half.ttft_p99_s, &s.half.ttft_p50_s, &s.half.p99_latency_s})
    *value = slo_none;
}

std::string slo_state(const Inputs& in, const Scenario& scenario, const models::LoadRun& run) {
  const models::ServingSummary& s = run.figures;
  if (s.overloaded) return "overloaded: the queue grows as long as they come, and waits say how long the run was";
  if (!scenario.recorded.empty() || static_cast<std::size_t>(s.requests) < 1000)
    return s.requests < 1000 ? "fewer than 1,000 requests: too few to tell whether a queue grows"
                             : "a recording, its times stretched to the load";
  if (s.filling) return "not settled: the batch still fills while it is measured";
  return in.arrivals == Arrivals::waves ? "waves: figures are means over the run" : "steady: as many leave as come";
}

/// Figures of the run at the load that is set.
void state_load(const Inputs& in, const Scenario& scenario, const models::LoadRun& run, Outputs& out) {
  const models::LoadFigures f = models::figures_under(run, limits_of(in));
  out.goodput_per_s = f.goodput_per_s;
  out.goodput_half_per_s = f.goodput_half_per_s;
  out.throughput_per_s = f.throughput_per_s;
  out.lost_per_s = f.throughput_per_s - f.goodput_per_s;
  out.arrivals_per_s = f.arrivals_per_s;
  out.in_time_percent = 100 * f.in_time;
  out.late_percent = 100 * f.late;
  out.slow_percent = 100 * f.slow;
  out.sent_away_percent = 100 * f.sent_away;
  out.figures = run.figures;
  out.figures.goodput_per_s = f.goodput_per_s;
  if (f.overloaded) drop_grown(out.figures);
  out.state = slo_state(in, scenario, run);
  out.measured = f.requests;
  out.run_s = run.fates.back().arrival_s;
  out.paid_replicas = run.replicas;
  out.most_replicas = run.most_replicas;
  out.busy_percent = 100 * run.busy_share;
  out.preemptions = run.counts.preemptions;
  out.queue_refused = run.queue_refused;
  out.dropped = run.counts.dropped;
  out.too_long = run.counts.refused;
  out.prompt_mean_tokens = run.prompt_mean;
  out.kept_tokens_percent =
      run.prompt_mean > 0 ? 100 * run.counts.kept_tokens / (run.prompt_mean * static_cast<double>(run.fates.size()))
                          : 0;
}

Computed<Outputs, Run> refuse(std::string reason) { return {{.reason = std::move(reason)}}; }

Computed<Outputs, Run> stopped(const Progress& progress) {
  if (progress.cancelled) return refuse("The run was stopped before its end.");
  return refuse(
      "A run takes more than 20 million scheduler events or 400 million steps of a sequence: ask for fewer requests.");
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Scenarios& scenarios) {
  const Inputs key = scenario_key(in);
  const auto scenario = scenarios.get(key, [&](const Inputs& wanted) { return make_scenario(wanted, progress); });
  if (!scenario) return stopped(progress);
  if (!scenario->refused.empty()) return refuse(scenario->refused);
  Loads loads(key, *scenario, progress);
  Run run{.scenario = scenario, .here = loads.at(in.arrival_rate)};
  if (!run.here) return stopped(progress);
  if (run.here->figures.requests == 0)
    return refuse("None of the requests that are measured is served: turn away fewer, or ask for shorter ones.");
  const models::LoadSearch knee =
      models::highest_load(scenario->ladder, [&](std::int64_t steps) -> std::optional<bool> {
        const auto at = loads.at(scenario->ladder.rate(steps));
        if (!at) return std::nullopt;
        const models::LoadFigures f = models::figures_under(*at, limits_of(in));
        return f.settled && f.in_time >= in.share;
      });
  if (knee.stopped) return stopped(progress);
  Outputs out;
  if (knee.highest) out.knee_rate_per_s = scenario->ladder.rate(*knee.highest);
  out.capacity_per_s = scenario->capacity_per_s;
  state_load(in, *scenario, *run.here, out);
  out.runs = 1 + knee.asked;
  out.failed = scenario->failed;
  out.file_rate_per_s = scenario->recorded_per_s;
  if (in.service != ServiceKind::llm)
    out.offered_load =
        100 * in.arrival_rate * mean_service_s(in, *scenario) / static_cast<double>(in.servers * in.replicas);
  if (knee.highest && !(in.service == ServiceKind::llm && in.scale_on != models::ScaleSignal::none))
    out.replicas_needed = std::ceil(in.arrival_rate / (out.knee_rate_per_s / static_cast<double>(in.replicas)) - 1e-9);
  if (progress.facts_alone) return {std::move(out)};
  for (const std::int64_t rung : scenario->ladder.rungs) {
    if (auto at = loads.at(scenario->ladder.rate(rung))) run.ladder.push_back(std::move(at));
    if (progress.cancelled) return stopped(progress);
  }
  const auto place = std::upper_bound(run.ladder.begin(), run.ladder.end(), run.here,
                                      [](const auto& a, const auto& b) { return a->rate_per_s < b->rate_per_s; });
  run.ladder.insert(place, run.here);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::serving::slo
