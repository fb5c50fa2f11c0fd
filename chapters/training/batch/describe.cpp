#include "chapters/training/batch/lab.h"

namespace chapters::training::batch {
namespace {

// In the order of models::AccumulationRule and Target.
const Choices rules{{"by_count", "divided by all examples", "The gradient of the whole batch."},
                    {"mean_of_means", "mean of the means", "Each piece counts the same, whatever its size."},
                    {"summed", "means summed", "Nobody divides by the number of pieces."}};
static_assert(models::accumulation_rule_count == 3);
const Choices targets{{"easy", "loss 1.0", "Reached within a few hundred examples."},
                      {"hard", "loss 0.6", "Later in training."}};
constexpr std::string_view trained = "trained here: 64 pixels, 16 hidden units, 10 digits",
                           mccandlish = "McCandlish et al. 2018";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The batch");
  f.integer("batch", in.batch, "Batch", "Examples per step.", {.range = {4, 256, Scale::log}, .headline = true});
  f.integer("micro_batches", in.micro_batches, "Micro-batches",
            "Pieces that the batch is worked through in, one after the other, before the update.",
            {.range = {1, 32, Scale::log}, .headline = true});
  f.choice("rule", in.rule, rules, "Gradients", "How those of the pieces are put together.");
  f.toggle("uneven", in.uneven, "Uneven pieces",
           "Pieces take one and three parts in turn, as with texts of different lengths.");
  f.group("The update");
  f.real("rate", in.rate, "Learning rate", "The step size of gradient descent.",
         {.range = {0.01, 5, Scale::log}, .headline = true});
  f.integer("warm_up", in.warm_up, "Warm-up", "Steps over which the rate rises to its value.", {.range = {0, 60}});
  f.real("momentum", in.momentum, "Momentum", "The share of the update before that is added to this one.",
         {.range = {0, 0.95}});
  f.integer("steps", in.steps, "Steps", "Updates that both runs make.", {.range = {20, 80}});
  f.group("The search");
  f.choice("target", in.target, targets, "Target", "Loss on held-out digits, in nats, to which each batch is trained.");
  f.integer("seed", in.seed, "Seed", "It draws digits, first weights and the order of examples.", {.range = {1, 2}});
}

void describe(Fields& f, CostRow& r) {
  f.integer("batch", r.batch, "Batch", {.source = trained});
  f.real("steps", r.steps, "Steps", {.source = trained});
  f.real("examples", r.examples, "Examples", {.source = trained});
  f.real("rate", r.rate, "Best rate", "The best among 0.03, 0.1, 0.3 and 1; beyond 1 no batch trains here.",
         {.source = trained});
  f.real("linear_rate", r.linear_rate, "Linear rule",
         "The rate in proportion to the batch, from the best one of the smallest batch.",
         {.formula = "best rate of the smallest x batch / smallest", .source = "Goyal et al. 2017"});
  f.real("root_rate", r.root_rate, "Root rule",
         "The rate in proportion to the root of the batch, from the best one of the smallest batch.",
         {.formula = "best rate of the smallest x sqrt(batch / smallest)", .source = "Krizhevsky 2014"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The same batch twice");
  f.real("weights_apart", o.weights_apart, {"Weights apart", "%"}, "After the last step, of the weights' length.",
         {.headline = true, .formula = "|a - b| / |a|", .source = trained});
  f.real("largest_gap", o.largest_gap, "Losses apart", "Nats, at most.", {.source = trained});
  f.real("loss_whole", o.loss_whole, "Loss, at once", "Nats, of the last step.", {.source = trained});
  f.real("loss_pieces", o.loss_pieces, "Loss, in pieces", "Nats, of the last step.", {.source = trained});
  f.real("held_out_loss", o.held_out_loss, "Loss on held-out digits", "Nats, in pieces, after the last step.",
         {.source = trained});
  f.real("target_nats", o.target_nats, "Target", "Nats on held-out digits.");
  f.real("target_step", o.target_step, "Step at the target", "At the rate that is set, in pieces.",
         {.absent = "This run does not reach it.", .source = trained});
  f.real("examples_read", o.examples_read, "Examples read", "In this run.", {.formula = "batch x steps"});
  f.toggle("diverged", o.diverged, "Diverged", "A loss above 20 nats: the run ends there.");
  f.real("memory_share", o.memory_share, {"Activations held", "%"}, {.formula = "largest piece / batch"});
  f.real("passes", o.passes, "Passes per step", {.formula = "micro-batches"});
  f.group("The size of the batch");
  f.real("critical_batch", o.critical_batch, "Critical batch",
         {.headline = true, .formula = "fewest examples / fewest steps", .source = mccandlish});
  f.real("steps_over", o.steps_over, {"Over the fewest steps", "\xC3\x97"},
         {.headline = true, .formula = "1 + critical / batch", .source = mccandlish});
  f.real("examples_over", o.examples_over, {"Over the fewest examples", "\xC3\x97"},
         {.headline = true, .formula = "1 + batch / critical", .source = mccandlish});
  f.real("steps_here", o.steps_here, "Steps to the target", "At the best rate for this batch, by plain SGD.",
         {.source = "the fit at this batch"});
  f.real("examples_here", o.examples_here, "Examples to the target", "At the best rate for this batch, by plain SGD.",
         {.source = "the fit at this batch"});
  f.real("steps_min", o.steps_min, "Fewest steps", {.source = "fit of examples against batch"});
  f.real("examples_min", o.examples_min, "Fewest examples", {.source = "fit of examples against batch"});
  f.real("critical_steps", o.critical_steps, "Steps at the critical batch",
         {.formula = "2 x fewest steps", .source = mccandlish});
  f.real("critical_examples", o.critical_examples, "Examples at the critical batch",
         {.formula = "2 x fewest examples", .source = mccandlish});
  f.real("noise_early", o.noise_early, "Noise scale, early",
         "How noisy the gradient over 256 digits is after ten steps.",
         {.formula = "trace of the covariance / |gradient|^2", .source = mccandlish});
  f.real("noise_late", o.noise_late, "Noise scale, at the target",
         "Over 256 digits; where the gradient is small it is uncertain.",
         {.formula = "trace of the covariance / |gradient|^2", .source = mccandlish});
  f.table("costs", o.costs, "Batches trained to the target", {.max_items = 8});
}

LabPtr make() {
  const auto searches = std::make_shared<Searches>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"training/batch", "Batch", "Is a batch in pieces the same batch, and when is it too large?", {.job = true}},
      [searches](const Inputs& in, Progress& progress) { return compute(in, progress, *searches); }, arrange, draw);
}

}  // namespace chapters::training::batch
