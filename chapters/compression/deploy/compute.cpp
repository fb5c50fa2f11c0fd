#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

#include "chapters/compression/deploy/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::deploy {
namespace {

models::Deployment deployment_of(const Inputs& in, const models::Chip& chip) {
  return {
      .chip = &chip,
      .chips = static_cast<double>(in.chips),
      .batch = static_cast<double>(in.batch),
      .context = static_cast<double>(in.context),
      .prompt = static_cast<double>(in.prompt),
      .roof_share = in.roof_share,
  };
}

Speed speed_of(const models::DeploymentEstimate& e, const models::DeploymentEstimate& base,
               const models::Deployment& d) {
  return {
      .prefill_tokens_per_s = d.prompt / e.prefill_s,
      .prefill_speedup = base.prefill_s / e.prefill_s,
      .decode_tokens_per_s = d.batch / e.decode_s,
      .decode_speedup = base.decode_s / e.decode_s,
  };
}

/// A row without its names. Where the chip cannot multiply the format only `weights_bytes` is known.
RecipeRow row_of(const models::Result<models::DeploymentEstimate>& estimate, double weights_bytes,
                 const models::DeploymentEstimate& base, const models::Deployment& d) {
  RecipeRow row;
  row.possible = static_cast<bool>(estimate);
  if (estimate) {
    row.estimate = *estimate;
    row.speed = speed_of(*estimate, base, d);
  } else {
    row.estimate = {.weights_bytes = weights_bytes, .chips_needed = 0};
    row.speed = {.prefill_speedup = 0, .decode_speedup = 0};
    row.source = estimate.error;
  }
  return row;
}

/// The questions that were asked, each with its answer and the figures that decided.
std::string reasons_of(const models::Decision& decision, std::span<const models::DecisionNode> tree) {
  std::string because;
  for (const models::DecisionStep& s : decision.steps)
    because += (because.empty() ? "" : " ") + std::string(tree[static_cast<std::size_t>(s.node)].text) + " " +
               (s.yes ? "Yes" : "No") + " (" + because_words(s) + ").";
  return because;
}

/// What each recipe of the tree takes on these chips.
std::vector<std::optional<models::DeploymentEstimate>> estimate_leaves(const models::Architecture& a,
                                                                       const models::Deployment& d) {
  std::vector<std::optional<models::DeploymentEstimate>> leaves;
  for (const models::DecisionNode& node : models::decision_nodes(*d.chip))
    leaves.push_back(node.yes >= 0 ? std::nullopt
                                   : models::estimate_deployment(a, *models::find_recipe(node.recipe),
                                                                 *models::find_kv_recipe(node.kv), d)
                                         .value);
  return leaves;
}

/// What the recipe at the end of the way through the tree takes, and how fast it decodes.
void judge_recommended(const std::optional<models::DeploymentEstimate>& e, const models::DeploymentEstimate& base,
                       Outputs& out) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  out.recommended_fits = e && e->fits;
  out.recommended_bytes = e ? e->weights_bytes + e->cache_bytes : none;
  out.recommended_chips = e ? e->chips_needed : none;
  out.recommended_speedup = e ? base.decode_s / e->decode_s : none;
}

}  // namespace

std::string because_words(const models::DecisionStep& step) {
  const auto words = [](const char* format, double a, double b = 0) {
    char text[96];
    std::snprintf(text, sizeof text, format, a, b);
    return std::string(text);
  };
  switch (step.figure) {
    case models::DecisionFigure::allowed_loss:
      return step.against > 0 ? words("%.2g of up to %.2g %%", step.against, step.value)
                              : words("up to %.2g %%", step.value);
    case models::DecisionFigure::fit_bytes:
      return words("%.0f of %.0f GB", step.value / 1e9, step.against / 1e9);
    case models::DecisionFigure::memory_share:
      return words("%.0f %% of the step", 100 * step.value);
    case models::DecisionFigure::cache_bytes:
      return words("%.0f against %.0f GB", step.value / 1e9, step.against / 1e9);
    case models::DecisionFigure::peak:
      break;
  }
  return step.yes ? words("%.0f TFLOP/s", step.value / 1e12) : "none stated";
}

std::string published_loss(const models::Recipe& r) {
  using widgets::format_text;
  if (r.id == "bf16") return "baseline";
  if (r.published_loss_high == 0) return "none found";
  return r.published_loss_low == r.published_loss_high
             ? format_text(r.published_loss_low, "%", 2)
             : format_text(r.published_loss_low, "", 2) + " to " + format_text(r.published_loss_high, "%", 2);
}

chapters::Computed<Outputs, Run> compute(const Inputs& in, const Progress& progress) {
  const auto chip = find_chip(in.chip);
  if (!chip) return {.facts = {.reason = chip.error}};
  const auto model = find_model(in.model);
  if (!model) return {.facts = {.reason = model.error}};
  const models::Recipe* recipe = models::find_recipe(in.recipe);
  const models::KvRecipe* kv = models::find_kv_recipe(in.kv);
  if (!recipe || !kv) return {.facts = {.reason = "There is no such recipe or cache: choose one of the lists."}};

  const models::Architecture& a = (*model)->architecture;
  const models::Deployment d = deployment_of(in, **chip);
  const auto base =
      models::estimate_deployment(a, models::deployment_recipes().front(), models::kv_recipes().front(), d);
  if (!base) return {.facts = {.reason = base.error}};
  const auto chosen = models::estimate_deployment(a, *recipe, *kv, d);
  if (!chosen) return {.facts = {.reason = chosen.error}};
  const auto decision = models::decide_recipe(a, d, in.may_lose);
  if (!decision) return {.facts = {.reason = decision.error}};

  Outputs out;
  out.estimate = *chosen;
  out.speed = speed_of(*chosen, *base, d);
  out.total_bytes = chosen->weights_bytes + chosen->cache_bytes;
  out.memory_bound = 100 * chosen->decode_memory_share;
  out.bits_per_parameter = 8 * chosen->weights_bytes / static_cast<double>(models::count_parameters(a).total);
  out.smaller = 16 / out.bits_per_parameter;
  out.recipe = *recipe;
  out.loss_source = recipe->loss_source;
  for (const models::Recipe& each : models::deployment_recipes()) {
    RecipeRow row =
        row_of(models::estimate_deployment(a, each, *kv, d), models::recipe_weight_bytes(a, each), *base, d);
    row.recipe = each.label;
    row.loss = published_loss(each);
    if (row.possible) row.source = each.loss_source;
    out.recipes.push_back(std::move(row));
  }
  for (const models::KvRecipe& each : models::kv_recipes()) {
    RecipeRow row = row_of(models::estimate_deployment(a, *recipe, each, d), chosen->weights_bytes, *base, d);
    row.recipe = each.label;
    row.loss = each.id == "bf16" ? "baseline" : "see source";
    if (row.possible) row.source = each.loss_source;
    out.caches.push_back(std::move(row));
  }
  const std::span<const models::DecisionNode> tree = models::decision_nodes(**chip);
  out.recommended = tree[static_cast<std::size_t>(decision->leaf)].text;
  out.because = reasons_of(*decision, tree);
  auto run = std::make_shared<Run>();
  run->decision = *decision;
  run->tree = tree;
  if (!progress.facts_alone) run->leaves = estimate_leaves(a, d);
  judge_recommended(
      models::estimate_deployment(a, *models::find_recipe(decision->recipe), *models::find_kv_recipe(decision->kv), d)
          .value,
      *base, out);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::compression::deploy
