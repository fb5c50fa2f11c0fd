#include <algorithm>
#include <cmath>

#include "chapters/interview/recall/draw_parts.h"
#include "widgets/base/heading.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/plot/plot.h"

namespace chapters::interview::recall {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

constexpr std::array<const char*, 4> pill_ids{"again at its date", "hard at its date", "good at its date",
                                              "easy at its date"};
constexpr float pill_px = 26;

std::array<ImU32, 4> grade_colours() {
  const auto& t = theme();
  return {t.bad, t.muted, t.good, t.text};
}

/// The grades hang at the dates on which the card comes back, in a strip from `top`; leaders run down to the retention
/// that is kept.
void draw_pills(Inputs& in, const Picture& picture, View& view, const widgets::PlotFrame& frame, float top,
                bool offered, double now) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const std::array<ImU32, 4> colours = grade_colours();
  std::array<float, 4> wide{}, left{};
  const float lo = frame.area.min.x, hi = frame.area.max.x, gap = t.px(6), high = t.px(pill_px);
  for (std::size_t i = 0; i < 4; ++i) {
    wide[i] = widgets::text_size(picture.back_words[i], Type::small, Font::bold).x + t.px(20);
    left[i] = static_cast<float>(frame.x.pixel(picture.back_days[i])) - wide[i] / 2;
  }
  // In the order of their dates, which is that of the grades, each clear of the one before it.
  left[0] = std::max(left[0], lo);
  for (std::size_t i = 1; i < 4; ++i) left[i] = std::max(left[i], left[i - 1] + wide[i - 1] + gap);
  left[3] = std::min(left[3], hi - wide[3]);
  for (std::size_t i = 3; i-- > 0;) left[i] = std::min(left[i], left[i + 1] - gap - wide[i]);
  const auto keep = static_cast<float>(frame.y.pixel(in.retention));
  for (std::size_t i = 0; i < 4; ++i) {
    const float date = std::clamp(static_cast<float>(frame.x.pixel(picture.back_days[i])), lo, hi);
    const ImVec2 corner{left[i], top}, end{left[i] + wide[i], top + high};
    const float from = std::clamp(date, corner.x + t.px(6), end.x - t.px(6));
    p.dashed_line({from, end.y}, {date, frame.area.min.y}, widgets::with_alpha(colours[i], 0.7f), t.px(1.2f), t.px(4));
    p.dashed_line({date, frame.area.min.y}, {date, keep}, widgets::with_alpha(colours[i], 0.7f), t.px(1.2f), t.px(4));
    p.circle({date, keep}, t.px(3.5f), colours[i]);
    bool hot = false;
    if (offered) {
      ImGui::SetCursorScreenPos(corner);
      if (widgets::press_area(pill_ids[i], {wide[i], high}))
        give_grade(in, picture, view, static_cast<int>(i) + 1, now);
      hot = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    }
    p.rect(corner, end, widgets::with_alpha(colours[i], hot ? 0.38f : offered ? 0.2f : 0.08f), t.px(6));
    p.frame(corner, end, widgets::with_alpha(colours[i], offered ? 1.0f : 0.5f), t.px(hot ? 2 : 1.2f), t.px(6));
    p.text({corner.x + wide[i] / 2, corner.y + (high - t.type(Type::small)) / 2 - t.px(1)}, picture.back_words[i],
           t.text, Type::small, Font::bold, Align::center);
  }
}

}  // namespace

void draw_memory(Inputs& in, const Picture& picture, View& view, ImVec2 size, double now) {
  const auto& t = theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  widgets::heading(picture.memory_heading, picture.memory_note, size.x, widgets::HeadingMore::beside);
  const float head = ImGui::GetCursorScreenPos().y - corner.y, strip = t.px(pill_px + 4);
  ImGui::SetCursorScreenPos({corner.x, corner.y + head + strip});
  {
    widgets::Plot plot("memory", view.memory,
                       {.x = {.lo = picture.first_day, .hi = picture.last_day, .label = "days from today"},
                        .y = {.lo = picture.lowest, .hi = 102, .label = "known", .unit = "%"},
                        .size = {size.x, size.y - head - strip},
                        .legend = false,
                        .ghost = false});
    plot.curves(picture.memory);
    plot.vertical_mark(0, "today", {});
    double keep = in.retention;
    if (plot.drag_y("drag what you keep", keep, {.colour = t.warning, .label = "keep", .lo = 70, .hi = 98}))
      in.retention = std::clamp(std::round(keep), 70.0, 98.0);
    double day = picture.asked_day, chance = picture.asked_chance;
    if (plot.drag_point("drag the day of asking", day, chance,
                        {.label = picture.drag_words, .lo = 0, .hi = 730, .output = "retrievability"}))
      in.wait_s = 86'400 * std::clamp(std::round(day), 0.0, 730.0);
  }
  const bool offered = picture.pressable && stage_of(in, picture, view) == Stage::grading;
  draw_pills(in, picture, view, view.memory.scratch.frame, corner.y + head, offered, now);
}

}  // namespace chapters::interview::recall
