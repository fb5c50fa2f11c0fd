#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/precision/mixed/lab.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::precision::mixed {
namespace {

using models::MixedStep;
using models::PrecisionRecipe;
using widgets::format_text;

constexpr std::array<std::string_view, models::step_part_count> part_names{"product", "attention", "vector", "casts",
                                                                           "optimizer"};

OperationRow row_of(const models::MixedOperation& op) {
  OperationRow row;
  row.name = op.name;
  row.part = part_names[static_cast<std::size_t>(op.part)];
  row.forward = models::number_label(op.forward);
  row.backward = op.has_backward ? models::number_label(op.backward) : "";
  row.result = models::number_label(op.result);
  row.why = op.why;
  row.count = op.count;
  row.flops = op.flops;
  row.bytes = op.bytes;
  row.time_s = op.time_s;
  row.all_s = static_cast<double>(row.count) * op.time_s;
  row.share = 100 * op.share;
  row.format = op.forward;
  return row;
}

void fill_step(const MixedStep& step, const Inputs& in, Outputs& out) {
  out.time_s = step.time_s;
  out.tokens_per_s = static_cast<double>(in.batch) * static_cast<double>(in.sequence) / step.time_s;
  const std::array<double*, models::step_part_count> parts{&out.products_s, &out.attention_s, &out.vector_s,
                                                           &out.casts_s, &out.optimizer_s};
  for (std::size_t i = 0; i < parts.size(); ++i) *parts[i] = step.part_s[i];
  out.product_share = 100 * step.part_s[0] / step.time_s;
  out.recipe_flops_share = 100 * step.recipe_flops_share;
  out.bytes_per_parameter = step.bytes_per_parameter;
  const auto& m = step.memory;
  out.weights_bytes = m.weights;
  out.copies_bytes = m.copies;
  out.gradients_bytes = m.gradients;
  out.master_bytes = m.master;
  out.moments_bytes = m.moments;
  out.states_bytes = m.states();
  out.activations_bytes = m.activations;
  out.activation_bytes_per_token = step.activation_bytes_per_token;
  out.logits_bytes = m.logits;
  out.total_bytes = m.total();
  for (const auto& op : step.operations) out.operations.push_back(row_of(op));
}

void tell(const Inputs& in, Outputs& out) {
  const std::string name(models::recipe_label(in.recipe));
  out.verdict = name + ": " + format_text(out.time_s, "s") + " a step";
  if (in.recipe != PrecisionRecipe::tf32 && out.speedup_tf32 > 0)
    out.verdict += ", " + format_text(out.speedup_tf32, "") + " times TF32";
  if (in.recipe == PrecisionRecipe::fp8 && out.speedup_bf16 > 0)
    out.verdict += " and " + format_text(out.speedup_bf16, "") + " times BF16";
  out.verdict += "; " + format_text(out.total_bytes, "B") + " on a chip of " + format_text(out.chip_bytes, "B");
  const bool baseline = in.recipe == PrecisionRecipe::fp32 || in.recipe == PrecisionRecipe::tf32;
  out.story = baseline ? "The baseline: 16 B of states a parameter and " +
                             format_text(out.activation_bytes_per_token, "B/token") +
                             " of activations. Short formats leave the first as it is and halve the second."
                       : format_text(out.bytes_per_parameter, "B") +
                             " of states a parameter against 16 B in FP32: a short format saves " +
                             (out.states_over_fp32 < 1 ? "some" : "none") + " of them. It saves activations (" +
                             format_text(out.activation_bytes_per_token, "B/token") + ") and time.";
  const RecipeRow& fp32 = out.recipes.front();
  if (in.recipe != PrecisionRecipe::fp32 && fp32.runs)
    out.time_note = "FP32 on the vector units, not drawn: " + format_text(fp32.time_s, "s");
  for (const RecipeRow& r : out.recipes)
    if (!r.runs) out.left_out += (out.left_out.empty() ? out.chip_name + " has no unit for " : ", ") + r.recipe;
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  const auto* model = catalog().model(in.model);
  const auto* chip = catalog().chip(in.chip);
  if (!model || !chip) {
    out.reason = !model ? "There is no model \"" + in.model + "\" among the loaded ones; choose another."
                        : "There is no chip \"" + in.chip + "\" among the loaded ones; choose another.";
    return out;
  }
  models::MixedSettings s{
      .recipe = in.recipe,
      .keeping = in.keeping,
      .scaling = in.scaling,
      .fp8_primary = in.fp8_primary,
      .batch = in.batch,
      .sequence = in.sequence,
      .recompute = in.recompute,
  };
  s.shards = static_cast<double>(in.shards);
  const auto chosen = models::mixed_precision_step(model->architecture, *chip, s);
  if (!chosen) {
    out.reason = chosen.error;
    return out;
  }
  out.chip_bytes = chip->memory_bytes;
  out.chip_name = chip->short_name;
  out.recipe = static_cast<std::size_t>(in.recipe);
  out.parameters = static_cast<double>(models::count_parameters(model->architecture).total);
  fill_step(*chosen, in, out);
  std::array<double, models::recipe_count> times{};
  double fp32_total = 0, bf16_per_token = 0;
  for (const PrecisionRecipe recipe : models::all_recipes) {
    s.recipe = recipe;
    const auto step = models::mixed_precision_step(model->architecture, *chip, s);
    RecipeRow row;
    row.recipe = models::recipe_label(recipe);
    row.note = step.error;
    if (step) {
      row.runs = true;
      row.time_s = times[static_cast<std::size_t>(recipe)] = step->time_s;
      row.bytes_per_parameter = step->bytes_per_parameter;
      row.memory = step->memory;
      row.part_s = step->part_s;
      row.states_bytes = step->memory.states();
      row.activations_bytes = step->memory.activations;
      row.logits_bytes = step->memory.logits;
      row.total_bytes = step->memory.total();
      if (recipe == PrecisionRecipe::fp32) fp32_total = row.total_bytes;
      if (recipe == PrecisionRecipe::amp_bf16) bf16_per_token = step->activation_bytes_per_token;
    }
    out.recipes.push_back(std::move(row));
  }
  for (RecipeRow& row : out.recipes) row.speedup = row.runs ? times[1] / row.time_s : 0;
  out.speedup_fp32 = times[0] / out.time_s;
  out.speedup_tf32 = times[1] / out.time_s;
  out.speedup_bf16 = times[2] / out.time_s;
  if (const auto fp32 = chip->peak_flops_per_s(models::Format::fp32)) out.peak_ratio = chosen->peak_flops_per_s / *fp32;
  out.states_over_fp32 = out.bytes_per_parameter / 16;
  out.activations_over_bf16 = bf16_per_token > 0 ? out.activation_bytes_per_token / bf16_per_token : 0;
  out.total_over_fp32 = fp32_total > 0 ? out.total_bytes / fp32_total : 0;
  out.chip_share = 100 * out.total_bytes / out.chip_bytes;
  out.fits = out.total_bytes <= out.chip_bytes;
  tell(in, out);
  widgets::Fingerprint mark;
  for (const auto& op : out.operations)
    mark.add(std::string_view(op.name)), mark.add(op.time_s), mark.add(op.bytes), mark.add(op.share),
        mark.add(std::string_view(op.forward));
  for (const auto& r : out.recipes) mark.add(r.total_bytes), mark.add(r.time_s);
  out.version = mark.value | 1;
  return out;
}

}  // namespace chapters::precision::mixed
