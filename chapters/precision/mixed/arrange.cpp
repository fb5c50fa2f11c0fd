#include <algorithm>
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
  const std::string times = "`" + format_text(slower ? 1 / speedup : speedup, "") + "`";
  return (slower ? "a step takes " + times + " times as long as in " : "a step is " + times + " times as fast as in ") +
         std::string(other);
}

/// One sentence: which share of the arithmetic runs in the recipe's format, and what it saves of time and memory.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const auto figure = [](double v, std::string_view unit = {}) { return "`" + format_text(v, unit) + "`"; };
  const std::string label(models::recipe_label(in.recipe));
  const std::string states = "states take " + figure(out.step.bytes_per_parameter, "B") + " a parameter";
  if (in.recipe == PrecisionRecipe::fp32) return "Everything runs in FP32 and nothing is saved: " + states + ".";
  const std::string share = share_words(out.recipe_flops_share);
  std::string faster;
  if (in.recipe == PrecisionRecipe::fp8 && std::isfinite(out.speedup_bf16))
    faster = speed_words(out.speedup_bf16, "BF16");
  else if (in.recipe != PrecisionRecipe::tf32 && std::isfinite(out.speedup_tf32))
    faster = speed_words(out.speedup_tf32, "TF32");
  else if (std::isfinite(out.speedup_fp32))
    faster = speed_words(out.speedup_fp32, "FP32");
  const std::string format(models::format_label(models::recipe_product_format(in.recipe)));
  return format + " does " + share + " of the matrix arithmetic" + (faster.empty() ? "" : "; " + faster) +
         (faster.empty() ? "; " : ", and ") + states + ".";
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
  p.published = arrange_published("precision/mixed", in, compute, {"model", "chip"});
  p.kept_weights = kept_format(in);
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
