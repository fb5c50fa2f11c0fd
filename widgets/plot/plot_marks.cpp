#include <algorithm>
#include <cmath>

#include "widgets/plot/plot_paint.h"

/// Marks, arrows and handles, and every name inside the plot's area.
namespace widgets {
namespace {

using Kind = PlotMark::Kind;

ImVec2 pixel_of(const PlotFrame& f, double x, double y) {
  const auto near = [](double v) { return static_cast<float>(std::isnan(v) ? -1e5 : std::clamp(v, -1e5, 1e5)); };
  return {near(f.x.pixel(x)), near(f.y.pixel(y))};
}

/// The two ends of a mark's line; a point twice when it has none.
void ends_of(const PlotFrame& f, const PlotMark& m, ImVec2& a, ImVec2& b) {
  a = pixel_of(f, m.x, m.y);
  b = pixel_of(f, m.x2, m.y2);
  if (m.kind == Kind::vertical || m.kind == Kind::handle_x) {
    a = {a.x, f.area.min.y};
    b = {a.x, f.area.max.y};
  } else if (m.kind == Kind::horizontal || m.kind == Kind::handle_y) {
    a = {f.area.min.x, a.y};
    b = {f.area.max.x, a.y};
  } else if (m.kind != Kind::arrow) {
    b = a;
  }
}

void paint_arrow(const Painter& painter, ImVec2 a, ImVec2 b, ImU32 colour) {
  const float length = std::hypot(b.x - a.x, b.y - a.y);
  if (!(length > 1)) return;
  const ImVec2 u{(b.x - a.x) / length, (b.y - a.y) / length};
  const float head = std::min(theme().px(9), length * 0.6f);
  const ImVec2 neck{b.x - u.x * head, b.y - u.y * head};
  painter.line(a, neck, colour, theme().px(1.5f));
  const ImVec2 tip[] = {b,
                        {neck.x - u.y * head * 0.45f, neck.y + u.x * head * 0.45f},
                        {neck.x + u.y * head * 0.45f, neck.y - u.x * head * 0.45f}};
  painter.polygon(tip, colour);
}

/// Everything a label must not cross.
void block_all(const PlotEnd& plot) {
  PlotScratch& s = plot.scratch();
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  s.room.reset(f.area);
  using Series = PlotSeries::Kind;
  for (std::size_t i = 0; i < s.series.size(); ++i) {
    const PlotSeries& series = s.series[i];
    if (series.hidden) continue;
    if (series.kind == Series::line || series.kind == Series::steps || series.kind == Series::area) {
      const float half = t.px(series.kind == Series::area ? 1 : series.width) / 2;
      for_pieces(s.caches[i].points, f, series.kind == Series::steps, s.points, [&](std::span<const ImVec2> piece) {
        for (std::size_t k = 1; k < piece.size(); ++k) s.room.block_segment(piece[k - 1], piece[k], half);
      });
      continue;
    }
    const float bar = series.kind == Series::bars ? bar_half_px(s, series, f) : t.px(series.radius);
    for (const PlotPoint& p : s.caches[i].points) {
      const ImVec2 a = pixel_of(f, p.x, p.y), b = pixel_of(f, p.x, p.y2);
      const float x = a.x + (series.kind == Series::bars ? series.offset * bar * 2 : 0.0f);
      if (series.kind == Series::scatter)
        s.room.block({{x - bar, a.y - bar}, {x + bar, a.y + bar}});
      else
        s.room.block({{x - bar, std::min(a.y, b.y)}, {x + bar, std::max(a.y, b.y)}});
    }
  }
  for (const PlotMark& m : s.marks) {
    ImVec2 a, b;
    ends_of(f, m, a, b);
    const float r = t.px(7);
    if (m.kind == Kind::handle)
      s.room.block({{a.x - r, a.y - r}, {a.x + r, a.y + r}});
    else if (m.kind != Kind::text)
      s.room.block_segment(a, b, 1);
  }
}

/// Writes names where there is room and remembers where they stand.
class Names {
 public:
  Names(const PlotEnd& plot, const Painter& painter)
      : s_(plot.scratch()), f_(plot.frame()), t_(theme()), painter_(painter) {
    s_.placed.clear();
  }

  /// Each line's name along it.
  void along_lines();
  void of_marks();
  void of_points();
  void of_arrows_and_texts();

 private:
  float gap() const { return t_.px(3) + 4; }
  void write(const std::optional<Box>& box, std::string_view label, ImU32 colour);
  /// Beside a point, with a leader where the nearest room is not next to it.
  void by_point(ImVec2 at, float radius, std::string_view label, ImU32 colour);
  void along_line(const PlotSeries& series, std::span<const PlotPoint> points);

  PlotScratch& s_;
  const PlotFrame& f_;
  const Theme& t_;
  const Painter& painter_;
};

void Names::write(const std::optional<Box>& box, std::string_view label, ImU32 colour) {
  if (!box) return;
  painter_.text(box->min, label, colour, Type::small);
  s_.placed.push_back(*box);
}

void Names::by_point(ImVec2 at, float radius, std::string_view label, ImU32 colour) {
  if (label.empty() || !f_.area.contains(at)) return;
  const auto box = place_by_point(s_.room, at, radius, text_size(label, Type::small), s_.placed);
  if (!box) return;
  if (const auto end = leader_needed(at, radius, *box)) {
    const float length = std::hypot(end->x - at.x, end->y - at.y);
    const auto along = [&](float px) {
      return ImVec2{at.x + (end->x - at.x) * px / length, at.y + (end->y - at.y) * px / length};
    };
    painter_.line(along(radius), along(length - 3), t_.muted, 1);
    s_.room.block_segment(along(radius), along(length - 3), 1);
    for (float px = radius + 2; px < length - 3; px += 4) {  // so that no later leader crosses this one
      const ImVec2 c = along(px);
      s_.placed.push_back({{c.x - 2.5f, c.y - 2.5f}, {c.x + 2.5f, c.y + 2.5f}});
    }
  }
  write(box, label, colour);
}

void Names::along_line(const PlotSeries& series, std::span<const PlotPoint> points) {
  const std::string_view label = text_of(s_, series.label);
  const ImVec2 size = text_size(label, Type::small);
  // The name goes to the last piece that is long enough for it.
  s_.other_points.clear();
  for_pieces(points, f_, series.kind == PlotSeries::Kind::steps, s_.points, [&](std::span<const ImVec2> piece) {
    if (std::abs(piece.back().x - piece.front().x) >= size.x) s_.other_points.assign(piece.begin(), piece.end());
  });
  const auto level = place_along_line(s_.room, s_.other_points, size, gap());
  write(level, label, series.colour);
  if (level) return;
  // As close as its angle allows: the cells that a steep line takes reach further than the line.
  auto sloped = place_along_slope(s_.room, s_.other_points, size, gap() - 3);
  if (!sloped) sloped = place_along_slope(s_.room, s_.other_points, size, gap());
  if (!sloped) return;
  painter_.rotated_text(sloped->at, sloped->degrees, label, series.colour, Type::small);
  const float turn = sloped->degrees * 3.14159265f / 180.0f, c = std::cos(turn), n = std::sin(turn), half = size.y / 2;
  for (float along = 0; along <= size.x; along += half) {  // so that no leader crosses it
    const ImVec2 middle{sloped->at.x + c * along - n * half, sloped->at.y + n * along + c * half};
    s_.placed.push_back({{middle.x - half, middle.y - half}, {middle.x + half, middle.y + half}});
  }
}

void Names::along_lines() {
  for (std::size_t i = 0; i < s_.series.size(); ++i)
    if (const PlotSeries& series = s_.series[i]; !series.hidden && series.label_line && series.label.length > 0)
      along_line(series, s_.caches[i].points);
}

void Names::of_marks() {
  for (const Kind kind : {Kind::vertical, Kind::horizontal, Kind::handle_x, Kind::handle_y, Kind::handle}) {
    for (const PlotMark& m : s_.marks) {
      if (m.kind != kind || m.label.length == 0) continue;
      const std::string_view label = text_of(s_, m.label);
      const ImVec2 size = text_size(label, Type::small);
      ImVec2 a, b;
      ends_of(f_, m, a, b);
      if (kind == Kind::handle) {
        by_point(a, t_.px(11), label, t_.text);
      } else if (kind == Kind::vertical || kind == Kind::handle_x) {
        if (a.x >= f_.area.min.x && a.x <= f_.area.max.x)
          write(place_by_vertical(s_.room, a.x, f_.area, size, gap()), label, m.colour);
      } else if (a.y >= f_.area.min.y && a.y <= f_.area.max.y) {
        const ImVec2 line[] = {a, b};
        write(place_along_line(s_.room, line, size, gap()), label, m.colour);
      }
    }
  }
}

void Names::of_points() {
  for (std::size_t i = 0; i < s_.series.size(); ++i) {
    const PlotSeries& series = s_.series[i];
    if (series.hidden) continue;
    for (std::size_t k = 0; k < std::min(series.point_labels, s_.caches[i].points.size()); ++k) {
      const PlotPoint& p = s_.caches[i].points[k];
      by_point(pixel_of(f_, p.x, p.y), t_.px(series.radius), text_of(s_, s_.point_labels[series.first_point_label + k]),
               t_.text);
    }
  }
}

void Names::of_arrows_and_texts() {
  for (const PlotMark& m : s_.marks) {
    if ((m.kind != Kind::arrow && m.kind != Kind::text) || m.label.length == 0) continue;
    ImVec2 a, b;
    ends_of(f_, m, a, b);
    by_point({(a.x + b.x) / 2, (a.y + b.y) / 2}, 1, text_of(s_, m.label), m.colour);
  }
}

}  // namespace

void paint_marks(const PlotEnd& plot, const Painter& painter) {
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  for (const PlotMark& m : plot.scratch().marks) {
    ImVec2 a, b;
    ends_of(f, m, a, b);
    const float width = m.hot ? t.px(2.5f) : t.px(1.5f);
    switch (m.kind) {
      case Kind::text:
        break;
      case Kind::arrow:
        paint_arrow(painter, a, b, m.colour);
        break;
      case Kind::handle:
        if (!f.area.contains(a)) break;
        paint_marker(painter, a, m.marker, t.px(6), m.colour);
        painter.ring(a, t.px(m.hot ? 11.0f : 9.0f), m.colour, width);
        break;
      case Kind::vertical:
      case Kind::horizontal:
      case Kind::handle_x:
      case Kind::handle_y:
        if (m.dashed)
          painter.dashed_line(a, b, m.colour, width, t.px(4));
        else
          painter.line(a, b, m.colour, width);
        if (m.kind == Kind::handle_x || m.kind == Kind::handle_y) {
          const ImVec2 mid{(a.x + b.x) / 2, (a.y + b.y) / 2};
          const ImVec2 grip = m.kind == Kind::handle_x ? ImVec2{t.px(4), t.px(12)} : ImVec2{t.px(12), t.px(4)};
          painter.rect({mid.x - grip.x, mid.y - grip.y}, {mid.x + grip.x, mid.y + grip.y}, m.colour, t.px(3));
        }
        break;
    }
  }
}

void paint_labels(const PlotEnd& plot, const Painter& painter) {
  block_all(plot);
  Names names(plot, painter);
  names.along_lines();
  names.of_marks();
  names.of_points();
  names.of_arrows_and_texts();
}

}  // namespace widgets
