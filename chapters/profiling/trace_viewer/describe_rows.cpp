#include "chapters/profiling/trace_viewer/lab.h"

// The rows of the tables among inputs and outputs, and the view.

namespace chapters::profiling::trace_viewer {

void describe(Fields& f, RankFile& r) {
  f.file("file", r.file, {.label = "File", .help = "The recording of one more rank."}, {.by_bytes = true});
}

void describe(Fields& f, KernelRow& r) {
  f.text("name", r.name, {.label = "Kernel"});
  f.integer("count", r.count, {.label = "Runs"});
  f.real("total_s", r.total_s, {.label = "Total", .unit = "s"});
  f.real("share", r.share, {.label = "Share", .unit = "%"});
  f.real("mean_s", r.mean_s, {.label = "Mean", .unit = "s"});
  f.real("longest_s", r.longest_s, {.label = "Longest", .unit = "s"});
  f.real("beside_s", r.beside_s,
         {.label = "Beside", .unit = "s", .help = "Its total in the recording beside, over as many steps."});
  f.real("saved_s", r.saved_s, {.label = "Beside saves", .unit = "s", .formula = "total - beside"});
}

void describe(Fields& f, HostRow& r) {
  f.text("name", r.name, {.label = "The host was in"});
  f.integer("pieces", r.pieces, {.label = "Times"});
  f.real("time_s", r.time_s, {.label = "Total", .unit = "s"});
  f.real("share", r.share, {.label = "Share", .unit = "%"});
  f.real("longest_s", r.longest_s, {.label = "Longest", .unit = "s"});
}

void describe(Fields& f, SpanRow& r) {
  f.text("name", r.name, {.label = "Span"});
  f.integer("count", r.count, {.label = "Times"});
  f.real("self_s", r.self_s,
         {.label = "Self time", .unit = "s", .help = "Without the spans inside it, over all threads."});
  f.real("share", r.share, {.label = "Share", .unit = "%"});
  f.real("total_s", r.total_s, {.label = "Total", .unit = "s"});
  f.real("longest_s", r.longest_s, {.label = "Longest self time", .unit = "s"});
}

void describe(Fields& f, CollectiveRow& r) {
  f.text("name", r.name, {.label = "Collective"});
  f.integer("last_rank", r.last_rank, {.label = "Last rank"});
  f.real("cost_s", r.cost_s, {.label = "Costs the others", .unit = "s"});
}

void describe(Fields& f, StreamRow& r) {
  f.integer("stream", r.stream, {.label = "Stream"});
  f.integer("events", r.events, {.label = "Work items"});
  f.real("busy_s", r.busy_s, {.label = "Busy", .unit = "s"});
  f.real("idle_s", r.idle_s, {.label = "Idle", .unit = "s"});
  f.integer("queue_longest", r.queue_longest, {.label = "Longest queue"});
}

void describe(Fields& f, StepRow& r) {
  f.text("name", r.name, {.label = "Step"});
  f.real("step_s", r.step_s, {.label = "Time", .unit = "s"});
  f.real("busy_s", r.busy_s, {.label = "Busy", .unit = "s"});
  f.real("compute_s", r.compute_s, {.label = "Computation", .unit = "s"});
  f.real("communication_s", r.communication_s, {.label = "Communication", .unit = "s"});
  f.real("exposed_s", r.exposed_s, {.label = "Exposed", .unit = "s"});
  f.real("idle_s", r.idle_s, {.label = "Idle", .unit = "s"});
}

void describe(Fields& f, RankRow& r) {
  f.integer("rank", r.rank, {.label = "Rank"});
  f.integer("device", r.device, {.label = "Device"});
  f.real("step_s", r.step_s, {.label = "Step", .unit = "s"});
  f.real("compute_s", r.compute_s, {.label = "Computation", .unit = "s"});
  f.real("communication_s", r.communication_s, {.label = "Communication", .unit = "s"});
  f.real("exposed_s", r.exposed_s, {.label = "Exposed", .unit = "s"});
  f.real("idle_s", r.idle_s, {.label = "Idle", .unit = "s"});
  f.real("waited_s", r.waited_s,
         {.label = "Waits for others",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No collective of two ranks was recorded."});
  f.real("caused_s", r.caused_s,
         {.label = "Costs the others",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No collective of two ranks was recorded."});
  f.integer("times_last", r.times_last, {.label = "Times last"});
}

void describe(Fields& f, Finding& r) {
  f.text("title", r.title, {.label = "In short"});
  f.text("finding", r.finding, {.label = "Finding"});
  f.real("covers_s", r.covers_s, {.label = "Costs", .unit = "s"});
}

void describe(Fields& f, View& v) {
  f.real("time", v.time,
         {.label = "Time cursor", .unit = "s", .help = "Since the first span shown.", .lo = 0, .hi = 1e6});
  f.real("start_s", v.start_s,
         {.label = "Shown from", .unit = "s", .help = "Left end of the picture.", .lo = -1e6, .hi = 1e6});
  f.real("duration_s", v.duration_s,
         {.label = "Shown for", .unit = "s", .help = "Width of the picture; 0 shows everything.", .lo = 0, .hi = 1e6});
  f.real("asked_start_s", v.asked.start_s,
         {.label = "Step gone to",
          .unit = "s",
          .help = "Where the step begins that was gone to last.",
          .lo = -1e6,
          .hi = 1e6});
  f.real("asked_duration_s", v.asked.duration_s,
         {.label = "Length of that step", .unit = "s", .help = "0: the whole recording.", .lo = 0, .hi = 1e6});
  f.real(
      "label_px", v.label_px,
      {.label = "Width of the names", .help = "Left of the tracks, at scale 1; 0: of its own.", .lo = 0, .hi = 4000});
}

models::Result<std::string> document_of(const Outputs& out) {
  if (!out.lanes || out.lanes->sources().empty())
    return models::Result<std::string>::fail("There is no recording to export: choose a file.");
  return models::trace::to_chrome_json(out.lanes->sources().front().recording->trace);
}

}  // namespace chapters::profiling::trace_viewer
