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
  f.integer("batch", in.batch,
            {
                .label = "Batch",
                .help = "Examples an update.",
                .lo = 4,
                .hi = 256,
                .scale = Scale::log,
                .headline = true,
            });
  f.integer("micro_batches", in.micro_batches,
            {
                .label = "Micro-batches",
                .help = "Pieces that the batch is worked through in, one after the other, before the update.",
                .lo = 1,
                .hi = 32,
                .scale = Scale::log,
                .headline = true,
            });
  f.choice("rule", in.rule, rules, {.label = "Gradients", .help = "How those of the pieces are put together."});
  f.toggle("uneven", in.uneven,
           {.label = "Uneven pieces", .help = "Of one and three parts in turn, as with texts of different lengths."});
  f.group("The update");
  f.real("rate", in.rate,
         {
             .label = "Learning rate",
             .help = "Of gradient descent.",
             .lo = 0.01,
             .hi = 5,
             .scale = Scale::log,
             .headline = true,
         });
  f.integer("warm_up", in.warm_up,
            {.label = "Warm-up", .help = "Steps over which the rate rises to its value.", .lo = 0, .hi = 60});
  f.real("momentum", in.momentum, {.label = "Momentum", .help = "Of the update.", .lo = 0, .hi = 0.95});
  f.integer("steps", in.steps, {.label = "Steps", .help = "Updates of both runs.", .lo = 20, .hi = 80});
  f.group("The search");
  f.choice("target", in.target, targets,
           {.label = "Target", .help = "Loss on held-out digits, in nats, to which each batch is trained."});
  f.integer("seed", in.seed, {.label = "Seed", .help = "Of digits, weights and order.", .lo = 1, .hi = 2});
}

void describe(Fields& f, CostRow& r) {
  f.integer("batch", r.batch, {.label = "Batch", .source = trained});
  f.real("steps", r.steps, {.label = "Steps", .source = trained});
  f.real("examples", r.examples, {.label = "Examples", .source = trained});
  f.real("rate", r.rate, {.label = "Best rate", .source = trained});
}

void describe(Fields& f, Outputs& o) {
  f.group("The same batch twice");
  f.real("weights_apart", o.weights_apart,
         {.label = "Weights apart",
          .unit = "%",
          .help = "After the last step, of the weights' length.",
          .headline = true,
          .formula = "|a - b| / |a|",
          .source = trained});
  f.real("largest_gap", o.largest_gap, {.label = "Losses apart", .help = "Nats, at most.", .source = trained});
  f.real("loss_whole", o.loss_whole, {.label = "Loss, at once", .help = "Nats, of the last step.", .source = trained});
  f.real("loss_pieces", o.loss_pieces,
         {.label = "Loss, in pieces", .help = "Nats, of the last step.", .source = trained});
  f.toggle("diverged", o.diverged, {.label = "Diverged", .help = "A loss above 20 nats: the run ends there."});
  f.real("memory_share", o.memory_share,
         {.label = "Activations held", .unit = "%", .formula = "largest piece / batch"});
  f.real("passes", o.passes, {.label = "Passes an update", .formula = "micro-batches"});
  f.group("The size of the batch");
  f.real(
      "critical_batch", o.critical_batch,
      {.label = "Critical batch", .headline = true, .formula = "fewest examples / fewest steps", .source = mccandlish});
  f.real("steps_over", o.steps_over,
         {.label = "Over the fewest steps", .headline = true, .formula = "1 + critical / batch", .source = mccandlish});
  f.real(
      "examples_over", o.examples_over,
      {.label = "Over the fewest examples", .headline = true, .formula = "1 + batch / critical", .source = mccandlish});
  f.real("steps_here", o.steps_here, {.label = "Steps to the target", .source = "the fit at this batch"});
  f.real("examples_here", o.examples_here, {.label = "Examples to the target", .source = "the fit at this batch"});
  f.real("steps_min", o.steps_min, {.label = "Fewest steps", .source = "fit of examples against batch"});
  f.real("examples_min", o.examples_min, {.label = "Fewest examples", .source = "fit of examples against batch"});
  f.real("noise_early", o.noise_early,
         {.label = "Noise scale, early",
          .help = "Of the gradient, over 256 digits, after ten steps.",
          .formula = "trace of the covariance / |gradient|^2",
          .source = mccandlish});
  f.real("noise_late", o.noise_late,
         {.label = "Noise scale, at the target",
          .help = "Over 256 digits; where the gradient is small it is uncertain.",
          .formula = "trace of the covariance / |gradient|^2",
          .source = mccandlish});
  f.table("costs", o.costs, {.label = "Batches trained to the target", .max_items = 8});
}

LabPtr make() {
  const auto searches = std::make_shared<Searches>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {
          .id = "training/batch",
          .title = "Batch",
          .question = "Is a batch in pieces the same batch, and when is it too large?",
          .job = true,
      },
      [searches](const Inputs& in, Progress& progress) { return compute(in, progress, *searches); }, arrange, draw);
}

}  // namespace chapters::training::batch
