#include <algorithm>

#include "chapters/profiling/detective/lab.h"
#include "models/base/counter_random.h"

namespace chapters::profiling::detective {
namespace {

using models::trace::Cause, models::trace::Fix, models::trace::JobDiagnosis, models::trace::Suspect;

double to_seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::shared_ptr<const Dealt> deal(const DealtKey& key) {
  auto out = std::make_shared<Dealt>();
  out->played = models::trace::Case::of({.seed = static_cast<std::uint64_t>(key.seed),
                                         .level = static_cast<int>(key.level),
                                         .faulty = key.faults,
                                         .severity = key.severity});
  out->recording = models::trace::record_case(out->played.job(), out->played.times(), true);
  std::vector<const models::trace::Trace*> ranks;
  for (const auto& trace : out->recording.ranks) ranks.push_back(&trace);
  out->diagnosis = models::trace::diagnose_job(ranks);
  out->line_up = out->played.line_up(max_suspects);
  return out;
}

}  // namespace

void state_diagnosis(const JobDiagnosis& d, std::span<const models::trace::Trace* const> ranks, Outputs& out) {
  out.diagnosed = cause_id(d.cause);
  if (d.cause != Cause::nothing) {
    out.diagnosed_rank = d.row;
    out.diagnosed_s = to_seconds(d.witness().cost_ns);
  }
  if (d.idle_ns > 0)
    out.explained_percent = 100 * std::min(1.0, static_cast<double>(d.explained_ns) / static_cast<double>(d.idle_ns));
  for (std::size_t c = 1; c < d.witnesses.size(); ++c) {
    const models::trace::Witness& w = d.witnesses[c];
    if (w.cost_ns * 1000 < d.length_ns) continue;
    const auto row = static_cast<std::size_t>(w.event_row);
    WitnessRow found{.cause = cause_choices()[c].label,
                     .where = w.row < 0 ? "all ranks" : "rank " + std::to_string(w.row),
                     .cost_s = to_seconds(w.cost_ns)};
    if (w.event != models::trace::none && row < ranks.size())
      found.span = ranks[row]->name(ranks[row]->events[w.event]);
    out.witnesses.push_back(std::move(found));
  }
  std::stable_sort(out.witnesses.begin(), out.witnesses.end(),
                   [](const WitnessRow& a, const WitnessRow& b) { return a.cost_s > b.cost_s; });
}

namespace {

const Suspect* accused_of(const Inputs& in, const Dealt& dealt) {
  if (in.accused <= 0 || dealt.line_up.empty()) return nullptr;
  return &dealt.line_up[std::min(static_cast<std::size_t>(in.accused), dealt.line_up.size()) - 1];
}

void state_suspects(const Inputs& in, const Dealt& dealt, bool open, Outputs& out) {
  const Suspect* const accused = accused_of(in, dealt);
  const Suspect* longest = nullptr;
  const Suspect* guiltiest = nullptr;
  for (const Suspect& s : dealt.line_up) {
    SuspectRow row{.letter = std::string(1, static_cast<char>('A' + out.suspects.size())),
                   .name = suspect_name(s.key, dealt.played.spec().ranks),
                   .longest_s = to_seconds(s.longest_ns),
                   .length_s = to_seconds(s.length_ns)};
    if (open) {
      row.won_s = to_seconds(s.won_ns);
      row.verdict = s.guilty ? "guilty" : "innocent";
    } else {
      row.verdict = "sealed";
    }
    out.suspects.push_back(std::move(row));
    if (!longest || s.longest_ns > longest->longest_ns) longest = &s;
    if (s.guilty && (!guiltiest || s.won_ns > guiltiest->won_ns)) guiltiest = &s;
  }
  if (longest) out.longest_s = to_seconds(longest->longest_ns);
  if (accused) out.accused_s = to_seconds(accused->longest_ns);
  if (!open) return;
  if (longest) out.longest_won_s = to_seconds(longest->won_ns);
  if (guiltiest) out.culprit_s = to_seconds(guiltiest->length_ns);
  if (accused) out.accused_won_s = to_seconds(accused->won_ns);
}

/// The verdict on the case, and the charge's points; nothing of it while all is sealed.
void state_verdict(const Inputs& in, const Dealt& dealt, bool charged, Outputs& out) {
  const auto& played = dealt.played;
  const double run_s = to_seconds(played.length_ns()), won_s = to_seconds(played.attainable_ns());
  const Cause cause = played.spec().cause;
  out.planted = cause_id(cause);
  out.won_s = won_s;
  out.won_percent = run_s > 0 ? 100 * won_s / run_s : 0;
  out.step_without_s = to_seconds(played.healthy_ns()) / std::max(1, played.spec().steps);
  if (cause != Cause::nothing) out.culprit_rank = played.spec().rank;
  if (in.fix != Fix::nothing) out.fix_won_s = to_seconds(played.won_by(in.fix));
  if (!charged) return;
  const int said = static_cast<int>(in.charge);
  const Suspect* const accused = accused_of(in, dealt);
  if (cause == Cause::nothing) {
    out.score = said == charge_healthy && !accused && in.fix == Fix::nothing ? 3 : 0;
    return;
  }
  out.score = (accused && accused->guilty) + (said == static_cast<int>(cause)) +
              (in.fix != Fix::nothing && won_s > 0 && out.fix_won_s >= 0.8 * won_s);
}

bool sealed_has_fault(std::int64_t seed) { return models::counter_hash(models::random_stream(seed, 91), 0) % 6 != 0; }

void play(const Inputs& in, DealtCases& cases, Run& run, Outputs& out) {
  // Whether a sealed case has a fault is part of what is sealed.
  const bool faulty = in.sealed ? sealed_has_fault(in.seed) : in.faults;
  const DealtKey key{in.seed, in.level, faulty, in.faults && !in.sealed ? in.severity : 1};
  run.dealt = cases.get(key, deal);
  const Dealt& dealt = *run.dealt;
  const bool charged = in.accused > 0 || in.charge != Charge::none;
  run.open = !in.sealed || charged;
  out.ranks = dealt.played.spec().ranks;
  out.steps = dealt.played.spec().steps;
  out.length_s = to_seconds(dealt.played.length_ns());
  out.step_s = out.length_s / static_cast<double>(std::max<std::int64_t>(1, out.steps));
  if (!in.ranks.empty()) out.losses = "More ranks count once a recording is chosen.";
  state_suspects(in, dealt, run.open, out);
  if (!run.open) return;
  std::vector<const models::trace::Trace*> ranks;
  for (const auto& trace : dealt.recording.ranks) ranks.push_back(&trace);
  state_diagnosis(dealt.diagnosis, ranks, out);
  state_verdict(in, dealt, charged, out);
}

/// Recordings of the learner's own: what is found there, and nothing is graded.
void read_own(const Inputs& in, Progress& progress, Run& run, Outputs& out) {
  auto first = trace_viewer::read_recording(in.file, progress);
  if (!first) {
    out.reason = first.error;
    return;
  }
  run.recorded.push_back(std::move(*first));
  for (std::size_t i = 0; i < in.ranks.size() && !progress.cancelled; ++i) {
    const std::string row = "Row " + std::to_string(i + 1) + " of the ranks";
    if (in.ranks[i].file.path.empty()) {
      out.losses += row + " has no file yet. ";
      continue;
    }
    auto more = trace_viewer::read_recording(in.ranks[i].file, progress);
    if (more)
      run.recorded.push_back(std::move(*more));
    else
      out.losses += row + " is left out: " + more.error + " ";
  }
  std::vector<const models::trace::Trace*> ranks;
  for (const auto& recording : run.recorded) ranks.push_back(&recording->trace);
  run.diagnosis = models::trace::diagnose_job(ranks);
  run.open = true;
  if (!run.diagnosis.readable) {
    out.reason =
        "No work of a device is in this recording, so nobody can say what its device waited for. Record with "
        "the GPU's activities.";
    return;
  }
  for (const std::string& loss : run.recorded.front()->trace.losses) out.losses += loss + " ";
  out.planted = "not_known";
  out.ranks = static_cast<std::int64_t>(run.recorded.size());
  out.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(run.recorded.front()->metrics.steps.size()));
  out.length_s = to_seconds(run.diagnosis.length_ns);
  out.step_s = out.length_s / static_cast<double>(out.steps);
  state_diagnosis(run.diagnosis, ranks, out);
}

}  // namespace

std::size_t Run::suspects() const { return dealt ? dealt->line_up.size() : real ? real->line_up().size() : 0; }
bool Run::guilty(std::size_t suspect) const {
  if (suspect >= suspects()) return false;
  return dealt ? dealt->line_up[suspect].guilty : real->line_up()[suspect].guilty;
}

double case_of_the_day(double now_s) {
  constexpr double day_s = 86400;
  if (!(now_s > 0)) return no_value;
  const auto day = static_cast<std::uint64_t>(now_s / day_s);
  return static_cast<double>(1 + models::counter_hash(models::random_stream(day, 92), 0) % 99999);
}

Computed compute(const Inputs& in, Progress& progress, DealtCases& cases) {
  Computed all;
  const auto run = std::make_shared<Run>();
  if (!in.file.path.empty()) {
    read_own(in, progress, *run, all.facts);
  } else if (in.recording != Source::dealt) {
    play_recorded(in, *run, all.facts);
  } else {
    play(in, cases, *run, all.facts);
  }
  all.facts.today_case = case_of_the_day(in.now_s);
  all.facts.cases_kept = static_cast<std::int64_t>(in.history.size());
  for (const ScenarioRecord& r : in.history) {
    if (r.kind != "detective") continue;
    ++all.facts.cases_sealed;
    all.facts.cases_solved += r.right > 0;
  }
  if (!all.facts.reason.empty()) return all;
  all.run = run;
  return all;
}

}  // namespace chapters::profiling::detective
