#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "chapters/profiling/trace_viewer/diagnosis_text.h"
#include "chapters/profiling/trace_viewer/lab.h"
#include "chapters/profiling/trace_viewer/ranks_text.h"
#include "chapters/profiling/trace_viewer/rows.h"
#include "models/trace/measure/window.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::DeviceMetrics, models::trace::Metrics, models::trace::Trace, models::trace::WindowMetrics,
    widgets::format_text;

constexpr std::size_t overview_bins = 240, most_rows = 200, most_windows = 16;

double percent(std::int64_t part, std::int64_t of) {
  // To a thousandth: a share of 5e-5 % is none that anybody can act on.
  return of > 0 ? std::round(1e5 * static_cast<double>(part) / static_cast<double>(of)) * 1e-3 : 0;
}
void sentence(std::string& to, const std::string& s) { to += (s.empty() || to.empty() ? "" : " ") + s; }

void fill_times(const WindowMetrics& m, Outputs& out) {
  out.span_s = seconds(m.window_ns);
  out.busy_s = seconds(m.busy_ns);
  out.idle_s = seconds(m.idle_ns);
  out.busy_share = percent(m.busy_ns, m.window_ns);
  out.idle_share = percent(m.idle_ns, m.window_ns);
  out.idle_host_s = seconds(m.idle.host_wait_ns);
  out.idle_host_share = percent(m.idle.host_wait_ns, m.window_ns);
  out.idle_kernel_s = seconds(m.idle.kernel_wait_ns);
  out.idle_kernel_share = percent(m.idle.kernel_wait_ns, m.window_ns);
  out.idle_other_s = seconds(m.idle.other_ns);
  out.idle_other_share = percent(m.idle.other_ns, m.window_ns);
  out.late_before_s = seconds(m.idle.late.before_ns);
  out.late_inside_s = seconds(m.idle.late.inside_ns);
  out.late_after_s = seconds(m.idle.late.after_ns);
  out.late_before_share = percent(m.idle.late.before_ns, m.window_ns);
  out.late_inside_share = percent(m.idle.late.inside_ns, m.window_ns);
  out.late_after_share = percent(m.idle.late.after_ns, m.window_ns);
  out.compute_s = seconds(m.comp_ns);
  out.communication_s = seconds(m.comm_ns);
  out.memory_s = seconds(m.mem_ns);
  out.exposed_communication_s = seconds(m.exposed_comm_ns);
  out.overlapped_s = seconds(m.comp_and_comm_ns);
  out.overlap = m.comm_ns > 0 ? m.overlap_pct_of_comm() : std::nan("");
}

/// Without a device there are no times of one, which is not the same as 0.
void forget_times(Outputs& out) {
  for (double* v : {&out.span_s,
                    &out.busy_s,
                    &out.idle_s,
                    &out.busy_share,
                    &out.idle_share,
                    &out.idle_host_s,
                    &out.idle_kernel_s,
                    &out.idle_other_s,
                    &out.idle_host_share,
                    &out.idle_kernel_share,
                    &out.idle_other_share,
                    &out.late_before_s,
                    &out.late_inside_s,
                    &out.late_after_s,
                    &out.late_before_share,
                    &out.late_inside_share,
                    &out.late_after_share,
                    &out.compute_s,
                    &out.communication_s,
                    &out.memory_s,
                    &out.exposed_communication_s,
                    &out.overlapped_s})
    *v = std::nan("");
}

/// What was not recorded has no time: causes without launching calls, communication without a collective.
void forget_unrecorded(const DeviceMetrics& d, Outputs& out) {
  if (d.launch.linked == 0)
    for (double* v : {&out.idle_host_s, &out.idle_kernel_s, &out.idle_other_s, &out.idle_host_share,
                      &out.idle_kernel_share, &out.idle_other_share, &out.late_before_s, &out.late_inside_s,
                      &out.late_after_s, &out.late_before_share, &out.late_inside_share, &out.late_after_share})
      *v = std::nan("");
  if (d.communications == 0)
    for (double* v : {&out.communication_s, &out.exposed_communication_s, &out.overlapped_s}) *v = std::nan("");
}

void fill_device(const Row& row, Outputs& out) {
  const DeviceMetrics* d = row.metrics();
  if (!d) return;
  forget_unrecorded(*d, out);
  std::int64_t kernels_ns = 0;
  for (const auto& k : d->kernels) kernels_ns += k.total_ns;
  for (std::size_t i = 0; i < std::min(d->kernels.size(), most_rows); ++i) {
    const auto& k = d->kernels[i];
    out.kernels.push_back(
        {row.recording->trace.strings[k.name], k.count, seconds(k.total_ns), percent(k.total_ns, kernels_ns),
         seconds(k.total_ns) / static_cast<double>(std::max<std::int64_t>(1, k.count)), seconds(k.max_ns), 0, 0});
  }
  const auto& host = d->host_wait;
  if (d->launch.linked > 0) {
    out.host_wait_s = seconds(host.total_ns);
    out.after_sync_s = seconds(host.after_sync_ns);
  }
  for (std::size_t i = 0; i < std::min(host.what.size(), most_rows); ++i) {
    const auto& h = host.what[i];
    out.host_rows.push_back(
        {h.name == models::trace::none ? "(nothing was recorded)" : row.recording->trace.strings[h.name], h.pieces,
         seconds(h.ns), percent(h.ns, host.total_ns), seconds(h.longest_ns)});
  }
  out.streams_idle_s = 0;
  for (const auto& s : d->streams) {
    out.streams.push_back({s.stream, s.events, seconds(s.busy_ns), seconds(s.idle.total_ns()), s.queue_max});
    out.streams_idle_s += seconds(s.idle.total_ns());
  }
  out.launches = d->launch.linked;
  if (out.launches == 0) return;
  std::int64_t longest = 0;
  for (const auto& s : d->streams) longest = std::max(longest, s.queue_max);
  out.queue_longest = static_cast<double>(longest);
  out.launch_delay_median_s = seconds(d->launch.median_delay_ns);
  out.launch_delay_longest_s = seconds(d->launch.max_delay_ns);
  out.late_launches = static_cast<double>(d->launch.delays_over_100_us);
}

/// What the threads did, where that is all there is.
void fill_host_spans(const Trace& trace, Outputs& out) {
  out.host_spans = models::trace::host_spans(trace);
  const auto& all = out.host_spans;
  for (std::size_t i = 0; i < std::min(all.names.size(), most_rows); ++i) {
    const auto& n = all.names[i];
    out.span_rows.push_back({trace.strings[n.name], n.count, seconds(n.self_ns), percent(n.self_ns, all.self_ns),
                             seconds(n.total_ns), seconds(n.longest_self_ns)});
  }
}

/// Means of the steps of each row, and the steps of the chosen one.
void fill_rank_steps(const std::vector<Row>& rows, std::size_t chosen, Outputs& out) {
  out.rank_steps = rank_steps(rows);
  for (const Row& r : rows) out.ranks.push_back({.rank = r.rank(), .device = r.device});
  std::vector<double> counts(rows.size(), 0);
  for (const auto& s : out.rank_steps) {
    RankRow& r = out.ranks[s.row];
    r.step_s += s.step_s;
    r.compute_s += s.comp_s;
    r.communication_s += s.comm_s;
    r.exposed_s += s.exposed_comm_s;
    r.idle_s += s.idle_s;
    counts[s.row] += 1;
    if (s.row == chosen && !rows[s.row].recording->metrics.steps.empty() && out.step_rows.size() < most_rows)
      out.step_rows.push_back({rows[s.row].recording->metrics.steps[s.step].name, s.step_s, s.busy_s, s.comp_s,
                               s.comm_s, s.exposed_comm_s, s.idle_s});
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (RankRow& r = out.ranks[i]; counts[i] > 0)
      for (double* v : {&r.step_s, &r.compute_s, &r.communication_s, &r.exposed_s, &r.idle_s}) *v /= counts[i];
}

/// Who waits for whom in the collectives.
void fill_waits(const std::vector<Row>& rows, Outputs& out) {
  out.waits = job_waits(rows);
  const auto& w = out.waits;
  if (w.collectives.empty()) return;
  out.collectives_waited_s = seconds(w.total_ns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.ranks[i].waited_s = seconds(w.waited_ns[i]);
    out.ranks[i].caused_s = seconds(w.caused_ns[i]);
    out.ranks[i].times_last = w.times_last[i];
  }
  for (const auto& c : w.collectives) out.collectives.push_back({c.name, rows[c.last].rank(), seconds(c.cost_ns)});
  std::stable_sort(out.collectives.begin(), out.collectives.end(),
                   [](const auto& a, const auto& b) { return a.cost_s > b.cost_s; });
  out.collectives.resize(std::min(out.collectives.size(), most_rows));
  if (w.culprit < 0) return;
  const auto culprit = static_cast<std::size_t>(w.culprit);
  out.late_rank = static_cast<double>(rows[culprit].rank());
  out.late_rank_cost_s = seconds(w.caused_ns[culprit]);
  out.late_rank_idle_cost_s = seconds(w.idle_caused_ns[culprit]);
  out.late_rank_share = 100 * w.culprit_share();
  if (w.stands_out)
    out.findings.push_back(
        {waits_title(rows, w), waits_sentences(rows, w, out.rank_steps), seconds(w.caused_ns[culprit])});
}

void fill_ranks(const std::vector<Row>& rows, std::size_t chosen, Outputs& out) {
  fill_rank_steps(rows, chosen, out);
  fill_waits(rows, out);
  const auto slowest = models::trace::slowest_rank(out.rank_steps);
  if (slowest.row < 0 || !(slowest.median_comp_s > 0)) return;
  if (!not_one_job(rows, out.waits).empty()) return;
  out.slowest_rank = static_cast<double>(rows[static_cast<std::size_t>(slowest.row)].rank());
  out.slowest_excess = 100 * slowest.excess;
}

/// That a rank computes longer is a finding of its own only where no collective says who is late. It stands where what
/// it adds to the steps puts it among what costs the recording shown its time.
void add_slowest(const std::vector<Row>& rows, const Metrics& shown, Outputs& out) {
  const auto slowest = models::trace::slowest_rank(out.rank_steps);
  if (slowest.row < 0 || slowest.excess < notable_excess || !(slowest.median_comp_s > 0)) return;
  if (!out.waits.collectives.empty() || !not_one_job(rows, out.waits).empty()) return;
  const auto row = static_cast<std::uint32_t>(slowest.row);
  const auto steps =
      std::count_if(out.rank_steps.begin(), out.rank_steps.end(), [&](const auto& s) { return s.row == row; });
  const double more_s = slowest.mean_comp_s - slowest.median_comp_s, all_s = more_s * static_cast<double>(steps);
  const auto at = std::find_if(out.findings.begin(), out.findings.end(), [&](const Finding& f) {
    if (f.diagnosis < 0) return false;
    const auto kind = shown.diagnosis[static_cast<std::size_t>(f.diagnosis)].kind;  // one that leads is no loss
    return f.covers_s < all_s || kind == models::trace::DiagnosisKind::one_kernel_leads;
  });
  out.findings.insert(
      at, {"Rank " + std::to_string(rows[row].rank()) + " computes longer", slowest_sentence(rows, slowest), more_s});
}

/// Recordings beside each other start together: at the chosen step if there is one, else at their first work.
std::int64_t shift_onto(const Row& row, const Row& onto, std::int64_t step) {
  return window_of(onto, step).from_ns - window_of(row, step).from_ns;
}

std::vector<LaneSource> lane_sources(const Inputs& in, const std::vector<Row>& rows, std::size_t chosen,
                                     const Row* beside) {
  const Row& main = rows[chosen];
  const bool named = in.all_ranks || beside != nullptr;
  std::vector<LaneSource> out{{main.recording, named ? main.label() : "", 0, main.device, true, !named, true}};
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

/// What a finding costs in all; 0 where it is no time.
double covered_s(const models::trace::Diagnosis& d) {
  using enum models::trace::DiagnosisKind;
  switch (d.kind) {
    case host_slow:
      return seconds(d.whole);
    case idle:
    case sync_drains_queue:
    case data_loader_late:
    case host_busy:
    case host_blocked:
    case host_unrecorded:
    case starts_late:
    case launched_in_time:
    case launch_slow:
    case started_late:
    case exposed_communication:
    case copies:
    case one_kernel_leads:
      return seconds(d.part);
    default:
      return 0;
  }
}

void fill_beside(const Inputs& in, const Row& main, const Row& beside, Outputs& out) {
  const WindowMetrics m = measure(beside, in.step);
  if (const double step_s = mean_step_s(beside, in.step); step_s > 0) out.beside_step_time_s = step_s;
  out.beside_busy_share = percent(m.busy_ns, m.window_ns);
  const double ours = mean_step_s(main, in.step);
  if (ours > 0 && out.beside_step_time_s > 0) out.beside_speedup = ours / out.beside_step_time_s;
  out.windows.push_back(m);
}

/// The kernels beside, joined by name. Recordings of different length are compared by the step, where both have steps.
void compare_kernels(const Row& main, const Row& beside, Outputs& out) {
  const DeviceMetrics* d = beside.metrics();
  if (!d) return;
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
  for (KernelRow& k : out.kernels) k.saved_s = k.total_s - k.beside_s;
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
  for (const auto& s : drop_repeated(recordings)) sentence(out.losses, s);
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
  sentence(out.losses, beyond_text("rank and device", in.device, static_cast<std::int64_t>(rows.size()) - 1));
  sentence(out.losses, beyond_text("step", in.step, out.steps > 0 ? out.steps : in.step));
  out.devices = static_cast<std::int64_t>(rows.size());
  out.step_time_s = out.steps > 0 ? mean_step_s(main, in.step) : std::nan("");
  out.beside_step_time_s = out.beside_busy_share = out.beside_speedup = std::nan("");
  const WindowMetrics m = measure(main, in.step);
  fill_times(m, out);
  if (main.device < 0) {
    forget_times(out);
    fill_host_spans(trace, out);
  }
  fill_device(main, out);
  out.windows.push_back(m);
  out.window_rows.push_back(chosen);
  if (in.all_ranks)
    for (std::size_t i = 0; i < rows.size() && out.windows.size() < most_windows; ++i) {
      if (i == chosen) continue;
      out.windows.push_back(measure(rows[i], in.step));
      out.window_rows.push_back(i);
    }
  progress.fraction = 0.92;

  if (auto beside = beside_recording(in, progress, main.file, out)) {
    out.beside = rows_of({std::move(beside)}).front();
    fill_beside(in, main, *out.beside, out);
    compare_kernels(main, *out.beside, out);
  }
  if (progress.cancelled) return out;
  out.lanes = Lanes::make(lane_sources(in, rows, chosen, out.beside ? &*out.beside : nullptr), in.search);
  if (!in.search.empty()) {
    out.matches = static_cast<double>(out.lanes->matches());
    out.matches_s = seconds(out.lanes->matches_ns());
  }
  fill_ranks(rows, chosen, out);  // a finding about all ranks comes before those about one
  const Metrics& metrics = main.recording->metrics;
  for (ToldDiagnosis& told : tell_diagnosis(trace, metrics))
    out.findings.push_back({std::move(told.title), std::move(told.sentence),
                            covered_s(metrics.diagnosis[told.diagnosis]), static_cast<int>(told.diagnosis)});
  add_slowest(rows, metrics, out);
  if (const std::string apart = not_one_job(rows, out.waits); !apart.empty()) sentence(out.diagnosis, apart);
  for (const Finding& f : out.findings) sentence(out.diagnosis, f.finding);
  const std::int64_t first_ns = out.lanes->time_ns(0, out.lanes->index().first_s),
                     last_ns = out.lanes->time_ns(0, out.lanes->index().last_s);
  out.overview = main.device < 0
                     ? models::trace::track_profile(trace, out.host_spans.busiest, first_ns, last_ns, overview_bins)
                     : models::trace::busy_profile(trace, main.device, first_ns, last_ns, overview_bins);
  out.rows = rows;
  out.chosen = chosen;
  progress.fraction = 1;
  return out;
}

}  // namespace chapters::profiling::trace_viewer
