#include <array>

#include "chapters/precision/mixed/lab.h"

namespace chapters::precision::mixed {

namespace {

/// A part of the memory of one chip. Parts of a stack are one hue in steps: hues tell formats apart on this screen.
/// Steps between 0 and 6 of 12 are left out, since neither dark nor white words can be read on them.
struct MemoryPart {
  std::string_view label, info;
  double models::MixedMemory::*bytes;
  widgets::Tint tint;
};
constexpr std::array<MemoryPart, 7> memory_parts{{
    {"weights", "as the recipe keeps them", &models::MixedMemory::weights, widgets::Tint::ramp(0, 13)},
    {"copies", "8-bit operands, or autocast's cache", &models::MixedMemory::copies, widgets::Tint::ramp(6, 13)},
    {"gradients", "of every parameter", &models::MixedMemory::gradients, widgets::Tint::ramp(7, 13)},
    {"FP32 master", "what the optimizer updates", &models::MixedMemory::master, widgets::Tint::ramp(8, 13)},
    {"moments", "Adam's two, FP32", &models::MixedMemory::moments, widgets::Tint::ramp(9, 13)},
    {"activations", "kept for the backward pass", &models::MixedMemory::activations, widgets::Tint::ramp(10, 13)},
    {"logits", "of the last matmul, and in FP32 for the loss", &models::MixedMemory::logits,
     widgets::Tint::ramp(12, 13)},
}};

}  // namespace

void draw_memory(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  widgets::BarSegment segments[models::recipe_count][memory_parts.size()];
  widgets::StackedBar bars[models::recipe_count];
  std::size_t shown = 0;
  for (std::size_t i = 0; i < models::recipe_count; ++i) {
    const RecipeRow& r = out.recipes[i];
    if (!r.runs) continue;
    for (std::size_t k = 0; k < memory_parts.size(); ++k) {
      const MemoryPart& part = memory_parts[k];
      segments[i][k] = {
          .label = part.label,
          .value = r.step.memory.*part.bytes,
          .tint = part.tint,
          .info = part.info,
      };
    }
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
  constexpr std::array<std::string_view, models::step_part_count> names{"matmuls", "attention", "norms and the like",
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
