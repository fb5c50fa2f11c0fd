#include "chapters/fleet/train_time/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::fleet::train_time {
namespace {

constexpr std::string_view poisson = "failures as a Poisson process of the whole job";

constexpr std::string_view llama3_table = "The Llama 3 Herd of Models, arXiv:2407.21783, table 5";

/// Where the clock goes: a key and a label for each of the four shares.
struct ShareNames {
  std::string_view kept_key, saving_key, redone_key, restarting_key;
  std::string_view kept, saving, redone, restarting;
};
constexpr ShareNames of_yours{"share_kept", "share_saving", "share_redone", "share_restarting",
                              "Kept",       "Saving",       "Done twice",   "Restarting"};
constexpr ShareNames of_best{"best_share_kept",   "best_share_saving", "best_share_redone", "best_share_restarting",
                             "At the best: kept", "... saving",        "... done twice",    "... restarting"};

void describe_shares(Fields& f, Shares& s, const ShareNames& names) {
  f.real(names.kept_key, s.kept, {names.kept, "%"},
         {.formula = "interval / expected time of a segment", .source = poisson});
  f.real(names.saving_key, s.saving, {names.saving, "%"},
         {.formula = "save / expected time of a segment", .source = poisson});
  f.real(names.redone_key, s.redone, {names.redone, "%"}, "Work and saves that a failure undid.", {.source = poisson});
  f.real(names.restarting_key, s.restarting, {names.restarting, "%"},
         "Restarts that a failure interrupted are among them.", {.source = poisson});
}

void describe_machines(Fields& f, Inputs& in) {
  f.group("The run");
  shared::model(f, "model", in.model, {.help = "Its active parameters are counted."});
  f.real("parameters", in.parameters, {"Parameters (0: the model's)", "parameters"},
         "Active parameters of a model that is not in the list.",
         {.range = {0, 1e13, Scale::log}, .typical = {1e8, 2e12}});
  f.real("tokens", in.tokens, {"Tokens", "tokens"}, "How many tokens the run reads.",
         {.range = {1e9, 1e15, Scale::log}, .typical = {1e11, 1e14}});
  shared::chip(f, "chip", in.chip, {.help = "Its dense BF16 peak is what the MFU is a share of."});
  f.integer("gpus", in.gpus, "GPUs", "All of them stop when one fails.",
            {.range = {1, 131'072, Scale::log}, .typical = {8, 32'768}});
  f.real("mfu", in.mfu, {"MFU", "%"}, "Model flops (6 N D) over the peak, while training goes on.",
         {.range = {1, 100}, .typical = {20, 60}});
  f.group("Money and energy");
  f.real("price_per_hour", in.price_per_hour, {"A GPU-hour", "$"}, "What an hour of one GPU costs you.",
         {.range = {0.1, 20, Scale::log}, .typical = {1, 6}});
  f.real("power_w", in.power_w, {"Power of a GPU (0: the chip's)", "W"},
         "With its share of the host, where you know it; 0 takes the chip's nameplate power.",
         {.range = {0, 5000}, .typical = {0, 1500}});
  f.real("pue", in.pue, "PUE", "Power of the whole data centre over that of its machines.", {.range = {1, 2.5}});
  f.group("Spares");
  f.real("repair_s", in.repair_s, {"Repair", "s"}, "How long the node that failed is away; a spare takes its place.",
         {.range = {600, 2.6e6, Scale::log}, .typical = {3600, 604'800}});
}

}  // namespace

void describe(Fields& f, CauseRow& r) {
  f.text("cause", r.cause, "Cause");
  f.integer("counted", r.counted, "Counted", "In 54 days of Llama 3 405B on 16,384 H100; 419 in all.",
            {.source = llama3_table});
  f.real("share", r.share, {"Share", "%"}, {.formula = "counted / 419"});
  f.real("gap_s", r.gap_s, {"One in your run every", "s"}, {.formula = "time between failures / share"});
  f.real("in_run", r.in_run, "In your run", {.formula = "failures in the run x share"});
}

void describe(Fields& f, Inputs& in) {
  f.group("Checkpoints and failures");
  f.real("interval_s", in.interval_s, {"Work between saves (0: the best)", "s"},
         "How long training goes on before the next checkpoint is saved.",
         {.range = {0, 604'800, Scale::log}, .typical = {60, 86'400}, .headline = true});
  f.real("save_s", in.save_s, {"A save stops training for", "s"},
         "With an asynchronous save that is the copy alone, and not the writing.",
         {.range = {0.01, 7200, Scale::log}, .typical = {1, 600}, .headline = true});
  f.real("restart_s", in.restart_s, {"Restart", "s"},
         "From a failure until training goes on: find it, replace the node, load the checkpoint, warm up.",
         {.range = {0, 14'400}, .typical = {0, 1800}});
  f.real("mtbf_s", in.mtbf_s, {"Time between failures", "s"}, "The mean, for the whole job.",
         {.range = {60, 1e8, Scale::log}, .typical = {1800, 1e6}, .headline = true});
  f.integer("seed", in.seed, "Seed", "Other failures at the same rate.",
            {.range = {0, 1'000'000, Scale::step}, .typical = {0, 30}});
  describe_machines(f, in);
}

void describe(Fields& f, Outputs& o) {
  f.group("The run");
  f.real("wall_s", o.wall_s, {"On the clock", "s"},
         {.headline = true, .against = {"best", "best_wall_s"}, .formula = "compute / efficiency"});
  f.real("efficiency", o.efficiency, {"Clock that counts", "%"}, "The share of the clock that is work which is kept.",
         {.headline = true,
          .against = {"best", "best_efficiency"},
          .formula = "T / (M exp(R / M) (exp((T + C) / M) - 1))",
          .source = poisson});
  f.real("dollars", o.dollars, {"Dollars", "$"},
         {.headline = true, .against = {"best", "best_dollars"}, .formula = "GPUs x hours x price"});
  f.real("exact_s", o.exact_s, {"Best interval", "s"}, "The interval that keeps most of the clock.",
         {.headline = true, .formula = "M (1 + W(-exp(-1 - C / M)))", .source = poisson});
  f.real("compute_s", o.compute_s, {"Without any loss", "s"}, {.formula = "6 N D / (GPUs x peak x MFU)"});
  f.real("lost_s", o.lost_s, {"Lost", "s"}, {.formula = "on the clock - without any loss"});
  f.real("best_wall_s", o.best_wall_s, {"At the best interval", "s"}, {.formula = "compute / best efficiency"});
  f.real("over_best_s", o.over_best_s, {"More than at the best", "s"}, {.formula = "on the clock - at the best"});
  f.real("best_efficiency", o.best_efficiency, {"Counts at the best", "%"}, {.formula = "efficiency at the best"});
  f.real("interval_used_s", o.interval_used_s, {"Interval", "s"}, "The one that is set, or the best.");
  f.group("Rules for the interval");
  f.real("young_s", o.young_s, {"Young", "s"}, {.formula = "sqrt(2 C M)", .source = "Young 1974"});
  f.real("daly_first_s", o.daly_first_s, {"Daly, first order", "s"},
         {.formula = "sqrt(2 C M) - C", .source = "Daly 2006"});
  f.real("daly_higher_s", o.daly_higher_s, {"Daly, higher order", "s"},
         {.formula = "sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + C / 18M) - C", .source = "Daly 2006"});
  f.real("flat_from_s", o.flat_from_s, {"Within a point from", "s"},
         "The shortest interval that keeps at most a percentage point less than the best.");
  f.real("flat_to_s", o.flat_to_s, {"Within a point to", "s"},
         "The longest interval that keeps at most a percentage point less than the best.");
  f.real("estimate", o.estimate, {"Usual estimate of the loss", "%"},
         "Above 100 where failures come faster than it allows for.", {.formula = "C / T + (T / 2 + R) / M"});
  f.group("Where the clock goes");
  describe_shares(f, o.shares, of_yours);
  describe_shares(f, o.best, of_best);
  f.group("Failures");
  f.real("failures", o.failures, "Failures in the run", {.formula = "on the clock / time between failures"});
  f.real("failures_per_day", o.failures_per_day, "Failures per day", {.formula = "a day / time between failures"});
  f.real("lost_work_s", o.lost_work_s, {"Work that one undoes", "s"},
         "The mean; about half the interval while failures are rare.",
         {.formula = "T (1 / (1 - exp(T / M)) + M / T)", .source = poisson});
  f.real("gpu_hours_per_failure", o.gpu_hours_per_failure, "GPU-hours per failure", {.formula = "GPUs x hours"});
  f.real("spares", o.spares, "Spare nodes", "With these, too many are away at once in one of a hundred moments.",
         {.source = "99 % quantile of a Poisson number"});
  f.real("gpu_share", o.gpu_share, {"Caused by the GPU", "%"},
         "Failures of Llama 3 405B that the GPU itself caused, with its memory.",
         {.formula = "counted of the GPU / 419", .source = llama3_table});
  f.table("causes", o.causes, "Causes", "Your failures, if they come in the shares of Llama 3 405B.");
  f.real("twice_efficiency", o.twice_efficiency, {"Twice the GPUs: counts", "%"},
         "With half the time between failures, at the interval that is then best.", {.source = poisson});
  f.group("Money and energy");
  f.real("gpu_hours", o.gpu_hours, "GPU-hours", {.formula = "GPUs x hours on the clock"});
  f.real("best_dollars", o.best_dollars, {"Dollars at the best", "$"}, {.formula = "GPUs x hours x price"});
  f.real("dollars_over_best", o.dollars_over_best, {"Dollars more than at the best", "$"}, {.formula = "difference"});
  f.real("energy_kwh", o.energy_kwh, {"Energy", "kWh"}, {.formula = "GPU-hours x power x PUE / 1000"});
  f.real("power_per_gpu_w", o.power_per_gpu_w, {"Power of a GPU", "W"}, {.source = "the input, or the chip's data"});
  f.real("flops", o.flops, {"Work", "FLOP"}, {.formula = "6 N D", .source = "Kaplan et al. 2020"});
  f.real("parameters_counted", o.parameters_counted, {"Parameters", "parameters"},
         {.source = "the input, or the model's config"});
  f.group("The stretch that is drawn");
  f.real("shown_s", o.shown_s, {"Length", "s"}, "About seven failures long.");
  f.integer("shown_failures", o.shown_failures, "Failures in it", "A draw; the mean is what the answer speaks of.");
  f.real("shown_kept", o.shown_kept, {"Kept in it", "%"}, {.formula = "work at its end / length"});
  f.real("shown_best_kept", o.shown_best_kept, {"Kept in it at the best", "%"}, {.formula = "as yours"});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"fleet/train-time", "Train time", "How long does a training take when its machines fail?"}, compute, arrange,
      draw);
}

}  // namespace chapters::fleet::train_time
