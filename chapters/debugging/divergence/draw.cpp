#include <array>

#include "chapters/debugging/divergence/lab.h"
#include "widgets/base/heading.h"

namespace chapters::debugging::divergence {
namespace {

/// The number before and after the flip, bit under bit.
void draw_value(const Picture& picture, View& view, ImVec2 size) {
  if (!picture.has_value) {
    if (picture.value_words.empty())
      ImGui::Dummy(size);
    else
      widgets::heading(picture.value_words, "", size.x);
    return;
  }
  static constexpr std::array<widgets::BitField, 3> fields{{{"sign", 1, widgets::Tint::series(0)},
                                                            {"exponent", 8, widgets::Tint::series(1)},
                                                            {"mantissa", 23, widgets::Tint::series(2)}}};
  const std::array<widgets::BitRow, 2> rows{
      {{.label = "before", .bits = picture.bits[0], .fields = fields, .value = picture.values[0]},
       {.label = "after", .bits = picture.bits[1], .fields = fields, .value = picture.values[1]}}};
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  widgets::heading(picture.value_words, "", size.x);
  const float used = ImGui::GetCursorScreenPos().y - corner.y;
  widgets::draw_bit_rows("flipped value", rows, view.bits, {.size = {size.x, size.y - used}});
}

/// What becomes of every pattern of one to four flipped bits of a word with check bits.
void draw_ecc(const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<std::string_view, 4> names{"1 bit", "2 bits", "3 bits", "4 bits"};
  std::array<widgets::StackedBar, 4> bars;
  for (std::size_t k = 0; k < bars.size(); ++k) bars[k] = {.label = names[k], .segments = picture.ecc_segments[k]};
  widgets::draw_stacked_bars("flipped bits", bars, view.bars,
                             {.unit = "%", .axis_label = "patterns", .size = size, .totals = false, .axis_max = 100});
}

void draw_layers(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{
      {{.key = "layer", .title = "layer"},
       {.key = "differs_from", .title = "from step"},
       {.key = "first_percent", .title = "at first", .digits = 2},
       {.key = "end_percent", .title = "at the end", .digits = 2},
       {.key = "hash_first", .title = "hash, first run", .priority = 2, .code = true},
       {.key = "hash_second", .title = "hash, second run", .priority = 1, .code = true}}};
  view.layers.draw("layers", out.layers, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel(
      "cells",
      {.title = "Layers by steps", .least = {480, 380}, .ideal = {900, 640}, .answers = true, .marks = "cells, losses"},
      [&](ImVec2 size) { draw_hero(in, picture, view, size); });
  if (in.runs != Runs::trained) return;  // no value, memory or layer is logged
  if (in.fault == PlantedFault::flipped_bit || in.fault == PlantedFault::stuck_bit)
    stage.panel("value", {.title = "The value, bit by bit", .least = {440, 130}, .ideal = {0, 150}},
                [&](ImVec2 size) { draw_value(picture, view, size); });
  stage.panel("ecc", {.title = "What ECC lets pass", .least = {360, 200}, .ideal = {0, 230}},
              [&](ImVec2 size) { draw_ecc(picture, view, size); });
  stage.panel("layers", {.title = "Layer by layer", .least = {420, 240}, .ideal = {0, 260}, .scrolls = true},
              [&](ImVec2 size) { draw_layers(out, view, size); });
}

}  // namespace chapters::debugging::divergence
