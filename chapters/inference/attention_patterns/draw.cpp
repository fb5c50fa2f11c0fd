#include <algorithm>
#include <array>

#include "chapters/inference/attention_patterns/lab.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/wrapped_text.h"

namespace chapters::inference::attention_patterns {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

void draw_mask(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const float line = t.type(Type::small) + t.px(5);
  const float side = std::max(t.px(40), std::min(size.x, size.y - 2 * line));
  const bool beside = size.x > side + t.px(150);
  const Rect square{{at.x, at.y + line}, {at.x + side - t.px(6), at.y + line + side - t.px(6)}};
  widgets::fit_text(p, at, picture.mask_title, size.x, t.text, Type::small, Font::bold);
  p.rect(square.min, square.max, t.panel);
  paint_shades(p, square, picture.mask, picture.mask_cells, picture.mask_cells);
  p.frame(square.min, square.max, t.line);
  widgets::fit_text(p, {square.min.x, square.max.y + t.px(3)}, "down: queries, across: keys, the first at the top left",
                    at.x + size.x - square.min.x, t.muted, Type::small);
  if (beside) {
    const float x = square.max.x + t.px(24), width = at.x + size.x - x;
    float y = square.min.y;
    y += widgets::wrapped_text(p, {x, y}, picture.mask_words, width, t.text) + t.px(10);
    widgets::wrapped_text(p, {x, y}, picture.tile_words, width, t.text);
  }
  ImGui::Dummy(size);
}

void draw_price(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), body = t.type(Type::body);
  const float head = widgets::wrapped_text(p, at, picture.price_words, size.x, t.muted) + t.px(8);
  const auto rows = static_cast<float>(std::max<std::size_t>(1, picture.price.size()));
  const float pitch = std::min(t.px(72), (size.y - head) / rows), thick = std::max(t.px(6), pitch - small - t.px(12));
  const float name = t.px(112), value = widgets::text_size("9.99 TFLOP of 9.99 TFLOP", Type::small, Font::mono).x;
  const float full = std::max(t.px(30), size.x - name - value - t.px(16));
  float y = at.y + head;
  for (const PriceRow& r : picture.price) {
    if (widgets::output_lit(r.output)) widgets::paint_light(p, {at.x, y}, {at.x + size.x, y + pitch - t.px(4)});
    const double most = std::max(r.most, 1e-300);
    const float x = at.x + name, hollow = full * static_cast<float>(r.causal / most);
    const float filled = std::max(t.px(1.5f), full * static_cast<float>(r.yours / most));
    widgets::fit_text(p, {at.x, y + (thick - body) / 2}, r.name, name - t.px(8), t.text, Type::body);
    p.rect({x, y}, {x + filled, y + thick}, t.accent, t.px(2));
    p.frame({x, y}, {x + hollow, y + thick}, t.muted, t.px(1), t.px(2));
    widgets::fit_text(p, {at.x + size.x, y + (thick - small) / 2}, r.words, value, t.text, Type::small, Font::mono,
                      Align::right);
    if (pitch > thick + small) widgets::fit_text(p, {x, y + thick + t.px(2)}, r.note, full, t.muted, Type::small);
    y += pitch;
  }
  ImGui::Dummy(size);
}

}  // namespace

void paint_shades(const Painter& p, const Rect& at, const std::vector<Shade>& shades, std::int32_t columns,
                  std::int32_t rows) {
  if (columns < 1 || rows < 1) return;
  const auto& t = widgets::theme();
  const float w = at.width() / static_cast<float>(columns), h = at.height() / static_cast<float>(rows);
  // Short of the ramp's bright end, and pale where there is little.
  std::array<ImU32, shade_levels> colours{};
  for (std::size_t i = 0; i < colours.size(); ++i)
    colours[i] = widgets::with_alpha(t.ramp_at(i, shade_levels + 3),
                                     0.3f + 0.7f * static_cast<float>(i) / static_cast<float>(shade_levels - 1));
  for (const Shade& s : shades) {
    const float top = at.min.y + h * static_cast<float>(s.row);
    p.rect({at.min.x + w * static_cast<float>(s.from), top}, {at.min.x + w * static_cast<float>(s.to), top + h},
           colours[static_cast<std::size_t>(s.level)]);
  }
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("reach",
              {.title = "Reach", .least = {560, 330}, .ideal = {0, 580}, .answers = true, .marks = "cone, cards"},
              [&](ImVec2 size) { draw_reach(in, out, picture, view, size); });
  stage.panel("mask", {.title = "The mask, large", .least = {420, 300}},
              [&](ImVec2 size) { draw_mask(picture, size); });
  stage.panel("price", {.title = "Price", .least = {420, 260}}, [&](ImVec2 size) { draw_price(picture, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::inference::attention_patterns
