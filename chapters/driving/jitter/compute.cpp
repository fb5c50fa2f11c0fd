#include <limits>

#include "chapters/driving/jitter/lab.h"

namespace chapters::driving::jitter {
namespace {

constexpr double max_tail_ratio = 1.2;

models::JitterInputs jitter_of(const Inputs& in) {
  return {
      .base_s = in.base_s,
      .shape = in.frame_shape,
      .spread = in.spread / 100,
      .rate_hz = in.rate_hz,
      .frames = in.frames,
      .seed = in.seed,
      .sources = in.sources,
      .policy = in.policy,
      .watchdog = in.watchdog / 100,
      .small_share = in.small_share / 100,
      .recover_frames = in.recover_frames,
  };
}

/// Mean work of a frame of this run whose network takes `share` of the full one's time.
double mean_work_s(const Inputs& in, const models::JitterRun& run, double share) {
  double work_s = in.base_s * models::mean_of(in.frame_shape) * share;
  for (std::size_t k = 0; k < run.hits.size(); ++k)
    work_s += run.hits[k].added_s / static_cast<double>(in.frames) *
              (in.sources[k].pattern == models::JitterPattern::state ? share : 1);
  return work_s;
}

/// Sets times to NaN. In a queue that never ends they say how long somebody watched, and nothing of the stack.
void forget_times(Outputs& out) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  models::JitterSummary& s = out.summary;
  for (double* x : {&s.mean_s, &s.p50_s, &s.p99_s, &s.p999_s, &s.worst_s, &out.tail_ratio, &out.slack_p99_s,
                    &out.extra_p99_m, &out.blind_worst_s, &out.blind_worst_m})
    *x = none;
  out.tail_held = false;
  out.biggest = "none";
  for (EffectRow& row : out.effects) {
    row.p99_saved_s = none;
    row.hits.p99_without_s = none;
  }
}

/// A row for each source; also names the one whose end lowers the P99 most.
void fill_effects(const Inputs& in, const models::JitterRun& run, Outputs& out) {
  double max_saved_s = 0;
  out.biggest = "none";
  for (std::size_t k = 0; k < run.hits.size(); ++k) {
    const models::JitterHits& h = run.hits[k];
    const double hits = static_cast<double>(h.hits);
    out.effects.push_back({
        .name = in.sources[k].name,
        .hits = h,
        .share = 100 * hits / static_cast<double>(in.frames),
        .mean_s = h.hits > 0 ? h.added_s / hits : 0,
        .p99_saved_s = out.summary.p99_s - h.p99_without_s,
    });
    const EffectRow& row = out.effects.back();
    if (!(row.p99_saved_s > max_saved_s)) continue;
    max_saved_s = row.p99_saved_s;
    out.biggest = row.name;
  }
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  auto run = models::run_jitter(jitter_of(in), [&](double fraction) {
    progress.fraction = fraction;
    return !progress.cancelled.load();
  });
  if (!run) return {{.reason = run.error}};
  if (run->cancelled) return {{.reason = "The run was stopped before its end."}};
  Outputs out;
  models::JitterDistribution distribution = models::summarize(*run);
  out.summary = distribution;
  if (out.summary.answered == 0)
    return {{.reason = "No frame was answered: choose another policy or a shorter frame."}};
  out.totals = *run;
  const double period_s = 1 / in.rate_hz;
  out.deadline_s = period_s;
  out.slack_p99_s = out.deadline_s - out.summary.p99_s;
  out.tail_ratio = out.summary.p99_s / out.summary.p50_s;
  out.tail_held = out.tail_ratio <= max_tail_ratio;
  out.misses = run->misses();
  const double frames = static_cast<double>(in.frames), share = static_cast<double>(out.misses) / frames;
  out.miss_rate = 100 * share;
  out.misses_per_hour = share * in.rate_hz * 3600;
  out.small_rate = 100 * static_cast<double>(run->small) / frames;
  out.blind_worst_s = static_cast<double>(run->longest_missed_run) * period_s;
  out.blind_from_s = static_cast<double>(run->longest_missed_first) * period_s;
  out.blind_worst_m = in.speed_m_per_s * out.blind_worst_s;
  out.blind_per_hour_m = in.speed_m_per_s * out.misses_per_hour * period_s;
  out.frame_m = in.speed_m_per_s * period_s;
  out.extra_p99_m = in.speed_m_per_s * (out.summary.p99_s - out.summary.p50_s);
  fill_effects(in, *run, out);
  const bool waits = in.policy == models::JitterPolicy::wait, small = in.policy == models::JitterPolicy::small;
  // The smaller model is what an overloaded stack stays on.
  const double full_s = mean_work_s(in, *run, 1),
               least_s = small ? mean_work_s(in, *run, in.small_share / 100) : full_s,
               on_small = static_cast<double>(run->small) / frames;
  out.needs_s = on_small * least_s + (1 - on_small) * full_s;
  out.overloaded = (waits || small) && least_s > period_s * (1 + 1e-9);
  if (out.overloaded) forget_times(out);
  return {std::move(out), std::make_shared<const Run>(Run{std::move(*run), std::move(distribution)})};
}

}  // namespace chapters::driving::jitter
