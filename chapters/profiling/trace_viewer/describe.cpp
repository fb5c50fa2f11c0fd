#include "chapters/profiling/trace_viewer/lab.h"

#include "chapters/mechanism/lab.h"

namespace chapters::profiling::trace_viewer {
namespace {

const Choices samples = {
    {"none", "Healthy", "Nothing planted: computation is the limit."},
    {"hidden_sync", "Hidden sync", "The loss is read back in the middle of each step."},
    {"data_starved", "Starved loader", "Each batch arrives late."},
    {"launch_bound", "Launch-bound", "Kernels are shorter than the processor takes to launch them."},
    {"exposed_communication", "Exposed comms", "All-reduces take longer than the backward pass can hide."},
    {"straggler", "A straggler", "Rank 2 computes 21 % slower than the others."}};
const Choices besides = {{"nothing", "Nothing", "One recording alone."},
                         {"healthy", "Healthy", "The made-up run with nothing planted."},
                         {"hidden_sync", "Hidden sync", "The made-up run that reads its loss back in each step."},
                         {"data_starved", "Starved loader", "The made-up run whose batches arrive late."},
                         {"launch_bound", "Launch-bound", "The made-up run of kernels that are too short."},
                         {"exposed_communication", "Exposed comms", "The made-up run with slow all-reduces."},
                         {"straggler", "A straggler", "The made-up run with one slow rank."}};
const Choices figures = {
    {"waiting", "Waiting", "Who comes last to each collective, and how long the others wait for it there."},
    {"computation", "Computation", "Time in which the device computes: it may explain why a rank is late."},
    {"communication", "Communication", "Who waits: the fast ranks sit longest inside a collective."},
    {"idle", "Idle", "Time without any work on the device."},
    {"step", "Step time", "Equal for all ranks that meet in a collective."}};

constexpr std::string_view rules =
    "HolisticTraceAnalysis (facebookresearch), temporal and idle breakdown, in exact nanoseconds";
constexpr std::string_view files = "json, json.gz, gz, sqlite";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The recording");
  f.choice("sample", in.sample, samples,
           {.label = "Made-up run",
            .help = "Shown while no recording is given: four ranks of a small data-parallel training.",
            .headline = true,
            .when = {"file", ""}});
  f.file("file", in.file,
         {.label = "Recording",
          .help = "PyTorch or other Chrome trace (JSON, plain or gz), or an Nsight Systems export (sqlite). Drop "
                  "one anywhere."},
         {.accepts = files, .by_bytes = true});
  f.integer("step", in.step,
            {.label = "Step",
             .help = "Counted from 1; 0 is the whole recording, and beyond the last means the last.",
             .lo = 0,
             .hi = 999,
             .scale = Scale::step,
             .typical_lo = 0,
             .typical_hi = 20,
             .headline = true});
  f.integer("device", in.device,
            {.label = "Rank and device",
             .help = "Counted from 0 over all recordings and their devices; beyond the last means the last.",
             .lo = 0,
             .hi = 63,
             .scale = Scale::step,
             .typical_lo = 0,
             .typical_hi = 8,
             .headline = true});
  f.group("The picture");
  f.text("search", in.search,
         {.label = "Search",
          .help = "Part of a name, such as nccl or gemm: matches stand out, and the key n steps to the next, with "
                  "Shift to the one before."});
  f.toggle("arrows", in.arrows,
           {.label = "All launch arrows",
            .help = "From each launching call to the work that it started; else only those of the call or the kernel "
                    "that is selected or under the pointer."});
  f.toggle("all_ranks", in.all_ranks, {.label = "All ranks", .help = "The streams of all other ranks, too."});
  f.toggle("one_clock", in.one_clock,
           {.label = "On one clock",
            .help = "Ranks where their own clocks put them; off: each moved so that they start together.",
            .when = {"all_ranks", "true"}});
  f.choice(
      "rank_figure", in.rank_figure, figures,
      {.label = "Ranks by", .help = "What the heat map of ranks shows: waiting by collective, the others by step."});
  f.group("Beside it");
  f.choice("beside", in.beside, besides,
           {.label = "Beside it",
            .help = "A made-up run in the same picture, moved to the same start.",
            .when = {"beside_file", ""}});
  f.file("beside_file", in.beside_file,
         {.label = "Another recording", .help = "The run before or after a change; it is moved to the same start."},
         {.by_bytes = true});
  f.table("ranks", in.ranks,
          {.label = "Ranks", .help = "More recordings of the same run, a file for each other rank.", .max_items = 64});
}

void describe(Fields& f, Outputs& o) {
  f.group("The device");
  f.real("busy_share", o.busy_share,
         {.label = "Device busy",
          .unit = "%",
          .headline = true,
          .may_be_missing = true,
          .absent = "No device track was recognised.",
          .formula = "busy / time"});
  f.real("step_time_s", o.step_time_s,
         {.label = "Step",
          .unit = "s",
          .help = "The chosen step, or the mean of all.",
          .headline = true,
          .may_be_missing = true,
          .absent = "The recording marks no steps.",
          .formula = "from ProfilerStep to the next"});
  f.real("span_s", o.span_s,
         {.label = "Time looked at",
          .unit = "s",
          .help = "The chosen step, or from the device's first work to its last.",
          .may_be_missing = true,
          .absent = "No device track was recognised."});
  f.real("busy_s", o.busy_s,
         {.label = "Busy",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No device track was recognised.",
          .formula = "union of computation, communication and memory work",
          .source = rules});
  f.real("idle_s", o.idle_s,
         {.label = "Idle",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No device track was recognised.",
          .formula = "time - busy"});
  f.real("idle_share", o.idle_share,
         {.label = "Device idle",
          .unit = "%",
          .may_be_missing = true,
          .absent = "No device track was recognised.",
          .formula = "idle / time"});
  f.group("Idle by cause");
  f.real(
      "idle_host_share", o.idle_host_share,
      {.label = "Idle, launched late",
       .unit = "%",
       .help = "Gaps whose launch was called after they began: before the call, inside it and after it had returned.",
       .headline = true,
       .may_be_missing = true,
       .absent = "No launching call was recorded."});
  const auto part = [&](const char* key, double& share, const char* label, const char* help) {
    f.real(key, share,
           {.label = label,
            .unit = "%",
            .help = help,
            .may_be_missing = true,
            .absent = "No launching call was recorded."});
  };
  part("late_before_share", o.late_before_share, "Idle before the launch",
       "Of the time: the device had run dry, and the host had not called the next launch.");
  part("late_inside_share", o.late_inside_share, "Idle inside the launch",
       "Of the time: inside the launching call, which began after the gap did.");
  part("late_after_share", o.late_after_share, "Idle after the launch",
       "Of the time: the launching call had begun after the gap did, and had returned.");
  f.real("idle_kernel_share", o.idle_kernel_share,
         {.label = "Idle, kernel wait",
          .unit = "%",
          .help = "Gaps under 30 us between kernels that were launched in time.",
          .may_be_missing = true,
          .absent = "No launching call was recorded."});
  f.real("idle_other_share", o.idle_other_share,
         {.label = "Idle, other",
          .unit = "%",
          .help = "Launched in time and yet late: waiting for another stream or an event.",
          .may_be_missing = true,
          .absent = "No launching call was recorded."});
  f.real("idle_host_s", o.idle_host_s,
         {.label = "Host wait",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No launching call was recorded.",
          .source = rules});
  f.real("idle_kernel_s", o.idle_kernel_s,
         {.label = "Kernel wait",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No launching call was recorded.",
          .source = rules});
  f.real("idle_other_s", o.idle_other_s,
         {.label = "Other idle",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No launching call was recorded.",
          .source = rules});
  f.real("late_before_s", o.late_before_s,
         {.label = "Before the launch",
          .unit = "s",
          .help = "Of the host wait: until the launching call began.",
          .may_be_missing = true,
          .absent = "No launching call was recorded."});
  f.real(
      "late_inside_s", o.late_inside_s,
      {.label = "Inside the launch",
       .unit = "s",
       .help = "Of the host wait: within the launching call. A first use, an allocation and a full queue make it slow.",
       .may_be_missing = true,
       .absent = "No launching call was recorded."});
  f.real("late_after_s", o.late_after_s,
         {.label = "After the launch",
          .unit = "s",
          .help = "Of the host wait: from the return of the launching call to the start of the work.",
          .may_be_missing = true,
          .absent = "No launching call was recorded.",
          .formula = "host wait - before - inside"});
  f.group("Communication");
  f.real("exposed_communication_s", o.exposed_communication_s,
         {.label = "Exposed communication",
          .unit = "s",
          .headline = true,
          .may_be_missing = true,
          .absent = "No communication was recorded.",
          .formula = "communication while nothing computes"});
  f.real("communication_s", o.communication_s,
         {.label = "Communication",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No communication was recorded.",
          .formula = "union of the collectives"});
  f.real("overlapped_s", o.overlapped_s,
         {.label = "Hidden communication",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No communication was recorded.",
          .formula = "communication while something computes"});
  f.real("overlap", o.overlap,
         {.label = "Overlapped",
          .unit = "%",
          .may_be_missing = true,
          .absent = "No communication was recorded.",
          .formula = "hidden / communication",
          .source = rules});
  f.group("Other work");
  f.real("compute_s", o.compute_s,
         {.label = "Computation",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No device track was recognised.",
          .formula = "union of the computing kernels"});
  f.real("memory_s", o.memory_s,
         {.label = "Copies",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No device track was recognised.",
          .formula = "union of copies and memsets"});
  f.real("streams_idle_s", o.streams_idle_s,
         {.label = "Idle summed over streams",
          .unit = "s",
          .help = "Not the device's idle time: one stream rests while another works. Of the whole recording.",
          .may_be_missing = true,
          .absent = "No device track was recognised.",
          .formula = "sum of each stream's gaps"});
  f.group("The host meanwhile");
  f.real(
      "host_wait_s", o.host_wait_s,
      {.label = "Host late",
       .unit = "s",
       .help = "Of the whole recording: from the beginning of each gap of the cause host wait to the call that ended "
               "it.",
       .may_be_missing = true,
       .absent = "No launching call was recorded."});
  f.real(
      "after_sync_s", o.after_sync_s,
      {.label = "Host late after a sync",
       .unit = "s",
       .help = "Of that, where the gap began inside a call that waits for the device, such as cudaStreamSynchronize.",
       .may_be_missing = true,
       .absent = "No launching call was recorded."});
  f.table("host_rows", o.host_rows, {.label = "What the host did meanwhile", .max_items = 200});
  f.table("span_rows", o.span_rows, {.label = "Spans of the host, where no device was recorded", .max_items = 200});
  f.group("Launches");
  f.real("launch_delay_median_s", o.launch_delay_median_s,
         {.label = "Launch delay, median",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No launching call was recorded.",
          .formula = "start on the device - end of the call"});
  f.real("launch_delay_longest_s", o.launch_delay_longest_s,
         {.label = "Launch delay, longest",
          .unit = "s",
          .help = "A long delay is a full queue, and a good sign on its own.",
          .may_be_missing = true,
          .absent = "No launching call was recorded."});
  f.real("late_launches", o.late_launches,
         {.label = "Delays over 100 us",
          .help = "Work that waited in the queue for longer than that.",
          .may_be_missing = true,
          .absent = "No launching call was recorded."});
  f.integer("launches", o.launches,
            {.label = "Launches", .help = "Work on the device whose launching call was recorded."});
  f.real("queue_longest", o.queue_longest,
         {.label = "Queue, longest",
          .help = "Launched and not yet started, on the fullest stream, in the whole recording.",
          .may_be_missing = true,
          .absent = "No launching call was recorded."});
  f.group("Ranks");
  f.real("late_rank", o.late_rank,
         {.label = "Rank that costs most",
          .help = "The last to arrive makes all others wait: the rank that causes the largest part of that.",
          .may_be_missing = true,
          .absent = "No collective of two ranks was recorded.",
          .formula = "largest sum of (its start - start of each other) over the collectives where it is last"});
  f.real("late_rank_cost_s", o.late_rank_cost_s,
         {.label = "It costs the others",
          .unit = "s",
          .help = "Summed over the ranks that wait, in the whole recording.",
          .may_be_missing = true,
          .absent = "No collective of two ranks was recorded."});
  f.real("late_rank_idle_cost_s", o.late_rank_idle_cost_s,
         {.label = "With nothing to compute",
          .unit = "s",
          .help = "Of that, while the rank that waited computed nothing: the rest hides under computation.",
          .may_be_missing = true,
          .absent = "No collective of two ranks was recorded."});
  f.real("late_rank_share", o.late_rank_share,
         {.label = "Of all waiting",
          .unit = "%",
          .may_be_missing = true,
          .absent = "No collective of two ranks was recorded.",
          .formula = "its cost / all waiting"});
  f.real("collectives_waited_s", o.collectives_waited_s,
         {.label = "Waiting in collectives",
          .unit = "s",
          .help = "Of all ranks together, from their own start to that of the last.",
          .may_be_missing = true,
          .absent = "No collective of two ranks was recorded."});
  f.table("collectives", o.collectives, {.label = "Collectives, the costliest first", .max_items = 200});
  f.real("slowest_excess", o.slowest_excess,
         {.label = "Computes longer by",
          .unit = "%",
          .may_be_missing = true,
          .absent = "There is one rank.",
          .formula = "mean computation / median of the others - 1"});
  f.real("slowest_rank", o.slowest_rank,
         {.label = "Rank that computes longest",
          .help = "By mean computation a step; it need not be the one that holds the others up.",
          .may_be_missing = true,
          .absent = "There is one rank."});
  f.integer("devices", o.devices, {.label = "Ranks and devices", .help = "Over all recordings."});
  f.table("rank_rows", o.ranks, {.label = "Ranks, mean of steps", .max_items = 4096});
  f.group("Search");
  f.real("matches", o.matches,
         {.label = "Matches",
          .help = "Spans shown whose name contains the text searched.",
          .may_be_missing = true,
          .absent = "Nothing is searched for."});
  f.real("matches_s", o.matches_s,
         {.label = "Time in matches",
          .unit = "s",
          .help = "Sum of their durations; nested ones count more than once.",
          .may_be_missing = true,
          .absent = "Nothing is searched for."});
  f.group("Beside it");
  f.real("beside_speedup", o.beside_speedup,
         {.label = "Beside is faster by",
          .may_be_missing = true,
          .absent = "Nothing stands beside it, or it marks no steps.",
          .formula = "step / step beside"});
  f.real("beside_step_time_s", o.beside_step_time_s,
         {.label = "Step beside",
          .unit = "s",
          .help = "The same step of the recording beside, or the mean of all.",
          .may_be_missing = true,
          .absent = "Nothing stands beside it, or it marks no steps."});
  f.real("beside_busy_share", o.beside_busy_share,
         {.label = "Busy beside",
          .unit = "%",
          .may_be_missing = true,
          .absent = "Nothing stands beside it, or it marks no steps.",
          .formula = "busy / time"});
  f.group("Recording");
  f.integer("events", o.events, {.label = "Events", .help = "Spans and instants of the recording shown."});
  f.integer("steps", o.steps, {.label = "Steps", .help = "ProfilerStep annotations."});
  f.text("losses", o.losses, {.label = "Not read"});
  f.group("Diagnosis");
  f.text("diagnosis", o.diagnosis, {.label = "Diagnosis"});
  f.table("findings", o.findings, {.label = "Findings", .max_items = 64});
  f.group("Tables");
  f.table("kernels", o.kernels, {.label = "Kernels, whole recording", .max_items = 200});
  f.table("streams", o.streams, {.label = "Streams, whole recording", .max_items = 4096});
  f.table("step_rows", o.step_rows, {.label = "Steps", .max_items = 200});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {
          .id = "profiling/trace-viewer",
          .title = "Trace viewer",
          .question = "Where did the time of this step go, and who was waiting for whom?",
          .job = true,
          .document = "Chrome trace",
      },
      compute, arrange, draw);
}

}  // namespace chapters::profiling::trace_viewer
