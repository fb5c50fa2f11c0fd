#include <algorithm>
#include <cmath>

#include "chapters/compression/playground/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::playground {
namespace {

using widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// Squares in rows that fill an area best.
struct Tiles {
  ImVec2 at;
  std::size_t columns = 1;
  float step = 1, cell = 1;  ///< from tile to tile, and of one pixel of a digit

  Rect tile(std::size_t i) const {
    const ImVec2 min{std::floor(at.x + step * static_cast<float>(i % columns)),
                     std::floor(at.y + step * static_cast<float>(i / columns))};
    const float length = cell * static_cast<float>(models::digit_side);
    return {min, {min.x + length, min.y + length}};
  }
};

Tiles tiles_in(Rect area, std::size_t count, float most) {
  const auto& t = widgets::theme();
  Tiles best{.at = area.min};
  for (std::size_t columns = 1; columns <= count; ++columns) {
    const std::size_t rows = (count + columns - 1) / columns;
    const float step =
        std::min({area.width() / static_cast<float>(columns), area.height() / static_cast<float>(rows), most});
    if (columns == 1 || step > best.step) {
      best.columns = columns;
      best.step = step;
    }
  }
  best.cell = std::floor(std::max(1.0f, (best.step - t.px(5)) / static_cast<float>(models::digit_side)));
  return best;
}

}  // namespace

void draw_digits(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect area = widgets::canvas("digits", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered(), pressed = ImGui::IsItemActivated();
  const Painter p = Painter::window();
  const float foot = t.type(Type::small) + t.px(4);
  const auto& digits = picture.run->study->held_out;
  const Tiles tiles = tiles_in({area.min, {area.max.x, area.max.y - foot}}, picture.shown.size(), t.px(120));
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t k = 0; k < picture.shown.size(); ++k) {
    const std::size_t i = picture.shown[k];
    const Rect at = tiles.tile(k);
    paint_digit(p, digits.picture(i), at.min, tiles.cell);
    if (picture.run->guesses[i] != digits.labels[i]) {
      p.frame({at.min.x - 1, at.min.y - 1}, {at.max.x + 1, at.max.y + 1}, t.bad, t.px(2));
      const char guess[2] = {static_cast<char>('0' + picture.run->guesses[i]), 0};
      const ImVec2 text = widgets::text_size(guess, Type::small, Font::bold);
      p.rect({at.max.x - text.x - t.px(5), at.min.y}, {at.max.x, at.min.y + text.y + t.px(1)}, t.bad);
      p.text({at.max.x - text.x - t.px(2.5f), at.min.y}, guess, widgets::text_on(t.bad, t), Type::small, Font::bold);
    }
    if (!hovered || !at.contains(mouse)) continue;
    widgets::Line what;
    what.add("drawn as ").add_integer(digits.labels[i]).add(", read as ").add_integer(picture.run->guesses[i]);
    widgets::tip("Held-out digit", what.view(), "no network was trained on it; a press puts it on the card");
    if (pressed) {
      view.from = k;
      view.drawn = view.fresh = false;
    }
  }
  widgets::fit_text(p, {area.min.x, area.max.y - foot + t.px(4)}, picture.misread_line, area.width(), t.muted,
                    Type::small);
}

void draw_weights(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect area = widgets::canvas("weights", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const models::DenseLayer& layer = picture.run->compressed.network.layers.front();
  const float foot = t.type(Type::small) + t.px(4);
  const Tiles tiles = tiles_in({area.min, {area.max.x, area.max.y - foot}}, layer.outputs, t.px(110));
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t u = 0; u < layer.outputs; ++u) {
    const Rect tile = tiles.tile(u);
    p.rect(tile.min, tile.max, t.card);
    p.frame({tile.min.x - 1, tile.min.y - 1}, {tile.max.x + 1, tile.max.y + 1}, t.grid);
    if (u < picture.gone.size() && picture.gone[u]) {
      p.line(tile.min, tile.max, t.line, t.px(1.5f));
      p.line({tile.max.x, tile.min.y}, {tile.min.x, tile.max.y}, t.line, t.px(1.5f));
      continue;
    }
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      const float w = layer.at(i, u);
      if (w == 0.0f) continue;
      const float x = tile.min.x + tiles.cell * static_cast<float>(i % models::digit_side),
                  y = tile.min.y + tiles.cell * static_cast<float>(i / models::digit_side);
      p.rect({x, y}, {x + tiles.cell, y + tiles.cell}, weight_colour(w, picture.largest_weight));
      if (hovered && mouse.x >= x && mouse.x < x + tiles.cell && mouse.y >= y && mouse.y < y + tiles.cell) {
        widgets::Line what;
        what.add(widgets::format(static_cast<double>(w), ""))
            .add(", unit ")
            .add_integer(static_cast<std::int64_t>(u) + 1);
        widgets::tip("Weight", what.view(), "of the first layer, as it computes: pruned and rounded");
      }
    }
  }
  widgets::fit_text(p, {area.min.x, area.max.y - foot + t.px(4)}, "crossed out: nothing is left of the unit",
                    area.width(), t.muted, Type::small);
}

}  // namespace chapters::compression::playground
