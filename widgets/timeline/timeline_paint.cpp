#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/base/shorten.h"
#include "widgets/number/number.h"
#include "widgets/timeline/timeline_frame.h"

namespace widgets {
namespace {

/// Fill and text of each tint, worked out at most once a lane: the contrast rule costs too much to ask for every block.
struct Palette {
  std::array<ImU32, 256> fills{}, texts{};
  std::array<bool, 256> known{};

  void need(Tint tint) {
    if (known[tint.code]) return;
    known[tint.code] = true;
    fills[tint.code] = colour(tint, theme());
    texts[tint.code] = text_on(fills[tint.code], theme());
  }
};

/// Names in a mono face: how many letters fit is a division, so ten thousand blocks cost no measuring.
void paint_name(const Painter& painter, const TimelineBlock& whole, float cursor_x, float y, std::string_view name,
                ImU32 text, float letter_px, float height, bool initials) {
  TimelineBlock b = whole;
  // On the roomier side of the cursor's line, which goes through the block.
  if (cursor_x > b.x0 && cursor_x < b.x1) (cursor_x - b.x0 > b.x1 - cursor_x ? b.x1 : b.x0) = cursor_x;
  const float room = b.x1 - b.x0 - theme().px(4);
  if (!(room >= letter_px) || name.empty()) return;
  const auto fits = static_cast<std::size_t>(room / letter_px);
  const ImVec2 left{b.x0 + theme().px(4), y + (height - theme().type(Type::small)) / 2};
  if (name.size() <= fits) {
    painter.text({(b.x0 + b.x1) / 2, left.y}, name, text, Type::small, Font::mono, Align::center);
  } else if (fits >= 4) {
    std::size_t keep = fits - 1;
    while (keep > 0 && (static_cast<unsigned char>(name[keep]) & 0xC0) == 0x80) --keep;
    painter.text(left, Line().add(name.substr(0, keep)).add("\xE2\x80\xA6").view(), text, Type::small, Font::mono);
  } else if (initials) {
    std::size_t keep = fits;
    while (keep > 0 && (static_cast<unsigned char>(name[keep]) & 0xC0) == 0x80) --keep;
    painter.text({(b.x0 + b.x1) / 2, left.y}, name.substr(0, keep), text, Type::small, Font::mono, Align::center);
  }
}

/// Pixels of a row around a block in which nothing else stands.
struct FreeRow {
  float from = 0, to = 0;
};

/// A name between a narrow gap and a wide one would be read as the wide one's: the narrow one leaves it that room.
bool leaves_room(std::span<const TimelineBlock> blocks, std::size_t k) {
  if (k + 1 >= blocks.size() || blocks[k + 1].row != blocks[k].row) return false;
  const TimelineBlock &b = blocks[k], &next = blocks[k + 1];
  return b.mark == TimelineMark::hatched && next.mark == TimelineMark::hatched && next.count == 1 &&
         next.x1 - next.x0 > 2 * (b.x1 - b.x0);
}

/// What a gap says, on a plate that its hatching does not reach: all of it or its first two words ("3.4 ms"), for a
/// number is never cut; inside it or, where the row is free, right after it or else, when it is no hairline, right
/// before it.
void paint_gap_name(const TimelineFrame& f, const Painter& painter, const TimelineBlock& b, float y,
                    std::string_view name, float letter_px, FreeRow row) {
  const Theme& t = theme();
  const auto width_of_name = [&](std::string_view s) {
    return static_cast<float>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; })) * letter_px;
  };
  const std::size_t one = name.find(' '), two = one == std::string_view::npos ? one : name.find(' ', one + 1);
  std::string_view brief = name.substr(0, std::min(two, name.size()));
  while (!brief.empty() && (brief.back() == ',' || brief.back() == ':')) brief.remove_suffix(1);
  const float inside = b.x1 - b.x0 - t.px(8), after = row.to - b.x1 - t.px(8), before = b.x0 - row.from - t.px(8);
  const bool fits = width_of_name(name) <= inside, beside = !fits && width_of_name(name) <= after;
  const std::string_view said = fits || beside ? name : brief;
  const float width = width_of_name(said);
  const bool brief_inside = !beside && width <= inside;
  const bool behind = !beside && !brief_inside && width > after;
  if (said.empty() || (behind && (width > before || b.x1 - b.x0 < t.px(6)))) return;
  const float left = brief_inside ? (b.x0 + b.x1 - width) / 2 : behind ? b.x0 - t.px(5) - width : b.x1 + t.px(5);
  const float top = y + (f.row_px - t.type(Type::small)) / 2;
  if (brief_inside) painter.rect({left - t.px(3), y + 1}, {left + width + t.px(3), y + f.row_px - 1}, t.panel, t.px(2));
  painter.text({left, top}, said, t.text, Type::small, Font::mono);
}

/// Neighbours in one: where there are waits among them, the work stands at the bottom, as high as its share of the
/// time, and the waits above it; where there are none, the share is in how strong the colour is.
void paint_fold(const Painter& painter, const TimelineBlock& b, ImVec2 min, ImVec2 max, Palette& palette) {
  const auto work = static_cast<float>(std::clamp(b.density(), 0.0, 1.0));
  const ImU32 fill = palette.fills[b.tint.code];
  if (b.wait_ns <= 0) {
    painter.rect(min, max, with_alpha(fill, 0.35f + 0.65f * work));
    return;
  }
  palette.need(b.wait_tint);
  const float height = max.y - min.y, split = max.y - work * height;
  const auto wait = static_cast<float>(std::clamp(b.wait_share(), 0.0, 1.0));
  if (work > 0) painter.rect({min.x, split}, max, fill);
  painter.rect({min.x, std::max(min.y, split - wait * height)}, {max.x, split},
               with_alpha(palette.fills[b.wait_tint.code], 0.4f));
}

void paint_block(const TimelineFrame& f, const Painter& painter, const TimelineBlock& b, float y, Palette& palette,
                 float letter_px, FreeRow row) {
  const Theme& t = theme();
  palette.need(b.tint);
  const ImU32 fill = palette.fills[b.tint.code];
  // Narrower than a pixel still shows; a hairline keeps wide neighbours apart.
  const float x1 = std::max(b.x0 + 1.0f, b.x1 - (b.x1 - b.x0 > 4.0f ? 1.0f : 0.0f));
  const ImVec2 min{b.x0, y}, max{std::min(x1, f.lanes.max.x), y + f.row_px};
  const float rounding = x1 - b.x0 > t.px(8) ? t.px(2) : 0.0f;
  if (b.count > 1) {
    paint_fold(painter, b, min, max, palette);
    return;
  }
  const auto name = [&] {
    const std::uint32_t id = f.data.lanes[b.lane].spans[b.first].name;
    return f.data.name ? f.data.name(f.data.context, id) : std::string_view{};
  };
  const float cursor_x = f.options.cursor ? f.viewport.x_of_s(f.view.cursor_s) : -1e9f;
  const bool named = b.x1 - b.x0 >= letter_px + t.px(4);
  switch (b.mark) {
    case TimelineMark::solid:
      painter.rect(min, max, fill, rounding);
      // Ink for the block's colour: letters that are taller than the block would be lost on the ground.
      if (named && f.row_px >= 0.9f * t.type(Type::small))
        paint_name(painter, b, cursor_x, y, name(), palette.texts[b.tint.code], letter_px, f.row_px,
                   f.options.initials);
      break;
    case TimelineMark::pale:
      // A line to a cause passes beneath: a name on a ground that lets it through would be struck through.
      painter.rect(min, max, t.card, rounding);
      painter.rect(min, max, with_alpha(fill, 0.25f), rounding);
      if (named) paint_name(painter, b, cursor_x, y, name(), t.text, letter_px, f.row_px, f.options.initials);
      break;
    case TimelineMark::hatched:
      painter.rect(min, max, with_alpha(fill, 0.25f), rounding);
      // Idle is nearly the colour of the ground; its hatching must be seen all the same.
      hatch(painter, {min, max}, contrast(fill, t.panel) < 2.0 ? t.muted : with_alpha(fill, 0.8f), t.px(5));
      paint_gap_name(f, painter, b, y, name(), letter_px, row);
      break;
    case TimelineMark::dot:
      painter.circle({b.x0, y + f.row_px / 2}, f.row_px * 0.3f, fill);
      break;
    case TimelineMark::callout:
      painter.rect(min, max, t.card, rounding);
      painter.rect(min, max, with_alpha(fill, 0.16f), rounding);
      painter.frame(min, max, fill, 1.0f, rounding);
      if (named) paint_name(painter, b, cursor_x, y, name(), t.text, letter_px, f.row_px, f.options.initials);
      break;
  }
}

/// What does not fit goes without the folders that it shares with a neighbour, as few as must go, then without all that
/// it shares, and then is cut in the middle.
Line lane_label(const TimelineFrame& f, std::size_t i, float width) {
  const std::string_view label = f.data.lanes[i].label;
  const Type type = label_type(f.options);
  if (label.empty() || text_size(label, type).x <= width) return Line().add(label);
  std::size_t shared = 0;
  if (i > 0) shared = common_prefix(label, f.data.lanes[i - 1].label);
  if (i + 1 < f.data.lanes.size()) shared = std::max(shared, common_prefix(label, f.data.lanes[i + 1].label));
  if (shared >= label.size()) return shorten_middle(label, width, type);
  for (std::size_t cut = 1; cut <= shared; ++cut)
    if (label[cut - 1] == '/' && text_size(label.substr(cut), type).x <= width) return Line().add(label.substr(cut));
  return shorten_middle(label.substr(shared), width, type);
}

bool caret_open(const TimelineFrame& f, std::size_t i) {
  const bool turned = i < f.view.folded.size() && f.view.folded[i] != 0;
  return (timeline_caret(f.data, f.index, f.options, i) == TimelineCaret::group) != turned;
}

void paint_caret(const Painter& painter, ImVec2 c, bool open) {
  const Theme& t = theme();
  const float r = t.px(4);
  const ImVec2 down[] = {{c.x - r, c.y - r * 0.5f}, {c.x + r, c.y - r * 0.5f}, {c.x, c.y + r * 0.8f}};
  const ImVec2 right[] = {{c.x - r * 0.5f, c.y - r}, {c.x - r * 0.5f, c.y + r}, {c.x + r * 0.8f, c.y}};
  painter.polygon(open ? std::span<const ImVec2>(down) : std::span<const ImVec2>(right), t.muted);
}

void paint_label(const TimelineFrame& f, const Painter& painter, std::size_t i) {
  const Theme& t = theme();
  const TimelineLane& lane = f.data.lanes[i];
  const Type type = label_type(f.options);
  const bool caret = timeline_caret(f.data, f.index, f.options, i) != TimelineCaret::none;
  const float x = f.area.min.x + t.px(14) * static_cast<float>(std::min(lane.indent, 4u)) + (caret ? t.px(13) : 0.0f),
              width = f.lanes.min.x - t.px(8) - x;
  float y = f.lane_top(i) + std::max(0.0f, (f.row_px - t.type(type)) / 2);
  if (f.index.lanes[i].rows.empty() && !lane.counters.empty()) y = f.lane_top(i) + f.view.scratch.lanes[i].counters;
  if (caret) paint_caret(painter, {x - t.px(8), y + t.type(type) / 2}, caret_open(f, i));
  painter.text({x, y}, lane_label(f, i, width).view(), t.text, type);
  painter.text({x, y + t.type(type) + t.px(1)}, shorten_middle(lane.sublabel, width, Type::small).view(), t.muted,
               Type::small);
}

}  // namespace

void paint_timeline_rows(const TimelineFrame& f, const Painter& painter, std::size_t i) {
  const Theme& t = theme();
  const std::size_t rows = f.index.lanes[i].rows.size();
  for (std::size_t r = f.view.scratch.lanes[i].wrappers; r < rows; ++r) {
    const float y = f.row_top(i, r);
    if (y < f.lanes.max.y && y + f.row_px > f.lanes.min.y)
      painter.rect({f.lanes.min.x, y}, {f.lanes.max.x, y + f.row_px}, with_alpha(t.card, 0.6f), t.px(2));
  }
}

void paint_timeline_lane(const TimelineFrame& f, const Painter& painter, std::size_t i) {
  const Theme& t = theme();
  const auto& placed = f.view.scratch.lanes[i];
  const float letter_px = text_size("0", Type::small, Font::mono).x;
  Palette palette;
  const auto blocks = std::span(f.view.scratch.blocks).subspan(placed.first_block, placed.blocks);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const bool first = k == 0 || blocks[k - 1].row != blocks[k].row,
               last = k + 1 == blocks.size() || blocks[k + 1].row != blocks[k].row;
    // Only a single gap writes beside itself.
    const bool bare = !first && (blocks[k - 1].mark != TimelineMark::hatched || blocks[k - 1].count > 1 ||
                                 leaves_room(blocks, k - 1));
    const FreeRow row{first  ? f.lanes.min.x
                      : bare ? blocks[k - 1].x1
                             : blocks[k].x0,
                      leaves_room(blocks, k) ? blocks[k].x1
                      : last                 ? f.lanes.max.x
                                             : blocks[k + 1].x0};
    paint_block(f, painter, blocks[k], f.row_top(i, blocks[k].row), palette, letter_px, row);
  }
  const TimelineSelection marked[] = {f.view.selected, f.events.hovered};
  for (const TimelineSelection& m : marked) {
    if (m.lane != static_cast<std::int64_t>(i) || m.span < 0 ||
        static_cast<std::size_t>(m.span) >= f.data.lanes[i].spans.size())
      continue;
    const TimelineSpan s = f.data.lanes[i].spans[static_cast<std::size_t>(m.span)];
    const float x0 = f.viewport.x_of(s.start_ns), x1 = std::max(x0 + 2.0f, f.viewport.x_of(s.end_ns()));
    const float y = f.row_top(i, f.index.lanes[i].row_of(s.depth));
    if (x1 >= f.lanes.min.x && x0 <= f.lanes.max.x)
      painter.frame({std::max(x0, f.lanes.min.x - 2), y}, {std::min(x1, f.lanes.max.x + 2), y + f.row_px},
                    &m == &marked[0] ? t.text : t.muted, &m == &marked[0] ? t.px(2) : t.px(1), t.px(2));
  }
}

void paint_timeline_counters(const TimelineFrame& f, const Painter& painter, std::size_t i) {
  const Theme& t = theme();
  const TimelineLane& lane = f.data.lanes[i];
  if (lane.counters.empty()) return;
  const auto [low, high] = f.index.scales[i];
  const float top = f.lane_top(i) + f.view.scratch.lanes[i].counters, bottom = top + f.counter_px;
  painter.frame({f.lanes.min.x, top}, {f.lanes.max.x, bottom}, t.line);
  TimelineScratch& s = f.view.scratch;
  for (std::size_t n = 0; n < lane.counters.size(); ++n) {
    const TimelineCounter& c = lane.counters[n];
    layout_counter(c.points, f.viewport, {c.steps, low, high, top + t.px(4), bottom - t.px(1)}, s.vertices,
                   f.index.counters[i][n]);
    s.points.clear();
    for (const TimelineVertex& v : s.vertices) s.points.push_back({v.x, v.y});
    const ImU32 line = colour(c.tint, t);
    if (c.area) {
      s.floor.clear();
      for (const ImVec2& v : s.points) s.floor.push_back({v.x, bottom});
      painter.band(s.points, s.floor, with_alpha(line, 0.25f));
    }
    painter.polyline(s.points, line, t.px(1.5f));
  }
  for (const TimelineCounter& c : lane.counters) {
    if (!std::isfinite(c.capacity)) continue;
    const double share = (c.capacity - low) / (high - low);
    const float y = bottom - t.px(1) + static_cast<float>(share) * (top + t.px(4) - bottom + t.px(1));
    painter.dashed_line({f.lanes.min.x, y}, {f.lanes.max.x, y}, t.muted, t.px(1.5f), t.px(5));
    // A strip that is hardly higher than the words has the line alone; its hover says the rest.
    if (f.counter_px < 2 * t.type(Type::small)) continue;
    Line text;
    text.add("capacity ").add(format(c.capacity, c.unit));
    const float w = text_size(text.view(), Type::small, Font::mono).x;
    painter.rect({f.lanes.min.x + t.px(2), y + t.px(1)},
                 {f.lanes.min.x + t.px(6) + w, y + t.type(Type::small) + t.px(2)}, with_alpha(t.background, 0.8f));
    painter.text({f.lanes.min.x + t.px(4), y + t.px(1)}, text.view(), t.muted, Type::small, Font::mono);
  }
  if (std::isfinite(lane.counters[0].scale_to)) return;
  // The scale's ends, on a patch of background so that no line crosses them.
  const auto end_label = [&, unit = lane.counters[0].unit](double value, float y) {
    const NumberText text = format(value, unit);
    const float w = text_size(text, Type::small, Font::mono).x;
    painter.rect({f.lanes.max.x - w - t.px(6), y}, {f.lanes.max.x - t.px(1), y + t.type(Type::small) + t.px(1)},
                 with_alpha(t.background, 0.8f));
    painter.text({f.lanes.max.x - t.px(3), y}, text, t.muted, Type::small, Font::mono, Align::right);
  };
  end_label(high, top + t.px(2));
  if (f.counter_px > 3 * t.type(Type::small)) end_label(low, bottom - t.type(Type::small) - t.px(3));
}

void paint_timeline(const TimelineFrame& f, const Painter& painter) {
  const Theme& t = theme();
  const std::size_t lanes = f.data.lanes.size();
  if (lanes == 0) {
    fit_text(painter, {f.area.min.x + t.px(8), f.area.min.y + t.px(8)}, "Nothing to show: there are no lanes.",
             f.area.width() - t.px(16), t.muted);
    return;
  }
  paint_timeline_ruler(f, painter);
  painter.clip({f.area.min.x, f.lanes.min.y}, f.area.max);
  for (std::size_t i = 0; i < lanes; ++i)
    if (f.lane_shown(i)) paint_label(f, painter, i);
  painter.unclip();
  painter.clip(f.lanes.min, f.lanes.max);
  for (std::size_t i = 0; i < lanes; ++i)
    if (f.lane_shown(i)) paint_timeline_rows(f, painter, i);
  paint_timeline_links(f, painter);  // beneath the spans, so that no arrow crosses a name
  paint_timeline_causes(f, painter);
  for (std::size_t i = 0; i < lanes; ++i) {
    if (!f.lane_shown(i)) continue;
    paint_timeline_lane(f, painter, i);
    paint_timeline_counters(f, painter, i);
  }
  paint_timeline_thread(f, painter);
  paint_timeline_reference(f, painter);
  painter.unclip();
  paint_timeline_cursor(f, painter);
  if (f.view.scratch.legend_height > 0)
    paint_legend(painter, {f.lanes.min.x, f.lanes.max.y + t.px(4)}, f.area.max.x - f.lanes.min.x, f.view.scratch.legend,
                 f.view.scratch.legend_placed);
}

}  // namespace widgets
