#include "chapters/distributed/pipeline/lab.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::pipeline {
namespace {

const Choices schedules = {
    {"gpipe", "GPipe", "All forwards, then all backwards."},
    {"1f1b", "1F1B", "As soon as it can, a rank does one backward after each forward (PipeDream-flush)."},
    {"interleaved", "Interleaved 1F1B",
     "Each rank holds several chunks of the model, so that the pipeline fills faster."},
    {"zb_h1", "ZB-H1", "Backward cut in two; weight gradients fill holes, within the memory of 1F1B's first rank."},
    {"zb_h2", "ZB-H2", "More forwards before the first backward: no hole between a rank's first and last work."},
    {"zb_v", "ZB-V", "Two chunks per rank, laid as a V, so that loss and input lie on the same rank."},
    {"dualpipe", "DualPipe", "Micro-batches enter at both ends; every rank holds two stages."},
    {"dualpipe_v", "DualPipe-V", "DualPipe folded into a V, on half as many ranks with the same stages."},
    {"pipedream", "PipeDream", "1F1B that never drains; each micro-batch's weights are kept until its backward."},
    {"pipedream_2bw", "PipeDream-2BW", "1F1B that never drains; two versions of the weights."},
    {"interleaved_zb", "Interleaved ZB", "Several chunks per rank, and weight gradients that fill holes."},
    {"breadth_first", "Breadth-first", "All micro-batches through a chunk, then all through the next."},
    {"v_half", "V-Half", "Two chunks per rank, laid as a V: about half of what 1F1B's first rank keeps."},
    {"v_min", "V-Min", "As V-Half, with about a third of what 1F1B's first rank keeps."},
};
static_assert(models::parallel::pipeline_schedule_count == 14);
constexpr std::string_view schedules_with_chunks = "interleaved|interleaved_zb|breadth_first";

constexpr std::string_view never_ends = "With the moved blocks some ranks wait for each other for ever.";
constexpr std::string_view no_moves = "No block is moved.";

void describe_times(Fields& f, Inputs& in) {
  const Details stage_time{.range = {1e-6, 100, Scale::log}, .typical = {2.5e-4, 4e-3}};
  f.group("Times of one stage");
  f.real("t_forward", in.t_forward, {"Forward, F", "s"},
         "One micro-batch through one stage; where a rank holds several chunks, through one of them.", stage_time);
  f.real("t_backward_input", in.t_backward_input, {"Input gradient, I", "s"},
         "The part of the backward that the stage before waits for.", stage_time);
  f.real("t_backward_weight", in.t_backward_weight, {"Weight gradient, W", "s"},
         "The part of the backward that only the optimizer waits for.", stage_time);
  f.real("t_link", in.t_link, {"Link", "s"},
         "From the end of an operation to its arrival on another rank. Ranks work on meanwhile.",
         {.range = {0, 100}, .typical = {0, 2e-3}});
  f.real(
      "pair_share", in.pair_share, "Overlapped pair",
      "Time of a forward and a backward that overlap, as a share of one after the other. Above 1 they slow each other.",
      {.range = {0.5, 1.2}, .when = {"schedule", "dualpipe|dualpipe_v"}});
  f.reals("rank_factors", in.rank_factors, "Times of each rank",
          "1, 1, 2: the third rank takes twice as long as the others. Ranks that are not named count 1.",
          {.range = {0.1, 10}, .max_items = 64});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The schedules");
  f.choice("beside", in.beside, schedules, "Above", "The schedule that the other is held against.");
  f.choice("schedule", in.schedule, schedules, "Below", "The schedule that all figures speak of.", {.headline = true});
  shared::parallel_pipeline(f, "stages", in.stages, {.help = "Ranks that the model is cut over."});
  f.integer("micro_batches", in.micro_batches, "Micro-batches",
            "Micro-batches that one step sends through the pipeline.",
            {.range = {1, 4096, Scale::log}, .typical = {2, 64}, .headline = true});
  f.integer("chunks", in.chunks, "Chunks per rank",
            "Parts of the model that each rank holds, of the schedule below. Times are those of one part.",
            {.range = {1, 16}, .typical = {1, 4}, .when = {"schedule", schedules_with_chunks}});
  f.integer("beside_chunks", in.beside_chunks, "Chunks, above", "Parts that each rank holds, of the schedule above.",
            {.range = {1, 16}, .typical = {1, 4}, .when = {"beside", schedules_with_chunks}});
  f.integer("steps", in.steps, "Steps in a row",
            "Optimizer steps with no barrier between them: a rank goes on as soon as it can.", {.range = {1, 4}});
  describe_times(f, in);
  f.group("Memory");
  f.real("kept_share", in.kept_share, "Kept for W",
         "The share of a micro-batch's activations that its weight gradient needs once I is done.", {.range = {0, 1}});
  f.integer("room", in.room, "Room",
            "Micro-batches whose activations a rank has room for, of its whole share. 0: any number.",
            {.range = {0, 4096, Scale::step}, .typical = {0, 16}});
  f.group("Your order");
  f.table("moves", in.moves, "Moved blocks",
          "Drag a block of the schedule below along its lane, or write its label here. The same block of every step is "
          "moved.",
          {.max_items = 64});
}

void describe(Fields& f, MoveRow& r) {
  f.integer("rank", r.rank, "Rank", "From 0; a block stays on its rank.", {.range = {0, 1023}});
  f.text("block", r.block, "Block", "As the block says: F3, B3, I3, W3.", {.max_bytes = 32});
  f.text("before", r.before, "In front of", "Another block of the rank; empty: to the end.", {.max_bytes = 32});
}

void describe(Fields& f, RankRow& r) {
  f.integer("rank", r.rank, "Rank", "From 0, the one with the input.");
  f.real("busy_s", r.busy_s, {"Works", "s"}, "Sum of its operations.");
  f.real("wall_bubble_s", r.wall_bubble_s, {"Idle", "s"}, {.absent = never_ends, .formula = "makespan - works"});
  f.real("span_bubble_s", r.span_bubble_s, {"Idle inside", "s"},
         {.absent = never_ends, .formula = "its last end - its first start - works"});
  f.real("keeps", r.keeps, "Keeps", "Micro-batches' activations of its whole share, at most.");
  f.real("beside_keeps", r.beside_keeps, "Keeps, above", "What it keeps at most in the schedule above.");
  f.integer("versions", r.versions, "Weights", "Times that it holds its share of the weights.");
}
void describe(Fields& f, OrderRow& r) {
  f.integer("rank", r.rank, "Rank", "From 0.");
  f.text("order", r.order, "Order", "F, B, I, W and the micro-batch; before it the stage where a rank holds several.",
         {.max_bytes = 1 << 20});
}

namespace {

void describe_memory(Fields& f, Outputs& o) {
  f.group("Memory");
  f.reals("peak_activations", o.now.peaks, "Kept by each rank",
          "Activations of one micro-batch on one stage (a chunk where a rank holds several), at most.",
          {.max_items = 1024});
  f.real("least", o.now.least, "Kept by the emptiest",
         "Micro-batches that the emptiest rank keeps at most, for its whole share.",
         {.formula = "least F begun without their W / chunks"});
  f.real("peak_memory", o.now.peak_bytes_share, "Fullest, as memory",
         "The same as what the fullest rank keeps, with only the share for W after I.",
         {.formula = "1 from F to I, the share kept from I to W; / chunks"});
}

void describe_above_and_order(Fields& f, Outputs& o) {
  f.group("Above");
  f.real("beside_makespan", o.beside.totals.makespan_s, {"Makespan, above", "s"}, "What the schedule above takes.");
  f.real("saved", o.saved_s, {"Sooner", "s"}, {.absent = never_ends, .formula = "makespan above - makespan below"});
  f.real("beside_idle_share", o.beside.idle_percent, {"Idle / makespan, above", "%"},
         "Idle time in the schedule above.");
  f.real("beside_peak", o.beside.peak, "Micro-batches kept, above",
         "What the fullest rank keeps in the schedule above.");
  f.real("beside_least", o.beside.least, "Kept by the emptiest, above",
         "Micro-batches that the emptiest rank keeps in the schedule above.");
  f.real("beside_weights", o.beside.weights, "Weights held, above",
         "Times that a rank holds its weights in the schedule above.");
  f.real("beside_period", o.beside.period_s, {"One more step, above", "s"},
         "What one more step adds in the schedule above, with no barrier.");
  f.group("Your order");
  f.text("stuck", o.now.stuck, "What breaks",
         "Who would wait for whom for ever; empty where the order can be worked off.");
  f.real("generated_makespan", o.generated_s, {"Makespan, unmoved", "s"},
         "What the schedule below takes in its own order, before any block was moved.", {.absent = no_moves});
  f.real("generated_peak", o.generated_peak, "Micro-batches kept, unmoved",
         "What its fullest rank keeps in the schedule's own order.", {.absent = no_moves});
  f.integer("crowded_rank", o.crowded_rank, "Out of room",
            "The first rank that keeps more than it has room for; -1: none.", {.range = {-1, 1}});
  f.integer("moves_left_out", o.moves_left_out, "Moves left out",
            "Moves of blocks that the schedule below does not have.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("One step");
  f.real("makespan", o.now.totals.makespan_s, {"Makespan", "s"},
         "From the first start to the last end, of all steps that are shown.",
         {.headline = true,
          .against = {"the other takes", "beside_makespan"},
          .absent = never_ends,
          .formula = "longest path through orders and dependencies"});
  f.real("idle_share", o.now.idle_percent, {"Idle / makespan", "%"},
         {
             .headline = true,
             .absent = never_ends,
             .formula = "1 - work of all ranks / (ranks x makespan)",
             .source = "(P-1)/(M+P-1) of GPipe and 1F1B, Huang et al. 2019",
         });
  f.real("peak", o.now.peak, "Micro-batches kept",
         "What the fullest rank keeps: micro-batches whose activations it holds from the start of F to the end of W, "
         "for its whole share.",
         {.headline = true, .formula = "most F begun without their W / chunks"});
  f.real("weights", o.now.weights, "Weights held",
         "Times a rank's share of the model: copies of DualPipe, versions of PipeDream.",
         {.headline = true, .formula = "copies or versions kept at once, at most"});
  f.group("Three bubbles");
  f.real("idle_over_makespan", o.now.totals.idle_over_makespan, "Idle / makespan, as a number",
         {.absent = never_ends, .formula = "1 - work of all ranks / (ranks x makespan)"});
  f.real("idle_over_ideal", o.now.totals.idle_over_ideal, "Idle / ideal",
         {.absent = never_ends,
          .formula = "(makespan - work of the busiest rank) / that work",
          .source = "(P-1)/M of 1F1B, Narayanan et al. 2021"});
  f.real("wall_bubble", o.wall_bubble_s, {"Longest wall bubble", "s"}, "What a barrier after the step makes of it.",
         {.absent = never_ends, .formula = "max over ranks of makespan - work"});
  f.real("span_bubble", o.now.totals.span_bubble_s, {"Longest span bubble", "s"},
         {.absent = never_ends,
          .formula = "max over ranks of last end - first start - work",
          .source = "the bubble of the zero-bubble papers, Qi et al. 2023"});
  f.text("closed_form", o.closed_form, "Closed form",
         "The published wall bubble, where one holds exactly; else empty.");
  f.real("closed_form_bubble", o.closed_form_s, {"Closed form's value", "s"},
         "Equal to the longest wall bubble wherever it is given.",
         {.absent = "No closed form holds exactly for this schedule with these times."});
  f.integer("busiest_rank", o.busiest_rank, "Slowest rank",
            "The one rank that works longer than all others; -1: none does.", {.range = {-1, 1}});
  f.real("busiest_s", o.busiest_s, {"Work of the busiest", "s"}, "What the rank works that works longest.");
  f.group("Steps with no barrier");
  f.real("period", o.now.period_s, {"One more step", "s"}, "What it adds when no rank waits for all the others.",
         {.absent = never_ends, .formula = "end of the fourth step - end of the third"});
  f.real("idle_without_barrier", o.now.idle_without_barrier, {"Idle then", "%"},
         {.absent = never_ends, .formula = "1 - work of all ranks / (ranks x one more step)"});
  f.real("staleness", o.now.staleness, "Staleness",
         "Updates between the weights that a backward uses and the newest, at most.");
  describe_memory(f, o);
  describe_above_and_order(f, o);
  f.group("Tables");
  f.table("ranks", o.ranks, "Ranks", {.max_items = 1024});
  f.table("orders", o.orders, "Orders", {.max_items = 1024});
}

void describe(Fields& f, View& v) {
  f.real("time", v.timelines[1].cursor_s, {"Time cursor", "s"}, "Where the cursor stands on both schedules.",
         {.range = {0, 1e6}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"distributed/pipeline", "Pipeline", "What fills the bubble, and what does it cost?"},
      [](const Inputs& in, Progress& progress) { return compute(in, progress.facts_alone); }, arrange, draw);
}

}  // namespace chapters::distributed::pipeline
