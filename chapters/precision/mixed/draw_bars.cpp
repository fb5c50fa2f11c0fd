#include <array>

#include "chapters/precision/mixed/lab.h"

namespace chapters::precision::mixed {

/// Parts of a stack are one hue in steps: hues tell formats apart on this screen. Steps between 0 and 6 of 12 are left
/// out, since neither dark nor white words can be read on them.
void draw_memory(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  widgets::BarSegment segments[models::recipe_count][7];
  widgets::StackedBar bars[models::recipe_count];
  std::size_t shown = 0;
  for (std::size_t i = 0; i < models::recipe_count; ++i) {
    const RecipeRow& r = out.recipes[i];
    if (!r.runs) continue;
    const auto& m = r.step.memory;
    segments[i][0] = {
        .label = "weights",
        .value = m.weights,
        .tint = widgets::Tint::ramp(0, 13),
        .info = "as the recipe keeps them",
    };
    segments[i][1] = {
        .label = "copies",
        .value = m.copies,
        .tint = widgets::Tint::ramp(6, 13),
        .info = "8-bit operands, or autocast's cache",
    };
    segments[i][2] = {
        .label = "gradients",
        .value = m.gradients,
        .tint = widgets::Tint::ramp(7, 13),
        .info = "one a parameter",
    };
    segments[i][3] = {
        .label = "FP32 master",
        .value = m.master,
        .tint = widgets::Tint::ramp(8, 13),
        .info = "what the optimizer updates",
    };
    segments[i][4] = {
        .label = "moments",
        .value = m.moments,
        .tint = widgets::Tint::ramp(9, 13),
        .info = "Adam's two, FP32",
    };
    segments[i][5] = {
        .label = "activations",
        .value = m.activations,
        .tint = widgets::Tint::ramp(10, 13),
        .info = "kept for the backward pass",
    };
    segments[i][6] = {
        .label = "logits",
        .value = m.logits,
        .tint = widgets::Tint::ramp(12, 13),
        .info = "of the last product, and in FP32 for the loss",
    };
    bars[shown++] = {.label = r.recipe, .segments = segments[i]};
  }
  widgets::draw_stacked_bars("memory of one chip", {bars, shown}, view.memory,
                             {
                                 .unit = "B",
                                 .size = size,
                                 .bar_px = 22,
                                 .limit = picture.chip_bytes,
                                 .limit_label = picture.chip_name,
                             });
}

void draw_time(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  constexpr std::array<std::string_view, models::step_part_count> names{"products", "attention", "norms and the like",
                                                                        "casts and scales", "optimizer"};
  constexpr std::array<widgets::Tint, models::step_part_count> tints{
      widgets::Tint::ramp(0, 13), widgets::Tint::ramp(6, 13), widgets::Tint::ramp(8, 13), widgets::Tint::ramp(10, 13),
      widgets::Tint::ramp(12, 13)};
  widgets::BarSegment segments[models::recipe_count][models::step_part_count];
  widgets::StackedBar bars[models::recipe_count];
  std::size_t shown = 0;
  for (std::size_t i = picture.times_fp32 ? 0 : 1; i < models::recipe_count; ++i) {
    if (!out.recipes[i].runs) continue;
    for (std::size_t p = 0; p < models::step_part_count; ++p)
      segments[i][p] = {.label = names[p], .value = out.recipes[i].step.part_s[p], .tint = tints[p]};
    bars[shown++] = {.label = out.recipes[i].recipe, .segments = segments[i]};
  }
  widgets::draw_stacked_bars("time of a step", {bars, shown}, view.time, {.unit = "s", .size = size, .bar_px = 22});
}

}  // namespace chapters::precision::mixed
