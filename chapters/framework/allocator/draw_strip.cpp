#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/framework/allocator/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/charts/vessel.h"
#include "widgets/number/number.h"

namespace chapters::framework::allocator {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

widgets::NumberText bytes_text(double bytes) { return widgets::format(bytes, "B", 3, widgets::Prefix::binary); }

constexpr std::size_t max_rows = 12;

/// Memory as lines of a page: where a byte of the strip stands, in screen pixels.
struct Page {
  Rect area;
  std::size_t rows = 1;
  std::array<double, max_rows + 1> begin{};  ///< byte at which a line begins; after the last one, where it ends
  double row_bytes = 1;
  float pitch = 1, height = 1;
  float px_per_byte() const { return area.width() / static_cast<float>(row_bytes); }
  float x(double byte_in_row) const { return area.min.x + static_cast<float>(byte_in_row / row_bytes) * area.width(); }
  float top(std::size_t row) const { return area.min.y + pitch * static_cast<float>(row); }

  /// Calls `paint(rect, first, last)` for each line that [from, from + bytes) touches.
  template <class Paint>
  void each(double from, double bytes, const Paint& paint) const {
    const double end = from + bytes;
    for (std::size_t row = 0; row < rows; ++row) {
      const double row_from = begin[row], at = std::max(from, row_from), upto = std::min(end, begin[row + 1]);
      if (upto <= at && row_from >= end) return;
      if (upto > at)
        paint(Rect{{x(at - row_from), top(row)}, {x(upto - row_from), top(row) + height}}, at == from, upto >= end);
    }
  }
};

/// A line for each segment where there are never more than a few, and one for what is not reserved; else memory is cut
/// into lines of one length.
Page page_of(const Picture& picture, const StripState& strip, Rect area) {
  const auto& t = widgets::theme();
  Page page{.area = area};
  const auto fits = static_cast<std::size_t>(std::clamp(area.height() / t.px(26), 1.0f, static_cast<float>(max_rows)));
  const auto expands = [](const RangeSpan& r) { return r.expandable; };
  if (!picture.run->ranges.empty() && picture.run->ranges.size() + 1 <= std::min<std::size_t>(fits, 7) &&
      std::none_of(picture.run->ranges.begin(), picture.run->ranges.end(), expands)) {
    for (const RangeSpan& r : picture.run->ranges)
      page.row_bytes = std::max(page.row_bytes, static_cast<double>(r.bytes));
    page.rows = picture.run->ranges.size() + 1;
    const auto reserved = static_cast<double>(strip.reserved);
    for (std::size_t row = 0; row <= page.rows; ++row)
      page.begin[row] = row < strip.segments.size() ? static_cast<double>(strip.segments[row])
                        : row == strip.segments.size()
                            ? reserved
                            : std::min(picture.capacity_bytes, page.begin[row - 1] + page.row_bytes);
  } else {
    page.rows = fits;
    page.row_bytes = std::max(1.0, picture.capacity_bytes / static_cast<double>(page.rows));
    for (std::size_t row = 0; row <= page.rows; ++row) page.begin[row] = static_cast<double>(row) * page.row_bytes;
  }
  page.pitch = area.height() / static_cast<float>(page.rows);
  page.height = page.pitch - std::min(t.px(5), page.pitch * 0.25f);
  return page;
}

void paint_hole(const Painter& p, Rect r) {
  const auto& t = widgets::theme();
  p.rect(r.min, r.max, t.background);
  if (r.width() > t.px(3)) widgets::hatch(p, r, widgets::with_alpha(t.muted, 0.75f), t.px(5));
  p.frame(r.min, r.max, widgets::with_alpha(t.muted, 0.9f), 1);
}

/// Free bytes that empty_cache returns.
void paint_returnable(const Painter& p, Rect r) {
  const auto& t = widgets::theme();
  p.rect(r.min, r.max, t.background);
  p.rect(r.min, r.max, widgets::with_alpha(t.good, 0.22f));
  p.frame(r.min, r.max, t.good, t.px(1.5f));
}

void paint_piece(const Painter& p, const Picture& picture, const StripPiece& piece, Rect r) {
  const auto& t = widgets::theme();
  if (piece.kind == StripPiece::hole) {
    paint_hole(p, r);
    return;
  }
  if (piece.kind == StripPiece::whole) {
    paint_returnable(p, r);
    return;
  }
  const OwnerTint look = piece.owner < picture.tints.size() ? picture.tints[piece.owner] : OwnerTint();
  const ImU32 fill = widgets::vessel_colour(look.tint, look.pale, t);
  // A line of the ground tells neighbours apart where there is room for one.
  const float gap = r.width() > t.px(4) ? 1.0f : 0.0f;
  p.rect(r.min, {r.max.x - gap, r.max.y}, piece.kind == StripPiece::pending ? widgets::with_alpha(fill, 0.35f) : fill);
  if (piece.kind == StripPiece::pending) widgets::hatch(p, r, fill, t.px(5));
}

void paint_page(const Painter& p, const Picture& picture, const StripState& strip, const Page& page) {
  const auto& t = widgets::theme();
  for (std::size_t row = 0; row < page.rows; ++row)
    p.rect({page.area.min.x, page.top(row)},
           {page.x(page.begin[row + 1] - page.begin[row]), page.top(row) + page.height}, t.grid);
  const double least = 0.5 / static_cast<double>(page.px_per_byte());
  double painted = -1;
  for (const StripPiece& piece : strip.pieces) {
    const auto from = static_cast<double>(piece.from), bytes = static_cast<double>(piece.bytes);
    if (from + bytes < painted + least) continue;  // within the pixel before
    page.each(from, std::max(bytes, least), [&](Rect r, bool, bool) { paint_piece(p, picture, piece, r); });
    if (piece.kind == StripPiece::hole && piece.emptiable > 0)
      page.each(static_cast<double>(piece.emptiable_from), static_cast<double>(piece.emptiable),
                [&](Rect r, bool, bool) { paint_returnable(p, r); });
    painted = from + bytes;
  }
  for (const std::uint64_t s : strip.segments)
    page.each(static_cast<double>(s), least, [&](Rect r, bool first, bool) {
      if (first)
        p.line({r.min.x, r.min.y - t.px(2)}, {r.min.x, r.max.y + t.px(1)}, widgets::with_alpha(t.text, 0.55f), 1);
    });
  if (strip.largest > 0)
    page.each(static_cast<double>(strip.largest_from), static_cast<double>(strip.largest), [&](Rect r, bool, bool) {
      p.frame({r.min.x - t.px(1), r.min.y - t.px(1)}, {r.max.x + t.px(1), r.max.y + t.px(1)}, t.text, t.px(2));
    });
}

/// The request and the holes side by side, in the scale of the page.
struct Ruler {
  const Painter& p;
  const Picture& picture;
  const StripState& strip;
  Rect area;
  float scale = 1;       ///< pixels of a byte
  bool fails = false;    ///< a request of `picture.failed_bytes` has found no room
  bool smaller = false;  ///< on a smaller scale than the page
  float bar = 0, line = 0;

  float width_of(double bytes) const { return std::max(widgets::theme().px(2), static_cast<float>(bytes) * scale); }
};

Ruler ruler_of(const Painter& p, const Picture& picture, const StripState& strip, const Page& page, Rect area) {
  const auto& t = widgets::theme();
  Ruler r{.p = p, .picture = picture, .strip = strip, .area = area};
  r.fails = picture.failed_event >= 0 && strip.cursor >= picture.failed_event && picture.failed_bytes > 0;
  r.bar = t.px(16);
  r.line = t.type(Type::small);
  // In the scale of the page, unless the request or the holes would leave it.
  const double longest = std::max(static_cast<double>(strip.hole_bytes), r.fails ? 1.4 * picture.failed_bytes : 0.0);
  const float fitting = longest > 0 ? area.width() / static_cast<float>(longest) : page.px_per_byte();
  r.scale = std::min(page.px_per_byte(), fitting);
  r.smaller = r.scale < page.px_per_byte();
  return r;
}

/// Words and bytes behind a bar that ends at `x`, where they have room.
void paint_words_after(const Ruler& r, float x, float y, std::string_view words, double bytes, ImU32 ink) {
  const auto& t = widgets::theme();
  widgets::Line text;
  text.add(words).add(" ").add(bytes_text(bytes));
  const float wide = widgets::text_size(text.view(), Type::small).x;
  const float at = std::min(x + t.px(8), r.area.max.x - wide);
  if (at >= x) r.p.text({at, y + (r.bar - r.line) / 2 - t.px(1)}, text.view(), ink, Type::small);
}

/// What was asked for, and the largest hole beside it, so that both lengths compare.
void paint_request(const Ruler& r, float y) {
  const auto& t = widgets::theme();
  const float w = std::min(r.width_of(r.picture.failed_bytes), r.area.width()), left = r.area.min.x;
  r.p.rect({left, y}, {left + w, y + r.bar}, widgets::with_alpha(t.bad, 0.28f));
  r.p.frame({left, y}, {left + w, y + r.bar}, t.bad, t.px(1.5f));
  paint_words_after(r, left + w, y, "asked for:", r.picture.failed_bytes, t.bad);
  widgets::Line asked;
  asked.add("asked for: ").add(bytes_text(r.picture.failed_bytes));
  const auto largest = static_cast<double>(r.strip.largest);
  const float x = left + w + t.px(28) + widgets::text_size(asked.view(), Type::small).x, hole = r.width_of(largest);
  if (x + hole + t.px(140) >= r.area.max.x) return;
  paint_hole(r.p, {{x, y}, {x + hole, y + r.bar}});
  paint_words_after(r, x + hole, y, "largest hole:", largest, t.text);
}

/// All that is free end to end, the largest first: what empty_cache returns, then the holes, with a mark for each time
/// that the request would find room in them.
void paint_free(const Ruler& r, float y) {
  const auto& t = widgets::theme();
  float x = r.area.min.x;
  const auto run = [&](const std::vector<std::uint64_t>& list, const auto& paint) {
    for (const std::uint64_t bytes : list) {
      const float w = static_cast<float>(bytes) * r.scale, end = std::min(x + w, r.area.max.x);
      if (end > x) paint(r.p, Rect{{x, y}, {end, y + r.bar}});
      x += w;
      if (x >= r.area.max.x) return;
    }
  };
  run(r.strip.returns, paint_returnable);
  run(r.strip.holes, paint_hole);
  if (!r.fails) return;
  const float wide = std::min(x, r.area.max.x) - r.area.min.x, each = r.width_of(r.picture.failed_bytes);
  for (int k = 1; static_cast<float>(k) * each <= wide + 0.5f; ++k) {
    const float mark = r.area.min.x + static_cast<float>(k) * each;
    r.p.line({mark, y - t.px(3)}, {mark, y + r.bar + t.px(3)}, t.bad, t.px(1.5f));
  }
}

void paint_free_words(const Ruler& r, float y) {
  const StripState& strip = r.strip;
  widgets::Line words;
  if (strip.emptiable > 0) words.add("returnable: ").add(bytes_text(static_cast<double>(strip.emptiable))).add(", ");
  words.add_integer(static_cast<std::int64_t>(strip.holes.size()))
      .add(strip.holes.size() == 1 ? " hole: " : " holes: ")
      .add(bytes_text(static_cast<double>(strip.hole_bytes - strip.emptiable)));
  if (r.fails)
    words.add(strip.emptiable > 0 ? "; together " : ", ")
        .add(widgets::format(static_cast<double>(strip.hole_bytes) / r.picture.failed_bytes, ""))
        .add("\xC3\x97 what is asked for");
  if (r.fails && static_cast<double>(strip.hole_bytes) >= r.picture.failed_bytes) words.add(" (a mark each time)");
  if (strip.emptiable == 0) words.add("; empty_cache would return nothing");
  if (r.smaller) words.add("; on a smaller scale than above");
  widgets::fit_text(r.p, {r.area.min.x, y}, words.view(), r.area.width(), widgets::theme().muted, Type::small);
}

/// What the learner took for returnable, as a length of all that is free, whose bar begins at `y`.
void paint_guess(const Ruler& r, float y) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "emptiable_bytes") return;
  const auto& t = widgets::theme();
  const float wanted = r.area.min.x + static_cast<float>(guess->value) * r.scale;
  const float at = std::clamp(wanted, r.area.min.x, r.area.max.x);
  const widgets::Line said = widgets::guess_words(bytes_text(guess->value).view(), wanted > r.area.max.x);
  r.p.line({at, y - t.px(3)}, {at, y + r.bar + t.px(3)}, t.accent, t.px(2.5f));
  const float wide = widgets::text_size(said.view(), Type::small).x;
  widgets::paint_guess_words(r.p, {std::min(at + t.px(8), r.area.max.x - wide - t.px(4)), y + (r.bar - r.line) / 2},
                             said.view());
}

void paint_ruler(const Painter& p, const Picture& picture, const StripState& strip, const Page& page, Rect area) {
  const auto& t = widgets::theme();
  const Ruler r = ruler_of(p, picture, strip, page, area);
  float y = area.min.y;
  if (r.fails) {
    paint_request(r, y);
    y += r.bar + t.px(7);
  }
  if (y + r.bar > area.max.y || strip.hole_bytes == 0) return;
  paint_free(r, y);
  const float words = y + r.bar + t.px(3);
  if (words + r.line > area.max.y) return;
  paint_free_words(r, words);
  paint_guess(r, y);
}

void paint_key(const Painter& p, const Picture& picture, const StripState& strip, ImVec2 at, float right) {
  const auto& t = widgets::theme();
  const float sample = t.px(14), line = t.type(Type::small);
  const auto entry = [&](std::string_view words, const auto& paint) {
    const float wide = sample + t.px(6) + widgets::text_size(words, Type::small).x;
    if (at.x + wide > right) return;
    paint(Rect{{at.x, at.y + t.px(2)}, {at.x + sample, at.y + line}});
    p.text({at.x + sample + t.px(6), at.y}, words, t.muted, Type::small);
    at.x += wide + t.px(16);
  };
  for (std::size_t i = 0; i < picture.run->owners.size(); ++i) {
    const bool shown = std::any_of(picture.run->blocks.begin(), picture.run->blocks.end(),
                                   [&](const BlockSpan& b) { return b.owner == i; });
    if (shown)
      entry(picture.run->owners[i], [&](Rect r) {
        p.rect(r.min, r.max, widgets::vessel_colour(picture.tints[i].tint, picture.tints[i].pale, t));
      });
  }
  entry("hole: free, not returnable", [&](Rect r) { paint_hole(p, r); });
  if (strip.emptiable > 0) entry("returnable: free", [&](Rect r) { paint_returnable(p, r); });
  entry("not reserved", [&](Rect r) { p.rect(r.min, r.max, t.grid); });
  entry("segment begins", [&](Rect r) { p.line({r.min.x, r.min.y}, {r.min.x, r.max.y}, t.text, 1); });
}

void show_tip(const Picture& picture, const StripState& strip, const Page& page) {
  const ImVec2 mouse = ImGui::GetMousePos();
  const auto row = static_cast<std::int64_t>((mouse.y - page.area.min.y) / page.pitch);
  if (row < 0 || row >= static_cast<std::int64_t>(page.rows)) return;
  const auto line = static_cast<std::size_t>(row);
  const double byte =
      page.begin[line] + page.row_bytes * static_cast<double>((mouse.x - page.area.min.x) / page.area.width());
  if (byte >= page.begin[line + 1]) return;
  for (const StripPiece& piece : strip.pieces) {
    const auto from = static_cast<double>(piece.from);
    if (byte < from || byte >= from + static_cast<double>(piece.bytes)) continue;
    const bool block = piece.kind == StripPiece::block || piece.kind == StripPiece::pending;
    widgets::tip(block ? std::string_view(picture.run->owners[piece.owner]) : std::string_view("free"),
                 bytes_text(static_cast<double>(piece.bytes)),
                 piece.kind == StripPiece::pending ? "freed, but another stream may still read it"
                 : piece.emptiable == 0            ? "its segment has blocks in use, so empty_cache cannot return it"
                 : piece.kind == StripPiece::hole  ? "empty_cache returns its whole pages"
                 : piece.kind == StripPiece::whole ? "a segment of its own: empty_cache returns it"
                                                   : "in use");
    return;
  }
}

}  // namespace

void draw_strip(const Picture& picture, const StripState& strip, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect all = widgets::canvas("strip of memory", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const float line = t.type(Type::small), key = line + t.px(8),
              ruler = all.height() > t.px(190) ? 2 * t.px(16) + line + t.px(18) : 0.0f;
  paint_key(p, picture, strip, all.min, all.max.x);
  const Page page = page_of(picture, strip, {{all.min.x, all.min.y + key}, {all.max.x, all.max.y - ruler - t.px(4)}});
  paint_page(p, picture, strip, page);
  if (ruler > 0) paint_ruler(p, picture, strip, page, {{all.min.x, all.max.y - ruler + t.px(4)}, all.max});
  if (hovered) show_tip(picture, strip, page);
  if (!p.record()) return;
  widgets::DataTable table{"strip", {"from_bytes", "bytes", "what"}, {}};
  for (const StripPiece& piece : strip.pieces)
    table.rows.push_back({std::to_string(piece.from), std::to_string(piece.bytes),
                          piece.kind == StripPiece::block     ? picture.run->owners[piece.owner]
                          : piece.kind == StripPiece::pending ? picture.run->owners[piece.owner] + ", pending"
                          : piece.kind == StripPiece::whole   ? "free segment"
                                                              : "hole"});
  p.record()->tables.push_back(std::move(table));
}

}  // namespace chapters::framework::allocator
