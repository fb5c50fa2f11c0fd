#include <array>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/precision/mixed/lab.h"

namespace chapters::precision::mixed {
namespace {

using models::PrecisionRecipe;

constexpr std::array<std::string_view, models::step_part_count> part_names{"matmul", "attention", "vector", "casts",
                                                                           "optimizer"};

OperationRow row_of(const models::MixedOperation& op) {
  OperationRow row;
  row.figures = op;
  row.part = part_names[static_cast<std::size_t>(op.part)];
  row.forward = models::number_label(op.forward);
  row.backward = op.has_backward ? models::number_label(op.backward) : "";
  row.result = models::number_label(op.result);
  row.why = op.why;
  row.all_s = static_cast<double>(op.count) * op.time_s;
  row.share = 100 * op.share;
  return row;
}

/// Every recipe's step on the same chip, with its speed against TF32.
std::vector<RecipeRow> compare_recipes(const models::Architecture& model, const models::Chip& chip,
                                       models::MixedSettings settings) {
  std::vector<RecipeRow> rows;
  for (const PrecisionRecipe recipe : models::all_recipes) {
    settings.recipe = recipe;
    auto step = models::mixed_precision_step(model, chip, settings);
    RecipeRow row;
    row.recipe = models::recipe_label(recipe);
    row.note = step.error;
    row.runs = static_cast<bool>(step);
    if (step) {
      row.step = std::move(*step);
      row.states_bytes = row.step.memory.states();
      row.total_bytes = row.step.memory.total();
    }
    rows.push_back(std::move(row));
  }
  const RecipeRow& tf32 = rows[static_cast<std::size_t>(PrecisionRecipe::tf32)];
  const double tf32_s = tf32.runs ? tf32.step.time_s : std::nan("");
  for (RecipeRow& row : rows) row.speedup = row.runs ? tf32_s / row.step.time_s : std::nan("");
  return rows;
}

void fill_comparison(Outputs& out) {
  const auto step_of = [&](PrecisionRecipe recipe) -> const models::MixedStep& {
    return out.recipes[static_cast<std::size_t>(recipe)].step;
  };
  const auto speedup = [&](PrecisionRecipe recipe) {
    return out.recipes[static_cast<std::size_t>(recipe)].runs ? step_of(recipe).time_s / out.step.time_s : std::nan("");
  };
  out.speedup_fp32 = speedup(PrecisionRecipe::fp32);
  out.speedup_tf32 = speedup(PrecisionRecipe::tf32);
  out.speedup_bf16 = speedup(PrecisionRecipe::amp_bf16);
  const double bf16_per_token = step_of(PrecisionRecipe::amp_bf16).activation_bytes_per_token,
               fp32_bytes = step_of(PrecisionRecipe::fp32).memory.total();
  out.states_over_fp32 = out.step.bytes_per_parameter / 16;
  out.activations_over_bf16 = bf16_per_token > 0 ? out.step.activation_bytes_per_token / bf16_per_token : std::nan("");
  out.total_over_fp32 = fp32_bytes > 0 ? out.total_bytes / fp32_bytes : std::nan("");
}

}  // namespace

Outputs compute(const Inputs& in) {
  const auto found_model = find_model(in.model);
  if (!found_model) return {.reason = found_model.error};
  const auto found_chip = find_chip(in.chip);
  if (!found_chip) return {.reason = found_chip.error};
  const models::Architecture& model = (*found_model)->architecture;
  const models::Chip& chip = **found_chip;
  const models::MixedSettings settings{
      .recipe = in.recipe,
      .keeping = in.keeping,
      .scaling = in.scaling,
      .fp8_primary = in.fp8_primary,
      .batch = in.batch,
      .sequence = in.sequence,
      .recompute = in.recompute,
      .shards = static_cast<double>(in.shards),
  };
  auto step = models::mixed_precision_step(model, chip, settings);
  if (!step) return {.reason = step.error};
  Outputs out;
  out.step = std::move(*step);
  for (const models::MixedOperation& op : out.step.operations) out.operations.push_back(row_of(op));
  out.recipes = compare_recipes(model, chip, settings);
  out.parameters = static_cast<double>(models::count_parameters(model).total);
  out.tokens_per_s = static_cast<double>(in.batch) * static_cast<double>(in.sequence) / out.step.time_s;
  out.product_share = 100 * out.step.part_s[static_cast<std::size_t>(models::StepPart::products)] / out.step.time_s;
  out.recipe_flops_share = 100 * out.step.recipe_flops_share;
  out.states_bytes = out.step.memory.states();
  out.total_bytes = out.step.memory.total();
  if (const auto fp32 = chip.peak_flops_per_s(models::Format::fp32))
    out.peak_ratio = out.step.peak_flops_per_s / *fp32;
  else
    out.peak_ratio = std::nan("");
  fill_comparison(out);
  out.chip_share = 100 * out.total_bytes / chip.memory_bytes;
  out.fits = out.total_bytes <= chip.memory_bytes;
  return out;
}

}  // namespace chapters::precision::mixed
