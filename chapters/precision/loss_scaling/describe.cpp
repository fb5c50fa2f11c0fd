#include "chapters/mechanism/choices_in_order.h"
#include "chapters/precision/loss_scaling/lab.h"

namespace chapters::precision::loss_scaling {
namespace {

const Choices policies = choices_in_order<models::ScalerPolicy::none>(
    {{"dynamic", "Dynamic", "Halved when a step overflows, doubled after a run of clean steps: torch.amp.GradScaler."},
     {"fixed", "Fixed", "The first scale for ever; steps that overflow are skipped."},
     {"none", "None", "Gradients as they are, and nobody looks whether they are finite."}});
const Choices healths = choices_in_order<models::ScalerHealth::searching>(
    {{"healthy", "healthy", "It skips no more often than it can grow back."},
     {"investigate", "investigate", "It skips more often than it can grow back."},
     {"collapsed", "collapsed", "Most gradients have become zero."},
     {"unscaled", "no scaler", "Nothing adapts."},
     {"searching", "searching", "The run is not longer than the first interval."}});
constexpr std::string_view grad_scaler =
    "torch.amp.GradScaler; Micikevicius et al., Mixed precision training, ICLR 2018";
constexpr std::string_view tail = "normal tail of log2 |g|";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The scaler");
  f.choice("policy", in.policy, policies, "Loss scale",
           "By what the loss, and with it every gradient, is multiplied before the backward pass.", {.headline = true});
  f.real("init_scale", in.init_scale, "First scale", "65,536 in GradScaler.", {.range = {1, 16777216, Scale::log}});
  f.integer("growth_interval", in.growth_interval, "Grows after", "Clean steps in a row; 2,000 in GradScaler.",
            {.range = {10, 10000, Scale::log}, .when = {"policy", "dynamic"}});
  f.real("growth", in.growth, "Growth", "Factor after a clean run; 2 in GradScaler.",
         {.range = {1.01, 8, Scale::log}, .when = {"policy", "dynamic"}});
  f.real("backoff", in.backoff, "Backoff", "Factor after a skipped step; 0.5 in GradScaler.",
         {.range = {0.1, 0.99}, .when = {"policy", "dynamic"}});
  f.group("The gradients");
  f.real("median", in.median, "Median gradient", "Half of all magnitudes are smaller, at the first step.",
         {.range = {0x1p-40, 1, Scale::log}});
  f.real("spread_binades", in.spread_binades, "Spread",
         "Standard deviation of log2 |g|: 4 means that two thirds lie within a factor of 16 either way.",
         {.range = {0.25, 10}});
  f.real("drift_binades", in.drift_binades, "Drift",
         "By how many factors of two all gradients grow (or shrink) over the run.",
         {.range = {-24, 24}, .headline = true});
  f.real("gradients", in.gradients, "Gradients per step",
         "One per parameter. The more there are, the larger is the largest of them.",
         {.range = {1000, 1e12, Scale::log}});
  f.group("What goes wrong");
  f.real("bad_rate", in.bad_rate, {"Broken steps", "%"},
         "Steps that hold inf or NaN whatever the scale is: a division by zero, a poisoned sample, an overflow in the "
         "forward pass.",
         {.range = {0, 5}, .headline = true});
  f.real("spike_rate", in.spike_rate, {"Spiky steps", "%"}, "Steps whose gradients are all larger: an odd batch.",
         {.range = {0, 5}});
  f.real("spike_binades", in.spike_binades, "Spike", "Factors of two by which a spiky step's gradients are larger.",
         {.range = {0, 24}});
  f.group("The run");
  f.integer("steps", in.steps, "Steps", "Length of the run.", {.range = {500, 50000, Scale::log}});
  f.integer("seed", in.seed, "Seed", "Another seed, another run of luck.", {.range = {1, 1000, Scale::step}});
}

namespace {

void describe_skips(Fields& f, Outputs& o) {
  f.group("Skips");
  f.choice("health", o.health, healths, "The scaler is");
  f.integer("skips", o.skips, "Steps skipped",
            "Without a scaler nobody skips them: the first one puts inf or NaN into the weights.",
            {.formula = "overflows + broken steps", .source = grad_scaler});
  f.integer("overflow_skips", o.figures.overflow_skips, "... by overflow",
            "The largest scaled gradient rounds to infinity: 65,520 or more.");
  f.integer("bad_skips", o.figures.bad_skips, "... broken", "No scale would have helped.");
  f.integer("early_skips", o.figures.early_skips, "... in the first interval",
            "The scale is being found: skips here are how it is found.");
  f.integer("late_skips", o.late_skips, "... afterwards",
            "What the rate afterwards rests on: few of them make it rough.");
  f.integer("late_steps", o.late_steps, "Steps afterwards", "Steps of the run after its first growth interval.",
            {.formula = "max(0, steps - first interval)"});
  f.group("Their rate");
  f.real("skip_rate", o.skip_rate, {"Skip rate", "%"}, {.formula = "skips / steps"});
  f.real("late_skip_rate", o.late_skip_rate, {"Skip rate afterwards", "%"}, "After the first growth interval.",
         {.headline = true,
          .absent = "The run is not longer than the first interval.",
          .formula = "skips after it / steps after it"});
  f.real("balance_rate", o.balance_rate, {"Normal skip rate", "%"},
         "At most this many, where halvings and doublings hold each other: 2,000 clean steps and one skip, 1 in 2,001, "
         "as GradScaler ships. A skip also starts the count of clean steps anew, so that runs stay below.",
         {.headline = true,
          .absent = "Only a dynamic scale has one.",
          .formula = "ln growth / (ln growth - interval x ln backoff)"});
  f.real("normal_every", o.normal_every, "Normal: at most 1 step in",
         {.absent = "Only a dynamic scale has one.", .formula = "1 / normal skip rate"});
  f.real("late_every", o.late_every, "Afterwards: 1 step in",
         {.absent = "No step is skipped after the first interval.", .formula = "1 / skip rate afterwards"});
  f.real("times_balance", o.times_balance, {"Times the normal rate", "\xC3\x97"},
         {.headline = true,
          .absent = "There is no normal rate, or the run is too short.",
          .formula = "skip rate afterwards / normal skip rate"});
  f.real("fifty_over_normal", o.fifty_over_normal, {"One in fifty, times normal", "\xC3\x97"},
         "How many times the normal rate a skip every fifty steps would be.",
         {.absent = "There is no normal rate.", .formula = "2 % / normal skip rate"});
}

void describe_scale_and_losses(Fields& f, Outputs& o) {
  f.group("The scale");
  f.real("scale_drift", o.scale_drift, "Drift, 1,000 steps",
         "Factors of two, if steps went on being skipped at random at that rate: below 0 it sinks.",
         {.absent = "Nothing adapts, or the run is too short.",
          .formula = "1000 x (growths per step x log2 growth + skip rate x log2 backoff)"});
  f.real("final_scale", o.final_scale, "Last scale", "What the step after the run would be multiplied by.");
  f.real("lowest_scale", o.lowest_scale, "Lowest scale", "The smallest scale of the whole run.");
  f.real("highest_scale", o.highest_scale, "Highest scale", "The largest scale of the whole run.");
  f.integer("growths", o.figures.growths, "Growths", "Times the scale grew after a clean interval.");
  f.integer("longest_skip_run", o.figures.longest_skip_run, "Longest run of skips",
            "Steps in a row that trained nothing.");
  f.real("headroom_binades", o.headroom_binades, "Headroom at the end",
         "Factors of two between the largest gradient of the last step, under the last scale, and overflow.",
         {.formula = "log2 65,520 - log2 (largest x scale)"});
  f.group("Gradients lost");
  f.real("zero_scaled", o.zero_scaled, {"To zero, FP16 scaled", "%"},
         "Mean over the run of the share of gradients that round to zero.",
         {.headline = true, .formula = "P(|g| scale < 2^-25)", .source = tail});
  f.real("zero_unscaled", o.zero_unscaled, {"To zero, FP16 unscaled", "%"},
         {.formula = "P(|g| < 2^-25)", .source = tail});
  f.real("zero_bf16", o.zero_bf16, {"To zero, BF16", "%"}, {.formula = "P(|g| < 2^-134)", .source = tail});
  f.real("worst_zero_scaled", o.worst_zero_scaled, {"To zero, at worst", "%"},
         "Scaled, at the worst moment looked at.");
  f.real(
      "norm_lost", o.norm_lost, {"Squared norm lost", "%"},
      "Unscaled: share of the squared gradient norm that the zeros held at the first step. Small ones are many and "
      "weigh little: what they lose is their own weights' training.",
      {.formula = "P(z < (log2 limit - centre) / spread - 2 spread ln 2)", .source = "second moment of a log-normal"});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_skips(f, o);
  describe_scale_and_losses(f, o);
}

void describe(Fields& f, View& v) {
  f.real("time", v.time, "Step", "The step that the lower pictures show.", {.range = {0, 50000}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"precision/loss-scaling", "Loss scaling", "One step in fifty is skipped: is that normal?"}, compute, arrange,
      draw);
}

}  // namespace chapters::precision::loss_scaling
