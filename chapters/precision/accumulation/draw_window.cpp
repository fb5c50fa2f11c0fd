#include <algorithm>
#include <cmath>

#include "chapters/precision/accumulation/lab.h"
#include "chapters/precision/shared/formats.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::precision::accumulation {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// Place values as fixed columns, additions as rows.
struct WindowGrid {
  int top = 0, last = 0;  ///< exponents of the first and the last column
  float left = 0, cell = 1, first_row = 0, pitch = 1;
  float x(int exponent) const { return left + cell * static_cast<float>(top - exponent); }
  float right() const { return x(last) + cell; }
  float y(std::size_t row) const { return first_row + pitch * static_cast<float>(row); }
  float high() const { return pitch - widgets::theme().px(4); }
};

WindowGrid grid_of(int top, int last, std::size_t rows, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  WindowGrid g{.top = top, .last = last};
  const float values = t.px(92), results = t.px(150), small = t.type(Type::small);
  g.left = at.x + values;
  g.cell = std::floor(std::clamp((size.x - values - results) / static_cast<float>(top - last + 1), t.px(5), t.px(46)));
  g.first_row = at.y + small + t.px(10);
  // Under the rows is the place into which a term falls, and a line of words.
  const float below = 2 * small + t.px(25);
  g.pitch = std::floor(std::clamp(
      (at.y + size.y - below - g.first_row) / static_cast<float>(std::max<std::size_t>(rows, 1)), t.px(13), t.px(46)));
  return g;
}

// The one accumulator has the colour of its line in the plot below; the methods there have the series'.
ImU32 sum_colour() { return widgets::theme().accent; }
ImU32 term_colour() { return widgets::theme().warning; }

/// The place values over the columns, as many as do not touch; that of the term stands in its colour.
void paint_head(const Painter& p, const WindowGrid& g, float y, int term) {
  const auto& t = widgets::theme();
  const int stride = std::max(1, static_cast<int>(std::ceil(t.px(34) / g.cell)));
  for (int e = g.top; e >= g.last; --e) {
    const bool own = e == term;
    if (!own && ((e % stride + stride) % stride != 0 || (std::abs(e - term) < stride && term >= g.last))) continue;
    p.text({g.x(e) + g.cell / 2, y}, widgets::power_of_two(e).view(), own ? term_colour() : t.muted, Type::small,
           Font::sans, Align::center);
  }
}

void paint_empty(const Painter& p, const WindowGrid& g, std::size_t row) {
  const auto& t = widgets::theme();
  for (int e = g.top; e >= g.last; --e)
    p.frame({g.x(e) + t.px(1.5f), g.y(row)}, {g.x(e) + g.cell - t.px(1.5f), g.y(row) + g.high()}, t.grid, 1, t.px(3));
}

/// A bit of the term: a disc with its 1 where the window has a place for it, else a ring.
void paint_term(const Painter& p, const WindowGrid& g, int exponent, float y, bool kept, bool first,
                float most_radius = 1e6f) {
  const auto& t = widgets::theme();
  if (exponent < g.last) return;
  const ImVec2 centre{g.x(exponent) + g.cell / 2, y};
  const float radius = std::min(std::min(g.cell, g.high()) * (first ? 0.4f : 0.22f), most_radius);
  if (!kept) return p.ring(centre, radius, term_colour(), t.px(1.5f));
  p.rect({centre.x - radius, centre.y - radius}, {centre.x + radius, centre.y + radius}, term_colour(), radius);
  if (first && radius >= t.px(6))
    p.text({centre.x, centre.y - t.type(Type::small) / 2 - t.px(1)}, "1", widgets::text_on(term_colour(), t),
           Type::small, Font::mono, Align::center);
}

/// The bits of the sum that the format keeps, and the term over them.
void paint_row(const Painter& p, const WindowGrid& g, const WindowRow& row, std::size_t at, bool current) {
  const auto& t = widgets::theme();
  const float y = g.y(at), high = g.high(), middle = y + high / 2;
  const int last = std::max(row.last, g.last);
  for (int e = std::min(row.top, g.top); e >= last; --e) {
    const bool one = std::find(row.ones.begin(), row.ones.end(), e) != row.ones.end();
    const ImVec2 min{g.x(e) + t.px(1.5f), y}, max{g.x(e) + g.cell - t.px(1.5f), y + high};
    p.rect(min, max, one ? sum_colour() : widgets::with_alpha(sum_colour(), 0.22f), t.px(3));
    const bool covered = std::find(row.term.begin(), row.term.end(), e) != row.term.end();
    if (g.cell >= t.px(13) && high >= t.type(Type::small) && !covered)
      p.text({(min.x + max.x) / 2, middle - t.type(Type::small) / 2 - t.px(1)}, one ? "1" : "0",
             one ? widgets::text_on(sum_colour(), t) : t.text, Type::small, Font::mono, Align::center);
  }
  p.frame({g.x(row.top), y - t.px(1.5f)}, {g.x(last) + g.cell, y + high + t.px(1.5f)}, current ? t.accent : t.muted,
          t.px(current ? 2.0f : 1.2f), t.px(4));
  for (std::size_t i = row.term.size(); i-- > 0;)
    paint_term(p, g, row.term[i], middle, row.term[i] >= row.last, i == 0);
  const float words = middle - t.type(Type::small) / 2 - t.px(1);
  p.text({g.left - t.px(12), words}, row.before, current ? t.text : t.muted, Type::small, Font::mono, Align::right);
  p.text({g.right() + t.px(12), words}, row.result,
         row.stalled ? t.bad
         : current   ? t.text
                     : t.muted,
         Type::small, Font::mono);
}

/// The term of the last row that has no place in the window falls off its end.
void paint_fall(const Painter& p, const WindowGrid& g, const AdderWindow& w) {
  const auto& t = widgets::theme();
  const WindowRow& row = w.rows.back();
  if (row.term.empty() || row.term.front() >= row.last || row.term.front() < g.last) return;
  // It stays clear of the words under it.
  const float x = g.x(row.term.front()) + g.cell / 2, from = g.y(w.rows.size() - 1) + g.high(), y = from + t.px(16);
  p.line({x, from}, {x, y - t.px(6)}, term_colour(), t.px(1.5f));
  paint_term(p, g, row.term.front(), y, true, true, t.px(8));
}

/// What a question gives: the columns with their place values, empty tiles, and the window of the first sum.
void paint_given(const Picture& picture, ImVec2 at, ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  constexpr std::size_t rows = 6;
  const int bits = picture.format->mantissa_bits + 1;
  const WindowGrid g = grid_of(picture.exact_top, 1 - bits, rows, at, size);
  p.text({at.x, at.y}, "sum so far", t.muted, Type::small);
  paint_head(p, g, at.y, 0);
  for (std::size_t row = 0; row < rows; ++row) paint_empty(p, g, row);
  p.frame({g.x(0), g.y(0) - t.px(1.5f)}, {g.right(), g.y(0) + g.high() + t.px(1.5f)}, t.muted, t.px(1.5f), t.px(4));
  paint_term(p, g, 0, g.y(0) + g.high() / 2, true, true);
  widgets::Line words;
  words.add(picture.format->name)
      .add(" holds ")
      .add_integer(bits)
      .add(" bits in a row: they slide left as the sum grows");
  p.text({g.left, g.y(rows) + t.px(4)}, words.view(), t.muted, Type::small);
}

}  // namespace

void draw_window(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (widgets::veiled()) {
    const ImVec2 inset = veil_inset();
    return paint_given(picture, {at.x + inset.x, at.y + inset.y}, {size.x - 2 * inset.x, size.y - inset.y});
  }
  const Painter p = Painter::window();
  const float small = t.type(Type::small);
  const auto most = static_cast<std::size_t>(std::clamp((size.y - 3 * small - t.px(32)) / t.px(18), 1.0f, 12.0f));
  const auto n = static_cast<std::int64_t>(
      std::clamp(view.addition >= 1 ? std::round(view.addition) : static_cast<double>(picture.shown_first), 1.0,
                 static_cast<double>(picture.run->terms.size())));
  if (view.shown_addition != n || view.shown_version != picture.version || view.shown_rows != most) {
    view.shown = window_of(*picture.format, *picture.run, n, most);
    view.shown_addition = n;
    view.shown_version = picture.version;
    view.shown_rows = most;
  }
  const AdderWindow& w = view.shown;
  if (w.rows.empty()) return;
  const WindowGrid g = grid_of(w.top, w.last, w.rows.size(), at, size);
  const WindowRow& current = w.rows.back();
  p.text({at.x, at.y}, "sum so far", t.muted, Type::small);
  const int term = current.term.empty() ? g.top + 1 : current.term.front();
  if (term <= g.top && term >= g.last) {
    const float x = g.x(term), bottom = g.y(w.rows.size()) + t.px(22);
    p.rect({x, g.first_row - t.px(4)}, {x + g.cell, bottom}, widgets::with_alpha(term_colour(), 0.13f));
  }
  paint_head(p, g, at.y, term);
  for (std::size_t i = 0; i < w.rows.size(); ++i) {
    paint_empty(p, g, i);
    paint_row(p, g, w.rows[i], i, i + 1 == w.rows.size());
  }
  paint_fall(p, g, w);
  widgets::fit_text(p, {at.x, std::min(g.y(w.rows.size()) + t.px(27), at.y + size.y - small - t.px(2))}, w.words,
                    size.x, current.lost ? t.bad : t.muted, Type::small);
  widgets::drew("window of bits");
}

}  // namespace chapters::precision::accumulation
