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

/// "FP8 takes `347 ms` per step instead of `491 ms` in BF16: `1.41×` as fast."
std::string time_text(const Inputs& in, const Outputs& out) {
  const PrecisionRecipe other = compared_with(in, out);
  const auto seconds = [](double s) { return widgets::figure(s, "s"); };
  const std::string takes = std::string(models::format_label(models::recipe_product_format(in.recipe))) + " takes " +
                            seconds(out.step.time_s) + " per step";
  if (in.recipe == PrecisionRecipe::fp32)
    return takes + " and " + widgets::figure(out.step.bytes_per_parameter, "B") +
           " of states per parameter: everything runs in FP32, and nothing is saved.";
  if (other == in.recipe) return takes + "; this chip runs no other recipe to compare it with.";
  const Speedup speedup = speedup_of(out, other);
  const double other_s = out.recipes[static_cast<std::size_t>(other)].step.time_s;
  const std::string over = seconds(other_s) + " in " + std::string(speedup.over);
  if (format_text(other_s, "s") == format_text(out.step.time_s, "s"))
    return takes + ", as long as " + std::string(speedup.over) + ".";
  if (speedup.value < 1) return takes + " instead of " + over + ": it is slower.";
  return takes + " instead of " + over + ": " + widgets::figure(speedup.value, widgets::times_unit) + " as fast.";
}

/// What spares most of a memory that is too small.
std::string_view cure_of(const Inputs& in, const Outputs& out) {
  if (2 * out.states_bytes > out.total_bytes) return "split the states over more chips.";
  if (in.recompute != models::Recompute::full && out.step.memory.activations >= out.step.memory.logits)
    return "recompute its activations.";
  return in.batch > 1 ? "use a smaller micro-batch." : "use shorter sequences.";
}

/// The second line: what stands in the way, or what is computed and kept in the recipe's format.
std::string reason_of(const Inputs& in, const Outputs& out, bool experts) {
  const double casts_s = out.step.part_s[static_cast<std::size_t>(models::StepPart::casts)];
  // FP32 training keeps weights, gradients and two moments of 4 bytes each.
  const bool as_fp32 = std::abs(out.states_over_fp32 - 1) < 1e-3;
  const std::string states = widgets::figure(out.step.bytes_per_parameter, "B") + " per parameter" +
                             (as_fp32 ? ", as in FP32." : "; in FP32 they take 16 B."),
                    format(models::format_label(models::recipe_product_format(in.recipe)));
  if (!out.fits)
    return "One chip would need " + widgets::figure(out.total_bytes, "B") + " of memory, " +
           widgets::figure(out.chip_share, "%") + " of what it has: " + std::string(cure_of(in, out));
  if (in.recipe == PrecisionRecipe::fp32)
    return "It needs " + widgets::figure(out.total_bytes, "B") + " of the chip's memory, " +
           widgets::figure(out.chip_share, "%") + " of it.";
  if (in.recipe == PrecisionRecipe::fp8 && out.speedup_bf16 < 1)
    return std::string(experts ? "Each expert sees few tokens, so casting all weights" : "Casting to 8 bits") +
           " takes " + widgets::figure(casts_s, "s") + ", more than faster matmuls gain.";
  std::string share = share_words(out.recipe_flops_share);
  if (share[0] >= 'a') share[0] = static_cast<char>(share[0] - 'a' + 'A');
  return share + " of the matmul arithmetic is in " + format + ". The states take " + states;
}

models::NumberFormat product_of(PrecisionRecipe recipe) {
  using models::NumberFormat;
  static constexpr std::array products{NumberFormat::fp32, NumberFormat::tf32, NumberFormat::bf16, NumberFormat::fp16,
                                       NumberFormat::e4m3};
  static_assert(products.size() == models::recipe_count);
  return products[static_cast<std::size_t>(recipe)];
}

/// What a recipe keeps of one parameter, in bytes and by format.
std::vector<StatePart> states_of(const Inputs& in, PrecisionRecipe recipe, const models::MixedStep& step) {
  using models::NumberFormat;
  std::vector<StatePart> states;
  const auto& m = step.memory;
  const double of_one = m.states() > 0 ? step.bytes_per_parameter / m.states() : 0;
  const auto add_part = [&](std::string_view name, double all, NumberFormat format) {
    if (all > 0) states.push_back({name, all * of_one, format});
  };
  const NumberFormat half = recipe == PrecisionRecipe::amp_fp16 ? NumberFormat::fp16 : NumberFormat::bf16;
  const bool narrow = recipe != PrecisionRecipe::fp32 && recipe != PrecisionRecipe::tf32;
  // Where 8-bit copies stand in for the weights of matmuls, the others stay as they were.
  add_part("weights", m.weights, narrow && in.keeping != models::StateKeeping::autocast ? half : NumberFormat::fp32);
  add_part("copies", m.copies, product_of(recipe));
  // Those accumulated in FP32 are two: what the backward pass writes in 2 bytes, and their sum in 4.
  const double narrow_gradients = !narrow                                          ? 0
                                  : in.keeping == models::StateKeeping::zero       ? m.gradients
                                  : in.keeping == models::StateKeeping::accumulate ? m.gradients / 3
                                                                                   : 0;
  add_part("gradients", narrow_gradients, half);
  add_part("gradients", m.gradients - narrow_gradients, NumberFormat::fp32);
  add_part("master", m.master, NumberFormat::fp32);
  add_part("moments", m.moments, NumberFormat::fp32);
  return states;
}

/// The recipe's step under the one that it is compared with, and what lies between them.
void arrange_recipes(const Inputs& in, const Outputs& out, Picture& p) {
  const PrecisionRecipe other = compared_with(in, out);
  const auto add = [&](PrecisionRecipe recipe) {
    const RecipeRow& row = out.recipes[static_cast<std::size_t>(recipe)];
    p.recipes.push_back({
        .recipe = row.recipe,
        .time = format_text(row.step.time_s, "s"),
        .bytes = format_text(row.step.bytes_per_parameter, "B"),
        .time_s = row.step.time_s,
        .blocks = flow_of(row.step),
        .states = states_of(in, recipe, row.step),
    });
    for (const FlowBlock& block : p.recipes.back().blocks) p.formats.push_back(block.computes);
  };
  if (other != in.recipe) {
    const Speedup speedup = speedup_of(out, other);
    p.speedup_key = speedup.key;
    p.meanings.push_back({format_text(speedup.value, widgets::times_unit), std::string(speedup.key)});
    add(other);
    const double saved_s = p.recipes[0].time_s - out.step.time_s;
    p.meanings.push_back({p.recipes[0].time, std::string(speedup.key)});
    p.gain_text = format_text(std::abs(saved_s), "s") + (saved_s < 0 ? " longer" : " saved");
  }
  add(in.recipe);
  p.product = product_of(in.recipe);
  p.meanings.push_back({p.recipes.back().bytes, "bytes_per_parameter"});
  std::sort(p.formats.begin(), p.formats.end());
  p.formats.erase(std::unique(p.formats.begin(), p.formats.end()), p.formats.end());
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
  const auto model = find_model(in.model);
  const bool experts = model && (*model)->architecture.moe.routed > 0;
  p.answer = time_text(in, out) + "\n" + reason_of(in, out, experts);
  arrange_recipes(in, out, p);
  p.measured = in.recipe == PrecisionRecipe::fp8;
  const std::int64_t layers = model ? (*model)->architecture.layers : 0;
  p.layers_text = "width: time; " + std::to_string(layers) + " layers, forward and backward";
  const std::string left_out = left_out_of(out, p.chip_name);
  p.memory_note = "memory of one chip" + (left_out.empty() ? "" : "; " + left_out);
  // FP32 takes ten times as long as the others and would hide them: it is drawn when it is chosen.
  p.times_fp32 = in.recipe == PrecisionRecipe::fp32;
  const RecipeRow& fp32 = out.recipes[static_cast<std::size_t>(PrecisionRecipe::fp32)];
  p.time_note = "time of a step";
  if (!p.times_fp32 && fp32.runs)
    p.time_note += "; FP32 on the vector units, not drawn: " + format_text(fp32.step.time_s, "s");
  return p;
}

}  // namespace chapters::precision::mixed
