#include "chapters/profiling/trace_viewer/lab.h"

// The rows of the tables among inputs and outputs, and the view.

namespace chapters::profiling::trace_viewer {

void describe(Fields& f, RankFile& r) {
  f.file("file", r.file, "File", "The recording of one more rank.",
         {.reads = {FileKind::recording, FileKind::memory_recording}, .by_bytes = true});
}

void describe(Fields& f, KernelRow& r) {
  f.text("name", r.name, "Kernel");
  f.integer("count", r.count, "Runs");
  f.real("total_s", r.total_s, {"Total", "s"});
  f.real("share", r.share, {"Share", "%"});
  f.real("mean_s", r.mean_s, {"Mean", "s"});
  f.real("longest_s", r.longest_s, {"Longest", "s"});
  f.real("beside_s", r.beside_s, {"Other run", "s"}, "Its total in the other run, over as many steps.");
  f.real("saved_s", r.saved_s, {"The other run saves", "s"}, {.formula = "total - total of the other run"});
}

void describe(Fields& f, HostRow& r) {
  f.text("name", r.name, "The host was in");
  f.integer("pieces", r.pieces, "Times");
  f.real("time_s", r.time_s, {"Total", "s"});
  f.real("share", r.share, {"Share", "%"});
  f.real("longest_s", r.longest_s, {"Longest", "s"});
}

void describe(Fields& f, SpanRow& r) {
  f.text("name", r.name, "Span");
  f.integer("count", r.count, "Times");
  f.real("self_s", r.self_s, {"Self time", "s"}, "Without the spans inside it, over all threads.");
  f.real("share", r.share, {"Share", "%"});
  f.real("total_s", r.total_s, {"Total", "s"});
  f.real("longest_s", r.longest_s, {"Longest self time", "s"});
}

void describe(Fields& f, CollectiveRow& r) {
  f.text("name", r.name, "Collective");
  f.integer("last_rank", r.last_rank, "Last rank");
  f.real("cost_s", r.cost_s, {"Costs the others", "s"});
}

void describe(Fields& f, StreamRow& r) {
  f.integer("stream", r.stream, "Stream");
  f.integer("events", r.events, "Work items");
  f.real("busy_s", r.busy_s, {"Busy", "s"});
  f.real("idle_s", r.idle_s, {"Idle", "s"});
  f.integer("queue_longest", r.queue_longest, "Longest queue");
}

void describe(Fields& f, StepRow& r) {
  f.text("name", r.name, "Step");
  f.real("step_s", r.step_s, {"Time", "s"});
  f.real("busy_s", r.busy_s, {"Busy", "s"});
  f.real("compute_s", r.compute_s, {"Computation", "s"});
  f.real("communication_s", r.communication_s, {"Communication", "s"});
  f.real("exposed_s", r.exposed_s, {"Exposed", "s"});
  f.real("idle_s", r.idle_s, {"Idle", "s"});
}

void describe(Fields& f, RankRow& r) {
  f.integer("rank", r.rank, "Rank");
  f.integer("device", r.device, "Device");
  f.real("step_s", r.step_s, {"Step", "s"});
  f.real("compute_s", r.compute_s, {"Computation", "s"});
  f.real("communication_s", r.communication_s, {"Communication", "s"});
  f.real("exposed_s", r.exposed_s, {"Exposed", "s"});
  f.real("idle_s", r.idle_s, {"Idle", "s"});
  f.real("waited_s", r.waited_s, {"Waits for others", "s"}, {.absent = "No collective of two ranks was recorded."});
  f.real("caused_s", r.caused_s, {"Costs the others", "s"}, {.absent = "No collective of two ranks was recorded."});
  f.integer("times_last", r.times_last, "Times last");
}

void describe(Fields& f, Finding& r) {
  f.text("title", r.title, "In short");
  f.text("finding", r.finding, "Finding");
  f.real("covers_s", r.covers_s, {"Costs", "s"});
  f.real("won_s", r.won_s, {"Shorter without it", "s"}, {.absent = "The finding cannot be taken out of a replay."});
}

void describe(Fields& f, View& v) {
  f.real("time", v.time, {"Time cursor", "s"}, "Since the first span shown.", {.range = {0, 1e6}});
  f.real("start_s", v.start_s, {"Shown from", "s"}, "Left end of the picture.", {.range = {-1e6, 1e6}});
  f.real("duration_s", v.duration_s, {"Shown for", "s"}, "Width of the picture; 0 shows everything.",
         {.range = {0, 1e6}});
  f.real("asked_start_s", v.asked.start_s, {"Step gone to", "s"}, "Where the step begins that was gone to last.",
         {.range = {-1e6, 1e6}});
  f.real("asked_duration_s", v.asked.duration_s, {"Length of that step", "s"}, "0: the whole recording.",
         {.range = {0, 1e6}});
  f.real("label_px", v.label_px, "Width of the names", "Left of the tracks, at scale 1; 0: of its own.",
         {.range = {0, 4000}});
}

models::Result<std::string> document_of(const Outputs&, const Run& run) {
  if (run.rows.empty()) return models::Result<std::string>::fail("There is no recording to export: choose a file.");
  return models::trace::to_chrome_json(run.main().recording->trace);
}

}  // namespace chapters::profiling::trace_viewer
