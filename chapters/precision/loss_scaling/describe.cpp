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
  f.choice("policy", in.policy, policies,
           {.label = "Loss scale",
            .help = "By what the loss, and with it every gradient, is multiplied before the backward pass.",
            .headline = true});
  f.real("init_scale", in.init_scale,
         {
             .label = "First scale",
             .help = "65,536 in GradScaler.",
             .lo = 1,
             .hi = 16777216,
             .scale = Scale::log,
         });
  f.integer("growth_interval", in.growth_interval,
            {
                .label = "Grows after",
                .help = "Clean steps in a row; 2,000 in GradScaler.",
                .lo = 10,
                .hi = 10000,
                .scale = Scale::log,
                .when = {"policy", "dynamic"},
            });
  f.real("growth", in.growth,
         {
             .label = "Growth",
             .help = "Factor after a clean run; 2 in GradScaler.",
             .lo = 1.01,
             .hi = 8,
             .scale = Scale::log,
             .when = {"policy", "dynamic"},
         });
  f.real("backoff", in.backoff,
         {
             .label = "Backoff",
             .help = "Factor after a skipped step; 0.5 in GradScaler.",
             .lo = 0.1,
             .hi = 0.99,
             .when = {"policy", "dynamic"},
         });
  f.group("The gradients");
  f.real("median", in.median,
         {
             .label = "Median gradient",
             .help = "Half of all magnitudes are smaller, at the first step.",
             .lo = 0x1p-40,
             .hi = 1,
             .scale = Scale::log,
         });
  f.real("spread_binades", in.spread_binades,
         {
             .label = "Spread",
             .help = "Standard deviation of log2 |g|: 4 means that two thirds lie within a factor of 16 either way.",
             .lo = 0.25,
             .hi = 10,
         });
  f.real("drift_binades", in.drift_binades,
         {
             .label = "Drift",
             .help = "By how many factors of two all gradients grow (or shrink) over the run.",
             .lo = -24,
             .hi = 24,
             .headline = true,
         });
  f.real("gradients", in.gradients,
         {
             .label = "Gradients a step",
             .help = "One a parameter. The largest of more of them is larger.",
             .lo = 1000,
             .hi = 1e12,
             .scale = Scale::log,
         });
  f.group("What goes wrong");
  f.real("bad_rate", in.bad_rate,
         {
             .label = "Broken steps",
             .unit = "%",
             .help = "Steps that hold inf or NaN whatever the scale is: a division by zero, a poisoned sample, an "
                     "overflow in the forward pass.",
             .lo = 0,
             .hi = 5,
             .headline = true,
         });
  f.real("spike_rate", in.spike_rate,
         {
             .label = "Spiky steps",
             .unit = "%",
             .help = "Steps whose gradients are all larger: an odd batch.",
             .lo = 0,
             .hi = 5,
         });
  f.real("spike_binades", in.spike_binades,
         {
             .label = "Spike",
             .help = "Factors of two by which a spiky step's gradients are larger.",
             .lo = 0,
             .hi = 24,
         });
  f.group("The run");
  f.integer("steps", in.steps,
            {
                .label = "Steps",
                .help = "Length of the run.",
                .lo = 500,
                .hi = 50000,
                .scale = Scale::log,
            });
  f.integer("seed", in.seed,
            {
                .label = "Seed",
                .help = "Another seed, another run of luck.",
                .lo = 1,
                .hi = 1000,
                .scale = Scale::step,
            });
}

void describe(Fields& f, Outputs& o) {
  f.group("Skips");
  f.choice("health", o.health, healths, {.label = "The scaler is"});
  f.integer("skips", o.skips,
            {.label = "Steps skipped",
             .help = "Without a scaler nobody skips them: the first one puts inf or NaN into the weights.",
             .formula = "overflows + broken steps",
             .source = grad_scaler});
  f.integer("overflow_skips", o.run.overflow_skips,
            {.label = "... by overflow", .help = "The largest scaled gradient rounds to infinity: 65,520 or more."});
  f.integer("bad_skips", o.run.bad_skips, {.label = "... broken", .help = "No scale would have helped."});
  f.integer(
      "early_skips", o.run.early_skips,
      {.label = "... in the first interval", .help = "The scale is being found: skips here are how it is found."});
  f.integer("late_skips", o.late_skips,
            {.label = "... afterwards", .help = "What the rate afterwards rests on: few of them make it rough."});
  f.group("Their rate");
  f.real("skip_rate", o.skip_rate, {.label = "Skip rate", .unit = "%", .formula = "skips / steps"});
  f.real("late_skip_rate", o.late_skip_rate,
         {
             .label = "Skip rate afterwards",
             .unit = "%",
             .help = "After the first growth interval.",
             .headline = true,
             .may_be_missing = true,
             .absent = "The run is not longer than the first interval.",
             .formula = "skips after it / steps after it",
         });
  f.real(
      "balance_rate", o.balance_rate,
      {
          .label = "Normal skip rate",
          .unit = "%",
          .help =
              "At most this many, where halvings and doublings hold each other: 2,000 clean steps and one skip, 1 in "
              "2,001, as GradScaler ships. A skip also starts the count of clean steps anew, so that runs stay below.",
          .headline = true,
          .may_be_missing = true,
          .absent = "Only a dynamic scale has one.",
          .formula = "ln growth / (ln growth - interval x ln backoff)",
      });
  f.real("times_balance", o.times_balance,
         {
             .label = "Times the normal rate",
             .headline = true,
             .may_be_missing = true,
             .absent = "There is no normal rate, or the run is too short.",
             .formula = "skip rate afterwards / normal skip rate",
         });
  f.group("The scale");
  f.real("scale_drift", o.scale_drift,
         {.label = "Drift, 1,000 steps",
          .help = "Factors of two, if steps went on being skipped at random at that rate: below 0 it sinks.",
          .may_be_missing = true,
          .absent = "Nothing adapts, or the run is too short.",
          .formula = "1000 x (growths a step x log2 growth + skip rate x log2 backoff)"});
  f.real("final_scale", o.final_scale,
         {.label = "Last scale", .help = "What the step after the run would be multiplied by."});
  f.real("lowest_scale", o.lowest_scale, {.label = "Lowest scale", .help = "Of the whole run."});
  f.real("highest_scale", o.highest_scale, {.label = "Highest scale", .help = "Of the whole run."});
  f.integer("growths", o.run.growths, {.label = "Growths", .help = "Times the scale grew after a clean interval."});
  f.integer("longest_skip_run", o.run.longest_skip_run,
            {.label = "Longest run of skips", .help = "Steps in a row that trained nothing."});
  f.real("headroom_binades", o.headroom_binades,
         {.label = "Headroom at the end",
          .help = "Factors of two between the largest gradient of the last step, under the last scale, and overflow.",
          .formula = "log2 65,520 - log2 (largest x scale)"});
  f.group("Gradients lost");
  f.real("zero_scaled", o.zero_scaled,
         {
             .label = "To zero, FP16 scaled",
             .unit = "%",
             .help = "Mean over the run of the share of gradients that round to zero.",
             .headline = true,
             .formula = "P(|g| scale < 2^-25)",
             .source = tail,
         });
  f.real("zero_unscaled", o.zero_unscaled,
         {
             .label = "To zero, FP16 unscaled",
             .unit = "%",
             .formula = "P(|g| < 2^-25)",
             .source = tail,
         });
  f.real("zero_bf16", o.zero_bf16,
         {
             .label = "To zero, BF16",
             .unit = "%",
             .formula = "P(|g| < 2^-134)",
             .source = tail,
         });
  f.real("worst_zero_scaled", o.worst_zero_scaled,
         {.label = "To zero, at worst", .unit = "%", .help = "Scaled, at the worst moment looked at."});
  f.real(
      "norm_lost", o.norm_lost,
      {
          .label = "Squared norm lost",
          .unit = "%",
          .help =
              "Unscaled: share of the squared gradient norm that the zeros held at the first step. Small ones are many "
              "and weigh little: what they lose is their own weights' training.",
          .formula = "P(z < (log2 limit - centre) / spread - 2 spread ln 2)",
          .source = "second moment of a log-normal",
      });
}

void describe(Fields& f, View& v) {
  f.real("time", v.time,
         {
             .label = "Step",
             .help = "The step that the lower pictures show.",
             .lo = 0,
             .hi = 50000,
         });
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({.id = "precision/loss-scaling",
                                                   .title = "Loss scaling",
                                                   .question = "One step in fifty is skipped: is that normal?"},
                                                  compute, arrange, draw);
}

}  // namespace chapters::precision::loss_scaling
