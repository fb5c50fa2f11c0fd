#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/training/checkpointing/lab.h"

namespace chapters::training::checkpointing {
namespace {

using models::memory::every_k, models::memory::FrontierPoint, models::memory::LayerKeep;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

std::size_t root_of(std::size_t layers) {
  return static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(layers))));
}

/// The plan that the Inputs ask for. `problem` is set where the letters do not read.
std::vector<LayerKeep> plan_of(const Inputs& in, const Setting& s, std::string& problem) {
  const std::size_t layers = s.costs.layers.size();
  switch (in.plan) {
    case Plan::best: {
      const FrontierPoint* best = models::memory::best_within(s.frontier, s.budget - s.costs.states);
      return best ? best->plan : s.frontier.back().plan;
    }
    case Plan::none:
      break;
    case Plan::every_layer:
      return every_k(layers, 1);
    case Plan::pieces:
      return every_k(layers, static_cast<std::size_t>(in.piece));
    case Plan::square_root:
      return every_k(layers, root_of(layers));
    case Plan::first:
      return models::memory::first_layers(layers, static_cast<std::size_t>(in.again));
    case Plan::selective:
      return std::vector<LayerKeep>(layers, LayerKeep::selective);
    case Plan::drawn: {
      const auto read = models::memory::plan_of_letters(in.letters, layers);
      if (read) return *read;
      problem = read.error;
      break;
    }
  }
  return std::vector<LayerKeep>(layers, LayerKeep::kept);
}

PlanRow row_of(std::string name, const Setting& s, std::span<const LayerKeep> plan) {
  const auto cost = models::memory::checkpoint_cost(s.costs.layers, plan, s.costs.ends);
  PlanRow row{.name = std::move(name),
              .peak_bytes = s.costs.states + cost.peak_bytes,
              .again_share = 100 * cost.recompute_s / s.costs.step_s,
              .recomputed = static_cast<double>(cost.recomputed)};
  row.fits = row.peak_bytes <= s.budget;
  row.best_bytes = row.peak_bytes;
  for (const FrontierPoint& p : s.frontier)
    if (p.recompute_s <= cost.recompute_s * (1 + 1e-12))
      row.best_bytes = std::min(row.best_bytes, s.costs.states + p.peak_bytes);
  return row;
}

models::Result<Setting> read_setting(const Inputs& in) {
  using Out = models::Result<Setting>;
  auto on = trained_on(in.model, in.chip, in.recipe);
  if (!on) return Out::fail(on.error);
  Setting s{std::move(*on)};
  const models::memory::TrainingPlan plan{
      .recipe = in.recipe,
      .optimizer = in.optimizer,
      .batch = in.batch,
      .sequence = in.sequence,
      .tensor = in.tensor_parallel,
      .sequence_parallel = in.sequence_parallel,
      .fused_attention = in.fused_attention,
      .dropout = in.dropout,
      .loss = in.loss,
  };
  auto costs = models::memory::checkpoint_setting(s.architecture, plan, s.machine, in.roof_share,
                                                  static_cast<std::size_t>(in.dropped));
  if (!costs) return Out::fail(costs.error);
  s.costs = std::move(*costs);
  s.frontier = models::memory::checkpoint_frontier(s.costs.layers, s.costs.ends);
  s.budget = in.budget_bytes > 0 ? in.budget_bytes : s.chip->memory_bytes;
  std::string problem;
  s.plan = plan_of(in, s, problem);
  if (!problem.empty()) return Out::fail(problem);
  return Out::ok(std::move(s));
}

/// What the picture shows besides the facts.
std::shared_ptr<const Run> run_of(Setting setting) {
  Run run;
  const auto& layers = setting.costs.layers;
  const auto& ends = setting.costs.ends;
  const double states = setting.costs.states;
  run.exact = models::memory::frontier_is_exact(layers);
  std::vector<models::memory::LayerCost> chain = layers;
  for (auto& l : chain) l.checkpoint = l.saved;
  for (std::size_t k = 1; k <= layers.size(); ++k) {
    const auto plan = every_k(layers.size(), k);
    run.piece_bytes.push_back(states + models::memory::checkpoint_cost(layers, plan, ends).peak_bytes);
    run.chain_bytes.push_back(states + models::memory::checkpoint_cost(chain, plan, ends).peak_bytes);
  }
  run.setting = std::move(setting);
  return std::make_shared<const Run>(std::move(run));
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  auto setting = read_setting(in);
  if (!setting) return {{.reason = setting.error}};
  Outputs out;
  const Setting& s = *setting;
  const auto& layers = s.costs.layers;
  out.cost = models::memory::checkpoint_cost(layers, s.plan, s.costs.ends);
  out.chip_bytes = s.chip->memory_bytes;
  out.budget = s.budget;
  out.peak_bytes = s.costs.states + out.cost.peak_bytes;
  out.free_bytes = s.budget - out.peak_bytes;
  out.fits = out.free_bytes >= 0;
  out.again_s = out.cost.recompute_s;
  out.step_s = s.costs.step_s + out.again_s;
  out.again_share = 100 * out.again_s / s.costs.step_s;
  out.recomputed = static_cast<double>(out.cost.recomputed);
  out.layers = static_cast<double>(layers.size());
  const PlanRow own = row_of("yours", s, s.plan);
  out.best_same_bytes = own.best_bytes;
  out.excess_bytes = own.peak_bytes - own.best_bytes;

  const std::vector<LayerKeep> all(layers.size(), LayerKeep::kept);
  // What operations drop runs again in kept layers too.
  out.plans.push_back(row_of(in.dropped > 0 ? "no layer recomputed" : "nothing recomputed", s, all));
  out.plans.push_back(row_of("scores only", s, std::vector<LayerKeep>(layers.size(), LayerKeep::selective)));
  out.plans.push_back(row_of("every layer", s, every_k(layers.size(), 1)));
  out.plans.push_back(row_of("pieces of 2", s, every_k(layers.size(), 2)));
  out.plans.push_back(row_of("pieces of \xE2\x88\x9AL", s, every_k(layers.size(), root_of(layers.size()))));
  out.plans.push_back(row_of("first half", s, models::memory::first_layers(layers.size(), layers.size() / 2)));
  out.kept_peak_bytes = out.plans[0].peak_bytes;
  out.every_layer_bytes = out.plans[2].peak_bytes;
  out.every_layer_share = out.plans[2].again_share;
  out.square_root_bytes = out.plans[4].peak_bytes;
  out.saved_bytes = out.kept_peak_bytes - out.peak_bytes;
  out.saved_per_s = out.again_s > 0 ? out.saved_bytes / out.again_s : 0;
  out.smallest_bytes = s.costs.states + s.frontier.back().peak_bytes;
  out.smallest_share = 100 * s.frontier.back().recompute_s / s.costs.step_s;
  const FrontierPoint* best = models::memory::best_within(s.frontier, s.budget - s.costs.states);
  out.best_share = best ? 100 * best->recompute_s / s.costs.step_s : none;
  out.best_recomputed = best ? static_cast<double>(best->recomputed) : none;
  const auto largest =
      std::max_element(layers.begin(), layers.end(), [](const auto& a, const auto& b) { return a.saved < b.saved; });
  out.layer_bytes = largest->saved;
  out.checkpoint_bytes = largest->checkpoint;
  out.layer_over_checkpoint = largest->saved / largest->checkpoint;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k <= layers.size(); ++k) {
    const double peak = models::memory::checkpoint_cost(layers, every_k(layers.size(), k), s.costs.ends).peak_bytes;
    if (peak < least) {
      least = peak;
      out.best_piece = static_cast<double>(k);
    }
  }
  for (const models::memory::DropOption& d : s.costs.drops)
    out.drops.push_back({d.operation, d.by, d.bytes, d.time_s, d.bytes_per_s()});
  if (progress.facts_alone) return {std::move(out)};
  return {std::move(out), run_of(std::move(*setting))};
}

}  // namespace chapters::training::checkpointing
