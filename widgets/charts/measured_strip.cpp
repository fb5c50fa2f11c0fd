#include "widgets/charts/measured_strip.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/shorten.h"
#include "widgets/base/theme.h"

namespace widgets {
namespace {

void draw_strip_axis(const Painter& p, const MeasuredStripLayout& l, std::string_view axis, ImVec2 at, float bottom) {
  const Theme& t = theme();
  const float line = t.type(Type::small);
  fit_text(p, {at.x + l.left, at.y}, axis, l.figure_left - l.left, t.muted, Type::small);
  const double step = l.most > 2 ? 1.0 : l.right - l.left < t.px(220) ? 0.5 : 0.25;
  for (double ratio = 0; ratio <= l.most + 1e-9; ratio += step) {
    char text[16];
    std::snprintf(text, sizeof text, "%.0f", 100 * ratio);
    const float x = at.x + l.x(ratio);
    p.line({x, at.y + l.top}, {x, bottom}, ratio == 1 ? t.muted : t.grid);
    p.text({x, at.y + line * 0.95f}, text, t.muted, Type::small, Font::mono, Align::center);
  }
}

/// The model hollow at `model`, the measurement filled at `x`, and the loss between them.
void draw_strip_marks(const Painter& p, float model, float x, float middle, bool faint) {
  const Theme& t = theme();
  const float r = t.px(4.5f);
  if (std::abs(model - x) > 2 * r) p.line({x, middle}, {model, middle}, with_alpha(t.muted, 0.6f), t.px(1.2f));
  p.circle({model, middle}, r, t.background);
  p.ring({model, middle}, r, faint ? with_alpha(t.muted, 0.75f) : t.accent, t.px(1.6f));
  const ImVec2 diamond[] = {{x, middle - r}, {x + r, middle}, {x, middle + r}, {x - r, middle}};
  p.polygon(diamond, faint ? t.muted : t.text);
}

void draw_strip_row(const Painter& p, const MeasuredStripLayout& l, const MeasuredMark& mark, ImVec2 at, float middle) {
  const Theme& t = theme();
  const ImU32 ink = mark.faint ? t.muted : t.text;
  const float top = middle - t.type(Type::small) * 0.62f;
  // Both ends of a name tell rows apart: a model begins it, its limits end it.
  p.text({at.x, top}, shorten_middle(mark.label, l.label_width, Type::small).view(), ink, Type::small);
  draw_strip_marks(p, at.x + l.x(1), at.x + l.x(std::clamp(mark.ratio, 0.0, l.most)), middle, mark.faint);
  p.text({at.x + l.figure_left, top}, mark.figure, ink, Type::small, Font::mono);
}

}  // namespace

void draw_measured_strip(const char* id, std::span<const MeasuredMark> marks, std::string_view axis, ImVec2 size) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(id);
  ImGui::Dummy(size);
  const bool hovered = ImGui::IsItemHovered();
  float label = 0, figure = 0;
  for (const MeasuredMark& mark : marks) {
    label = std::max(label, text_size(mark.label, Type::small).x);
    figure = std::max(figure, text_size(mark.figure, Type::small, Font::mono).x);
  }
  const MeasuredStripLayout l =
      layout_measured_strip(marks, size, label + t.px(2), figure, t.type(Type::small), t.scale);
  const Painter p = Painter::window();
  draw_strip_axis(p, l, axis, at, at.y + l.top + l.row_height * static_cast<float>(l.rows));
  for (std::size_t i = 0; i < l.rows; ++i) {
    const float top = at.y + l.top + l.row_height * static_cast<float>(i);
    const float y = ImGui::GetIO().MousePos.y;
    if (hovered && y >= top && y < top + l.row_height) {
      p.rect({at.x, top}, {at.x + size.x, top + l.row_height}, with_alpha(t.card, 0.7f), t.px(3));
      tip(marks[i].label, marks[i].value, marks[i].info);
    }
    draw_strip_row(p, l, marks[i], at, top + l.row_height / 2);
  }
  if (l.more) {
    char text[64];
    std::snprintf(text, sizeof text, "and %zu more under Measured", marks.size() - l.rows);
    fit_text(p, {at.x, at.y + l.top + l.row_height * static_cast<float>(l.rows) + t.px(3)}, text, size.x, t.muted,
             Type::small);
  }
  ImGui::PopID();
}

float measured_line_height() { return theme().type(Type::small) + theme().px(8); }

float draw_measured_line(const char* id, const MeasuredMark& mark, std::string_view words, std::string_view of,
                         float width) {
  const Theme& t = theme();
  const float height = measured_line_height(), gap = t.px(12), least = t.px(70);
  Line share, name;
  share.add(mark.figure).add(" ").add(of);
  name.add(words).add(mark.label);
  const float figure = text_size(share.view(), Type::small).x, label = text_size(name.view(), Type::small).x,
              room = width - figure - 2 * gap - least;
  if (!(room >= t.px(90))) return 0;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float used = std::min(label, room), middle = at.y + height / 2, top = middle - t.type(Type::small) * 0.62f;
  ImGui::PushID(id);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});  // what follows begins right under the line
  ImGui::Dummy({width, height});
  ImGui::PopStyleVar();
  if (ImGui::IsItemHovered()) tip(mark.label, mark.value, mark.info);
  ImGui::PopID();
  const Painter p = Painter::window();
  const double most = std::max(1.0, mark.ratio);
  const float left = at.x + used + gap, track = std::min(width - used - figure - 2 * gap, t.px(260));
  const auto x = [&](double ratio) { return left + track * static_cast<float>(std::clamp(ratio / most, 0.0, 1.0)); };
  fit_text(p, {at.x, top}, name.view(), used, mark.faint ? t.muted : t.text, Type::small);
  p.line({left, middle}, {left + track, middle}, t.grid, t.px(1.2f));
  p.line({left, middle - t.px(4)}, {left, middle + t.px(4)}, t.muted);
  draw_strip_marks(p, x(1), x(mark.ratio), middle, mark.faint);
  p.text({left + track + gap, top}, share.view(), mark.faint ? t.muted : t.text, Type::small);
  return height;
}

}  // namespace widgets
