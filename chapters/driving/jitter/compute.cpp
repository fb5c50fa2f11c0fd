#include <algorithm>

#include "chapters/driving/jitter/lab.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::driving::jitter {
namespace {

using widgets::format_text;

void tell(Outputs& out) {
  out.verdict = "P50 " + format_text(out.p50_s, "s") + ", P99 " + format_text(out.p99_s, "s") + ": " +
                format_text(out.tail_ratio, "") + " times the median" +
                (out.tail_held ? ", within 1.2" : ", above 1.2") + "; due in " + format_text(out.deadline_s, "s");
  out.story = out.misses == 0 ? "No frame of this run missed its deadline."
                              : format_text(out.miss_rate, "%") + " of the frames have no fresh result in time, " +
                                    format_text(out.misses_per_hour, "") + " an hour; the longest run of them is " +
                                    format_text(out.blind_worst_s, "s") + ", in which the car travels " +
                                    format_text(out.blind_worst_m, "m") + ".";
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress) {
  Outputs out;
  models::JitterInputs m{
      .base_s = in.base_s,
      .spread = in.spread / 100,
      .rate_hz = in.rate_hz,
      .frames = in.frames,
      .seed = in.seed,
      .sources = {in.sources.begin(), in.sources.end()},
      .policy = in.policy,
      .watchdog = in.watchdog / 100,
      .small_share = in.small_share / 100,
      .recover_frames = in.recover_frames,
  };
  auto run = models::run_jitter(m, [&](double fraction) {
    progress.fraction = fraction;
    return !progress.cancelled.load();
  });
  if (!run || run->cancelled) {
    out.reason = run ? "The run was stopped before its end." : run.error;
    return out;
  }
  const auto s = std::make_shared<models::JitterSummary>(models::summarize(*run));
  if (s->answered == 0) {
    out.reason = "No frame was answered: choose another policy or a shorter frame.";
    return out;
  }
  out.mean_s = s->mean_s;
  out.p50_s = s->p50_s;
  out.p99_s = s->p99_s;
  out.p999_s = s->p999_s;
  out.worst_s = s->worst_s;
  out.period_s = out.deadline_s = 1 / in.rate_hz;
  out.length_s = static_cast<double>(in.frames) * out.period_s;
  out.slack_p99_s = out.deadline_s - out.p99_s;
  out.tail_ratio = out.p99_s / out.p50_s;
  out.tail_held = out.tail_ratio <= 1.2;
  out.misses = run->misses();
  out.late = run->late;
  out.reused = run->reused;
  out.skipped = run->skipped;
  out.small = run->small;
  out.longest_run = run->longest_missed_run;
  const double frames = static_cast<double>(in.frames), share = static_cast<double>(out.misses) / frames;
  out.miss_rate = 100 * share;
  out.misses_per_hour = share * in.rate_hz * 3600;
  out.small_rate = 100 * static_cast<double>(out.small) / frames;
  out.blind_worst_s = static_cast<double>(out.longest_run) * out.period_s;
  out.blind_from_s = static_cast<double>(run->longest_missed_first) * out.period_s;
  out.blind_worst_m = in.speed_m_per_s * out.blind_worst_s;
  out.blind_per_hour_m = in.speed_m_per_s * out.misses_per_hour * out.period_s;
  out.frame_m = in.speed_m_per_s * out.period_s;
  out.extra_p99_m = in.speed_m_per_s * (out.p99_s - out.p50_s);
  out.p99_study_s = run->p99_of_study_s;
  double most_s = 0;
  out.biggest = "none";
  for (std::size_t k = 0; k < run->hits.size(); ++k) {
    const auto& h = run->hits[k];
    const double hits = static_cast<double>(h.hits), saved_s = run->p99_of_study_s - h.p99_without_s;
    out.effects.push_back({in.sources[k].name, h.hits, 100 * hits / frames, h.hits > 0 ? h.added_s / hits : 0,
                           h.largest_s, h.p99_without_s, saved_s});
    if (saved_s > most_s) most_s = saved_s, out.biggest = in.sources[k].name;
  }
  tell(out);
  out.envelope = std::make_shared<models::JitterEnvelope>(models::envelope_of(*run, 1200));
  widgets::Fingerprint mark;
  for (const auto& e : out.effects) mark.add(e.name), mark.add(e.mean_s), mark.add(e.p99_saved_s);
  mark.add(out.mean_s), mark.add(out.worst_s), mark.add(static_cast<double>(out.misses));
  out.version = mark.value | 1;
  out.summary = s;
  out.run = std::make_shared<models::JitterRun>(std::move(*run));
  return out;
}

}  // namespace chapters::driving::jitter
