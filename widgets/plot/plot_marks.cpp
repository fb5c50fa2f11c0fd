#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/number/number.h"
#include "widgets/plot/plot_paint.h"

/// Marks, arrows and handles, and every name inside the plot's area.
namespace widgets {
namespace {

using MarkKind = PlotMark::Kind;

ImVec2 pixel_of(const PlotFrame& f, double x, double y) {
  const auto near = [](double v) { return static_cast<float>(std::isnan(v) ? -1e5 : std::clamp(v, -1e5, 1e5)); };
  return {near(f.x.pixel(x)), near(f.y.pixel(y))};
}

/// Marks that reach across the frame.
bool is_line(MarkKind kind) {
  return kind == MarkKind::vertical || kind == MarkKind::horizontal || kind == MarkKind::handle_x ||
         kind == MarkKind::handle_y;
}

/// The two ends of a mark's line; a point twice when it has none.
void ends_of(const PlotFrame& f, const PlotMark& m, ImVec2& a, ImVec2& b) {
  a = pixel_of(f, m.x, m.y);
  b = pixel_of(f, m.x2, m.y2);
  if (m.kind == MarkKind::vertical || m.kind == MarkKind::handle_x) {
    a = {a.x, f.area.min.y};
    b = {a.x, f.area.max.y};
  } else if (m.kind == MarkKind::horizontal || m.kind == MarkKind::handle_y) {
    a = {f.area.min.x, a.y};
    b = {f.area.max.x, a.y};
  } else if (m.kind != MarkKind::arrow && m.kind != MarkKind::bracket) {
    b = a;
  }
}

/// A pill on a line that is moved across itself, with two grooves along the line: what can be taken hold of.
void paint_grip(const Painter& painter, ImVec2 mid, bool level, bool hot, ImU32 colour) {
  const Theme& t = theme();
  const float along = t.px(hot ? 15.0f : 13.0f), across = t.px(6), groove = t.px(7), apart = t.px(2);
  const ImVec2 half = level ? ImVec2{along, across} : ImVec2{across, along};
  painter.rect({mid.x - half.x, mid.y - half.y}, {mid.x + half.x, mid.y + half.y}, colour, across);
  for (const float by : {-apart, apart}) {
    const ImVec2 from = level ? ImVec2{mid.x - groove, mid.y + by} : ImVec2{mid.x + by, mid.y - groove},
                 to = level ? ImVec2{mid.x + groove, mid.y + by} : ImVec2{mid.x + by, mid.y + groove};
    painter.line(from, to, t.background, t.px(1));
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
      DotPlace dot;
      if (series.kind == Series::scatter) {
        if (dot_place(plot, p, dot)) s.room.block({{dot.at.x - bar, dot.at.y - bar}, {dot.at.x + bar, dot.at.y + bar}});
      } else
        s.room.block({{x - bar, std::min(a.y, b.y)}, {x + bar, std::max(a.y, b.y)}});
    }
  }
  for (const PlotMark& m : s.marks) {
    if (m.kind == MarkKind::callout) {
      // A callout's line begins here, which no name may stand under.
      const ImVec2 at = pixel_of(f, m.x, m.y);
      const float free = t.px(13);
      s.room.block({{at.x - free, at.y - free}, {at.x + free, at.y + free}});
      continue;
    }
    ImVec2 a, b;
    ends_of(f, m, a, b);
    const float r = t.px(7);
    if (m.kind == MarkKind::handle)
      s.room.block({{a.x - r, a.y - r}, {a.x + r, a.y + r}});
    else if (m.kind != MarkKind::text && m.kind < MarkKind::tag_x)
      s.room.block_segment(a, b, 1);
  }
}

/// Writes names where there is room and remembers where they stand.
class Names {
 public:
  Names(const PlotEnd& plot, const Painter& painter)
      : plot_(plot), s_(plot.scratch()), f_(plot.frame()), t_(theme()), painter_(painter) {
    s_.placed.clear();
  }

  /// Each line's name along it.
  void along_lines();
  void of_marks();
  void of_points();
  void of_arrows_and_texts();

 private:
  /// Names right of the frame, beside the ends of their lines, spread so that none touches another.
  void at_ends();
  /// The first line before this one that lies on it everywhere; -1: none does.
  int twin_of(std::size_t line) const;
  /// The name, with the lines that lie on it: "blocked = pairwise"; "blocked +1" or the name alone where that would be
  /// wider than `room`.
  std::string_view full_name(std::size_t line, float room = HUGE_VALF);
  bool named(std::size_t i) const {
    return !s_.series[i].hidden && s_.series[i].label_line && s_.series[i].label.length > 0;
  }
  float gap() const { return t_.px(3) + 4; }
  void write(const std::optional<Box>& box, std::string_view label, ImU32 colour);
  /// Beside a point, with a leader where the nearest room is not next to it.
  void by_point(ImVec2 at, float radius, std::string_view label, ImU32 colour);
  void along_line(const PlotSeries& series, std::span<const PlotPoint> points, std::string_view label);

  const PlotEnd& plot_;
  PlotScratch& s_;
  const PlotFrame& f_;
  const Theme& t_;
  const Painter& painter_;
  char name_[160];
};

void Names::write(const std::optional<Box>& box, std::string_view label, ImU32 colour) {
  if (!box) return;
  // The grid does not run through the letters.
  painter_.plate(box->min, label, t_.background, Type::small);
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

int Names::twin_of(std::size_t line) const {
  const std::vector<PlotPoint>& mine = s_.caches[line].points;
  if (mine.size() < 2) return -1;
  for (std::size_t k = 0; k < line; ++k) {
    if (!named(k) || s_.series[k].kind != s_.series[line].kind) continue;
    const std::vector<PlotPoint>& other = s_.caches[k].points;
    const bool same =
        std::equal(mine.begin(), mine.end(), other.begin(), other.end(), [&](const PlotPoint& a, const PlotPoint& b) {
          const ImVec2 p = pixel_of(f_, a.x, a.y), q = pixel_of(f_, b.x, b.y);
          return std::abs(p.x - q.x) <= 1 && std::abs(p.y - q.y) <= 1;
        });
    if (same) return static_cast<int>(k);
  }
  return -1;
}

std::string_view Names::full_name(std::size_t line, float room) {
  std::size_t n = 0, twins = 0;
  const auto add = [&](std::string_view s) {
    const std::size_t more = std::min(s.size(), sizeof name_ - n);
    std::copy_n(s.begin(), more, name_ + n);
    n += more;
  };
  const std::string_view own = text_of(s_, s_.series[line].label);
  add(own);
  for (std::size_t k = line + 1; k < s_.series.size(); ++k)
    if (named(k) && twin_of(k) == static_cast<int>(line)) {
      add(" = ");
      add(text_of(s_, s_.series[k].label));
      ++twins;
    }
  if (twins > 0 && text_size({name_, n}, Type::small).x > room) {  // how many others, where their names have no room
    n = own.size();
    add(" +");
    add(format(static_cast<double>(twins), "").view());
    if (text_size({name_, n}, Type::small).x > room) n = own.size();
  }
  return {name_, n};
}

void Names::at_ends() {
  constexpr std::size_t most = 32;
  struct End {
    std::size_t line;
    float y;
  };
  std::array<End, most> ends;
  std::size_t n = 0;
  for (std::size_t i = 0; i < s_.series.size() && n < most; ++i) {
    if (!named(i) || twin_of(i) >= 0) continue;
    for (std::size_t k = s_.caches[i].points.size(); k-- > 0;) {
      const PlotPoint& p = s_.caches[i].points[k];
      const ImVec2 at = pixel_of(f_, p.x, p.y);
      if (!std::isfinite(p.y) || at.x > f_.area.max.x + 1) continue;
      ends[n++] = {i, std::clamp(at.y, f_.area.min.y, f_.area.max.y)};
      break;
    }
  }
  std::sort(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(n),
            [](const End& a, const End& b) { return a.y != b.y ? a.y < b.y : a.line < b.line; });
  std::array<float, most> wanted;
  const float line = t_.type(Type::small), x = f_.area.max.x + t_.px(10);
  // What the frame has no room for beside itself is left out, of the two nearest ends the one of the thinner line.
  while (n > 1 && static_cast<float>(n) * (line + t_.px(2)) > f_.area.height() + line) {
    std::size_t out = 1;
    for (std::size_t i = 2; i < n; ++i)
      if (ends[i].y - ends[i - 1].y < ends[out].y - ends[out - 1].y) out = i;
    if (s_.series[ends[out - 1].line].width < s_.series[ends[out].line].width) --out;
    for (std::size_t i = out + 1; i < n; ++i) ends[i - 1] = ends[i];
    --n;
  }
  for (std::size_t i = 0; i < n; ++i) wanted[i] = ends[i].y;
  spread_labels({wanted.data(), n}, line, t_.px(2), f_.area.min.y, f_.area.max.y);
  for (std::size_t i = 0; i < n; ++i) {
    const ImU32 colour = s_.series[ends[i].line].colour;
    painter_.line({f_.area.max.x + 1, ends[i].y}, {x - t_.px(2), wanted[i]}, with_alpha(colour, 0.7f), 1);
    painter_.text_fit({x, wanted[i] - line / 2}, full_name(ends[i].line, plot_.outer.max.x - x), plot_.outer.max.x - x,
                      colour, Type::small);
  }
}

void Names::along_line(const PlotSeries& series, std::span<const PlotPoint> points, std::string_view label) {
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
  if (plot_.options.end_labels) return at_ends();
  for (std::size_t i = 0; i < s_.series.size(); ++i)
    if (named(i) && twin_of(i) < 0) along_line(s_.series[i], s_.caches[i].points, full_name(i));
}

void Names::of_marks() {
  for (const MarkKind kind :
       {MarkKind::vertical, MarkKind::horizontal, MarkKind::handle_x, MarkKind::handle_y, MarkKind::handle}) {
    for (const PlotMark& m : s_.marks) {
      if (m.kind != kind || m.label.length == 0) continue;
      const std::string_view label = text_of(s_, m.label);
      const ImVec2 size = text_size(label, Type::small);
      ImVec2 a, b;
      ends_of(f_, m, a, b);
      if (kind == MarkKind::handle) {
        by_point(a, t_.px(11), label, t_.text);
      } else if (kind == MarkKind::vertical || kind == MarkKind::handle_x) {
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
      DotPlace dot;
      if (!dot_place(plot_, s_.caches[i].points[k], dot)) continue;
      by_point(dot.at, t_.px(series.radius), text_of(s_, s_.point_labels[series.first_point_label + k]), t_.text);
    }
  }
}

void Names::of_arrows_and_texts() {
  for (const PlotMark& m : s_.marks) {
    if ((m.kind != MarkKind::arrow && m.kind != MarkKind::text) || m.label.length == 0) continue;
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
    if (m.kind == MarkKind::arrow)
      paint_arrow(painter, a, b, m.colour);
    else if (!is_line(m.kind))
      continue;
    else if (m.dashed)
      painter.dashed_line(a, b, m.colour, width, t.px(4));
    else
      painter.line(a, b, m.colour, width);
  }
}

void paint_handles(const PlotEnd& plot, const Painter& painter) {
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  for (const PlotMark& m : plot.scratch().marks) {
    ImVec2 a, b;
    ends_of(f, m, a, b);
    if (m.kind == MarkKind::handle) {
      if (!f.area.contains(a)) continue;
      paint_marker(painter, a, m.marker, t.px(6), m.colour);
      painter.ring(a, t.px(m.hot ? 11.0f : 9.0f), m.colour, m.hot ? t.px(2.5f) : t.px(1.5f));
    } else if (m.kind == MarkKind::handle_x || m.kind == MarkKind::handle_y) {
      // The grip of a level stands at the frame's edge: among the data it would look like one of them.
      const bool level = m.kind == MarkKind::handle_y;
      const ImVec2 mid{level ? std::min(a.x, b.x) + t.px(20) : (a.x + b.x) / 2, (a.y + b.y) / 2};
      // One that lies beyond the axes is not there; one on their ends is, whatever the last rounding says.
      const auto beyond = [](float v, float lo, float hi) { return v < lo - 0.5f || v > hi + 0.5f; };
      if (beyond(mid.x, f.area.min.x, f.area.max.x) || beyond(mid.y, f.area.min.y, f.area.max.y)) continue;
      paint_grip(painter, mid, level, m.hot, m.colour);
    }
  }
}

float end_label_room(const PlotEnd& plot) {
  if (!plot.options.end_labels) return 0;
  float widest = 0;
  std::size_t lines = 0;
  const PlotScratch& s = plot.scratch();
  for (const PlotSeries& series : s.series)
    if (!series.hidden && series.label_line) {
      widest = std::max(widest, text_size(text_of(s, series.label), Type::small).x);
      ++lines;
    }
  if (!(widest > 0)) return 0;
  if (lines > 1) widest += text_size(" +9", Type::small).x;  // of lines that turn out to lie on each other
  return std::min(widest + theme().px(14), (plot.outer.max.x - plot.outer.min.x) * 0.3f);
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
