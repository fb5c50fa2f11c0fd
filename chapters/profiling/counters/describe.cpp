#include "chapters/profiling/counters/lab.h"
#include "chapters/profiling/counters/words.h"

namespace chapters::profiling::counters {
namespace {

using namespace models::gpu;

const Choices sources{{"measured", "Published reports", "56 reports of real kernels, with what others said of them."},
                      {"file", "My report", "Read from the file below."}};

/// Choices of an enumeration whose keys and words are functions.
template <class E>
Choices choices_of(std::size_t count, std::string_view (*key)(E), std::string_view (*words)(E)) {
  Choices out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back({std::string(key(static_cast<E>(i))), std::string(words(static_cast<E>(i))), ""});
  return out;
}

const Choices& kernels() {
  static const Choices all = [] {
    Choices out;
    for (const MeasuredReport& m : measured_reports())
      out.push_back({m.id, m.label, m.report.chip + ", " + m.report.tool + "; from " + m.source + "."});
    return out;
  }();
  return all;
}

const Choices& verdicts() {
  static const Choices all = choices_of<SolVerdict>(sol_verdict_count, sol_verdict_key, verdict_words);
  return all;
}
const Choices& classes() {
  static const Choices all = choices_of<KernelClass>(kernel_class_count, kernel_class_key, class_words);
  return all;
}
const Choices& causes() {
  static const Choices all = choices_of<Cause>(cause_count, cause_key, [](Cause c) { return cause_words(c).name; });
  return all;
}

constexpr std::string_view printed = "as the report prints it";
constexpr std::string_view not_printed = "The report prints neither it nor what it follows from.";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The report");
  f.choice("source", in.source, sources, "From", "Whose reports are on the map.");
  f.choice("kernel", in.kernel, kernels(), "Kernel", "The report that is read; the open dot of the map.",
           {.headline = true, .when = {"source", "measured"}});
  f.file("report", in.report, "Your report",
         "Nsight Compute as text (`ncu --import FILE --page details`) or CSV, `rocprof-compute analyze`, or JSON with "
         "an object \"report\". A binary report is not read.",
         {.mode = {"source", "file"}},
         {.reads = {FileKind::kernel_report}, .accepts = "txt, csv, json, log, ncu-rep", .by_bytes = true});
  f.integer("report_kernel", in.report_kernel, "Kernel of the file",
            "In the order of the file; a number beyond its last means the last.",
            {.range = {1, 4096, Scale::log}, .typical = {1, 20}, .when = {"source", "file"}});
  f.group("The rule");
  f.real("low_percent", in.low_percent, {"Low under", "%"},
         "Compute and memory both under it: neither is the limit. Nsight Compute takes 60.", {.range = {20, 75}});
  f.real("roof_percent", in.roof_percent, {"Near a roof from", "%"},
         "One of the two at it or over it is near a roof. Nsight Compute takes 80.", {.range = {76, 99}});
  f.real("difference_points", in.difference_points, {"Balanced within", "%"},
         "Percentage points by which compute and memory may differ. Nsight Compute takes 10.", {.range = {1, 40}});
  f.group("The launch, changed");
  f.integer("blocks", in.blocks, "Blocks",
            "Another grid for waves and tail; 0 keeps the report's. What the throughputs would be then is not known.",
            {.range = {0, 1e6}, .typical = {0, 1000}, .headline = true});
  f.integer("sms", in.sms, "SMs", "Another chip for waves and tail; 0 keeps the report's.",
            {.range = {0, 304}, .headline = true});
}

namespace {

void describe_verdict(Fields& f, Outputs& o) {
  f.group("What it says");
  f.choice("verdict", o.said.verdict, verdicts(), "Verdict",
           {.headline = true,
            .formula = "low, roof and difference of the two throughputs",
            .source = "the speed-of-light rule of Nsight Compute"});
  f.choice("class", o.said.bound, classes(), "Bound by", "Not decided where no figure says so.",
           {.headline = true, .source = "rules on the report's figures; the kernel's name is not among them"});
  f.choice("cause", o.said.cause, causes(), "Cause", {.source = "the same rules"});
  f.text("evidence", o.evidence, "Because", "The figures that decided.");
  f.text("next_step", o.next_step, "Next", "What to try for this cause.");
  f.choice("printed_verdict", o.printed_verdict, verdicts(), "Verdict that the report prints",
           "Not decided where it prints none.");
  f.text("stated", o.stated, "As published", "The class that the author, the tool or the report's figures state.");
  f.text("name", o.name, "Report");
}

void describe_throughputs(Fields& f, Outputs& o) {
  f.group("Throughputs");
  const auto share = [&](std::string_view key, double& slot, std::string_view label, std::string_view help) {
    f.real(key, slot, {label, "%"}, help, {.absent = not_printed, .source = printed});
  };
  share("compute_percent", o.compute_percent, "Compute", "The busiest pipe of the SMs, over elapsed cycles.");
  share("memory_percent", o.memory_percent, "Memory", "The busiest of all units that move data, over elapsed cycles.");
  share("dram_percent", o.dram_percent, "DRAM", "The chip's own memory: HBM or GDDR.");
  share("l1_percent", o.l1_percent, "L1", "Over the cycles in which SMs work, not over elapsed ones.");
  share("l2_percent", o.l2_percent, "L2", "Over elapsed cycles.");
  share("pipe_percent", o.pipe_percent, "Busiest arithmetic pipe", "Tensor, FP64, FMA or ALU, where it is printed.");
  f.toggle("memory_is_not_dram", o.memory_is_not_dram, "Memory is not DRAM",
           "DRAM is under 15 % and the memory figure is well above it: the dot is hollow.");
}

void describe_scheduler(Fields& f, Outputs& o) {
  f.group("The scheduler");
  f.real("no_eligible_percent", o.no_eligible_percent, {"No warp ready", "%"}, "Cycles in which no warp could go.",
         {.headline = true, .absent = not_printed, .source = printed});
  f.real("issue_percent", o.issue_percent, {"Issues", "%"}, "Cycles in which a warp goes.",
         {.absent = not_printed, .formula = "100 - no warp ready", .source = printed});
  f.real("issue_slots_percent", o.issue_slots_percent, {"Issue slots busy", "%"},
         {.absent = not_printed, .source = printed});
  f.real("active_warps", o.active_warps, "Warps there", "Warps that one scheduler has.",
         {.absent = not_printed, .source = printed});
  f.real("eligible_warps", o.eligible_warps, "Warps ready", "Warps of one scheduler that could go.",
         {.absent = not_printed, .source = printed});
  f.real("warp_cycles", o.warp_cycles, "Cycles per instruction", "From one instruction of a warp to its next.",
         {.absent = not_printed, .source = printed});
  f.text("top_stall", o.top_stall, "Longest stall", "What warps wait for most; empty where no stall is printed.");
  f.real("top_stall_percent", o.top_stall_percent, {"Longest stall", "%"},
         "Its share of the cycles between two instructions.",
         {.headline = true,
          .absent = not_printed,
          .formula = "cycles of the stall / cycles per instruction",
          .source = printed});
  f.real("top_stall_cycles", o.top_stall_cycles, "Cycles of the longest stall",
         {.absent = not_printed, .source = printed});
}

void describe_launch(Fields& f, Outputs& o) {
  f.group("Launch");
  f.real("waves", o.also.waves, "Waves", "Rounds in which the blocks fill the chip.",
         {.absent = not_printed, .formula = "blocks / (SMs * blocks_per_SM)", .source = "Nsight Compute"});
  f.real("tail_percent", o.also.tail_pct, {"Tail at most", "%"}, "What a partial last wave can cost; 0 if it is full.",
         {.absent = not_printed, .formula = "1 / (1 + whole_waves)", .source = "Nsight Compute, tail effect"});
  f.real("small_grid_percent", o.also.small_grid_pct, {"SMs without a block", "%"}, "Where blocks are fewer than SMs.",
         {.absent = not_printed, .formula = "(SMs - blocks) / SMs", .source = "Nsight Compute, small grid"});
  f.real("grid_blocks", o.grid_blocks, "Blocks of the grid", {.absent = not_printed, .source = printed});
  f.real("sm_count", o.sm_count, "SMs of the chip", {.absent = not_printed, .source = printed});
  f.real("reported_waves", o.reported.waves, "Waves of the report", {.absent = not_printed, .source = printed});
  f.real("reported_tail_percent", o.reported.tail_pct, {"Tail of the report", "%"},
         {.absent = not_printed, .formula = "1 / (1 + whole_waves)"});
  f.real("reported_blocks", o.reported_blocks, "Blocks of the report", {.absent = not_printed, .source = printed});
  f.real("reported_sms", o.reported_sms, "SMs of the report", {.absent = not_printed, .source = printed});
  f.real("wavefronts", o.wavefronts, "Wavefronts", {.absent = not_printed, .source = printed});
  f.real("sm_active_percent", o.sm_active_percent, {"An SM works", "%"}, "On average, of the elapsed cycles.",
         {.absent = not_printed, .formula = "active_cycles / elapsed_cycles", .source = printed});
  f.group("Occupancy");
  f.real("theoretical_occupancy_percent", o.also.theoretical_occupancy_pct, {"Theoretical occupancy", "%"},
         "Warps that fit on an SM, of those that it holds.",
         {.absent = not_printed,
          .formula = "blocks_per_SM * warps_per_block / warps_of_an_SM",
          .source = "CUDA programming guide"});
  f.real("blocks_per_sm", o.also.blocks_per_sm, "Blocks per SM", "As printed, or the least of the limits.",
         {.absent = not_printed, .source = printed});
  f.text("occupancy_limit", o.occupancy_limit, "Limited by", "What allows the fewest blocks; empty: not printed.");
  f.real("achieved_percent", o.achieved_percent, {"Achieved occupancy", "%"},
         {.absent = not_printed, .source = printed});
  f.real("occupancy_gap_percent", o.also.occupancy_gap_pct, {"Occupancy not reached", "%"},
         {.absent = not_printed, .formula = "(theoretical - achieved) / theoretical", .source = "Nsight Compute"});
  f.real("room_percent", o.room_percent, {"Wavefront occupancy", "%"}, "AMD: of the peak.",
         {.absent = not_printed, .source = printed});
  f.real("no_room_percent", o.no_room_percent, {"No room for a wavefront", "%"},
         "AMD: the part of the time in which one found no LDS, or no vector registers, free.",
         {.absent = not_printed, .source = printed});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_verdict(f, o);
  describe_throughputs(f, o);
  describe_scheduler(f, o);
  describe_launch(f, o);
  f.group("Time and checks");
  f.real("time_s", o.time_s, {"Time", "s"}, "Under the profiler where that is printed.",
         {.absent = not_printed, .source = printed});
  f.real("won_times", o.won_times, {"Against the version before", "\xC3\x97"}, "Above 1 this version is faster.",
         {.absent = not_printed, .formula = "time before / time"});
  f.real("elapsed_cycles", o.also.elapsed_cycles, "Cycles", {.absent = not_printed, .formula = "time * clock"});
  f.real("cycles_off_percent", o.cycles_off_percent, {"Cycles off by", "%"}, "From the cycles that are printed.",
         {.absent = not_printed, .formula = "time * clock / elapsed_cycles - 1"});
  f.real("largest_estimate_percent", o.largest_estimate_percent, {"Largest estimate", "%"},
         "The most that one rule of the tool thinks could be won.", {.absent = not_printed, .source = printed});
  f.real("estimates_sum_percent", o.estimates_sum_percent, {"Estimates added", "%"},
         "A sum without a meaning: several rules name the same cycles.", {.absent = not_printed, .source = printed});
  f.group("The list");
  f.integer("kernels_read", o.kernels_read, "Reports",
            "All that the list holds, read or published; on the map are those with both throughputs.");
  f.integer("kernels_left_out", o.kernels_left_out, "Left out",
            "Kernels of the file without a known figure, or beyond the first 4,096.");
  f.text("format", o.format, "Read as", "The form of the file, or where the report was published.");
  f.table("figures", o.figure_rows, "Figures", "What the report prints, and what follows from other figures.",
          {.max_items = 64});
  f.table("stalls", o.stall_rows, "Stalls", "What warps wait for.", {.max_items = 64});
  f.table("kernels", o.kernel_rows, "Kernels", "All that were read.", {.max_items = 1000});
}

void describe(Fields& f, FigureRow& r) {
  f.text("figure", r.name, "Figure");
  f.text("printed", r.printed, "Printed");
  f.text("follows", r.follows, "Follows");
  f.text("how", r.how, "From");
}

void describe(Fields& f, StallRow& r) {
  f.text("reason", r.reason, "Waits for");
  f.real("cycles", r.cycles, "Cycles", {.absent = not_printed, .source = printed});
  f.real("share_percent", r.share_percent, {"Share", "%"},
         {.absent = not_printed, .formula = "cycles of the stall / cycles per instruction"});
  f.text("means", r.means, "What happens");
  f.text("fix", r.fix, "What to try");
}

void describe(Fields& f, KernelRow& r) {
  f.text("kernel_name", r.name, "Kernel");
  f.real("kernel_time_s", r.time_s, {"Time", "s"}, {.absent = not_printed, .source = printed});
  f.real("compute", r.compute, {"Compute", "%"}, {.absent = not_printed, .source = printed});
  f.real("memory", r.memory, {"Memory", "%"}, {.absent = not_printed, .source = printed});
  f.real("dram", r.dram, {"DRAM", "%"}, {.absent = not_printed, .source = printed});
  f.text("kernel_verdict", r.verdict, "Verdict");
  f.text("bound", r.bound, "Bound by");
  f.text("kernel_cause", r.cause, "Cause");
  f.text("kernel_stated", r.stated, "As published");
  f.text("by", r.by, "Says");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"profiling/counters", "Counters", "What bounds this kernel: memory, compute, or neither?", {.job = true}},
      compute, arrange, draw);
}

}  // namespace chapters::profiling::counters
