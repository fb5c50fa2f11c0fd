#include "chapters/fleet/scaling_tax/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::fleet::scaling_tax {
namespace {

constexpr std::string_view planner = "the planner's step, docs/planner.md";

const Choices releases = {
    {"as_before", "As before", "Nothing is wrong with it."},
    {"rare_pauses", "Rare pauses", "An example: one step in ten thousand of each GPU takes 30 % longer."},
    {"slower_kernels", "Slower kernels", "An example: matrix products take 5 % longer."},
    {"gradients_wait", "Gradients wait", "An example: nothing hides the sums of data parallelism any more."},
    {"half_network", "Half the network", "An example: half the rate between nodes."}};
static_assert(models::fleet::release_count == 5);

const Choices rules = {
    {"deviation", "One look", "One look that is more than the threshold slower."},
    {"ratio", "Share", "One look that is slower by the threshold as a share."},
    {"several", "Two of three", "Two of three looks more than the threshold slower."},
    {"cumulative", "Cumulative sum", "The sum of how much slower they are, less half a spread each."}};
static_assert(models::fleet::rule_count == 4);

void describe_plan(Fields& f, Inputs& in) {
  f.group("The job and its plan");
  shared::model(f, "model", in.model, {.help = "What is trained."});
  shared::chip(f, "chip", in.chip, {.help = "Its peak is what every share here is of."});
  describe_step_format(f, in);
  shared::global_batch(
      f, "global_batch", in.global_batch,
      {.help = "Sequences of one optimizer step, over all GPUs: fewer of them leave fewer micro-batches "
               "to fill the pipeline."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each sequence."});
  describe_plan_axes(f, in);
  describe_plan_passes(f, in, false);
  describe_sequence_parallel(f, in);
  describe_step_software(f, in);
  shared::network(f, "network", in.network, {.help = "The port of each GPU between nodes."});
}

void describe_lifts(Fields& f, Inputs& in) {
  f.group("Lifted");
  const auto lift = [&](std::string_view key, Lift which, std::string_view label, std::string_view help) {
    f.real(key, in.lifted[static_cast<std::size_t>(which)], {label, "%"}, help, {.range = {0, 100}});
  };
  lift("lift_kernel", Lift::kernel, "Best kernel", "Share of the loss of the best matrix product that you take away.");
  lift("lift_layers", Lift::layers, "Layers of one GPU",
       "Share of what attention, norms, small shapes and recomputation cost that you take away.");
  lift("lift_tensor", Lift::tensor, "Cut layers", "Share of what tensor, context and expert parallelism cost.");
  lift("lift_pipeline", Lift::pipeline, "Pipeline", "Share of what bubble, transfers and uneven stages cost.");
  lift("lift_copies", Lift::copies, "Copies", "Share of what gradients, the optimizer and the host's loop cost.");
  lift("lift_lockstep", Lift::lockstep, "Lockstep", "Share of what waiting for the slowest GPU costs.");
  lift("lift_failures", Lift::failures, "Failures", "Share of what saves, restarts and repeated work cost.");
}

void describe_canary(Fields& f, Inputs& in) {
  f.group("The canary");
  f.choice("release", in.release, releases, "The release", "What is wrong with the new release; each is an example.");
  f.choice("rule", in.rule, rules, "Rule", "When the release is called slow.");
  f.real("threshold", in.threshold, "Threshold", "In spreads of the looks; of the share in percent of the step time.",
         {.range = {0.01, 8}, .typical = {1, 5}});
  f.real("run_spread", in.run_spread, {"Spread of looks", "%"},
         "Standard deviation of the rate from look to look, with nothing wrong.", {.range = {0.05, 10, Scale::log}});
  f.integer("looks", in.looks, "Looks", "Measurements on each number of GPUs.",
            {.range = {1, 100}, .typical = {3, 30}});
  f.real("look_s", in.look_s, {"A look takes", "s"}, "How long the rate is averaged for one measurement.",
         {.range = {10, 86'400, Scale::log}, .typical = {60, 3600}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The fleet");
  shared::cluster_chips(f, "gpus", in.gpus,
                        {.label = "GPUs", .help = "All of them train this one model.", .headline = true});
  f.real("slow_node", in.slow_node, {"One slow node", "%"},
         "How much longer one of the nodes computes than the others; every step waits for it.",
         {.range = {0, max_slower}, .headline = true});
  f.real("spread", in.spread, {"Spread of healthy GPUs", "%"},
         "Standard deviation of their speeds; a step waits for the slowest of all.",
         {.range = {0, 5}, .typical = {0, 2}});
  f.toggle("published", in.published, "End at the published run",
           "Where a published run has this job and plan, what the model does not explain is a riser of its own.");
  f.real("price_per_hour", in.price_per_hour, {"A GPU-hour", "$"}, "What an hour of one GPU costs you.",
         {.range = {0.1, 20, Scale::log}, .typical = {1, 6}});
  f.group("A month of it");
  f.real("goodput", in.goodput, {"Goodput (0: from failures)", "%"},
         "The share of the clock that is training which is kept. 0: what the failures below leave at the best interval "
         "between saves.",
         {.range = {0, 100}, .typical = {80, 100}, .headline = true});
  f.real("gpu_hours_per_failure", in.gpu_hours_per_failure, "GPU-hours per failure",
         "50,700 is what Llama 3 405B counted: 419 failures in 54 days on 16,384 GPUs.",
         {.range = {100, 1e7, Scale::log}, .typical = {5000, 500'000}});
  f.real("save_s", in.save_s, {"A save stops training for", "s"},
         "With an asynchronous save that is the copy alone, and not the writing.",
         {.range = {0.01, 7200, Scale::log}, .typical = {1, 600}});
  f.real("restart_s", in.restart_s, {"Restart", "s"}, "From a failure until training goes on.",
         {.range = {0, 14'400}, .typical = {0, 1800}});
  describe_plan(f, in);
  describe_lifts(f, in);
  describe_canary(f, in);
}

void describe(Fields& f, RiserRow& r) {
  f.text("cause", r.cause, "Cause", "What the speed is lost to.");
  f.integer("gpus", r.gpus, "GPUs", "How many of them the tread speaks of.", {.range = {1, 1e9}});
  f.real("points", r.points, "Points", "Percentage points of the peak that are lost here; negative: won.");
  f.real("mfu", r.mfu, {"MFU after it", "%"}, "What is left of the peak.");
  f.real("work_gpus", r.work_gpus, "GPUs' work", "As many GPUs at their peak as are lost.");
  f.real("dollars_per_month", r.dollars_per_month, {"A month", "$"}, "What those GPUs cost in 730 hours.");
}

void describe(Fields& f, CanaryRow& r) {
  f.integer("gpus", r.gpus, "GPUs", "How many the release is tried on.", {.range = {1, 1e9}});
  f.real("past_mfu", r.past_mfu, {"Past releases", "%"}, "The MFU that they reach there.");
  f.real("mfu", r.mfu, {"This release", "%"}, "The MFU that it reaches there.");
  f.real("shortfall", r.shortfall, {"Missing", "%"}, "How much of the past rate is missing.");
  f.real("found", r.found, {"Found", "%"}, "The chance that the rule calls it slow within the looks.");
}

namespace {

constexpr std::string_view no_run = "No published run has this job and plan, or it is not to be the end.";
constexpr std::string_view not_found = "No number of GPUs finds it in nineteen of twenty cases.";

void describe_stairs(Fields& f, Outputs& o) {
  f.group("The stairs");
  f.real("effective_mfu", o.effective_mfu, {"A month of the fleet", "%"},
         "The share of the peak that counts in the end.", {.headline = true, .formula = "fleet's MFU x goodput"});
  f.real("fleet_mfu", o.fleet_mfu, {"Fleet MFU", "%"}, "While training goes on, with the slow node.",
         {.headline = true,
          .against = {"a node", "node_mfu"},
          .formula = "model flops / (step x GPUs x peak)",
          .source = planner});
  f.real("tax_points", o.tax_points, "Scaling tax in points", "Percentage points between one node and the fleet.",
         {.headline = true, .formula = "node's MFU - fleet's MFU"});
  f.real("largest_gpus", o.largest_gpus, "Largest riser in GPUs", "As many GPUs at their peak as it loses.",
         {.headline = true, .formula = "points / 100 x GPUs"});
  f.real("kernel_mfu", o.kernel_mfu, {"Best kernel", "%"}, "What a large matrix product reaches of the peak.",
         {.formula = "share of the chip's generation x factor of the software", .source = planner});
  f.real("gpu_mfu", o.gpu_mfu, {"One GPU", "%"}, "The whole model's layers on one GPU, if it had the memory.",
         {.source = planner});
  f.real("node_mfu", o.node_mfu, {"One node", "%"}, "GPUs that share every layer, and copies inside one node.",
         {.source = planner});
  f.real("model_mfu", o.model_mfu, {"Fleet, as modelled", "%"}, "All healthy GPUs in lockstep, before a published end.",
         {.source = planner});
  f.real("tax_percent", o.tax_percent, {"Scaling tax", "%"}, {.formula = "1 - fleet's MFU / node's MFU"});
  f.text("published_name", o.published_name, "Published run", "The one that has this job and plan; empty: none.");
  f.real("published_mfu", o.published_mfu, {"Published MFU", "%"},
         {.absent = no_run, .source = "the run's own report"});
  f.real("unexplained_points", o.unexplained_points, "Not explained, points",
         "Percentage points from the model to the published run; negative where the run is faster.",
         {.absent = no_run});
  f.real("slow_points", o.slow_points, "The slow node, points", "Percentage points that one slow node costs all.",
         {.formula = "work x (E[slowest of all] - E[slowest of the healthy])", .source = "order statistics"});
  f.real("slow_percent", o.slow_percent, {"The slow node, share", "%"}, "Share of the fleet's speed that it costs.",
         {.formula = "points / (fleet's MFU + points)"});
  f.real("failure_points", o.failure_points, "All failures, points",
         "Percentage points that failures and saves cost, with the saves, restarts or goodput that are set.",
         {.formula = "fleet's MFU x (1 - goodput)"});
  f.text("largest", o.largest, "Largest riser", "The cause that loses most.");
  f.real("largest_points", o.largest_points, "Largest riser, points", "Percentage points that it loses.");
  f.table("risers", o.risers, "Risers", "Every cause in the order of the stairs.", {.max_items = 16});
}

void describe_money(Fields& f, Outputs& o) {
  f.group("What it is worth");
  f.real("lost_gpus", o.lost_gpus, "GPUs' work lost", {.formula = "(1 - month's MFU) x GPUs"});
  f.real("lost_dollars_per_month", o.lost_dollars_per_month, {"Lost a month", "$"},
         {.formula = "GPUs' work lost x 730 h x price"});
  f.real("point_gpus", o.point_gpus, "A point is worth, GPUs",
         "What one percentage point more would save at the same work.",
         {.formula = "GPUs / (month's MFU in points + 1)"});
  f.real("won_mfu", o.won_mfu, "Points won by lifting", "Percentage points of the month's MFU.");
  f.real("won_gpus", o.won_gpus, "GPUs won by lifting", "As many GPUs more would be as good.",
         {.formula = "GPUs x (month's MFU / that without lifting - 1)"});
  f.real("won_dollars_per_month", o.won_dollars_per_month, {"Won a month", "$"},
         {.formula = "GPUs won x 730 h x price"});
  f.group("Time");
  f.real("goodput_used", o.goodput_used, {"Goodput", "%"}, "The one that is set, or what failures leave.",
         {.source = "checkpoints at the exact best interval, failures as a Poisson process"});
  f.real("thirty_days_take", o.thirty_days_take, {"Thirty days take", "s"},
         "What a run planned as thirty days of training takes on the clock.", {.formula = "30 days / goodput"});
  f.real("mtbf_s", o.mtbf_s, {"Between failures", "s"}, {.formula = "GPU-hours per failure / GPUs"});
  f.real("step_s", o.step_s, {"A step", "s"}, "With a published end as long as the published run's.",
         {.source = planner});
  f.real("tokens_per_s", o.tokens_per_s, {"Tokens a second", "tokens/s"}, {.formula = "batch x sequence / step"});
  f.integer("nodes", o.nodes, "Nodes", "GPUs / GPUs per node.", {.range = {1, 1e9}});
  f.integer("data_parallel", o.data_parallel, "Copies", "GPUs / (tensor × pipeline × context).", {.range = {1, 1e9}});
  f.integer("used_gpus", o.used_gpus, "GPUs that work", "Those of whole copies; the rest stands idle.",
            {.range = {1, 1e9}});
  f.integer("batch_used", o.batch_used, "Batch shown", "Whole micro-batches for every copy.", {.range = {1, 1e12}});
  f.text("plan_problem", o.plan_problem, "Why it cannot run",
         "Why the plan that is set cannot run; empty where it can.");
  f.text("plan_used", o.plan_used, "Plan shown", "The nearest that can run; empty where yours can.");
  f.real("memory_bytes", o.memory_bytes, {"Memory per GPU", "B"}, "On the stage that needs most.", {.source = planner});
  f.toggle("fits", o.fits, "Fits", "The plan fits the chip's memory.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_stairs(f, o);
  describe_money(f, o);
  f.group("The canary");
  f.real("canary_gpus", o.canary_gpus, "Found on GPUs",
         "The fewest on which the rule finds the release in 19 of 20 cases.", {.absent = not_found});
  f.real("canary_shortfall", o.canary_shortfall, {"Missing there", "%"}, "How much of the past rate is missing.",
         {.absent = not_found});
  f.real("canary_wait_s", o.canary_wait_s, {"Until found there", "s"}, "The mean, of those found.",
         {.absent = not_found});
  f.real("canary_gpu_hours", o.canary_gpu_hours, "GPU-hours of the canary", "All looks up to that number of GPUs.",
         {.absent = not_found});
  f.real("full_shortfall", o.full_shortfall, {"Missing on all GPUs", "%"},
         "What the release would cost the fleet, by the model alone, without a published end.");
  f.real("full_dollars_per_day", o.full_dollars_per_day, {"Unnoticed, per day", "$"},
         {.formula = "missing on all GPUs x GPUs x 24 h x price"});
  f.real("first_found", o.first_found, {"Found on one copy", "%"}, "The chance on the fewest GPUs.");
  f.real("false_alarm", o.false_alarm, {"False alarm", "%"},
         "The chance on any of the numbers of GPUs up to all, though nothing is wrong.",
         {.formula = "1 - (1 - rate of false alarms)^(looks x numbers of GPUs)"});
  f.table("rungs", o.rungs, "The release by GPUs", "Work per GPU is the same on all.", {.max_items = 32});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"fleet/scaling-tax",
                                                   "Scaling tax",
                                                   "Where does the speed go between one kernel and the fleet?",
                                                   {.job = true, .published_keys = "model chip gpus"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::fleet::scaling_tax
