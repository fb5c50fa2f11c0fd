#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/precision/mixed/lab.h"
#include "chapters/precision/shared/formats.h"
#include "widgets/number/number.h"

namespace chapters::precision::mixed {
namespace {

using models::PrecisionRecipe;
using widgets::format_text;

/// "a step is `1.42` times as fast as in BF16", "a step takes `1.15` times as long as in BF16"
std::string speed_words(double speedup, std::string_view other) {
  const bool slower = speedup < 0.995;
  const std::string times = widgets::figure(slower ? 1 / speedup : speedup, "");
  return (slower ? "a step takes " + times + " times as long as in " : "a step is " + times + " times as fast as in ") +
         std::string(other);
}

/// The recipe that the answer compares with, of those that the chip runs; the recipe itself where there is none.
PrecisionRecipe compared_with(const Inputs& in, const Outputs& out) {
  if (in.recipe == PrecisionRecipe::fp32) return in.recipe;
  if (in.recipe == PrecisionRecipe::fp8 && std::isfinite(out.speedup_bf16)) return PrecisionRecipe::amp_bf16;
  if (in.recipe != PrecisionRecipe::tf32 && std::isfinite(out.speedup_tf32)) return PrecisionRecipe::tf32;
  return std::isfinite(out.speedup_fp32) ? PrecisionRecipe::fp32 : in.recipe;
}

struct Speedup {
  std::string_view key, over;
  double value = 0;
};
Speedup speedup_of(const Outputs& out, PrecisionRecipe other) {
  if (other == PrecisionRecipe::amp_bf16) return {"speedup_bf16", "BF16", out.speedup_bf16};
  if (other == PrecisionRecipe::tf32) return {"speedup_tf32", "TF32", out.speedup_tf32};
  return {"speedup_fp32", "FP32", out.speedup_fp32};
}

/// One sentence: which share of the arithmetic runs in the recipe's format, and what it saves of time and memory.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string states = "states take " + widgets::figure(out.step.bytes_per_parameter, "B") + " a parameter";
  if (in.recipe == PrecisionRecipe::fp32) return "Everything runs in FP32 and nothing is saved: " + states + ".";
  const PrecisionRecipe other = compared_with(in, out);
  const Speedup speedup = speedup_of(out, other);
  const std::string faster = other == in.recipe ? "" : speed_words(speedup.value, speedup.over);
  const std::string format(models::format_label(models::recipe_product_format(in.recipe)));
  return format + " does " + share_words(out.recipe_flops_share) + " of the matrix arithmetic" +
         (faster.empty() ? "" : "; " + faster) + (faster.empty() ? "; " : ", and ") + states + ".";
}

/// What the flow leaves out of the answer: the steps side by side, and what one parameter's states are kept in.
void arrange_savings(const Inputs& in, const Outputs& out, Picture& p) {
  using models::NumberFormat;
  const PrecisionRecipe other = compared_with(in, out);
  const auto add_step = [&](PrecisionRecipe recipe) {
    const RecipeRow& row = out.recipes[static_cast<std::size_t>(recipe)];
    static constexpr std::array products{NumberFormat::fp32, NumberFormat::tf32, NumberFormat::bf16, NumberFormat::fp16,
                                         NumberFormat::e4m3};
    static_assert(products.size() == models::recipe_count);
    p.product = products[static_cast<std::size_t>(recipe)];
    p.steps.push_back({row.recipe, format_text(row.step.time_s, "s"), row.step.time_s, p.product});
  };
  if (other != in.recipe) {
    const Speedup speedup = speedup_of(out, other);
    p.speedup_key = speedup.key;
    p.meanings.push_back(
        {format_text(speedup.value < 0.995 ? 1 / speedup.value : speedup.value, ""), std::string(speedup.key)});
    add_step(other);
  }
  add_step(in.recipe);
  const std::string bytes = format_text(out.step.bytes_per_parameter, "B");
  p.meanings.push_back({bytes, "bytes_per_parameter"});
  p.states_text = "states of one parameter: " + bytes;
  const auto& m = out.step.memory;
  const double of_one = m.states() > 0 ? out.step.bytes_per_parameter / m.states() : 0;
  const auto add_part = [&](std::string_view name, double all, NumberFormat format) {
    if (all > 0) p.states.push_back({name, all * of_one, format});
  };
  const NumberFormat half = in.recipe == PrecisionRecipe::amp_fp16 ? NumberFormat::fp16 : NumberFormat::bf16;
  const bool narrow = in.recipe != PrecisionRecipe::fp32 && in.recipe != PrecisionRecipe::tf32;
  // Where 8-bit copies stand in for the weights of products, the others stay as they were.
  add_part("weights", m.weights, narrow && in.keeping != models::StateKeeping::autocast ? half : NumberFormat::fp32);
  add_part("copies", m.copies, p.product);
  // Those accumulated in FP32 are two: what the backward pass writes in 2 bytes, and their sum in 4.
  const double narrow_gradients = !narrow                                          ? 0
                                  : in.keeping == models::StateKeeping::zero       ? m.gradients
                                  : in.keeping == models::StateKeeping::accumulate ? m.gradients / 3
                                                                                   : 0;
  add_part("gradients", narrow_gradients, half);
  add_part("gradients", m.gradients - narrow_gradients, NumberFormat::fp32);
  add_part("master", m.master, NumberFormat::fp32);
  add_part("moments", m.moments, NumberFormat::fp32);
}

/// The recipes that the chip has no unit for; empty where it runs all.
std::string left_out_of(const Outputs& out, const std::string& chip) {
  std::string text;
  for (const RecipeRow& r : out.recipes)
    if (!r.runs) text += (text.empty() ? chip + " has no unit for " : ", ") + r.recipe;
  return text;
}

/// What the weights that products read are kept in.
models::NumberFormat kept_format(const Inputs& in) {
  using models::NumberFormat;
  switch (in.recipe) {
    case PrecisionRecipe::fp32:
    case PrecisionRecipe::tf32:
      return NumberFormat::fp32;
    default:
      break;
  }
  if (in.keeping == models::StateKeeping::autocast) return NumberFormat::fp32;
  if (in.recipe == PrecisionRecipe::fp8 && in.fp8_primary) return NumberFormat::e4m3;
  return in.recipe == PrecisionRecipe::amp_fp16 ? NumberFormat::fp16 : NumberFormat::bf16;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  const auto chip = find_chip(in.chip);
  if (!out.reason.empty() || !chip) return p;
  p.chip_bytes = (*chip)->memory_bytes;
  p.chip_name = (*chip)->short_name;
  p.answer = answer_of(in, out);
  p.flow = flow_of(out);
  p.kept_weights = kept_format(in);
  arrange_savings(in, out, p);
  p.measured = in.recipe == PrecisionRecipe::fp8;
  p.weights_text = "weights come in from below and are kept in " + std::string(models::number_label(p.kept_weights)) +
                   "; sums inside products are FP32; percentages are shares of the step";
  p.left_out = left_out_of(out, p.chip_name);
  // FP32 takes ten times as long as the others and would hide them: it is drawn when it is chosen.
  p.times_fp32 = in.recipe == PrecisionRecipe::fp32;
  const RecipeRow& fp32 = out.recipes[static_cast<std::size_t>(PrecisionRecipe::fp32)];
  if (!p.times_fp32 && fp32.runs)
    p.time_note = "FP32 on the vector units, not drawn: " + format_text(fp32.step.time_s, "s");
  for (const OperationRow& row : out.operations) {
    p.formats.push_back(row.figures.forward);
    p.formats.push_back(row.figures.result);
  }
  std::sort(p.formats.begin(), p.formats.end());
  p.formats.erase(std::unique(p.formats.begin(), p.formats.end()), p.formats.end());
  return p;
}

}  // namespace chapters::precision::mixed
