#include <algorithm>
#include <cmath>

#include "chapters/debugging/stragglers/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/charts/rows.h"
#include "widgets/number/number.h"
#include "widgets/plot/axis.h"

/// The lanes of the ranks with plumb lines at the last arrivals, and on the same rows who waits for whom.
namespace chapters::debugging::stragglers {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

/// Where everything stands, in pixels.
struct Places {
  Rect lanes, matrix;
  float row = 0, column = 0, names = 0, foot = 0;
  double end_s = 1;

  float x(double at_s) const { return lanes.min.x + lanes.width() * static_cast<float>(at_s / end_s); }
  float top(std::size_t lane) const { return lanes.min.y + row * static_cast<float>(lane); }
  float middle(std::size_t lane) const { return top(lane) + row / 2; }
};

Places places_of(const Picture& picture, Rect area) {
  const auto& t = widgets::theme();
  Places p;
  const auto n = static_cast<float>(std::max<std::size_t>(1, picture.lanes.size()));
  p.names = t.px(112);
  const float head = t.px(38), foot = t.px(84), gap = t.px(18);
  p.row = std::max(1.0f, (area.height() - head - foot) / n);
  p.column = std::clamp((area.width() - p.names - gap) * 0.4f / n, t.px(8), t.px(46));
  const float matrix = p.column * n;
  p.lanes = {{area.min.x + p.names, area.min.y + head}, {area.max.x - matrix - gap, area.min.y + head + p.row * n}};
  p.lanes.max.x = std::max(p.lanes.max.x, p.lanes.min.x + 1);
  p.matrix = {{area.max.x - matrix, p.lanes.min.y}, {area.max.x, p.lanes.max.y}};
  p.foot = p.lanes.max.y;
  p.end_s = picture.end_s;
  return p;
}

void paint_axis(const Painter& paint, const Places& p) {
  const auto& t = widgets::theme();
  paint.text({p.lanes.min.x - p.names, p.lanes.min.y - t.px(34)}, "computes, ms", t.muted, Type::small);
  static constexpr double steps[] = {1, 2, 5};
  double step = 1e-6;
  for (int i = 0; p.end_s / step > 6 && i < 60; ++i) step = std::pow(10, i / 3 - 6) * steps[i % 3];
  for (double at = 0; at <= p.end_s; at += step) {
    const float x = p.x(at);
    paint.line({x, p.lanes.min.y}, {x, p.lanes.max.y}, t.grid);
    const widgets::NumberText label = widgets::format(at, "s", 3);
    paint.text({x, p.lanes.min.y - t.px(20)}, label.view(), t.muted, Type::small, Font::mono,
               at > 0 ? Align::center : Align::left);
  }
}

void paint_names(const Painter& paint, const Places& p, const Picture& picture) {
  const auto& t = widgets::theme();
  const float h = t.type(Type::body) / 2;
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const float y = p.middle(i) - h, x = p.lanes.min.x - p.names;
    if (p.row < t.type(Type::small)) continue;
    paint.text_fit({x, y}, picture.lanes[i].name, p.names * 0.6f, t.text, Type::body, Font::bold);
    if (widgets::veiled()) continue;
    paint.text({p.lanes.min.x - t.px(12), y}, picture.lanes[i].computing, t.muted, Type::body, Font::mono,
               Align::right);
  }
}

/// Half the height of what a rank waits and exchanges, in pixels; computing is thinner.
float half_lane(const Places& p) { return std::max(1.0f, p.row * 0.28f); }

/// When each rank computes.
void paint_computing(const Painter& paint, const Places& p, const Picture& picture) {
  const auto& t = widgets::theme();
  const auto& c = picture.run->calls;
  const ImU32 computes = widgets::with_alpha(t.text, 0.45f);
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const std::size_t r = picture.lanes[i].row;
    const float middle = p.middle(i), thin = half_lane(p) * 0.62f;
    paint.line({p.lanes.min.x, middle}, {p.lanes.max.x, middle}, t.grid);
    float reached = -1;
    for (const auto& part : c.computes[r]) {
      const float from = p.x(static_cast<double>(part.start_ns) * 1e-9),
                  to = std::max(from + 1, p.x(static_cast<double>(part.end_ns) * 1e-9));
      if (to < reached + 1) continue;
      reached = to;
      paint.rect({from, middle - thin}, {to, middle + thin}, computes);
    }
  }
}

/// When each rank waits in a collective, and when it exchanges.
void paint_collectives(const Painter& paint, const Places& p, const Picture& picture) {
  const auto& t = widgets::theme();
  const auto& c = picture.run->calls;
  const ImU32 waits = t.warning, moves = t.of(Meaning::communication);
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const std::size_t r = picture.lanes[i].row;
    const float middle = p.middle(i), half = half_lane(p);
    for (std::size_t j = 0; j < picture.calls.size(); ++j) {
      const std::size_t k = picture.calls[j];
      if (!c.takes_part(r, k)) continue;
      const float from = p.x(static_cast<double>(c.start_ns[c.at(r, k)]) * 1e-9), last = p.x(picture.plumbs[j].at_s),
                  to = p.x(static_cast<double>(c.end_ns[c.at(r, k)]) * 1e-9);
      if (last > from) paint.rect({from, middle - half}, {last, middle + half}, waits);
      if (to > last) paint.rect({last, middle - half}, {std::max(to, last + 1), middle + half}, moves);
    }
  }
}

void paint_plumbs(const Painter& paint, const Places& p, const Picture& picture) {
  const auto& t = widgets::theme();
  for (const Plumb& plumb : picture.plumbs) {
    const float x = p.x(plumb.at_s);
    const bool culprit = plumb.lane == picture.culprit_lane;
    if (culprit)
      paint.line({x, p.lanes.min.y}, {x, p.lanes.max.y}, t.text, t.px(1.5f));
    else
      paint.dashed_line({x, p.lanes.min.y}, {x, p.lanes.max.y}, t.muted, 1, t.px(3));
    if (plumb.lane >= picture.lanes.size()) continue;
    const ImVec2 at{x, p.middle(plumb.lane)};
    paint.circle(at, t.px(6), t.background);
    paint.ring(at, t.px(6), t.text, t.px(2));
  }
}

/// `over` on an opaque ground, as one opaque colour.
ImU32 laid_over(ImU32 ground, ImU32 over, float strength) {
  ImU32 out = 0;
  for (int shift = 0; shift < 24; shift += 8) {
    const float a = static_cast<float>(ground >> shift & 0xFF), b = static_cast<float>(over >> shift & 0xFF);
    out |= static_cast<ImU32>(std::lround(a + (b - a) * strength)) << shift;
  }
  return out | IM_COL32_A_MASK;
}

/// How long the row waited for the column, and under it what the column costs the others.
void paint_matrix(const Painter& paint, const Places& p, const Picture& picture) {
  const auto& t = widgets::theme();
  const std::size_t n = picture.lanes.size();
  const float pad = std::min(t.px(2), p.column / 8);
  paint.text({p.matrix.min.x, p.matrix.min.y - t.px(38)}, "waits for, ms", t.muted, Type::small);
  const bool numbers = p.column >= t.px(23) && p.row >= t.type(Type::small) + t.px(2);
  for (std::size_t b = 0; b < n; ++b) {
    const float x = p.matrix.min.x + p.column * static_cast<float>(b), middle = x + p.column / 2;
    const std::string_view name = std::string_view(picture.lanes[b].name).substr(5);
    if (p.column >= t.px(14) || b % 4 == 0)
      paint.text({middle, p.matrix.min.y - t.px(20)}, name, b == picture.culprit_lane ? t.text : t.muted, Type::small,
                 Font::mono, Align::center);
    for (std::size_t a = 0; a < n; ++a) {
      const ImVec2 min{x + pad, p.top(a) + pad}, max{x + p.column - pad, p.top(a) + p.row - pad};
      const double wait = picture.matrix_s[a * n + b];
      paint.rect(min, max, t.card, t.px(3));
      if (a == b) paint.line({middle - t.px(5), p.middle(a)}, {middle + t.px(5), p.middle(a)}, t.line);
      if (!(wait > 0)) continue;
      const float strength = 0.12f + 0.88f * static_cast<float>(wait / std::max(1e-12, picture.most_wait_s));
      const ImU32 cell = laid_over(t.card, t.warning, strength);
      paint.rect(min, max, cell, t.px(3));
      const bool dark = widgets::contrast(t.text, cell) >= widgets::contrast(t.background, cell);
      const bool plate = !(widgets::contrast(dark ? t.text : t.background, cell) >= 4.6);
      const ImU32 ink = dark || plate ? t.text : t.background;
      if (!numbers || picture.matrix_text[a * n + b].empty()) continue;
      if (plate) {
        const ImVec2 half{widgets::text_size(picture.matrix_text[a * n + b], Type::small, Font::mono).x / 2 + t.px(2),
                          t.type(Type::small) / 2 + t.px(1)};
        paint.rect({middle - half.x, p.middle(a) - half.y}, {middle + half.x, p.middle(a) + half.y}, t.card, t.px(2));
      }
      paint.text({middle, p.middle(a) - t.type(Type::small) / 2}, picture.matrix_text[a * n + b], ink, Type::small,
                 Font::mono, Align::center);
    }
  }
  if (picture.most_wait_s > 0) {
    const float x = p.matrix.min.x + p.column * static_cast<float>(picture.culprit_lane);
    paint.frame({x, p.matrix.min.y}, {x + p.column, p.matrix.max.y}, t.text, t.px(2), t.px(4));
  }
}

void paint_costs(const Painter& paint, const Places& p, const Picture& picture) {
  const auto& t = widgets::theme();
  double most = 0;
  for (const double s : picture.blamed_s) most = std::max(most, s);
  const float room = t.px(46);
  paint.text({p.matrix.min.x - t.px(8), p.foot + t.px(6)}, "it costs the others", t.muted, Type::small, Font::sans,
             Align::right);
  for (std::size_t b = 0; b < picture.lanes.size() && most > 0; ++b) {
    if (!(picture.blamed_s[b] > 0)) continue;
    const float x = p.matrix.min.x + p.column * static_cast<float>(b), pad = p.column * 0.18f,
                high = std::max(1.0f, room * static_cast<float>(picture.blamed_s[b] / most));
    paint.rect({x + pad, p.foot + t.px(6)}, {x + p.column - pad, p.foot + t.px(6) + high}, t.warning, t.px(2));
    if (p.column >= t.px(23))
      paint.text({x + p.column / 2, p.foot + t.px(9) + high}, picture.blamed_text[b], t.text, Type::small, Font::mono,
                 Align::center);
  }
}

/// Who came last, call by call, under the plumb lines where there is room.
void paint_calls(const Painter& paint, const Places& p, const Picture& picture) {
  const auto& t = widgets::theme();
  const float y = p.foot + t.px(44);
  float free_from = p.lanes.min.x - p.names;
  const float label = paint.text({free_from, y}, "last to come", t.muted, Type::small);
  free_from += std::max(label + t.px(8), p.names);
  for (std::size_t j = 0; j < picture.plumbs.size(); ++j) {
    const float wide = widgets::text_size(picture.call_names[j], Type::small).x,
                who = widgets::text_size(picture.last_names[j], Type::small, Font::mono).x, w = std::max(wide, who);
    const float x = std::max(free_from, p.x(picture.plumbs[j].at_s) - w / 2);
    if (x + w > p.matrix.min.x - t.px(120)) break;
    paint.text({x, y}, picture.call_names[j], t.muted, Type::small);
    paint.text({x, y + t.px(17)}, picture.last_names[j], t.text, Type::small, Font::mono);
    free_from = x + w + t.px(10);
  }
}

/// The first arrival of the rank that is moved, as a handle under the lanes.
void drag_handle(Inputs& in, const Painter& paint, const Places& p, const Picture& picture) {
  const auto& t = widgets::theme();
  const ImVec2 at{p.x(picture.handle_s), p.foot + t.px(18)};
  const float radius = t.px(9);
  ImGui::SetCursorScreenPos({at.x - radius, at.y - radius});
  widgets::press_area("drag the rank", {2 * radius, 2 * radius});
  const bool held = ImGui::IsItemActive(), over = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  if (held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 0)) {
    const double moved =
        -static_cast<double>(ImGui::GetIO().MouseDelta.x) / static_cast<double>(p.lanes.width()) * p.end_s;
    in.advance_s = std::clamp(in.advance_s + moved, 0.0, 1.0);
  }
  if (over) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  paint.line({at.x, p.middle(picture.moved_lane)}, {at.x, at.y}, t.accent, t.px(1.5f));
  paint.circle(at, radius - t.px(3), t.accent);
  paint.ring(at, radius - t.px(1), t.text, t.px(1.5f));
  const float w = widgets::text_size(picture.handle_words, Type::small).x;
  const bool left = at.x - w - radius - t.px(8) > p.lanes.min.x - p.names;
  paint.text({left ? at.x - radius - t.px(6) : at.x + radius + t.px(6), at.y - t.type(Type::small) / 2},
             picture.handle_words, t.accent, Type::small, Font::bold, left ? Align::right : Align::left);
}

/// A press on a lane's name chooses the rank that is moved.
void press_names(Inputs& in, const Places& p, const Picture& picture) {
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    ImGui::SetCursorScreenPos({p.lanes.min.x - p.names, p.top(i)});
    if (widgets::press_area("choose the rank", {p.names, p.row}))
      in.advance_rank = picture.run->calls.ranks[picture.lanes[i].row];
    ImGui::PopID();
  }
}

}  // namespace

void draw_ranks(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect area = widgets::reserve(size, {t.px(60), t.px(60)});
  if (picture.lanes.empty() || !picture.run) return;
  const Painter paint = Painter::window();
  const Places p = places_of(picture, area);
  {
    const widgets::GivenMarks given;
    paint_axis(paint, p);
    paint_names(paint, p, picture);
    paint_computing(paint, p, picture);  // as recorded; who waits for whom is asked
  }
  paint_collectives(paint, p, picture);
  paint_plumbs(paint, p, picture);
  widgets::drew("lanes");
  paint_matrix(paint, p, picture);
  widgets::drew("matrix");
  paint_costs(paint, p, picture);
  paint_calls(paint, p, picture);
  if (!picture.folded.empty())
    paint.text({p.lanes.min.x, p.lanes.min.y - t.px(38)}, picture.folded, t.muted, Type::small);
  if (widgets::veiled()) return;
  press_names(in, p, picture);
  drag_handle(in, paint, p, picture);
  ImGui::SetCursorScreenPos(area.min);
}

}  // namespace chapters::debugging::stragglers
