#include "chapters/profiling/trace_viewer/lab.h"

#include "chapters/described/step_choices.h"
#include "chapters/mechanism/lab.h"

namespace chapters::profiling::trace_viewer {
namespace {

const Choices besides = {{"nothing", "Nothing", "One recording alone."},
                         {"healthy", "Healthy", "The made-up run with nothing planted."},
                         {"hidden_sync", "Hidden sync", "The made-up run that reads its loss back in each step."},
                         {"data_starved", "Starved loader", "The made-up run whose batches arrive late."},
                         {"launch_bound", "Launch-bound", "The made-up run of kernels that are too short."},
                         {"exposed_communication", "Exposed comms", "The made-up run with slow all-reduces."},
                         {"straggler", "A straggler", "The made-up run with one slow rank."}};
const Choices ranked_figures = {
    {"waiting", "Waiting", "Who comes last to each collective, and how long the others wait for it there."},
    {"computation", "Computation", "Time in which the device computes: it may explain why a rank is late."},
    {"communication", "Communication", "Who waits: the fast ranks sit longest inside a collective."},
    {"idle", "Idle", "Time without any work on the device."},
    {"step", "Step time", "Equal for all ranks that meet in a collective."}};

constexpr std::string_view no_device = "No device track was recognised.";
constexpr std::string_view no_launch = "No launching call was recorded.";
constexpr std::string_view no_communication = "No communication was recorded.";
constexpr std::string_view no_collective = "No collective of two ranks was recorded.";
constexpr std::string_view one_rank = "There is one rank.";
constexpr std::string_view no_search = "Nothing is searched for.";
constexpr std::string_view nothing_beside = "No other run is shown, or it marks no steps.";
constexpr std::string_view rules =
    "HolisticTraceAnalysis (facebookresearch), temporal and idle breakdown, in exact nanoseconds";
constexpr std::string_view files = "json, json.gz, gz, sqlite";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The recording");
  f.choice("sample", in.sample, sample_fault_choices(), "Made-up run",
           "Shown while no recording is given: four ranks of a small data-parallel training.",
           {.headline = true, .when = {"file", ""}});
  f.file("file", in.file, "Recording",
         "PyTorch or other Chrome trace (JSON, plain or gz), or an Nsight Systems export (sqlite). Drop one anywhere.",
         {.reads = {FileKind::recording, FileKind::memory_recording}, .accepts = files, .by_bytes = true});
  f.integer("step", in.step, "Step", "Counted from 1; 0 is the whole recording, and beyond the last means the last.",
            {.range = {0, 999, Scale::step}, .typical = {0, 20}, .headline = true});
  f.integer("device", in.device, "Rank and device",
            "Counted from 0 over all recordings and their devices; beyond the last means the last.",
            {.range = {0, 63, Scale::step}, .typical = {0, 8}, .headline = true});
  f.group("The picture");
  f.text("search", in.search, "Search",
         "Part of a name, such as nccl or gemm: matches stand out, and the key n steps to the next, with Shift to the "
         "one before.");
  f.toggle("arrows", in.arrows, "All launch arrows",
           "From each launching call to the work that it started; else only those of the call or the kernel that is "
           "selected or under the pointer.");
  f.toggle("all_ranks", in.all_ranks, "All ranks", "The streams of all other ranks, too.");
  f.toggle("one_clock", in.one_clock, "On one clock",
           "Ranks where their own clocks put them; off: each moved so that they start together.",
           {.when = {"all_ranks", "true"}});
  f.choice("rank_figure", in.rank_figure, ranked_figures, "Ranks by",
           "What the heat map of ranks shows: waiting by collective, the others by step.");
  f.group("The other run");
  f.choice("beside", in.beside, besides, "Other run", "A made-up run in the same picture, moved to the same start.",
           {.when = {"beside_file", ""}});
  f.file("beside_file", in.beside_file, "Another recording",
         "The run before or after a change; it is moved to the same start.",
         {.reads = {FileKind::recording, FileKind::memory_recording}, .by_bytes = true});
  f.table("ranks", in.ranks, "Ranks", "More recordings of the same run, a file for each other rank.",
          {.max_items = 64});
}

namespace {

void describe_device(Fields& f, Outputs& o) {
  DeviceTimes& t = o.times;
  f.group("The device");
  f.real("busy_share", t.busy_share, {"Device busy", "%"},
         {.headline = true, .absent = no_device, .formula = "busy / time"});
  f.real("step_time_s", o.step_time_s, {"Step", "s"}, "The chosen step, or the mean of all.",
         {.headline = true, .absent = "The recording marks no steps.", .formula = "from ProfilerStep to the next"});
  f.real("span_s", t.span_s, {"Time looked at", "s"}, "The chosen step, or from the device's first work to its last.",
         {.absent = no_device});
  f.real("busy_s", t.busy_s, {"Busy", "s"},
         {.absent = no_device, .formula = "union of computation, communication and memory work", .source = rules});
  f.real("idle_s", t.idle_s, {"Idle", "s"}, {.absent = no_device, .formula = "time - busy"});
  f.real("idle_share", t.idle_share, {"Device idle", "%"}, {.absent = no_device, .formula = "idle / time"});
}

void describe_causes(Fields& f, Outputs& o) {
  IdleCauses& c = o.causes;
  static const std::string short_gaps =
      "Gaps under " + short_gap_text() + " between kernels that were launched in time.";
  f.group("Idle by cause");
  f.real("idle_host_share", c.host_share, {"Idle, launched late", "%"},
         "Gaps whose launch was called after they began: before the call, inside it and after it had returned.",
         {.headline = true, .absent = no_launch});
  const auto part = [&](const char* key, double& share, const char* label, const char* help) {
    f.real(key, share, {label, "%"}, help, {.absent = no_launch});
  };
  part("late_before_share", c.before_share, "Idle before the launch",
       "Share of the time in which the device had run dry, and the host had not called the next launch.");
  part("late_inside_share", c.inside_share, "Idle inside the launch",
       "Share of the time inside a launching call that began after the gap did.");
  part("late_after_share", c.after_share, "Idle after the launch",
       "Share of the time after a launching call had returned that began after the gap did.");
  f.real("idle_kernel_share", c.kernel_share, {"Idle, kernel wait", "%"}, short_gaps, {.absent = no_launch});
  f.real("idle_other_share", c.other_share, {"Idle, other", "%"},
         "Launched in time and yet late: waiting for another stream or an event.", {.absent = no_launch});
  f.real("idle_host_s", c.host_s, {"Host wait", "s"}, {.absent = no_launch, .source = rules});
  f.real("idle_kernel_s", c.kernel_s, {"Kernel wait", "s"}, {.absent = no_launch, .source = rules});
  f.real("idle_other_s", c.other_s, {"Other idle", "s"}, {.absent = no_launch, .source = rules});
  f.real("idle_unknown_s", c.unknown_s, {"Idle, cause unknown", "s"},
         "The part of kernel wait and other idle that lies before work whose launching call is not in the file.",
         {.absent = no_launch});
  f.real("late_before_s", c.before_s, {"Before the launch", "s"},
         "The part of the host wait until the launching call began.", {.absent = no_launch});
  f.real("late_inside_s", c.inside_s, {"Inside the launch", "s"},
         "The part of the host wait within the launching call. A first use, an allocation and a full queue make it "
         "slow.",
         {.absent = no_launch});
  f.real("late_after_s", c.after_s, {"After the launch", "s"},
         "The part of the host wait from the return of the launching call to the start of the work.",
         {.absent = no_launch, .formula = "host wait - before - inside"});
}

void describe_work(Fields& f, Outputs& o) {
  CommunicationTimes& c = o.communication;
  f.group("Communication");
  f.real("exposed_communication_s", c.exposed_s, {"Exposed communication", "s"},
         {.headline = true, .absent = no_communication, .formula = "communication while nothing computes"});
  f.real("communication_s", c.total_s, {"Communication", "s"},
         {.absent = no_communication, .formula = "union of the collectives"});
  f.real("exposed_communication_share", c.exposed_share, {"Only communicating", "%"},
         {.absent = no_communication, .formula = "exposed communication / time"});
  f.real("overlapped_s", c.hidden_s, {"Hidden communication", "s"},
         {.absent = no_communication, .formula = "communication while something computes"});
  f.real("overlap", c.overlap, {"Overlapped", "%"},
         {.absent = no_communication, .formula = "hidden / communication", .source = rules});
  f.group("Other work");
  f.real("compute_s", o.times.compute_s, {"Computation", "s"},
         {.absent = no_device, .formula = "union of the computing kernels"});
  f.real("memory_s", o.times.memory_s, {"Copies", "s"},
         {.absent = no_device, .formula = "union of copies and memsets"});
  f.real("exposed_memory_s", o.times.exposed_memory_s, {"Exposed copies", "s"},
         {.absent = no_device, .formula = "copies and memsets while nothing computes or communicates"});
  f.real("streams_idle_s", o.streams_idle_s, {"Idle summed over streams", "s"},
         "Not the device's idle time: one stream rests while another works. Summed over the whole recording.",
         {.absent = no_device, .formula = "sum of each stream's gaps"});
}

void describe_host(Fields& f, Outputs& o) {
  LaunchFigures& l = o.launching;
  f.group("The host meanwhile");
  f.real(
      "host_wait_s", l.host_wait_s, {"Host late", "s"},
      "Summed over the whole recording, from the beginning of each gap of the cause host wait to the call that ended "
      "it.",
      {.absent = no_launch});
  f.real("after_sync_s", l.after_sync_s, {"Host late after a sync", "s"},
         "The part of that where the gap began inside a call that waits for the device, such as cudaStreamSynchronize.",
         {.absent = no_launch});
  f.table("host_rows", o.host_rows, "What the host did meanwhile", {.max_items = 200});
  f.table("span_rows", o.span_rows, "Spans of the host, where no device was recorded", {.max_items = 200});
  f.group("Launches");
  f.real("launch_delay_median_s", l.delay_median_s, {"Launch delay, median", "s"},
         {.absent = no_launch, .formula = "start on the device - end of the call"});
  f.real("launch_delay_longest_s", l.delay_longest_s, {"Launch delay, longest", "s"},
         "A long delay is a full queue, and a good sign on its own.", {.absent = no_launch});
  f.real("late_launches", l.late, "Delays over 100 µs", "Work that waited in the queue for longer than that.",
         {.absent = no_launch});
  f.integer("launches", o.launches, "Launches", "Work on the device whose launching call was recorded.");
  f.real("queue_longest", l.queue_longest, "Queue, longest",
         "Launched and not yet started, on the fullest stream, in the whole recording.", {.absent = no_launch});
}

void describe_ranks(Fields& f, Outputs& o) {
  f.group("Ranks");
  f.real("late_rank", o.late.rank, "Rank that costs most",
         "The last to arrive makes all others wait: the rank that causes the largest part of that.",
         {.absent = no_collective,
          .formula = "largest sum of (its start - start of each other) over the collectives where it is last"});
  f.real("late_rank_cost_s", o.late.cost_s, {"It costs the others", "s"},
         "Summed over the ranks that wait, in the whole recording.", {.absent = no_collective});
  f.real("late_rank_idle_cost_s", o.late.idle_cost_s, {"With nothing to compute", "s"},
         "The part of that in which the rank that waited computed nothing: the rest hides under computation.",
         {.absent = no_collective});
  f.real("late_rank_spared_s", o.late.spared_s, {"On time it spares the others", "s"},
         "What the others would wait less if it came with the last of them, call by call, nothing run again.",
         {.absent = no_collective,
          .formula = "sum of (its start - start of the last other) x others over the collectives where it is last"});
  f.real("late_rank_won_s", o.late.won_s, {"On time the job wins", "s"},
         "By how much a replay of all ranks is shorter when it comes to no collective later than the last other.",
         {.absent = no_collective});
  f.real("late_rank_share", o.late.share, {"Share of all waiting", "%"},
         {.absent = no_collective, .formula = "its cost / all waiting"});
  f.real("late_rank_step_s", o.late.each_step_s, {"Each other rank, per step", "s"},
         "What each of the others waits for it in one step.",
         {.absent = no_collective, .formula = "its cost / steps / other ranks"});
  f.real("late_rank_times", o.late.times_last, "It arrives last", "Collectives of the whole recording.",
         {.absent = no_collective});
  f.real("matched_collectives", o.late.collectives, "Collectives matched", "Found on all ranks that take part.",
         {.absent = no_collective});
  f.real("collectives_waited_s", o.collectives_waited_s, {"Waiting in collectives", "s"},
         "Summed over all ranks, from their own start to that of the last.", {.absent = no_collective});
  f.table("collectives", o.collectives, "Collectives, the costliest first", {.max_items = 200});
  f.real("slowest_excess", o.slowest.excess, {"Computes longer by", "%"},
         {.absent = one_rank, .formula = "mean computation / median of the others - 1"});
  f.real("slowest_rank", o.slowest.rank, "Rank that computes longest",
         "By mean computation per step; it need not be the one that holds the others up.", {.absent = one_rank});
  f.integer("devices", o.devices, "Ranks and devices", "Over all recordings.");
  f.table("rank_rows", o.ranks, "Ranks, mean of steps", {.max_items = 4096});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_device(f, o);
  describe_causes(f, o);
  describe_work(f, o);
  describe_host(f, o);
  describe_ranks(f, o);
  f.group("Search");
  f.real("matches", o.matches.count, "Matches", "Spans shown whose name contains the text searched.",
         {.absent = no_search});
  f.real("matches_s", o.matches.time_s, {"Time in matches", "s"},
         "Sum of their durations; nested ones count more than once.", {.absent = no_search});
  f.group("The other run");
  f.real("beside_speedup", o.beside.speedup, "The other run is faster by",
         {.absent = nothing_beside, .formula = "step / step of the other run"});
  f.real("beside_step_time_s", o.beside.step_time_s, {"Step of the other run", "s"},
         "The same step of the other run, or the mean of all.", {.absent = nothing_beside});
  f.real("beside_busy_share", o.beside.busy_share, {"The other run is busy", "%"},
         {.absent = nothing_beside, .formula = "busy / time"});
  f.group("Recording");
  f.integer("events", o.events, "Events", "Spans and instants of the recording shown.");
  f.integer("steps", o.steps, "Steps", "ProfilerStep annotations.");
  f.text("losses", o.losses, "Not read");
  f.group("Diagnosis");
  f.text("diagnosis", o.diagnosis, "Diagnosis");
  f.real("explained_share", o.explained_share, {"Explained by the replay", "%"},
         "How much of the device's time comes out again when the recording is run again from what it says.",
         {.absent = no_device,
          .formula = "sum of the shorter / sum of the longer of recorded and replayed time between ends of work"});
  f.table("findings", o.findings, "Findings", {.max_items = 64});
  f.group("Tables");
  f.table("kernels", o.kernels, "Kernels, whole recording", {.max_items = 200});
  f.table("streams", o.streams, "Streams, whole recording", {.max_items = 4096});
  f.table("step_rows", o.step_rows, "Steps", {.max_items = 200});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"profiling/trace-viewer",
                                                   "Trace viewer",
                                                   "Where did the time of this step go, and who was waiting for whom?",
                                                   {.job = true, .document = "Chrome trace"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::profiling::trace_viewer
