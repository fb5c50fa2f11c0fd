#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/interview/scenarios/draw_parts.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"

/// A design or a pitch: the outline as a list to tick, and the clock as a ribbon that is cut by what was said.
namespace chapters::interview::scenarios {
namespace {

using widgets::Font, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

const std::vector<OutlinePoint>& points_of(const Run& run) {
  return run.design ? run.design->points : run.pitch->points;
}

/// The clock from left to right: each point as long as it may take, your ticks under it.
void paint_ribbon(const Painter& p, Rect box, const Outputs& out, const Picture& picture, double elapsed) {
  const auto& t = theme();
  const Run& run = *picture.run;
  const auto& points = points_of(run);
  const float small = t.type(Type::small), lane = std::max(t.px(14), box.height() - small - t.px(12));
  const auto x = [&](double s) {
    return box.min.x + static_cast<float>(std::clamp(s / out.limit_s, 0.0, 1.0)) * box.width();
  };
  double from = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double to = from + (points[i].seconds > 0 ? points[i].seconds : out.point_s);
    const bool said = std::isfinite(run.said[i]);
    const Rect part{{x(from) + 1, box.min.y}, {x(to) - 1, box.min.y + lane}};
    const ImU32 fill = said ? t.good : t.card;
    p.rect(part.min, part.max, fill, t.px(3));
    p.frame(part.min, part.max, t.line, 1, t.px(3));
    if (said && run.said[i] > to) p.rect({part.min.x, part.max.y - t.px(4)}, part.max, t.bad, t.px(2));
    if (lane > small)
      widgets::fit_text(p, {part.min.x + t.px(6), part.min.y + (lane - small) / 2}, picture.heads[i],
                        part.width() - t.px(12), said ? widgets::text_on(fill, t) : t.text, Type::small);
    if (said) {
      const float mark = x(run.said[i]);
      p.line({mark, box.min.y + lane}, {mark, box.min.y + lane + t.px(8)}, t.good, t.px(2));
      p.circle({mark, box.min.y + lane + t.px(8)}, t.px(3), t.good);
    }
    from = to;
  }
  const float now = x(elapsed);
  p.line({now, box.min.y - t.px(3)}, {now, box.min.y + t.px(8)}, t.accent, t.px(2.5f));  // not through the words
  p.line({now, box.min.y + lane - t.px(8)}, {now, box.min.y + lane + t.px(4)}, t.accent, t.px(2.5f));
  p.circle({now, box.min.y - t.px(3)}, t.px(5), t.accent);
  p.ring({now, box.min.y - t.px(3)}, t.px(5), IM_COL32_WHITE, t.px(1.5f));
}

/// One line of the outline, `least` px high at least; returns its height. `paint` off measures alone.
float draw_point(const Painter& p, std::size_t i, ImVec2 at, float width, float least, bool open, Inputs& in,
                 const Outputs& out, const Picture& picture, View& view, bool paint) {
  const auto& t = theme();
  const Run& run = *picture.run;
  const bool said = std::isfinite(run.said[i]);
  const float body = t.type(Type::body), left = t.px(28);
  const float words = open ? widgets::wrapped_text(p, {}, run.say[i], width - left - t.px(12), t.muted,
                                                   {.max_lines = 3, .paint = false})
                           : 0;
  const float high = std::max(body + t.px(14) + words, least);
  if (!paint) return high;
  const Rect box{at, {at.x + width, at.y + high - t.px(4)}};
  p.rect(box.min, box.max, t.card, t.px(6));
  const ImVec2 tick{at.x + t.px(14), at.y + t.px(6) + body / 2};
  p.ring(tick, t.px(7), said ? t.good : t.muted, t.px(1.5f));
  if (said) p.circle(tick, t.px(4), t.good);
  p.text({at.x + left, at.y + t.px(5)}, picture.heads[i], t.text, Type::body, Font::bold);
  if (!picture.point_times[i].empty())
    p.text({at.x + width - t.px(8), at.y + t.px(6)}, picture.point_times[i], t.muted, Type::small, Font::mono,
           widgets::Align::right);
  if (open)
    widgets::wrapped_text(p, {at.x + left, at.y + body + t.px(8)}, run.say[i], width - left - t.px(12), t.muted,
                          {.max_lines = 3});
  if (out.ended) return high;
  ImGui::PushID(static_cast<int>(i));
  ImGui::SetCursorScreenPos(at);
  if (widgets::press_area("tick", {width, std::max(2.0f, high - t.px(4))}))
    take_move(in, out, picture, view, {.kind = MoveKind::tick, .from = i});
  if (ImGui::IsItemHovered() || ImGui::IsItemFocused()) p.frame(box.min, box.max, t.accent, t.px(1.5f), t.px(6));
  ImGui::PopID();
  return high;
}

/// The outline in one column where its points, opened, fit one under another, else in two.
void draw_outline(const Painter& p, Rect box, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  const auto& t = theme();
  const auto& points = points_of(*picture.run);
  const float roomy = (t.px(74) + t.type(Type::body)) * static_cast<float>(points.size());
  const std::size_t columns = box.width() > t.px(640) && roomy > box.height() ? 2 : 1;
  const std::size_t per = (points.size() + columns - 1) / columns;
  const float gap = t.px(12),
              wide = (box.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t from = c * per, to = std::min(points.size(), from + per);
    const auto high = [&](std::size_t i, bool open) {
      return draw_point(p, i, {}, wide, 0, open, in, out, picture, view, false);
    };
    // A line opens as long as all lines fit; what is left of the height is shared.
    std::array<bool, 16> open{};
    float left = box.height();
    for (std::size_t i = from; i < to; ++i) left -= high(i, false);
    for (std::size_t i = from; i < to && i < open.size(); ++i) {
      const float more = high(i, true) - high(i, false);
      open[i] = picture.open_points[i] && more <= left;
      if (open[i]) left -= more;
    }
    const float more = std::clamp(left / static_cast<float>(per), 0.0f, t.px(columns == 1 ? 72 : 56));
    float y = box.min.y;
    for (std::size_t i = from; i < to && i < open.size(); ++i) {
      const float line = high(i, open[i]);
      if (y + line > box.max.y + t.px(4)) break;
      y += draw_point(p, i, {box.min.x + static_cast<float>(c) * (wide + gap), y}, wide, line + more, open[i], in, out,
                      picture, view, true);
    }
  }
}

/// The model answer's figures, as the labs compute them, each a door into its lab.
void draw_figures(const Painter& p, Rect box, const Outputs& out, const Picture& picture, View& view) {
  const auto& t = theme();
  const std::size_t n = out.figures.size();
  if (n == 0) return;
  const float gap = t.px(8), wide = (box.width() - gap * static_cast<float>(n - 1)) / static_cast<float>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const FigureRow& f = out.figures[i];
    const ImVec2 at{box.min.x + static_cast<float>(i) * (wide + gap), box.min.y};
    p.rect(at, {at.x + wide, box.max.y}, t.card, t.px(6));
    if (!picture.open_figures[i]) {
      widgets::fit_text(p, {at.x + t.px(8), at.y + t.px(5)}, "shown with its point", wide - t.px(16), t.muted,
                        Type::small);
      continue;
    }
    widgets::fit_text(p, {at.x + t.px(8), at.y + t.px(5)}, f.label, wide - t.px(16), t.muted, Type::small);
    widgets::fit_text(p, {at.x + t.px(8), at.y + t.px(9) + t.type(Type::small)}, f.value, wide - t.px(16), t.text,
                      Type::body, Font::mono);
    if (box.height() > 2 * t.type(Type::small) + t.type(Type::body) + t.px(16))
      widgets::fit_text(p, {at.x + t.px(8), box.max.y - t.type(Type::small) - t.px(6)}, f.lab, wide - t.px(16),
                        t.accent, Type::small);
    ImGui::PushID(static_cast<int>(i) + 40);
    ImGui::SetCursorScreenPos(at);
    if (widgets::press_area("open figure", {wide, box.height()})) view.requests.open_link = f.link;
    if (ImGui::IsItemHovered() || ImGui::IsItemFocused()) {
      p.frame(at, {at.x + wide, box.max.y}, t.accent, t.px(1.5f), t.px(6));
      widgets::tip(f.label, f.value, f.lab);
    }
    ImGui::PopID();
  }
}

void draw_buttons(ImVec2 at, Inputs& in, const Outputs& out, const Picture& picture, View& view, double now) {
  const auto& t = theme();
  ImGui::SetCursorScreenPos(at);
  if (out.ended) {
    if (widgets::button("Once more", true)) in.moves.clear();
  } else if (!view.running) {
    if (widgets::button(view.base_s > 0 ? "Go on" : "Start the clock", true)) start_clock(view, now);
  } else if (widgets::button("I am done", true)) {
    take_move(in, out, picture, view, {.kind = MoveKind::give_up});
  }
  if (!picture.link.empty()) {
    ImGui::SameLine(0, t.px(10));
    if (widgets::button("Open the lab")) view.requests.open_link = picture.link;
  }
}

}  // namespace

void draw_points(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const double now = ImGui::GetTime(), elapsed = elapsed_s(out, view, now);
  const float small = t.type(Type::small), button = widgets::button_size("Start").y;
  float y = at.y;
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    widgets::wrapped_text(p, at, picture.heading, size.x, t.text, {.type = Type::body, .max_lines = 2});
    widgets::drew("case");
    ImGui::Dummy(size);
    return;
  }
  const widgets::Line clock = clock_words(std::max(0.0, out.limit_s - elapsed));
  const float clock_wide =
      p.text({at.x + size.x, y}, clock.view(), t.text, Type::title, Font::mono, widgets::Align::right);
  y += widgets::wrapped_text(p, {at.x, y}, picture.heading, size.x - clock_wide - t.px(24), t.text,
                             {.type = Type::body, .max_lines = size.y > t.px(420) ? 3 : 2});
  y += t.px(12);
  const float ribbon = size.y > t.px(420) ? std::clamp(0.14f * size.y, t.px(64), t.px(110)) : t.px(36);
  const float knob = t.px(6);  // half of what marks the clock, which stands at either end once
  paint_ribbon(p, {{at.x + knob, y}, {at.x + size.x - knob, y + ribbon}}, out, picture, elapsed);
  y += ribbon + t.px(8);
  draw_buttons({at.x, y}, in, out, picture, view, now);
  y += button + t.px(10);
  float bottom = at.y + size.y;
  const float figures = 2 * small + t.type(Type::body) + t.px(22);
  if (!out.figures.empty() && bottom - y > figures + t.px(120)) {
    bottom -= figures;
    draw_figures(p, {{at.x, bottom}, {at.x + size.x, at.y + size.y}}, out, picture, view);
    bottom -= t.px(8);
  }
  if (bottom - y > t.px(30)) draw_outline(p, {{at.x, y}, {at.x + size.x, bottom}}, in, out, picture, view);
  widgets::drew("case");
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::interview::scenarios
