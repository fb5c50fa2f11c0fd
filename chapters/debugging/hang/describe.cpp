#include "chapters/debugging/hang/lab.h"
#include "chapters/mechanism/lab.h"

namespace chapters::debugging::hang {
namespace {

// In the order of Case, models::hang::HangFault and StockVerdict::Kind.
const Choices cases{
    {"loader_stuck", "Stuck loader", "Recorded: a rank sleeps before the first call of a step."},
    {"skip_call", "Skipped call", "Recorded: a rank leaves out one all-reduce and goes on."},
    {"order_type", "Other order", "Recorded: a rank makes the calls of a step in another order."},
    {"order_buckets", "Buckets swapped", "Recorded: a rank reduces its two buckets in the other order."},
    {"shape", "Other shape", "Recorded: a rank reduces fewer numbers than the others."},
    {"dtype", "Other type", "Recorded: a rank reduces BF16 where the others reduce FP32."},
    {"rank_died", "A rank died", "Recorded: a rank ends and leaves no dump."},
    {"groups_cross", "Groups crossed", "Recorded: ranks use their two groups in different orders."},
    {"wrong_root", "Other root", "Recorded: two ranks broadcast from another root than the others."},
    {"p2p_missing_send", "A lost send", "Recorded: a rank leaves out a send that the other waits for."},
    {"ring_wrapped", "Short ring", "Recorded: a rank is stuck, and the ring has dropped the first records."},
    {"straggler", "Straggler", "Recorded: nothing hangs, one rank is late in every step."},
    {"healthy", "Healthy", "Recorded: nothing is wrong."},
    {"made_up", "Made up", "A job of any size with a fault that the seed places."},
    {"files", "My dumps", "Read from the files below."}};
static_assert(case_count == 15);
const Choices faults{
    {"none", "Nothing", "No call is open and no rank stands out."},
    {"straggler", "Straggler", "Nothing hangs, one rank comes late again and again."},
    {"skipped_collective", "Skipped call", "A rank goes on to the call after this one."},
    {"extra_collective", "Extra call", "A rank makes a call that the others do not make."},
    {"shape", "Other shape", "A rank gives another number of elements."},
    {"dtype", "Other type", "A rank gives another number format."},
    {"order", "Other order", "A rank makes calls of one group in another order."},
    {"split_sizes", "Other splits", "In an all-to-all a rank gives or takes other amounts than the others expect."},
    {"uneven_inputs", "Uneven inputs", "A rank ends its steps before the others do."},
    {"not_arrived", "Not arrived", "A rank never makes the call, and waits in no other."},
    {"died", "Died", "A rank leaves no dump."},
    {"group_order", "Crossed groups", "Ranks use two groups in different orders, and wait in a circle."},
    {"p2p_order", "Crossed messages", "Messages are sent and received in orders that do not fit."},
    {"undecided", "Not decided", "All ranks wait, and the records do not say why."}};
static_assert(models::hang::hang_fault_count == 14);
const Choices stock_kinds{
    {"nothing", "Everything matches", ""},
    {"missing", "Ranks are missing", "Those that did not join the first call that not all joined."},
    {"mismatch", "Ranks differ", "All that differ from the first rank, which it takes for right."},
    {"unequal_sums", "Sums differ", "It names the first rank for want of better."},
    {"cannot_decide", "Cannot decide", "A dump is missing."},
    {"not_followed", "Not worked out", "Messages in a group of more than two ranks are not worked out here."}};
static_assert(models::hang::stock_verdict_count == 6);

constexpr When made{"which", "made_up"};
constexpr std::string_view diagnosis =
    "records compared call by call, then ranks without a dump, then who waits for whom, then who is late";

}  // namespace

std::string_view recorded_id(Case which) {
  return which < Case::made_up ? std::string_view(cases[static_cast<std::size_t>(which)].id) : std::string_view();
}

void describe(Fields& f, DumpFile& row) {
  f.file("file", row.file, "Dump", "The dump of another rank, of the same job and moment.",
         {.reads = {FileKind::flight_recorder},
          .accepts = "json, pickle, pkl, json.gz, pickle.gz, pkl.gz, gz",
          .by_bytes = true});
}

void describe(Fields& f, Inputs& in) {
  f.group("The job");
  f.choice("which", in.which, cases, "Job",
           "Thirteen runs were recorded with PyTorch 2.15 and gloo, four processes each or two; or a made-up job, or "
           "your own dumps.",
           {.headline = true});
  f.choice("planted", in.planted, faults, "Fault", "What is wrong with the made-up job; the diagnosis is not told.",
           {.headline = true, .when = made});
  f.integer("seed", in.seed, "Seed", "It chooses the rank, the step and the call.",
            {.range = {1, 9999}, .typical = {1, 40}, .headline = true, .when = made});
  f.integer("tensor_ranks", in.tensor_ranks, "Tensor-parallel ranks", "They all-reduce in every layer.",
            {.range = {1, 8}, .typical = {1, 4}, .when = made});
  f.integer("data_ranks", in.data_ranks, "Data-parallel ranks", "They all-reduce gradients in every step.",
            {.range = {1, 32}, .typical = {1, 8}, .when = made});
  f.integer("stages", in.stages, "Pipeline stages", "They send each other activations and gradients.",
            {.range = {1, 4}, .typical = {1, 2}, .when = made});
  f.integer("steps", in.steps, "Steps", "So many, and a last all-gather.",
            {.range = {1, 8}, .typical = {2, 5}, .when = made});
  f.integer("ahead", in.ahead, "Calls ahead",
            "How many calls a host enqueues before the one that runs has ended; within a step alone.",
            {.range = {0, 16}, .typical = {0, 8}, .when = made});
  f.group("My dumps");
  f.file("dumps", in.dumps, "A dump",
         "One file of each rank as PyTorch's flight recorder writes it, JSON or pickle, plain or gz; the rank is the "
         "number at the "
         "end of its name. A pickle is read and never run. Drop all files, or the folder, at once.",
         {.when = {"which", "files"}, .mode = {"which", "files"}},
         {.reads = {FileKind::flight_recorder},
          .accepts = "json, pickle, pkl, json.gz, pickle.gz, pkl.gz, gz",
          .by_bytes = true});
  f.table("more_dumps", in.more_dumps, "Other ranks' dumps", "All of the same moment.",
          {.when = {"which", "files"}, .max_items = 1024});
  f.group("The alarm");
  f.real("timeout_s", in.timeout_s, {"Timeout", "s"},
         "How long a call may take before the watchdog ends the job; PyTorch's default for NCCL is 10 minutes.",
         {.range = {1, 86400, Scale::log}, .typical = {60, 3600}});
  f.integer("gpus", in.gpus, "GPUs of the fleet's job", "All of them stand still while one call hangs.",
            {.range = {1, 1000000, Scale::log}, .typical = {8, 16384}});
  f.real("hangs_per_month", in.hangs, {"Hangs", ""}, "Per month; they never end by themselves.",
         {.range = {0.01, 1000, Scale::log}, .typical = {0.5, 30}});
  f.real("pauses_per_month", in.pauses, {"Pauses", ""},
         "Per month: a checkpoint, a compilation or slow storage makes one rank late, and it comes after all.",
         {.range = {1, 1e6, Scale::log}, .typical = {100, 20000}});
  f.real("pause_mean_s", in.pause_mean_s, {"A pause, on average", "s"},
         "Their lengths are taken to be exponentially distributed, which is an assumption.",
         {.range = {0.1, 3600, Scale::log}, .typical = {5, 300}});
  f.real("restart_s", in.restart_s, {"Restart", "s"},
         "From the alarm to the next step, work since the last checkpoint "
         "included.",
         {.range = {1, 86400, Scale::log}, .typical = {120, 3600}});
}

void describe(Fields& f, RankRow& r) {
  f.integer("rank", r.rank, "Rank", "Number of the process.");
  f.integer("calls", r.calls, "Calls", "Records in its dump.");
  f.text("last", r.last, "Waits in", "The call that is open.");
  f.text("waits_for", r.waits_for, "Waits for", "Ranks that have not made that call.");
  f.text("part", r.part, "Its part", "What the diagnosis says of it.");
  f.real("rings_after_s", r.rings_after_s, {"Rings after the first", "s"}, "By clocks set alike.",
         {.may_be_missing = true});
}

void describe(Fields& f, Outputs& o) {
  f.group("The diagnosis");
  f.choice("fault", o.fault, faults, "Fault found", "What holds the job up.", {.headline = true});
  f.real("first_culprit", o.first_culprit, "Rank to blame", "Where it is one alone.",
         {.headline = true, .absent = "The records name no rank, or several.", .source = diagnosis});
  f.real("first_divergence", o.first_divergence, "At call",
         "Number in its group of the first call at which the ranks part.",
         {.headline = true, .absent = "They part at no call, or at a message, which has no number."});
  f.real("rings_first", o.rings_first, "Rings first", "The rank whose watchdog rings first: it has waited longest.",
         {
             .headline = true,
             .absent = "No call is open.",
             .formula = "the smallest of (call entered + timeout)",
         });
  f.reals("culprit_ranks", o.culprit_ranks, "Ranks to blame", "All of them; none where the records do not say.",
          {.range = {0, 1e7}, .max_items = 16384});
  f.integer("culprits", o.culprits, "How many are to blame", {.source = diagnosis});
  f.toggle("decidable", o.decidable, "The records decide", "They name the ranks, or say that nothing hangs.");
  f.toggle("hangs", o.hangs, "It hangs", "A call is open.");
  f.text("divergence_group", o.divergence_group, "In group", "The description of that call's group.");
  f.integer("ranks", o.ranks, "Ranks", "That are listed or left a dump.");
  f.integer("missing_dumps", o.missing_dumps, "Without a dump", "Ranks that are listed and left none.");
  f.integer("waiting_ranks", o.waiting_ranks, "Waiting", "Ranks with an open call.");
  f.integer("groups", o.groups, "Process groups", "That the records name.");
  f.integer("records", o.records, "Records", "In all dumps together.");
  f.real("ring_spread_s", o.ring_spread_s, {"First to last ring", "s"}, "By clocks set alike.",
         {.absent = "No call is open.", .formula = "the last ring - the first"});
  f.real("late_calls", o.late_calls, "Late calls", "To which the straggler came last by 50 ms or more.",
         {.absent = "No rank comes late again and again."});
  f.real("late_s", o.late_s, {"Late by up to", "s"}, "Against the last but one.",
         {.absent = "No rank comes late again and again."});
  f.group("The stock analyzer");
  f.choice("stock", o.stock, stock_kinds, "It says first",
           "What the analyzer of PyTorch says, its rules worked out here.");
  f.reals("stock_ranks", o.stock_ranks, "It names", "Ranks.", {.range = {0, 1e7}, .max_items = 16384});
  f.toggle("stock_right", o.stock_right, "The same ranks", "It names those that the diagnosis here names.");
  f.reals("planted_ranks", o.planted_ranks, "Planted on", "In a made-up job, what the diagnosis was not told.",
          {.range = {0, 1e7}, .max_items = 1024});
  f.group("What the alarm costs");
  f.real("lost_gpu_hours", o.cost.lost_gpu_hours, {"GPU hours lost", ""}, "Per month.",
         {.formula = "GPUs x (hangs x (timeout + restart) + false alarms x restart)"});
  f.real("waiting_gpu_hours", o.cost.waiting_gpu_hours, {"Waiting for the alarm", ""},
         {.formula = "GPUs x hangs x timeout"});
  f.real("false_gpu_hours", o.cost.false_gpu_hours, {"By false alarms", ""},
         {.formula = "GPUs x false alarms x restart"});
  f.real("restart_gpu_hours", o.cost.restart_gpu_hours, {"Restarts after hangs", ""},
         {.formula = "GPUs x hangs x restart"});
  f.real("false_alarms", o.cost.false_alarms, "False alarms", "Per month: pauses longer than the timeout.",
         {.formula = "pauses x exp(-timeout / mean pause)"});
  f.real("best_timeout_s", o.cost.best_timeout_s, {"Best timeout", "s"}, "Where the least is lost.",
         {.formula = "mean pause x ln(pauses x restart / (hangs x mean pause))",
          .source = "the derivative of what is lost, set to zero"});
  f.real("best_lost_gpu_hours", o.cost.best_lost_gpu_hours, {"Lost at the best", ""}, "Per month.",
         {.formula = "as above, at the best timeout"});
  f.group("The dumps");
  f.text("notes", o.notes, "Notes", "What was taken for granted, or left out.");
  f.table("rank_rows", o.rank_rows, "Ranks", {.max_items = 256});
}

void describe(Fields& f, View& v) {
  f.real("accused_row", v.accused_row, "Row accused", "Which row of the matrix is asked about; -1: none.",
         {.range = {-1, 4096}});
  f.real("accused_column", v.accused_column, "Call accused", "Which column of the matrix; -1: none.",
         {.range = {-1, 4096}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"debugging/hang", "Hang", "The job hangs. Which rank did it, and at which call?", {.job = true}}, compute,
      arrange, draw);
}

}  // namespace chapters::debugging::hang
