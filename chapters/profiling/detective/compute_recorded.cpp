#include <algorithm>

#include "chapters/profiling/detective/lab.h"

namespace chapters::profiling::detective {
namespace {

using models::trace::Cause, models::trace::Fix, models::trace::RecordedCase, models::trace::RecordedSuspect;

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

void state_line_up(const Inputs& in, const Run& run, Outputs& out) {
  const RecordedSuspect *longest = nullptr, *guiltiest = nullptr;
  for (const RecordedSuspect& s : run.real->line_up()) {
    SuspectRow row{.letter = std::string(1, static_cast<char>('A' + out.suspects.size())),
                   .name = suspect_name(s),
                   .longest_s = seconds_of(s.longest_ns),
                   .length_s = seconds_of(s.length_ns)};
    if (run.open) row.won_s = seconds_of(s.won_ns);
    row.verdict = !run.open ? "sealed" : s.guilty ? "guilty" : "innocent";
    out.suspects.push_back(std::move(row));
    if (!longest || s.longest_ns > longest->longest_ns) longest = &s;
    if (s.guilty && (!guiltiest || s.won_ns > guiltiest->won_ns)) guiltiest = &s;
  }
  const std::size_t count = run.suspects();
  const RecordedSuspect* const accused =
      in.accused > 0 && count > 0 ? &run.real->line_up()[std::min(static_cast<std::size_t>(in.accused), count) - 1]
                                  : nullptr;
  if (longest) out.longest_s = seconds_of(longest->longest_ns);
  if (accused) out.accused_s = seconds_of(accused->longest_ns);
  if (!run.open) return;
  if (longest) out.longest_won_s = seconds_of(longest->won_ns);
  if (guiltiest) out.culprit_s = seconds_of(guiltiest->length_ns);
  if (accused) out.accused_won_s = seconds_of(accused->won_ns);
}

void state_recorded_verdict(const Inputs& in, const Run& run, bool charged, Outputs& out) {
  const RecordedCase& real = *run.real;
  const Cause cause = run.real_facts->cause;
  out.planted = cause_id(cause);
  out.won_s = seconds_of(real.attainable_ns());
  out.won_percent = out.length_s > 0 ? 100 * out.won_s / out.length_s : 0;
  out.step_without_s = (out.length_s - out.won_s) / static_cast<double>(out.steps);
  out.replay_percent = 100 * real.fit().explained;
  if (cause != Cause::nothing) out.culprit_rank = run.real_facts->culprit;
  if (in.fix != Fix::nothing) out.fix_won_s = seconds_of(real.won_by(in.fix));
  if (!charged) return;
  const int said = static_cast<int>(in.charge);
  if (cause == Cause::nothing) {
    out.score = said == charge_healthy && in.accused == 0 && in.fix == Fix::nothing ? 3 : 0;
    return;
  }
  const bool guilty = in.accused > 0 && run.guilty(std::min(static_cast<std::size_t>(in.accused), run.suspects()) - 1);
  out.score = guilty + (said == static_cast<int>(cause)) +
              (in.fix != Fix::nothing && out.won_s > 0 && out.fix_won_s >= 0.8 * out.won_s);
}

}  // namespace

void play_recorded(const Inputs& in, Run& run, Outputs& out) {
  const std::size_t number = std::min(static_cast<std::size_t>(in.recording), models::trace::real_recording_count) - 1;
  run.real = models::trace::real_cases()[number];
  if (!run.real) {
    out.reason = "This recording is damaged in the program: install it again.";
    return;
  }
  run.real_facts = &models::trace::real_recordings()[number];
  const bool charged = in.accused > 0 || in.charge != Charge::none;
  run.open = !in.sealed || charged;
  out.origin = run.real_facts->origin;
  out.ranks = static_cast<std::int64_t>(run.real->ranks().size());
  out.steps = run.real->steps();
  out.length_s = seconds_of(run.real->length_ns());
  out.step_s = out.length_s / static_cast<double>(out.steps);
  if (!in.ranks.empty()) out.losses = "More ranks count once a recording is chosen.";
  state_line_up(in, run, out);
  if (!run.open) return;
  std::vector<const models::trace::Trace*> ranks;
  for (const auto& trace : run.real->ranks()) ranks.push_back(&trace);
  state_diagnosis(run.real->diagnosis(), ranks, out);
  state_recorded_verdict(in, run, charged, out);
}

}  // namespace chapters::profiling::detective
