#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "chapters/profiling/trace_viewer/diagnosis_text.h"
#include "chapters/profiling/trace_viewer/lab.h"
#include "chapters/profiling/trace_viewer/rows.h"
#include "models/trace/window.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::DeviceMetrics;
using models::trace::Metrics;
using models::trace::Trace;
using models::trace::WindowMetrics;
using widgets::format_text;

constexpr std::size_t overview_bins = 240, most_rows = 200;

double percent(std::int64_t part, std::int64_t of) {
  return of > 0 ? 100 * static_cast<double>(part) / static_cast<double>(of) : 0;
}
std::string count(std::int64_t n, std::string_view one, std::string_view many) {
  return format_text(static_cast<double>(n), "", 15) + " " + std::string(n == 1 ? one : many);
}
void sentence(std::string& to, const std::string& s) { (to += to.empty() ? "" : " ") += s; }

Outputs::Bar bar_of(const Row& row, const WindowMetrics& m, const std::string& before) {
  return {before + row.label(),
          {seconds(m.comp_ns - m.comp_and_comm_ns), seconds(m.comp_and_comm_ns), seconds(m.exposed_comm_ns),
           seconds(m.exposed_mem_ns), seconds(m.idle.host_wait_ns), seconds(m.idle.kernel_wait_ns),
           seconds(m.idle.other_ns)}};
}

void fill_times(const WindowMetrics& m, Outputs& out) {
  out.span_s = seconds(m.window_ns);
  out.busy_s = seconds(m.busy_ns), out.idle_s = seconds(m.idle_ns), out.busy_share = percent(m.busy_ns, m.window_ns),
  out.idle_share = percent(m.idle_ns, m.window_ns);
  out.idle_host_s = seconds(m.idle.host_wait_ns), out.idle_host_share = percent(m.idle.host_wait_ns, m.window_ns);
  out.idle_kernel_s = seconds(m.idle.kernel_wait_ns),
  out.idle_kernel_share = percent(m.idle.kernel_wait_ns, m.window_ns);
  out.idle_other_s = seconds(m.idle.other_ns), out.idle_other_share = percent(m.idle.other_ns, m.window_ns);
  out.compute_s = seconds(m.comp_ns), out.communication_s = seconds(m.comm_ns), out.memory_s = seconds(m.mem_ns);
  out.exposed_communication_s = seconds(m.exposed_comm_ns), out.overlapped_s = seconds(m.comp_and_comm_ns),
  out.overlap = m.overlap_pct_of_comm();
}

void fill_device(const Row& row, Outputs& out) {
  const DeviceMetrics* d = row.metrics();
  if (!d) return;
  std::int64_t kernels_ns = 0;
  for (const auto& k : d->kernels) kernels_ns += k.total_ns;
  for (std::size_t i = 0; i < std::min(d->kernels.size(), most_rows); ++i) {
    const auto& k = d->kernels[i];
    out.kernels.push_back(
        {row.recording->trace.strings[k.name], k.count, seconds(k.total_ns), percent(k.total_ns, kernels_ns),
         seconds(k.total_ns) / static_cast<double>(std::max<std::int64_t>(1, k.count)), seconds(k.max_ns), 0, 0});
  }
  const auto& host = d->host_wait;
  out.host_wait_s = seconds(host.total_ns), out.after_sync_s = seconds(host.after_sync_ns);
  for (std::size_t i = 0; i < std::min(host.what.size(), most_rows); ++i) {
    const auto& h = host.what[i];
    out.host_rows.push_back(
        {h.name == models::trace::none ? "(nothing was recorded)" : row.recording->trace.strings[h.name], h.pieces,
         seconds(h.ns), percent(h.ns, host.total_ns), seconds(h.longest_ns)});
  }
  if (host.total_ns > 0) {
    out.host_story =
        format_text(out.host_wait_s, "s") + " over the whole recording, up to the call that ended each gap";
    if (host.after_sync_ns > 0)
      out.host_story +=
          "; " + format_text(percent(host.after_sync_ns, host.total_ns), "%") + " of it after a synchronisation";
  }
  for (const auto& s : d->streams) {
    out.streams.push_back({s.stream, s.events, seconds(s.busy_ns), seconds(s.idle.total_ns()), s.queue_max});
    out.streams_idle_s += seconds(s.idle.total_ns());
    out.queue_longest = std::max(out.queue_longest, s.queue_max);
  }
  out.launches = d->launch.linked;
  out.launch_delay_median_s = seconds(d->launch.median_delay_ns),
  out.launch_delay_longest_s = seconds(d->launch.max_delay_ns);
  out.late_launches = d->launch.delays_over_100_us;
}

double figure(const models::trace::RankStep& s, RankFigure what) {
  switch (what) {
    case RankFigure::communication:
      return s.comm_s;
    case RankFigure::idle:
      return s.idle_s;
    case RankFigure::step:
      return s.step_s;
    case RankFigure::computation:
      break;
  }
  return s.comp_s;
}

void fill_ranks(const Inputs& in, const std::vector<Row>& rows, std::size_t chosen, Outputs& out) {
  const auto steps = rank_steps(rows);
  for (const Row& r : rows) {
    out.heat_cols = std::max({out.heat_cols, r.recording->metrics.steps.size(), std::size_t{1}});
    out.heat_labels.push_back(r.label());
  }
  out.heat_rows = rows.size();
  out.heat.assign(out.heat_rows * out.heat_cols, std::numeric_limits<double>::quiet_NaN());
  for (const Row& r : rows) out.ranks.push_back({.rank = r.rank(), .device = r.device});
  std::vector<double> counts(rows.size(), 0);
  for (const auto& s : steps) {
    out.heat[s.row * out.heat_cols + s.step] = figure(s, in.rank_figure);
    RankRow& r = out.ranks[s.row];
    r.step_s += s.step_s, r.compute_s += s.comp_s, r.communication_s += s.comm_s, r.exposed_s += s.exposed_comm_s,
        r.idle_s += s.idle_s;
    counts[s.row] += 1;
    if (s.row == chosen && !rows[s.row].recording->metrics.steps.empty() && out.step_rows.size() < most_rows)
      out.step_rows.push_back({rows[s.row].recording->metrics.steps[s.step].name, s.step_s, s.busy_s, s.comp_s,
                               s.comm_s, s.exposed_comm_s, s.idle_s});
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (RankRow& r = out.ranks[i]; counts[i] > 0)
      for (double* v : {&r.step_s, &r.compute_s, &r.communication_s, &r.exposed_s, &r.idle_s}) *v /= counts[i];
  const auto slowest = models::trace::slowest_rank(steps);
  if (slowest.row < 0) {
    out.rank_story = "One rank: give the files of the others under Ranks to compare them";
    return;
  }
  const Row& slow = rows[static_cast<std::size_t>(slowest.row)];
  out.slowest_rank = slow.rank();
  out.slowest_excess = 100 * slowest.excess;
  if (slowest.excess >= notable_excess) {
    const std::string sentence_of = slowest_sentence(slow.rank(), slowest);
    const double covers = slowest.mean_comp_s - slowest.median_comp_s;
    out.findings.push_back({"Rank " + std::to_string(slow.rank()) + " is slower", sentence_of, covers});
    out.finding_places.push_back({});  // it is about all steps
    out.rank_story = "Rank " + std::to_string(slow.rank()) + " holds the others up";
  } else {
    out.rank_story = "No rank computes more than 5 % longer than the median";
  }
}

/// Recordings beside each other start together: at the chosen step if there is one, else at their first work.
std::int64_t shift_onto(const Row& row, const Row& onto, std::int64_t step) {
  return window_of(onto, step).from_ns - window_of(row, step).from_ns;
}

std::vector<LaneSource> lane_sources(const Inputs& in, const std::vector<Row>& rows, std::size_t chosen,
                                     const Row* beside) {
  const Row& main = rows[chosen];
  const bool named = in.all_ranks || beside != nullptr;
  std::vector<LaneSource> out{{main.recording, named ? main.label() : "", 0, main.device, true, !named}};
  if (in.all_ranks)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == chosen) continue;
      const std::int64_t clock = rows[i].recording->trace.base_ns - main.recording->trace.base_ns;
      out.push_back({rows[i].recording, rows[i].label(), in.one_clock ? clock : shift_onto(rows[i], main, in.step),
                     rows[i].device, false, false});
    }
  if (beside)
    out.push_back({beside->recording, "beside", shift_onto(*beside, main, in.step), beside->device, true, false, true});
  return out;
}

void fill_places(const Row& main, Outputs& out) {
  const Lanes& lanes = *out.lanes;
  const Metrics& m = main.recording->metrics;
  const auto place = [&](std::int64_t from, std::int64_t to, std::uint32_t event) {
    return Place{lanes.seconds(0, from), lanes.seconds(0, to),
                 event == models::trace::none ? widgets::TimelineSelection{} : lanes.span_of(0, event)};
  };
  for (const auto& d : m.diagnosis) {
    out.findings.push_back({std::string(diagnosis_title(d.kind)), diagnosis_sentence(main.recording->trace, m, d),
                            seconds(d.end_ns - d.start_ns)});
    out.finding_places.push_back(place(d.start_ns, d.end_ns, d.event));
  }
  if (const DeviceMetrics* d = main.metrics()) {
    for (const auto& g : d->longest_gaps) out.gap_places.push_back(place(g.start_ns, g.end_ns, g.next));
    std::sort(out.gap_places.begin(), out.gap_places.end(),
              [](const Place& a, const Place& b) { return a.start_s < b.start_s; });
    for (std::size_t i = 0; i < out.host_rows.size(); ++i)
      out.host_places.push_back(
          place(d->host_wait.what[i].start_ns, d->host_wait.what[i].end_ns, d->host_wait.what[i].longest));
    for (std::size_t i = 0; i < std::min(d->kernels.size(), most_rows); ++i) {
      const auto& run = main.recording->trace.events[d->kernels[i].longest];
      out.kernel_places.push_back(place(run.start_ns, run.end_ns(), d->kernels[i].longest));
    }
  }
}

void fill_beside(const Inputs& in, const Row& main, const Row& beside, Outputs& out) {
  const WindowMetrics m = measure(beside, in.step);
  out.beside_step_time_s = mean_step_s(beside, in.step);
  out.beside_busy_share = percent(m.busy_ns, m.window_ns);
  const double ours = mean_step_s(main, in.step);
  if (ours > 0 && out.beside_step_time_s > 0) out.beside_speedup = ours / out.beside_step_time_s;
  out.bars.push_back(bar_of(beside, m, "beside, "));
  if (out.beside_speedup > 0)
    out.beside_story = "A step takes " + format_text(ours, "s") + " here and " +
                       format_text(out.beside_step_time_s, "s") + " beside: " + format_text(out.beside_speedup, "") +
                       " times as fast";
}

/// The kernels beside, joined by name. Recordings of different length are compared by the step, where both have steps.
void compare_kernels(const Row& main, const Row& beside, Outputs& out) {
  const DeviceMetrics* d = beside.metrics();
  if (!d) return;
  out.compared = true;
  const auto steps = [](const Row& r) { return static_cast<double>(r.recording->metrics.steps.size()); };
  const double scale = steps(main) > 0 && steps(beside) > 0 ? steps(main) / steps(beside) : 1;
  std::unordered_map<std::string_view, std::size_t> row_of;
  for (std::size_t i = 0; i < out.kernels.size(); ++i) row_of.try_emplace(out.kernels[i].name, i);
  std::vector<KernelRow> only_beside;
  for (const auto& k : d->kernels) {
    const std::string& name = beside.recording->trace.strings[k.name];
    const double total_s = seconds(k.total_ns) * scale;
    if (const auto found = row_of.find(name); found != row_of.end())
      out.kernels[found->second].beside_s = total_s;
    else if (out.kernels.size() + only_beside.size() < most_rows)
      only_beside.push_back({.name = name, .beside_s = total_s});
  }
  out.kernels.insert(out.kernels.end(), only_beside.begin(), only_beside.end());
  const KernelRow* most = nullptr;
  for (KernelRow& k : out.kernels) {
    k.saved_s = k.total_s - k.beside_s;
    if (!most || std::abs(k.saved_s) > std::abs(most->saved_s)) most = &k;
  }
  if (!most || most->saved_s == 0) return;
  const std::string name = most->name.size() <= 48 ? most->name : most->name.substr(0, 45) + "...";
  out.kernel_story = "the largest difference: " + name + ", " + format_text(std::abs(most->saved_s), "s") +
                     (most->saved_s > 0 ? " less beside" : " more beside");
}

void add_rank_files(const Inputs& in, Progress& progress, std::vector<RecordingPtr>& recordings, Outputs& out) {
  for (std::size_t i = 0; i < in.ranks.size(); ++i) {
    const std::string row = "Row " + std::to_string(i + 1) + " of the ranks";
    if (in.ranks[i].file.path.empty()) {
      sentence(out.losses, row + " has no file yet.");
      continue;
    }
    std::string error;
    if (auto one = read_recording(in.ranks[i].file, progress, error))
      recordings.push_back(std::move(one));
    else
      sentence(out.losses, row + " is left out: " + error);
  }
}

RecordingPtr beside_recording(const Inputs& in, Progress& progress, std::size_t rank, Outputs& out) {
  if (!in.beside_file.path.empty()) {
    std::string error;
    auto one = read_recording(in.beside_file, progress, error);
    if (!one) sentence(out.losses, "Nothing stands beside: " + error);
    return one;
  }
  if (in.beside == Beside::nothing) return nullptr;
  const auto& ranks = sample_recordings(static_cast<models::SampleFault>(static_cast<int>(in.beside) - 1));
  return ranks.empty() ? nullptr : ranks[std::min(rank, ranks.size() - 1)];
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress) {
  Outputs out;
  std::vector<RecordingPtr> recordings;
  if (in.file.path.empty()) {
    recordings = sample_recordings(in.sample);
  } else if (auto one = read_recording(in.file, progress, out.reason)) {
    recordings.push_back(std::move(one));
  }
  if (!out.reason.empty()) return out;
  add_rank_files(in, progress, recordings, out);
  const std::vector<Row> rows = rows_of(recordings);
  if (rows.empty()) {
    out.reason = "The recording holds no events.";
    return out;
  }
  const std::size_t chosen = std::min(static_cast<std::size_t>(std::max<std::int64_t>(0, in.device)), rows.size() - 1);
  const Row& main = rows[chosen];
  const Trace& trace = main.recording->trace;
  for (const auto& s : trace.losses) sentence(out.losses, s);
  out.events = static_cast<std::int64_t>(trace.events.size());
  out.steps = static_cast<std::int64_t>(main.recording->metrics.steps.size());
  out.devices = static_cast<std::int64_t>(rows.size());
  out.step_time_s = mean_step_s(main, in.step);
  const WindowMetrics m = measure(main, in.step);
  fill_times(m, out);
  fill_device(main, out);
  out.bars.push_back(bar_of(main, m, ""));
  if (in.all_ranks)
    for (std::size_t i = 0; i < rows.size() && out.bars.size() < 16; ++i)
      if (i != chosen) out.bars.push_back(bar_of(rows[i], measure(rows[i], in.step), ""));
  progress.fraction = 0.92;

  std::vector<Row> other;
  if (auto beside = beside_recording(in, progress, main.file, out)) {
    other = rows_of({std::move(beside)});
    fill_beside(in, main, other.front(), out);
    compare_kernels(main, other.front(), out);
  }
  if (progress.cancelled) return out;
  out.lanes = Lanes::make(lane_sources(in, rows, chosen, other.empty() ? nullptr : &other.front()), in.search);
  out.matches = out.lanes->matches(), out.matches_s = seconds(out.lanes->matches_ns());
  fill_ranks(in, rows, chosen, out);  // a finding about all ranks comes before those about one
  fill_places(main, out);
  for (const Finding& f : out.findings) sentence(out.diagnosis, f.finding);

  out.overview_start_s = out.lanes->index().first_s,
  out.overview_end_s = out.lanes->index().last_s;  // of what the timeline shows
  out.overview = models::trace::busy_profile(trace, main.device, out.lanes->time_ns(0, out.overview_start_s),
                                             out.lanes->time_ns(0, out.overview_end_s), overview_bins);
  if (const Window w = window_of(main, in.step); w.is_step)
    out.window = {out.lanes->seconds(0, w.from_ns), seconds(w.to_ns - w.from_ns)};
  out.summary = (in.file.path.empty() ? "A made-up run" : trace.origin + " (" + trace.format + ")") + ": " +
                count(out.events, "event", "events") + ", " + count(out.steps, "step", "steps") + "; " + main.label() +
                " of " + count(out.devices, "device", "devices");
  out.matches_text =
      in.search.empty() ? "" : count(out.matches, "match", "matches") + ", " + format_text(out.matches_s, "s");
  out.breakdown_story = main.device < 0 ? "No work on a device was recorded"
                                        : format_text(out.busy_share, "%") + " of " + format_text(out.span_s, "s") +
                                              " busy; of the communication, " + format_text(out.overlap, "%") +
                                              " is hidden under computation";
  progress.fraction = 1;
  return out;
}

}  // namespace chapters::profiling::trace_viewer
