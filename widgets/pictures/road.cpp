#include "widgets/pictures/road.h"

#include <algorithm>
#include <cmath>

#include "widgets/base/arrow.h"

namespace widgets {
namespace {

bool is_sound(const RoadStretch& s) { return std::isfinite(s.from_m) && std::isfinite(s.length_m) && s.length_m >= 0; }

/// 1, 2 or 5 times a power of ten, at least as much.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= least) return m * power;
  return 10 * power;
}

NumberText metres(double m) { return format(m, "m"); }

void paint_car(const Painter& painter, const Rect& car) {
  const Theme& t = theme();
  const float w = car.width(), h = car.height(), round = std::min(h, w) * 0.3f;
  const auto part = [&](float x0, float x1, float inset, ImU32 ink, float rounding) {
    painter.rect({car.min.x + w * x0, car.min.y + h * inset}, {car.min.x + w * x1, car.max.y - h * inset}, ink,
                 rounding);
  };
  part(0, 1, 0, t.accent, round);
  if (w < 14 || h < 7) return;
  part(0.24f, 0.74f, 0.1f, text_on(t.accent, t), round * 0.5f);  // the glass all round
  part(0.34f, 0.62f, 0.13f, t.accent, round * 0.3f);             // the roof
  for (const float y : {car.min.y + h * 0.14f, car.max.y - h * 0.14f - h * 0.12f})
    painter.rect({car.max.x - w * 0.05f, y}, {car.max.x - w * 0.01f, y + h * 0.12f}, t.text);  // the lights
}

/// A dimension line with arrows at both ends and its length in the middle, under a stretch.
void paint_dimension(const Painter& painter, float from, float to, float y, std::string_view words,
                     std::string_view number, Rect area) {
  const Theme& t = theme();
  const float small = t.type(Type::small), middle = (from + to) / 2;
  if (y + std::max(t.px(6), small / 2) > area.max.y) return;
  for (const float x : {from, to}) painter.line({x, y - t.px(6)}, {x, y + t.px(6)}, t.text);
  const float gap_left = std::max(0.0f, middle - area.min.x), gap_right = std::max(0.0f, area.max.x - middle);
  for (const std::string_view s : {words, number}) {
    const float w = text_size(s, Type::small, Font::bold).x;
    if (w > area.width()) continue;
    const bool within = w + t.px(40) <= to - from;
    // Inside the line where it is long enough, else under it and within the picture.
    const float x = std::clamp(middle - w / 2, middle - gap_left, middle + gap_right - w);
    if (!within && y + t.px(6) + small > area.max.y) return;
    if (within) {
      const ImVec2 left[] = {{middle - w / 2 - t.px(6), y}, {from, y}},
                   right[] = {{middle + w / 2 + t.px(6), y}, {to, y}};
      draw_arrow(painter, left, t.text, t.px(1.2f));
      draw_arrow(painter, right, t.text, t.px(1.2f));
      painter.text({x, y - small / 2}, s, t.text, Type::small, Font::bold);
    } else {
      painter.line({from, y}, {to, y}, t.text, t.px(1.2f));
      painter.text({x, y + t.px(6)}, s, t.text, Type::small, Font::bold);
    }
    return;
  }
}

void record_road(Record& record, const char* label, std::span<const RoadStretch> stretches) {
  DataTable table{label, {"from (m)", "length (m)", "blind"}, {}};
  for (const RoadStretch& s : stretches)
    table.rows.push_back({exact(s.from_m), exact(s.length_m), s.blind ? "yes" : "no"});
  record.tables.push_back(std::move(table));
}

/// The stretch in the middle of the picture: the asked one, else the longest blind one, else the longest; -1: none.
std::int64_t stretch_of_interest(std::span<const RoadStretch> stretches, const RoadOptions& o) {
  std::int64_t interest = -1;
  const auto count = static_cast<std::int64_t>(stretches.size());
  if (o.interest >= 0 && o.interest < count && is_sound(stretches[static_cast<std::size_t>(o.interest)])) {
    interest = o.interest;
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const RoadStretch& s = stretches[static_cast<std::size_t>(i)];
      if (!is_sound(s)) continue;
      const bool none = interest < 0;
      const RoadStretch& best = stretches[static_cast<std::size_t>(none ? i : interest)];
      if (none || (s.blind && (!best.blind || s.length_m > best.length_m))) interest = i;
    }
  }
  return interest;
}

/// Where a distance lies in the picture, or the edge that is nearer to it.
float road_x(const RoadLayout& l, Rect area, double m) {
  return area.min.x + static_cast<float>(std::clamp((m - l.from_m) * static_cast<double>(l.px_per_m), 0.0,
                                                    static_cast<double>(area.width())));
}

/// Round distances under the road, as many as their texts leave room for.
void place_road_marks(Rect area, Measure measure, RoadLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  const float widest = std::max(measure(metres(std::floor(out.from_m)), Type::small),
                                measure(metres(std::ceil(out.to_m)), Type::small)) +
                       t.px(18);
  const double step = round_step(std::max(1e-3, static_cast<double>(widest / out.px_per_m)));
  for (double m = std::ceil(out.from_m / step) * step;
       m <= out.to_m && out.marks.size() < 200 && out.marks_y + small <= area.max.y + 0.5f; m += step) {
    const double value = std::abs(m) < step * 1e-6 ? 0.0 : m;
    const float at = road_x(out, area, value), half = measure(metres(value), Type::small) / 2;
    if (at - half >= area.min.x && at + half <= area.max.x) out.marks.push_back({value, at});
  }
}

/// The lane with its blind stretches, its lines and the edges of the stretch of interest.
void paint_road_lane(const Painter& painter, const RoadLayout& l) {
  const Theme& t = theme();
  painter.rect(l.lane.min, l.lane.max, t.card);
  for (const RoadPiece& p : l.pieces) {
    if (!p.blind) continue;
    if (p.rect.height() < t.px(6)) {  // a lane as thin as its edges: a band in its place
      const float y = (p.rect.min.y + p.rect.max.y) / 2;
      painter.rect({p.rect.min.x, y - t.px(3)}, {p.rect.max.x, y + t.px(3)}, t.warning);
      continue;
    }
    painter.rect(p.rect.min, p.rect.max, with_alpha(t.warning, 0.16f));
    hatch(painter, p.rect, with_alpha(t.warning, 0.8f), t.px(7));
  }
  // The edge lines are whole and the middle one is broken, as on a road.
  for (const float y : {l.lane.min.y, l.lane.max.y})
    painter.line({l.lane.min.x, y}, {l.lane.max.x, y}, t.muted, t.px(1.6f));
  const float middle = (l.lane.min.y + l.lane.max.y) / 2;
  painter.dashed_line({l.lane.min.x, middle}, {l.lane.max.x, middle}, with_alpha(t.muted, 0.5f), t.px(1.2f), t.px(12));
  for (const float x : {l.interest_rect.min.x, l.interest_rect.max.x})
    painter.line({x, l.lane.min.y}, {x, l.lane.max.y}, t.text, t.px(1.2f));
}

/// Tells what the stretch under the mouse is; its place, or -1 where there is none.
std::int64_t tip_road(std::span<const RoadStretch> stretches, const RoadLayout& l, const RoadOptions& o, Rect area) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (const RoadPiece& p : l.pieces) {
    if (!p.rect.contains(mouse)) continue;
    const double at = l.from_m + static_cast<double>((mouse.x - area.min.x) / l.px_per_m);
    std::size_t under = p.first;
    while (under < p.last && stretches[under].from_m + stretches[under].length_m < at) ++under;
    const RoadStretch& s = stretches[under];
    Line value;
    value.add(metres(s.length_m)).add(", from ").add(format(s.from_m, "m", 4)).add(" on");
    tip(s.blind ? o.blind_label : "seen", value.view(), s.info);
    return static_cast<std::int64_t>(under);
  }
  return -1;
}

}  // namespace

void layout_road(std::span<const RoadStretch> stretches, const RoadOptions& o, Rect area, Measure measure,
                 RoadLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  out.pieces.clear();
  out.marks.clear();
  out.problem = {};
  out.interest = -1;
  out.interest = stretch_of_interest(stretches, o);
  if (std::any_of(stretches.begin(), stretches.end(), [](const RoadStretch& s) { return !is_sound(s); }))
    out.problem.add("A stretch whose place or length is no finite distance is left out.");
  const double car = std::isfinite(o.car_length_m) && o.car_length_m > 0 ? o.car_length_m : 4.5;
  const RoadStretch interest = out.interest >= 0 ? stretches[static_cast<std::size_t>(out.interest)] : RoadStretch{};
  const double visible = std::isfinite(o.visible_m) && o.visible_m > 0
                             ? std::min(o.visible_m, 1e9)
                             : std::clamp(3 * interest.length_m, 4 * car, 1e9);
  const double middle = interest.from_m + interest.length_m / 2;
  out.from_m = middle - visible / 2;
  out.to_m = middle + visible / 2;
  out.px_per_m = area.width() / static_cast<float>(visible);
  const auto x = [&](double m) { return road_x(out, area, m); };
  // From below: distances, the dimension line, the lane.
  const float foot = small + t.px(6), dimension = small + t.px(16);
  const float room = std::max(1.0f, area.height() - foot - dimension - small - t.px(4));
  const float lane = std::min(static_cast<float>(o.lane_width_m) * out.px_per_m, room);
  const float top = area.min.y + small + t.px(4) + std::floor((room - lane) / 2);
  out.lane = {{area.min.x, top}, {area.max.x, std::min(top + std::max(lane, 1.0f), area.max.y)}};

  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const RoadStretch& s = stretches[i];
    if (!is_sound(s) || s.from_m + s.length_m <= out.from_m || s.from_m >= out.to_m) continue;
    const Rect rect{{x(s.from_m), out.lane.min.y}, {x(s.from_m + s.length_m), out.lane.max.y}};
    const bool joins = !out.pieces.empty() && (rect.width() < 2 || out.pieces.back().rect.width() < 2) &&
                       rect.min.x - out.pieces.back().rect.max.x < 1;
    if (joins) {
      out.pieces.back().last = i;
      out.pieces.back().rect.max.x = std::max(out.pieces.back().rect.max.x, rect.max.x);
      out.pieces.back().blind = out.pieces.back().blind || s.blind;
    } else {
      out.pieces.push_back({i, i, rect, s.blind});
    }
  }
  out.marks_y = out.lane.max.y + dimension + t.px(5);
  out.interest_rect = out.interest >= 0 ? Rect{{x(interest.from_m), out.lane.min.y},
                                               {x(interest.from_m + interest.length_m), out.lane.max.y}}
                                        : Rect{};
  const double car_m = std::isfinite(o.car_m) ? o.car_m : interest.from_m;
  const float wide = out.lane.height() * static_cast<float>(std::clamp(o.car_width_m / o.lane_width_m, 0.0, 1.0));
  const float mid = (out.lane.min.y + out.lane.max.y) / 2;
  out.car = {{x(car_m - car), mid - wide / 2}, {x(car_m), mid + wide / 2}};
  if (car_m - car < out.from_m || car_m > out.to_m) out.car = {};  // part of a car would be a car of another length

  place_road_marks(area, measure, out);
}

std::int64_t draw_road(const char* label, std::span<const RoadStretch> stretches, RoadView& view,
                       const RoadOptions& o) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  const Rect area = canvas(label, {o.size.x, o.size.y > 0 ? o.size.y : t.px(150)}, {t.px(60), t.px(40)});
  const bool hovered = ImGui::IsItemHovered();
  RoadLayout& l = view.layout;
  layout_road(stretches, o, area, measure_text, l);
  const Painter painter = Painter::window();
  if (Record* record = painter.record()) record_road(*record, label, stretches);
  if (l.interest < 0) {
    paint_nothing(painter, area, stretches.empty() ? "Nothing to show: nothing was driven." : l.problem.view());
    return -1;
  }
  paint_road_lane(painter, l);
  if (l.car.width() >= t.px(4)) {  // on a road of kilometres it would be a dot with a name
    paint_car(painter, l.car);
    Line length;
    length.add("car ").add(metres(o.car_length_m));
    const float w = text_size(length.view(), Type::small).x;
    if (l.lane.min.y - small - t.px(3) >= area.min.y)
      painter.text({std::clamp((l.car.min.x + l.car.max.x - w) / 2, area.min.x, std::max(area.min.x, area.max.x - w)),
                    l.lane.min.y - small - t.px(3)},
                   length.view(), t.muted, Type::small);
  }
  const RoadStretch& interest = stretches[static_cast<std::size_t>(l.interest)];
  Line words, number;
  number.add(metres(interest.length_m));
  words.add(number.view());
  const std::string_view what = interest.blind ? o.blind_label : o.seen_label;
  if (!what.empty()) words.add(" ").add(what);
  paint_dimension(painter, l.interest_rect.min.x, l.interest_rect.max.x, l.lane.max.y + t.px(10), words.view(),
                  number.view(), area);
  for (const RoadMark& m : l.marks) {
    painter.line({m.x, l.marks_y - t.px(5)}, {m.x, l.marks_y - t.px(1)}, t.muted);
    painter.text({m.x, l.marks_y}, metres(m.metres), t.muted, Type::small, Font::mono, Align::center);
  }
  return hovered ? tip_road(stretches, l, o, area) : -1;
}

}  // namespace widgets
