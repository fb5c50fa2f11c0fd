#include "chapters/capstone/train/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::capstone::train {
namespace {

constexpr std::string_view planner = "the planner's model of a step";
constexpr std::string_view told_later = "It is told once the target is met.";

const Choices sizes = {{"70b", "70B", "Llama 3 70B."},
                       {"100b", "100B", "The same layers, 112 of them: 98 billion parameters."},
                       {"405b", "405B", "Llama 3.1 405B."}};

struct ItemNames {
  std::string_view key, name, help;
};
constexpr std::array<ItemNames, item_count> items{{
    {"ticked_loader", "The loader keeps up",
     "Batches are ready before the step asks for them, on the slowest node too."},
    {"ticked_order", "Data order survives", "After a restart the loader goes on where it was; no sample comes twice."},
    {"ticked_restore", "A checkpoint was loaded", "Restoring was tried, on other GPUs, before it was needed."},
    {"ticked_hardware", "Nodes are checked", "A node that failed is tested before it comes back."},
    {"ticked_slow", "A slow node is seen", "Somebody is told which rank the others wait for."},
    {"ticked_spike", "Loss spikes have an owner",
     "It is settled who rolls back, how far, and which batches are skipped."},
    {"ticked_evaluation", "Evaluation has its hours",
     "Held-out loss and tasks run while training goes on, and their time is in the plan."},
    {"ticked_canary", "Scaled on a few first", "The same job ran on few nodes, and its step time was as predicted."},
}};

void describe_job(Fields& f, Inputs& in) {
  f.group("The job");
  f.choice("size", in.size, sizes, "Model", "What is trained.", {.headline = true});
  shared::chip(f, "chip", in.chip, {.help = "All of them train this one model."});
  f.integer("gpus", in.gpus, "GPUs", "All of them stop when one fails; those beyond a power of two stand idle.",
            {.range = {64, 131'072, Scale::log}, .typical = {128, 32'768}});
  f.integer("global_batch", in.global_batch, "Sequences per step",
            "All GPUs together take as many, rounded down to a power of two.",
            {.range = {16, 65'536, Scale::log}, .typical = {128, 8192}});
  f.integer("sequence", in.sequence, {"Tokens per sequence", "tokens"}, "How long each is.",
            {.range = {256, 131'072, Scale::log}, .typical = {2048, 32'768}});
  f.real("tokens", in.tokens, {"Tokens", "tokens"}, "How many tokens the run reads.",
         {.range = {1e9, 1e15, Scale::log}, .typical = {1e11, 1e14}});
  f.real("target_s", in.target_s, {"Due in", "s"}, "The run must be over by then.",
         {.range = {3600, 1e9, Scale::log}, .typical = {86'400, 3e7}, .headline = true});
  f.real("port_bytes_per_s", in.port_bytes_per_s, {"Port of each GPU", "B/s"}, "To other nodes, one direction.",
         {.range = {1e9, 1e12, Scale::log}});
  f.real("price_per_hour", in.price_per_hour, {"A GPU-hour", "$"}, "What an hour of one GPU costs you.",
         {.range = {0.1, 20, Scale::log}, .typical = {1, 6}});
}

void describe_failures(Fields& f, Inputs& in) {
  f.group("Failures and slow nodes");
  f.real("gpu_hours_per_failure", in.gpu_hours_per_failure, "GPU-hours per failure",
         "Llama 3 counted 419 unexpected stops in 54 days on 16,384 GPUs: one in 50,700 GPU-hours.",
         {.range = {2000, 1e7, Scale::log}});
  f.real("interval_s", in.interval_s, {"As found it saves every", "s"}, "Work between two checkpoints.",
         {.range = {60, 604'800, Scale::log}});
  f.real("save_s", in.save_s, {"A save stops training for", "s"}, "As found. An assumption.",
         {.range = {0.1, 7200, Scale::log}});
  f.real("save_beside_s", in.save_beside_s, {"... while training", "s"}, "The copy alone. An assumption.",
         {.range = {0.01, 7200, Scale::log}});
  f.real("restart_s", in.restart_s, {"Restart", "s"}, "From a failure until training goes on, as found. An assumption.",
         {.range = {1, 14'400, Scale::log}});
  f.real("restart_spares_s", in.restart_spares_s, {"... with hot spares", "s"}, "An assumption.",
         {.range = {1, 14'400, Scale::log}});
  f.real("spread_slow", in.spread_slow, {"Spread with slow nodes", "%"},
         "Standard deviation of the GPUs' speeds as found; a step waits for the slowest. An assumption.",
         {.range = {0, 20}});
  f.real("spread", in.spread, {"... without them", "%"}, "The planner's own constant is 0.4 %.", {.range = {0, 20}});
}

}  // namespace

std::string_view item_name(Item item) { return items[static_cast<std::size_t>(item)].name; }

void describe(Fields& f, Inputs& in) {
  describe_rounds(f, in.rounds, in.said, "How long the run would take, said before each round; 0: nothing.", 1e10);
  describe_job(f, in);
  describe_failures(f, in);
  f.group("No slab shows these");
  for (std::size_t i = 0; i < item_count; ++i) f.toggle(items[i].key, in.ticked[i], items[i].name, items[i].help);
}

void describe(Fields& f, RoundRow& r) {
  f.text("move", r.move, "Move");
  f.real("wall_s", r.wall_s, {"The run", "s"}, "On the clock.");
  f.real("won_s", r.won_s, {"Won", "s"}, "Over the round before; below 0 it lost.");
  f.real("mfu", r.mfu, {"MFU", "%"}, "While training goes on.");
  f.real("efficiency", r.efficiency, {"Clock that counts", "%"}, "Without saves, restarts and work done twice.");
  f.real("memory_bytes", r.memory_bytes, {"Memory per GPU", "B"}, "The fullest GPU's.");
  describe_row_end(f, r.said_s, r.bounced);
}

void describe(Fields& f, CauseRow& r) {
  f.text("cause", r.cause, "Cause");
  f.real("wall_s", r.wall_s, {"Time", "s"}, "Time of the whole run that goes there.");
  f.real("share", r.share, {"Share", "%"}, {.formula = "time / the run"});
}

namespace {

void describe_run(Fields& f, Outputs& o) {
  f.group("The run");
  f.real("wall_s", o.wall_s, {"The run", "s"}, "On the clock, failures among it.",
         {.headline = true, .formula = "steps x step / clock that counts", .source = planner});
  f.real("mfu", o.mfu, {"MFU", "%"}, "Causal attention counted at half, recomputation not counted.",
         {.headline = true, .formula = "model flops / (GPUs x peak x step)", .source = planner});
  f.real("dollars", o.dollars, {"Dollars", "$"}, {.headline = true, .formula = "GPU-hours x price"});
  f.real("memory_bytes", o.memory_bytes, {"Memory per GPU", "B"}, "On the stage that needs most.",
         {.headline = true, .against = {"of", "room_bytes"}, .source = planner});
  f.real("over_s", o.over_s, {"Too long by", "s"}, {.formula = "the run - due in, at least 0"});
  f.toggle("met", o.met, "In time", "The run is over when it is due.");
  f.real("compute_s", o.compute_s, {"Without failures", "s"}, {.formula = "steps x step"});
  f.real("step_s", o.step_s, {"A step", "s"}, "One update of the weights.", {.source = planner});
  f.real("steps", o.steps, "Steps", {.formula = "tokens / (sequences x tokens per sequence)"});
  f.real("efficiency", o.efficiency, {"Clock that counts", "%"}, "Without saves, restarts and work done twice.",
         {.formula = "T / (M exp(R / M) (exp((T + C) / M) - 1))"});
  f.real("failures", o.failures, "Failures", {.formula = "the run / time between failures"});
  f.integer("gpus_used", o.gpus_used, "GPUs that work", "The largest power of two of them.");
  f.integer("batch_used", o.batch_used, "Sequences of a step", "The largest power of two of them.");
  f.real("gpu_hours", o.gpu_hours, "GPU-hours", {.formula = "GPUs x the run"});
  f.real("room_bytes", o.room_bytes, {"Memory to fit in", "B"},
         {.source = "the chip's memory less what the planner keeps free for the CUDA context and communication"});
  f.real("state_bytes", o.state_bytes, {"States of the model", "B"}, "Weights, gradients, master and moments in all.",
         {.formula = "16 bytes x parameters"});
  f.real("bubble_over_work", o.bubble_over_work, {"Bubble over work", "%"},
         "What stages wait for the first and the last sequences, over what they do.",
         {.formula = "bubble / (arithmetic + kernels + recompute + tensor)", .source = planner});
  f.text("plan", o.plan, "Plan");
  f.text("longest", o.longest, "Longest beyond arithmetic");
}

void describe_game(Fields& f, Outputs& o) {
  describe_score(
      f, o.score,
      {.won = "the run before - the run", .won_in_all = "as found - the run", .said_off = "|said - the run|"});
  f.real("lost_s", o.lost_s, {"Lost most in a round", "s"}, {.formula = "largest loss of a round, at least 0"});
  f.real("last_lost_s", o.last_lost_s, {"The last round lost", "s"},
         {.formula = "the run - the run before, at least 0"});
  f.toggle("bounced", o.bounced, "The last card bounced");
  f.real("start_s", o.start_s, {"As found", "s"}, "The run before the first card.", {.source = planner});
  f.integer("ticked", o.ticked, "Ticked", "How many of the eight things that no slab shows are settled.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_run(f, o);
  describe_game(f, o);
  f.group("Against the planner");
  f.real("best_wall_s", o.best_wall_s, {"The planner's best", "s"},
         "The fastest plan in the same format that fits, saves while training, hot spares, no slow node.",
         {.absent = told_later, .source = planner});
  f.real("behind_best", o.behind_best, {"Yours is longer by", "%"},
         "What the best plan, spares, saves while training and no slow node would win more.",
         {.absent = told_later, .formula = "the run / the planner's best - 1"});
  f.text("best_plan", o.best_plan, "Its plan");
  f.real("clock_at_best", o.clock_at_best, {"Clock that could count", "%"},
         "Saves while training, hot spares, the best interval.",
         {.formula = "T / (M exp(R / M) (exp((T + C) / M) - 1))"});
  f.real("waits_for_slowest", o.waits_for_slowest, {"Waits without slow nodes", "%"},
         "What the slowest of all GPUs adds to a step even then.",
         {.formula = "spread x E[largest of so many normals]", .source = "David, Nagaraja, Order Statistics, 2003"});
  f.group("The study's design on this job");
  f.real("study_wall_s", o.study_wall_s, {"The run", "s"},
         "TP 8, PP 4, all layers recomputed, a checkpoint in half an hour.",
         {.absent = "It does not fit, or cannot run.", .source = planner});
  f.real("study_mfu", o.study_mfu, {"Its MFU", "%"}, {.absent = "It does not fit, or cannot run.", .source = planner});
  f.real("study_memory_bytes", o.study_memory_bytes, {"Its memory per GPU", "B"},
         {.absent = "It cannot run.", .source = planner});
  f.text("study_says", o.study_says, "Why it does not run");
  f.group("Tables");
  f.table("board", o.board, "Your rounds");
  f.table("causes", o.causes, "Where the run goes");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"capstone/train", "Train", "A large training must be over in time. What do you change next?", {.job = true}},
      [searches = std::make_shared<Searches>()](const Inputs& in, Progress& progress) {
        return compute(in, progress, *searches);
      },
      arrange, draw);
}

}  // namespace chapters::capstone::train
