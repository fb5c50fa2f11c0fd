#include <algorithm>
#include <cmath>
#include <span>

#include "chapters/kernels/coalescing/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::kernels::coalescing {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

constexpr int max_sectors = 32;  // an aligned load of a lane lies in one sector

struct Bars {
  std::span<const OtherBar> bars;
  std::string_view title, axis;
  std::int64_t chosen = -1;
  const char* id;
};

/// The bar under the pointer; -1: none.
int bar_under(const Rect& plot, std::size_t count) {
  const ImVec2 mouse = ImGui::GetMousePos();
  const float share = (mouse.x - plot.min.x) / std::max(1.0f, plot.width());
  return std::clamp(static_cast<int>(share * static_cast<float>(count)), 0, static_cast<int>(count) - 1);
}

void paint_axis_of(const Painter& p, const Rect& plot, int yours) {
  const auto& t = widgets::theme();
  for (int n = 0; n <= max_sectors; n += 8) {
    const float y = plot.max.y - plot.height() * static_cast<float>(n) / max_sectors;
    p.line({plot.min.x, y}, {plot.max.x, y}, t.grid);
    widgets::Line words;
    words.add_integer(n);
    p.text({plot.min.x - t.px(8), y - t.type(Type::small) / 2}, words.view(), t.muted, Type::small, Font::mono,
           Align::right);
  }
  const float y = plot.max.y - plot.height() * static_cast<float>(yours) / max_sectors;
  if (yours > 0) p.dashed_line({plot.min.x, y}, {plot.max.x, y}, t.accent, t.px(1), t.px(4));
}

void paint_bar(const Painter& p, const OtherBar& bar, const Rect& slot, bool chosen, bool lit, float value_top) {
  const auto& t = widgets::theme();
  const ImU32 hue = t.of(Meaning::memory_bound);
  const float px = slot.height() / max_sectors, half = 0.36f * slot.width(), middle = (slot.min.x + slot.max.x) / 2;
  const float top = slot.max.y - px * static_cast<float>(bar.sectors),
              wanted = slot.max.y - px * static_cast<float>(bar.useful_sectors);
  const Rect whole{{middle - half, top}, {middle + half, slot.max.y}};
  if (!bar.faults) {
    p.rect(whole.min, whole.max, t.card);
    if (wanted - top > 1)
      widgets::hatch(p, {whole.min, {whole.max.x, wanted}}, widgets::with_alpha(hue, 0.6f), t.px(5));
    p.rect({whole.min.x, wanted}, whole.max, chosen ? t.accent : widgets::with_alpha(t.accent, 0.6f));
    p.frame(whole.min, whole.max, chosen ? t.text : hue, t.px(chosen ? 2.0f : 1.0f));
  }
  widgets::Line number, value;
  number.add_integer(bar.sectors);
  const std::string_view above = bar.faults ? "faults" : number.view();
  const float wide = widgets::text_size(above, Type::small, Font::mono).x;
  if (wide < slot.width()) {
    const ImVec2 from{middle - wide / 2, top - t.type(Type::small) - t.px(2)};
    p.plate(from, above, t.background, Type::small, Font::mono);
    p.text(from, above, chosen || lit ? t.text : t.muted, Type::small, Font::mono);
  }
  if (bar.label.empty())
    value.add_integer(bar.value);
  else
    value.add(bar.label);
  widgets::fit_text(p, {middle, value_top}, value.view(), slot.width(), chosen || lit ? t.text : t.muted, Type::small,
                    Font::mono, Align::center);
}

/// The bar that was pressed, or to which the arrow keys moved from `at`; -1: none.
int draw_one(const Bars& b, const Rect& area, int yours, std::int64_t at) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float line = t.type(Type::small) + t.px(4);
  const Rect plot{{area.min.x + t.px(30), area.min.y + 2 * line + t.px(2)}, {area.max.x, area.max.y - 2 * line}};
  ImGui::SetCursorScreenPos({plot.min.x, area.min.y + line});
  const bool pressed = widgets::press_area(b.id, {plot.width(), area.max.y - line - area.min.y});
  const bool hovered = ImGui::IsItemHovered();
  const int steps = widgets::play_keys().steps;
  const int lit = hovered ? bar_under(plot, b.bars.size()) : -1;
  widgets::fit_text(p, area.min, b.title, area.width(), t.text, Type::small, Font::bold);
  paint_axis_of(p, plot, yours);
  const float wide = plot.width() / static_cast<float>(b.bars.size());
  for (std::size_t i = 0; i < b.bars.size(); ++i) {
    const float x = plot.min.x + wide * static_cast<float>(i);
    paint_bar(p, b.bars[i], {{x, plot.min.y}, {x + wide, plot.max.y}}, b.bars[i].value == b.chosen,
              static_cast<int>(i) == lit, plot.max.y + t.px(3));
  }
  widgets::fit_text(p, {(plot.min.x + plot.max.x) / 2, plot.max.y + t.px(3) + line}, b.axis, plot.width(), t.muted,
                    Type::small, Font::sans, Align::center);
  if (hovered && lit >= 0) {
    const OtherBar& bar = b.bars[static_cast<std::size_t>(lit)];
    widgets::Line name, words;
    if (bar.label.empty())
      name.add(b.id).add(" ").add_integer(bar.value);
    else
      name.add(bar.expression);
    if (bar.faults)
      words.add("misaligned: the load faults");
    else
      words.add_integer(bar.sectors).add(bar.sectors == 1 ? " sector" : " sectors");
    widgets::tip(name.view(), words.view(), "press to take it");
  }
  if (pressed) return lit;
  if (steps == 0 || !b.bars.front().label.empty()) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(at + steps, 0, static_cast<std::int64_t>(b.bars.size()) - 1));
}

}  // namespace

void draw_bars(Inputs& in, const Picture& picture, ImVec2 size) {
  if (!picture.run || picture.run->offsets.empty() || picture.run->strides.empty()) return;
  const auto& t = widgets::theme();
  const Run& run = *picture.run;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Rect area{at, {at.x + size.x, at.y + size.y}};
  const float cut = std::floor(0.63f * size.x);
  const int first = draw_one({run.strides, picture.strides_title, picture.strides_axis, picture.stride, "stride"},
                             {area.min, {at.x + cut - t.px(20), area.max.y}}, picture.yours, in.stride);
  const int second = draw_one({run.offsets, picture.offsets_title, picture.offsets_axis, picture.offset, "offset"},
                              {{at.x + cut, at.y}, area.max}, picture.yours, in.offset);
  if (second >= 0) in.offset = run.offsets[static_cast<std::size_t>(second)].value;
  if (first < 0) return;
  const OtherBar& taken = run.strides[static_cast<std::size_t>(first)];
  if (taken.label.empty()) {
    in.stride = taken.value;
    return;
  }
  in.access = Access::expression;
  in.expression = taken.expression;
}

}  // namespace chapters::kernels::coalescing
