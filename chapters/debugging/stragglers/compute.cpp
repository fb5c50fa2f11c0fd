#include <algorithm>
#include <cmath>
#include <string>

#include "chapters/debugging/stragglers/lab.h"
#include "models/trace/recorded/pipeline_jobs.h"
#include "models/training/slowest_rank.h"

namespace chapters::debugging::stragglers {
namespace {

using models::fleet::Fault, models::fleet::Rule;
using models::trace::RankBlame, models::trace::RecordedPipeline, models::trace::StragglerCause;

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }
double percent_of(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

const std::shared_ptr<const Pipeline>& recorded(RecordedPipeline which) {
  const auto make = [](RecordedPipeline one) {
    return *analysed(models::trace::recorded_pipeline(one), models::trace::recorded_usual_times(one));
  };
  // Constant data, made when first asked for.
  if (which == RecordedPipeline::lengths) {
    static const auto lengths = make(RecordedPipeline::lengths);
    return lengths;
  }
  static const auto stages = make(RecordedPipeline::stages);
  return stages;
}

/// The row of the rank that is moved; beyond the last means the last.
std::size_t moved_row(const Inputs& in, const models::trace::RankCalls& calls) {
  const auto at = std::find(calls.ranks.begin(), calls.ranks.end(), in.advance_rank);
  return at != calls.ranks.end() ? static_cast<std::size_t>(at - calls.ranks.begin()) : calls.ranks.size() - 1;
}

void state_ranks(const Inputs& in, Run& run, Outputs& out) {
  run.moved = moved_row(in, run.calls);
  run.calls = models::trace::with_rank_earlier(std::move(run.calls), run.moved,
                                               static_cast<std::int64_t>(std::llround(in.advance_s * 1e9)));
  auto blame = models::trace::rank_blame_of(run.calls);
  if (!blame) {
    out.reason = blame.error;
    return;
  }
  run.blame = std::move(*blame);
  const RankBlame& b = run.blame;
  const auto& ranks = run.calls.ranks;
  for (std::size_t r = 0; r < ranks.size() && r < 1024; ++r)
    out.rank_rows.push_back({ranks[r], seconds_of(run.calls.computing_ns[r]), seconds_of(b.waited_ns[r]),
                             seconds_of(b.caused_ns[r]), seconds_of(b.won_ns[r]), seconds_of(b.sooner_ns[r]),
                             b.times_last[r]});
  RankFigures& f = out.ranks;
  out.waits_s = seconds_of(b.total_ns);
  out.length_s = seconds_of(b.length_ns);
  f.collectives = static_cast<double>(run.calls.calls.size());
  const auto longest = static_cast<std::size_t>(b.computes_longest), waits = static_cast<std::size_t>(b.waits_longest);
  f.computes_longest_rank = static_cast<double>(ranks[longest]);
  f.computes_longest_s = seconds_of(run.calls.computing_ns[longest]);
  f.waits_longest_rank = static_cast<double>(ranks[waits]);
  f.waits_longest_s = seconds_of(b.waited_ns[waits]);
  out.slowdown = 1;
  if (b.culprit < 0) return;
  const auto c = static_cast<std::size_t>(b.culprit);
  out.culprit_rank = static_cast<double>(ranks[c]);
  out.blamed_s = seconds_of(b.caused_ns[c]);
  out.won_s = seconds_of(b.won_ns[c]);
  f.sooner_s = seconds_of(b.sooner_ns[c]);
  f.blamed_share = percent_of(out.blamed_s, out.waits_s);
  f.won_share = percent_of(out.won_s, out.blamed_s);
  f.times_last = static_cast<double>(b.times_last[c]);
  f.culprit_waited_s = seconds_of(b.waited_ns[c]);
  out.slowdown = out.length_s / std::max(1e-12, out.length_s - f.sooner_s);
}

std::string_view cause_words(StragglerCause cause) {
  switch (cause) {
    case StragglerCause::healthy:
      return "none";
    case StragglerCause::slow_workers:
      return "slow workers";
    case StragglerCause::stage_split:
      return "stage split";
    case StragglerCause::sequence_lengths:
      return "sequence lengths";
    case StragglerCause::other:
      break;
  }
  return "no single cause";
}

void state_pipeline(const Run& run, Outputs& out) {
  const auto& w = run.pipeline->what_if;
  const auto& job = run.pipeline->job;
  PipelineFigures& f = out.pipeline;
  out.slowdown = w.slowdown;
  out.length_s = w.step_s;
  out.cause = cause_words(w.cause);
  f.ideal_s = w.ideal_s;
  f.even_lengths_s = w.even_batches_s;
  f.even_stages_s = w.even_stages_s;
  f.worst_workers_share = 100 * w.worst_workers_share;
  f.last_stage_share = 100 * w.last_stage_share;
  f.length_correlation = w.length_correlation;
  f.workers = static_cast<double>(w.worker.size());
  f.steps = static_cast<double>(job.steps.size());
  const auto worst = std::max_element(w.worker.begin(), w.worker.end());
  if (w.cause == StragglerCause::slow_workers) out.culprit_rank = static_cast<double>(worst - w.worker.begin());
  switch (w.cause) {
    case StragglerCause::sequence_lengths:
      out.won_s = w.even_batches_s;
      break;
    case StragglerCause::stage_split:
      out.won_s = w.even_stages_s;
      break;
    case StragglerCause::slow_workers:
      out.won_s = w.worst_workers_share * (w.step_s - w.ideal_s);
      break;
    default:
      out.won_s = w.step_s - w.ideal_s;
  }
}

models::fleet::Detector detector_of(const Inputs& in) {
  return {in.rule, in.rule == Rule::ratio ? in.threshold / 100 : in.threshold, 3, 10};
}

models::fleet::Fleet fleet_of(const Inputs& in) {
  models::fleet::Fleet f;
  f.ranks = in.ranks;
  f.seed = in.seed;
  f.noise = {in.spread / 100, in.pause_share / 100, in.pause_size / 100};
  f.fault = in.fault;
  f.slower = in.slower / 100;
  return f;
}

constexpr double day_s = 86400, month_hours = 730;

void state_fleet(const Inputs& in, bool facts_alone, Run& run, Outputs& out) {
  namespace fleet = models::fleet;
  run.fleet = fleet_of(in);
  run.guilt = fleet::guilt_of(run.fleet);
  run.run = fleet::run_fleet(run.fleet);
  const fleet::Detector detector = detector_of(in);
  run.detection = fleet::detect(detector, run.fleet, run.run);
  FleetFigures& f = out.fleet;
  const double n = static_cast<double>(in.ranks);
  out.waits_s = run.run.waits * in.step_s;
  out.length_s = run.run.mean_step * in.step_s;
  f.healthy_step_s = run.run.healthy_step * in.step_s;
  out.slowdown = run.run.mean_step / run.run.healthy_step;
  f.added_share = 100 * (out.slowdown - 1);
  f.barrier_share = 100 * models::expected_slowest({models::SlownessKind::normal, in.spread / 100, 0}, in.ranks);
  // Somebody is last in each step of a healthy fleet too, and is not to blame.
  if (run.run.culprit >= 0 && run.guilt.ranks > 0) {
    out.culprit_rank = static_cast<double>(run.run.culprit);
    out.blamed_s = run.run.caused[static_cast<std::size_t>(run.run.culprit)] * in.step_s;
    out.won_s = run.run.late * (n - 1) * in.step_s;
  }
  f.guilty = static_cast<double>(run.guilt.ranks);
  if (run.guilt.ranks > 0) f.guilty_rank = static_cast<double>(run.guilt.first_rank);
  f.caught = static_cast<double>(run.detection.caught);
  f.missed = static_cast<double>(run.detection.missed);
  f.wrong = static_cast<double>(run.detection.wrong);
  if (run.detection.slow_steps > 0) f.delay_steps = static_cast<double>(run.detection.slow_steps);
  f.false_alarms_per_day = fleet::false_alarm_rate(detector, run.fleet.noise) * n * day_s / out.length_s;
  if (run.guilt.ranks > 0) {
    const fleet::DetectionPower power = fleet::detection_power(detector, run.fleet, 64);
    f.found_share = 100 * power.found;
    if (power.found > 0) f.mean_delay_steps = power.mean_slow_steps;
  }
  f.lost_hours = n * month_hours * (1 - 1 / out.slowdown);
  f.lost_dollars = f.lost_hours * in.price_per_hour;
  if (facts_alone) return;
  const bool ratio = in.rule == Rule::ratio;
  const bool sums = in.rule == Rule::cumulative;
  const double far = ratio ? 0.015 * in.slower : 1.5 * in.slower / in.spread;
  const double lo = ratio  ? 0.005
                    : sums ? 1
                           : 0.5,
               hi = ratio  ? std::clamp(far, 0.05, 0.4)
                    : sums ? 40
                           : std::clamp(far, 8.0, 40.0);
  constexpr int points = 41;
  for (int i = 0; i < points; ++i) {
    fleet::Detector at = detector;
    at.threshold = lo + (hi - lo) * i / (points - 1);
    run.thresholds.push_back(at.threshold);
    run.found_share.push_back(run.guilt.ranks > 0 ? 100 * fleet::detection_power(at, run.fleet, 64).found : absent);
  }
}

}  // namespace

Computed compute(const Inputs& in, Progress& progress) {
  Computed all;
  Outputs& out = all.facts;
  const auto run = std::make_shared<Run>();
  for (std::size_t i = 0; i < in.recordings.size(); ++i)
    if (in.recordings[i].file.path.empty())
      out.losses += std::string(out.losses.empty() ? "Row " : " Row ") + std::to_string(i + 1) +
                    " of the recordings has no file yet.";
  if (has_recordings(in)) {
    read_recordings(in, progress, *run, out);
    if (!out.reason.empty()) return all;
  } else if (in.source == Source::dlrm) {
    run->calls = models::trace::recorded_dlrm();
    run->shown = Shown::ranks;
  } else if (in.source == Source::fleet) {
    run->shown = Shown::fleet;
  } else {
    run->pipeline = recorded(in.source == Source::lengths ? RecordedPipeline::lengths : RecordedPipeline::stages);
    run->shown = Shown::pipeline;
  }
  if (run->shown == Shown::ranks) state_ranks(in, *run, out);
  if (run->shown == Shown::pipeline) state_pipeline(*run, out);
  if (run->shown == Shown::fleet) state_fleet(in, progress.facts_alone, *run, out);
  progress.fraction = 1;
  if (out.reason.empty()) all.run = run;
  return all;
}

}  // namespace chapters::debugging::stragglers
