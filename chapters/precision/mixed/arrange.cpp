#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/precision/mixed/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::mixed {
namespace {

using models::PrecisionRecipe;
using widgets::format_text;

std::string verdict_of(const Inputs& in, const Outputs& out, double chip_bytes) {
  std::string verdict =
      std::string(models::recipe_label(in.recipe)) + ": " + format_text(out.step.time_s, "s") + " a step";
  if (in.recipe != PrecisionRecipe::tf32 && out.speedup_tf32 > 0)
    verdict += ", " + format_text(out.speedup_tf32, "") + " times TF32";
  if (in.recipe == PrecisionRecipe::fp8 && out.speedup_bf16 > 0)
    verdict += " and " + format_text(out.speedup_bf16, "") + " times BF16";
  return verdict + "; " + format_text(out.total_bytes, "B") + " on a chip of " + format_text(chip_bytes, "B");
}

std::string story_of(const Inputs& in, const Outputs& out) {
  const std::string activations = format_text(out.step.activation_bytes_per_token, "B/token");
  if (in.recipe == PrecisionRecipe::fp32 || in.recipe == PrecisionRecipe::tf32)
    return "The baseline: 16 B of states a parameter and " + activations +
           " of activations. Short formats leave the first as it is and halve the second.";
  return format_text(out.step.bytes_per_parameter, "B") +
         " of states a parameter against 16 B in FP32: a short format saves " +
         (out.states_over_fp32 < 1 ? "some" : "none") + " of them. It saves activations (" + activations +
         ") and time.";
}

/// The recipes that the chip has no unit for; empty where it runs all.
std::string left_out_of(const Outputs& out, const std::string& chip) {
  std::string text;
  for (const RecipeRow& r : out.recipes)
    if (!r.runs) text += (text.empty() ? chip + " has no unit for " : ", ") + r.recipe;
  return text;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  const auto chip = find_chip(in.chip);
  if (!out.reason.empty() || !chip) return p;
  p.chip_bytes = (*chip)->memory_bytes;
  p.chip_name = (*chip)->short_name;
  p.verdict = verdict_of(in, out, p.chip_bytes);
  p.story = story_of(in, out);
  p.left_out = left_out_of(out, p.chip_name);
  // FP32 takes ten times as long as the others and would hide them: it is drawn when it is chosen.
  p.times_fp32 = in.recipe == PrecisionRecipe::fp32;
  const RecipeRow& fp32 = out.recipes[static_cast<std::size_t>(PrecisionRecipe::fp32)];
  if (!p.times_fp32 && fp32.runs)
    p.time_note = "FP32 on the vector units, not drawn: " + format_text(fp32.step.time_s, "s");
  for (const OperationRow& row : out.operations) p.formats.push_back(row.figures.forward);
  std::sort(p.formats.begin(), p.formats.end());
  p.formats.erase(std::unique(p.formats.begin(), p.formats.end()), p.formats.end());
  return p;
}

}  // namespace chapters::precision::mixed
