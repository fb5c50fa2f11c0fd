#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "chapters/compression/methods/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"

namespace chapters::compression::methods {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// Where the columns of the layer stand, in screen pixels.
struct ColumnPlace {
  float left = 0, each = 1, top = 0, bottom = 0;
  float middle(std::size_t column) const { return left + each * (static_cast<float>(column) + 0.5f); }
};

/// The layer's columns, empty: what is known before a method has run.
void paint_columns(const Painter& p, const ColumnPlace& at, std::size_t columns) {
  const auto& t = widgets::theme();
  for (std::size_t c = 0; c < columns; ++c) {
    const float x = at.left + at.each * static_cast<float>(c);
    p.rect({x, at.top}, {x + std::max(1.0f, at.each - t.px(1)), at.bottom}, t.card);
  }
}

/// An arc from the column that is rounded to one that takes up a part of its error.
void paint_arc(const Painter& p, float from, float to, float bottom, float height, ImU32 colour, float width) {
  std::array<ImVec2, 17> way;
  for (std::size_t i = 0; i < way.size(); ++i) {
    const float s = static_cast<float>(i) / static_cast<float>(way.size() - 1);
    way[i] = {from + (to - from) * s, bottom - height * 4 * s * (1 - s)};
  }
  p.polyline(way, colour, width);
}

/// Columns that are done, the one that is rounded and those that take its error up, each as bright as it moves.
void paint_step(const Painter& p, const Picture& picture, const ColumnPlace& at, std::size_t step, float arcs) {
  const auto& t = widgets::theme();
  const models::MethodHistory& h = picture.run->study.history;
  const std::size_t rounded = h.order[step - 1];
  const auto moved = std::span(picture.moved).subspan((step - 1) * h.cols, h.cols);
  double most = 1e-300;
  for (std::size_t c = 0; c < h.cols; ++c)
    if (c != rounded) most = std::max(most, moved[c]);
  const float span = at.each * static_cast<float>(h.cols), wide = std::max(1.0f, at.each - t.px(1));
  for (std::size_t i = 0; i < h.cols; ++i) {
    const std::size_t c = h.order[i];
    const float x = at.left + at.each * static_cast<float>(c);
    const auto strength = static_cast<float>(moved[c] / most);
    if (i + 1 < step) p.rect({x, at.top}, {x + wide, at.bottom}, widgets::with_alpha(t.muted, 0.55f));
    if (i + 1 <= step || !(moved[c] > 0)) continue;
    p.rect({x, at.top}, {x + wide, at.bottom}, widgets::with_alpha(t.series_at(4), 0.15f + 0.75f * strength));
    const float far = std::abs(at.middle(c) - at.middle(rounded)) / span;
    paint_arc(p, at.middle(rounded), at.middle(c), at.top - t.px(3), arcs * (0.25f + 0.75f * far),
              widgets::with_alpha(t.series_at(4), 0.12f + 0.75f * strength), t.px(0.8f + 1.4f * strength));
  }
  const float x = at.left + at.each * static_cast<float>(rounded);
  p.rect({x, at.top}, {x + wide, at.bottom}, t.text);
  p.frame({x - t.px(2), at.top - t.px(2)}, {x + wide + t.px(2), at.bottom + t.px(2)}, t.text, t.px(1.5f));
}

/// Which column is rounded, and what the output has lost so far.
void paint_words(const Painter& p, const Picture& picture, ImVec2 at, float width, std::size_t step) {
  const auto& t = widgets::theme();
  const models::MethodHistory& h = picture.run->study.history;
  widgets::Line words, so_far;
  if (step == 0)
    words.add("GPTQ: no column is rounded yet; drag to the right");
  else
    words.add("GPTQ rounds column ").add_integer(static_cast<std::int64_t>(h.order[step - 1]));
  so_far.add("error so far: GPTQ ")
      .add(widgets::format(picture.gptq_error.y[step], "%"))
      .add(", rounding ")
      .add(widgets::format(picture.rtn_error.y[step], "%"));
  const float right = widgets::text_size(so_far.view(), Type::small, Font::mono).x;
  p.text({at.x + width, at.y}, so_far.view(), t.text, Type::small, Font::mono, Align::right);
  float x = at.x, room = width - right - t.px(16);
  const float title = widgets::text_size(words.view(), Type::small, Font::bold).x;
  if (title > room) return;
  p.text({x, at.y}, words.view(), t.text, Type::small, Font::bold);
  constexpr std::string_view goes = "its error goes to the columns not yet rounded, most to those tied to it";
  x += title + t.px(12);
  room -= title + t.px(12);
  if (step > 0 && widgets::text_size(goes, Type::small).x <= room) p.text({x, at.y}, goes, t.muted, Type::small);
}

}  // namespace

void draw_push(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const models::MethodHistory& h = picture.run->study.history;
  const widgets::Rect area = widgets::canvas("column to round", size, {t.px(160), t.px(60)});
  const Painter p = Painter::window();
  const float head = t.type(Type::small) + t.px(6), arcs = std::floor(0.42f * (area.height() - head));
  const ColumnPlace at{.left = area.min.x,
                       .each = area.width() / static_cast<float>(h.cols),
                       .top = area.min.y + head + arcs + t.px(4),
                       .bottom = area.max.y - t.px(3)};
  {
    const widgets::GivenMarks given;
    paint_columns(Painter::window(), at, h.cols);
  }
  if (widgets::veiled()) return;
  if (ImGui::IsItemActive())
    view.time = std::clamp(std::floor(static_cast<double>((ImGui::GetMousePos().x - at.left) / at.each)) + 1, 0.0,
                           static_cast<double>(h.cols));
  const std::size_t step = step_of(h, view);
  paint_words(p, picture, area.min, area.width(), step);
  if (step > 0) paint_step(p, picture, at, step, arcs);
}

}  // namespace chapters::compression::methods
