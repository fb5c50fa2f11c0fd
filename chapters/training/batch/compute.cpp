#include <algorithm>
#include <cmath>
#include <utility>

#include "chapters/training/batch/lab.h"

namespace chapters::training::batch {
namespace {

constexpr double target_nats(Target target) { return target == Target::easy ? 1.0 : 0.6; }

/// What the two trainings came to.
void fill_runs(const Inputs& in, const models::BatchPair& pair, Outputs& out) {
  out.diverged = pair.whole.diverged || pair.pieces.diverged;
  out.loss_whole = pair.whole.loss.back();
  out.loss_pieces = pair.pieces.loss.back();
  const std::size_t both = std::min(pair.whole.loss.size(), pair.pieces.loss.size());
  for (std::size_t i = 0; i < both; ++i)
    out.largest_gap = std::max(out.largest_gap, std::abs(pair.whole.loss[i] - pair.pieces.loss[i]));
  const double apart = 100 * models::weight_distance(pair.whole.network, pair.pieces.network);
  out.weights_apart = std::isfinite(apart) ? std::min(apart, 1e6) : 1e6;
  out.target_nats = target_nats(in.target);
  const double held_out = pair.held_out.back();
  out.held_out_loss = std::isfinite(held_out) ? std::min(held_out, 1e6) : 1e6;
  out.examples_read = static_cast<double>(in.batch) * static_cast<double>(pair.held_out.size());
  const auto reached =
      std::find_if(pair.held_out.begin(), pair.held_out.end(), [&](double loss) { return loss <= out.target_nats; });
  if (reached != pair.held_out.end()) out.target_step = static_cast<double>(reached - pair.held_out.begin() + 1);
}

}  // namespace

double steps_over(double critical_batch, double batch) { return 1 + critical_batch / batch; }
double examples_over(double critical_batch, double batch) { return 1 + batch / critical_batch; }

namespace {

/// What the search found, and what the fitted trade says of the batch that is set.
void fill_search(const Inputs& in, const models::CriticalBatch& c, Outputs& out) {
  out.critical_batch = c.batch;
  out.noise_early = c.noise_early;
  out.noise_late = c.noise_late;
  out.steps_min = c.steps_min;
  out.examples_min = c.examples_min;
  const auto batch = static_cast<double>(in.batch);
  out.critical_steps = c.steps_min * steps_over(c.batch, c.batch);
  out.critical_examples = c.examples_min * examples_over(c.batch, c.batch);
  out.steps_over = steps_over(c.batch, batch);
  out.examples_over = examples_over(c.batch, batch);
  out.steps_here = c.steps_min * out.steps_over;
  out.examples_here = c.examples_min * out.examples_over;
  for (const models::BatchCost& cost : c.costs) {
    if (!cost.reached) continue;
    CostRow row{.batch = static_cast<std::int64_t>(cost.batch),
                .steps = cost.steps,
                .examples = cost.examples,
                .rate = cost.rate};
    const CostRow& smallest = out.costs.empty() ? row : out.costs.front();
    const double times = static_cast<double>(row.batch) / static_cast<double>(smallest.batch);
    row.linear_rate = smallest.rate * times;
    row.root_rate = smallest.rate * std::sqrt(times);
    out.costs.push_back(row);
  }
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Searches& searches) {
  Outputs out;
  Run run;
  if (in.micro_batches > in.batch) {
    out.reason = "A batch of " + std::to_string(in.batch) + " cannot be cut into " + std::to_string(in.micro_batches) +
                 " pieces: take fewer micro-batches.";
    return {std::move(out)};
  }
  models::BatchRunSetup setup{.batch = static_cast<std::size_t>(in.batch),
                              .steps = static_cast<std::size_t>(in.steps),
                              .rate = in.rate,
                              .momentum = in.momentum,
                              .warm_up = static_cast<std::size_t>(in.warm_up)};
  setup.micro_batches = static_cast<std::size_t>(in.micro_batches);
  setup.rule = in.rule;
  setup.uneven = in.uneven;
  const auto task = searches.tasks.get(in.seed, [](std::int64_t seed) {
    return std::make_shared<const models::BatchTask>(models::batch_task(static_cast<std::uint64_t>(seed)));
  });
  run.pair = models::train_pair(*task, setup);
  progress.fraction = 0.4;
  fill_runs(in, run.pair, out);
  out.passes = static_cast<double>(in.micro_batches);
  // The largest piece is what memory must hold; uneven pieces are of one and three parts.
  const double parts = in.uneven ? 3 / (in.micro_batches > 1 ? 2.0 : 3.0) : 1;
  out.memory_share = 100 * std::min(1.0, parts / static_cast<double>(in.micro_batches));

  const auto search = searches.found.get({in.seed, in.target}, [&](const auto& key) {
    auto found = std::make_shared<const models::CriticalBatch>(
        models::find_critical_batch(*task, target_nats(key.second), &progress.cancelled));
    return progress.cancelled ? nullptr : found;
  });
  if (!search) {
    out.reason = "The search for the critical batch was stopped before its end.";
    return {std::move(out)};
  }
  fill_search(in, *search, out);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::training::batch
