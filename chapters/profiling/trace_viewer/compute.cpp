#include <algorithm>
#include <cmath>

#include "chapters/profiling/trace_viewer/device_facts.h"
#include "chapters/profiling/trace_viewer/lab.h"
#include "chapters/profiling/trace_viewer/rank_facts.h"
#include "chapters/profiling/trace_viewer/ranks_text.h"

namespace chapters::profiling::trace_viewer {
namespace {

constexpr std::size_t overview_bins = 240, max_windows = 16;

void add_sentence(std::string& to, const std::string& s) { to += (s.empty() || to.empty() ? "" : " ") + s; }

/// Recordings in one picture start together: at the chosen step if there is one, else at their first work.
std::int64_t shift_onto(const Row& row, const Row& onto, std::int64_t step) {
  return window_of(onto, step).from_ns - window_of(row, step).from_ns;
}

std::vector<LaneSource> lane_sources(const Inputs& in, const Run& run, const Outputs& facts) {
  const Row& main = run.main();
  const std::vector<Row>& rows = run.rows;
  const std::optional<Row>& beside = run.beside;
  const bool named = in.all_ranks || beside;
  // As the answer does: it names exposed communication where that is more than the idle time.
  const bool communicates =
      facts.communication.exposed_share >= std::max(1.0, facts.times.idle_share);  // false where it is not known
  std::vector<LaneSource> out{
      {main.recording, named ? main.label() : "", 0, main.device, true, !named, true, communicates}};
  if (in.all_ranks)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == run.chosen) continue;
      const std::int64_t clock = rows[i].recording->trace.base_ns - main.recording->trace.base_ns;
      out.push_back({rows[i].recording, rows[i].label(), in.one_clock ? clock : shift_onto(rows[i], main, in.step),
                     rows[i].device, false, false});
    }
  if (beside)
    out.push_back(
        {beside->recording, "other run", shift_onto(*beside, main, in.step), beside->device, true, false, true});
  return out;
}

void add_rank_files(const Inputs& in, Progress& progress, std::vector<RecordingPtr>& recordings, Outputs& out) {
  for (std::size_t i = 0; i < in.ranks.size(); ++i) {
    const std::string row = "Row " + std::to_string(i + 1) + " of the ranks";
    if (in.ranks[i].file.path.empty()) {
      add_sentence(out.losses, row + " has no file yet.");
      continue;
    }
    if (auto one = read_recording(in.ranks[i].file, progress))
      recordings.push_back(std::move(*one));
    else
      add_sentence(out.losses, row + " is left out: " + one.error);
  }
}

RecordingPtr beside_recording(const Inputs& in, Progress& progress, std::size_t rank, Outputs& out) {
  if (!in.beside_file.path.empty()) {
    auto one = read_recording(in.beside_file, progress);
    if (one) return std::move(*one);
    out.reason = "The other recording cannot be shown: " + one.error;
    return nullptr;
  }
  if (in.beside == Beside::nothing) return nullptr;
  const auto& ranks = sample_recordings(static_cast<models::SampleFault>(static_cast<int>(in.beside) - 1));
  return ranks.empty() ? nullptr : ranks[std::min(rank, ranks.size() - 1)];
}

/// The file that was given, or the made-up run, with the files of more ranks; empty with the reason in `out`.
std::vector<RecordingPtr> recordings_of(const Inputs& in, Progress& progress, Outputs& out) {
  std::vector<RecordingPtr> recordings;
  if (in.file.path.empty()) {
    recordings = sample_recordings(in.sample);
  } else if (auto one = read_recording(in.file, progress)) {
    recordings.push_back(std::move(*one));
  } else {
    out.reason = one.error;
    return {};
  }
  add_rank_files(in, progress, recordings, out);
  for (const auto& s : drop_repeated(recordings)) add_sentence(out.losses, s);
  return recordings;
}

/// What the recording shown is, and what of it was not read or is not there.
void state_recording(const Inputs& in, const Run& run, Outputs& out) {
  const Recording& shown = *run.main().recording;
  for (const auto& s : shown.trace.losses) add_sentence(out.losses, s);
  out.events = static_cast<std::int64_t>(shown.trace.events.size());
  out.steps = static_cast<std::int64_t>(shown.metrics.steps.size());
  out.devices = static_cast<std::int64_t>(run.rows.size());
  add_sentence(out.losses, beyond_text("rank and device", in.device, out.devices - 1));
  add_sentence(out.losses, beyond_text("step", in.step, out.steps > 0 ? out.steps : in.step));
  out.step_time_s = out.steps > 0 ? mean_step_s(run.main(), in.step) : absent;
}

/// The chosen row over the chosen time, and with it the other ranks where they are shown.
void measure_rows(const Inputs& in, bool others, Run& run, Outputs& out) {
  run.windows.push_back(measure(run.main(), in.step));
  run.window_rows.push_back(run.chosen);
  state_device(run.windows.front(), run.main(), out);
  if (run.main().device < 0) state_threads(run, out);
  for (std::size_t i = 0; others && i < run.rows.size() && run.windows.size() < max_windows; ++i) {
    if (i == run.chosen) continue;
    run.windows.push_back(measure(run.rows[i], in.step));
    run.window_rows.push_back(i);
  }
}

/// The recordings as lanes, which a search counts its matches in.
void lay_out(const Inputs& in, bool facts_alone, Run& run, Outputs& out) {
  if (facts_alone && in.search.empty()) return;
  run.lanes = Lanes::make(lane_sources(in, run, out), in.search);
  if (!in.search.empty()) out.matches = {static_cast<double>(run.lanes->matches()), seconds(run.lanes->matches_ns())};
  const Row& main = run.main();
  const std::int64_t first_ns = run.lanes->time_ns(0, run.lanes->index().first_s),
                     last_ns = run.lanes->time_ns(0, run.lanes->index().last_s);
  const auto& trace = main.recording->trace;
  run.overview = main.device < 0
                     ? models::trace::track_profile(trace, run.host_spans.busiest, first_ns, last_ns, overview_bins)
                     : models::trace::busy_profile(trace, main.device, first_ns, last_ns, overview_bins);
}

}  // namespace

Computed compute(const Inputs& in, Progress& progress) {
  Computed all;
  Outputs& out = all.facts;
  const auto run = std::make_shared<Run>();
  run->rows = rows_of(recordings_of(in, progress, out));
  if (run->rows.empty()) {
    if (out.reason.empty()) out.reason = "The recording holds no events.";
    return all;
  }
  run->chosen = std::min(static_cast<std::size_t>(std::max<std::int64_t>(0, in.device)), run->rows.size() - 1);
  state_recording(in, *run, out);
  measure_rows(in, in.all_ranks && !progress.facts_alone, *run, out);
  progress.fraction = 0.92;
  if (auto beside = beside_recording(in, progress, run->main().file, out)) {
    run->beside = rows_of({std::move(beside)}).front();
    state_beside(in, *run, out);
  }
  if (progress.cancelled || !out.reason.empty()) return all;
  lay_out(in, progress.facts_alone, *run, out);
  state_ranks(*run, out);  // a finding about all ranks comes before those about one
  state_findings(run->main(), out);
  add_slowest(*run, out);
  if (const std::string apart = not_one_job(run->rows, run->waits); !apart.empty()) add_sentence(out.diagnosis, apart);
  for (const Finding& f : out.findings) add_sentence(out.diagnosis, f.finding);
  progress.fraction = 1;
  all.run = run;
  return all;
}

}  // namespace chapters::profiling::trace_viewer
