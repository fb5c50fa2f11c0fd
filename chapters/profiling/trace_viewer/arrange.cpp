#include <algorithm>
#include <cmath>

#include "chapters/profiling/trace_viewer/arrange_ranks.h"
#include "chapters/profiling/trace_viewer/cards.h"
#include "chapters/profiling/trace_viewer/lab.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::DeviceMetrics, models::trace::WindowMetrics, widgets::format_text;

std::string count(std::int64_t n, std::string_view one, std::string_view many) {
  return format_text(static_cast<double>(n), "", 15) + " " + std::string(n == 1 ? one : many);
}

Bar bar_of(std::string label, const WindowMetrics& m) {
  const models::trace::Idle& i = m.idle;
  return {std::move(label),
          {seconds(m.comp_ns - m.comp_and_comm_ns), seconds(m.comp_and_comm_ns), seconds(m.exposed_comm_ns),
           seconds(m.exposed_mem_ns), seconds(i.late.before_ns), seconds(i.late.inside_ns), seconds(i.late.after_ns),
           seconds(i.kernel_wait_ns - i.unknown_short_ns), seconds(i.other_ns - (i.unknown_ns - i.unknown_short_ns)),
           seconds(i.unknown_ns)}};
}

void arrange_bars(const Outputs& out, const Run& run, Picture& pic) {
  for (std::size_t i = 0; i < run.windows.size(); ++i) {
    const bool beside = i >= run.window_rows.size();
    const Row& row = beside ? *run.beside : run.rows[run.window_rows[i]];
    if (row.device >= 0) pic.bars.push_back(bar_of((beside ? "other run, " : "") + row.label(), run.windows[i]));
  }
  pic.breakdown_story =
      pic.bars.empty() ? "No device track was recognised, so there is no time of a device to divide."
      : !std::isfinite(out.communication.overlap)
          ? format_text(out.times.busy_share, "%") + " of " + format_text(out.times.span_s, "s") + " busy"
          : format_text(out.times.busy_share, "%") + " of " + format_text(out.times.span_s, "s") + " busy; " +
                format_text(out.communication.overlap, "%") + " of the communication is hidden";
  if (std::isfinite(out.beside.speedup))
    pic.breakdown_story = "A step takes " + format_text(out.step_time_s, "s") + " here and " +
                          format_text(out.beside.step_time_s, "s") + " in the other run";
}

void arrange_places(const Outputs& out, const Run& run, Picture& pic) {
  const Row& main = run.main();
  const DeviceMetrics* d = main.metrics();
  const Lanes& lanes = *run.lanes;
  const auto place = [&](std::int64_t from, std::int64_t to, std::uint32_t event) {
    return Place{lanes.seconds(0, from), lanes.seconds(0, to),
                 event == models::trace::none ? widgets::TimelineSelection{} : lanes.span_of(0, event)};
  };
  for (std::size_t i = 0; i < out.span_rows.size(); ++i) {
    const auto& longest = main.recording->trace.events[run.host_spans.names[i].longest];
    pic.span_places.push_back(place(longest.start_ns, longest.end_ns(), run.host_spans.names[i].longest));
  }
  if (!d) return;
  for (const auto& g : d->longest_gaps) pic.gap_places.push_back(place(g.start_ns, g.end_ns, g.next));
  std::sort(pic.gap_places.begin(), pic.gap_places.end(),
            [](const Place& a, const Place& b) { return a.start_s < b.start_s; });
  for (std::size_t i = 0; i < std::min(out.host_rows.size(), d->host_wait.what.size()); ++i) {
    const auto& h = d->host_wait.what[i];
    pic.host_places.push_back(place(h.start_ns, h.end_ns, h.longest));
  }
  for (std::size_t i = 0; i < std::min(out.kernels.size(), d->kernels.size()); ++i) {
    const auto& longest = main.recording->trace.events[d->kernels[i].longest];
    pic.kernel_places.push_back(place(longest.start_ns, longest.end_ns(), d->kernels[i].longest));
  }
}

void write_tables(const Outputs& out, const Run& run, Picture& pic) {
  const DeviceMetrics* d = run.main().metrics();
  if (d && d->host_wait.total_ns > 0) {
    pic.host_story =
        format_text(out.launching.host_wait_s, "s") + " over the whole recording, up to the call that ended each gap";
    if (out.launching.after_sync_s > 0)
      pic.host_story += "; " + format_text(100 * out.launching.after_sync_s / out.launching.host_wait_s, "%") +
                        " of it after a synchronisation";
  }
  if (!out.span_rows.empty())
    pic.span_story =
        "time of a name itself, without the spans inside it, over all threads; press a row to see its longest span";
  const auto& tracks = run.main().recording->trace.tracks;
  pic.overview_title = "share busy";
  if (run.host_spans.busiest != models::trace::none) {
    const auto& busiest = tracks[run.host_spans.busiest];
    pic.overview_title = busiest.name.empty() ? "thread " + busiest.tid : busiest.name;
  }
  pic.kernel_story = "of the whole recording; press a row to see its longest run, a title to sort";
  pic.compared = run.beside && run.beside->metrics();
  if (!pic.compared || out.kernels.empty()) return;
  const auto most = std::max_element(
      out.kernels.begin(), out.kernels.end(),
      [](const KernelRow& a, const KernelRow& b) { return std::abs(a.saved_s) < std::abs(b.saved_s); });
  if (most->saved_s == 0) return;
  constexpr std::size_t longest_name = 48;
  pic.kernel_story = "the largest difference: " + said_name(most->name, longest_name) + ", " +
                     format_text(std::abs(most->saved_s), "s") +
                     (most->saved_s > 0 ? " less in the other run" : " more in the other run");
}

void write_summary(const Inputs& in, const Outputs& out, const Run& run, Picture& pic) {
  const Row& main = run.main();
  const auto& trace = main.recording->trace;
  pic.summary = (in.file.path.empty() ? "A made-up run" : trace.origin + " (" + trace.format + ")") + ": " +
                count(out.events, "event", "events") + ", " + count(out.steps, "step", "steps") + "; " + main.label() +
                (out.devices > 1 ? ", one of " + format_text(static_cast<double>(out.devices), "", 15) : "");
  if (!in.search.empty())
    pic.matches_text = count(static_cast<std::int64_t>(out.matches.count), "match", "matches") + ", " +
                       format_text(out.matches.time_s, "s");
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture pic;
  if (!out.reason.empty() || !run.lanes) return pic;
  pic.answer = answer_of(in, out, run);
  pic.cards = cards_of(out, run);
  pic.findings_title = in.step > 0 && out.steps > 0 ? "Diagnosis of the whole recording" : "Diagnosis";
  arrange_bars(out, run, pic);
  arrange_ranks(in, out, run, pic);
  arrange_places(out, run, pic);
  write_tables(out, run, pic);
  write_summary(in, out, run, pic);
  pic.overview_start_s = run.lanes->index().first_s;
  pic.overview_end_s = run.lanes->index().last_s;  // of what the timeline shows
  if (in.step > 0)  // without a step, the extent of the device's work would be looked for among all events
    if (const Window w = window_of(run.main(), in.step); w.is_step)
      pic.window = {run.lanes->seconds(0, w.from_ns), seconds(w.to_ns - w.from_ns)};
  return pic;
}

}  // namespace chapters::profiling::trace_viewer
