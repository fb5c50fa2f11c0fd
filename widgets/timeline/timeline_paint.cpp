#include <algorithm>
#include <array>
#include <cmath>

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

void paint_block(const TimelineFrame& f, const Painter& painter, const TimelineBlock& b, float y, Palette& palette,
                 float letter_px) {
  const Theme& t = theme();
  palette.need(b.tint);
  const ImU32 fill = palette.fills[b.tint.code];
  // Narrower than a pixel still shows; a hairline keeps wide neighbours apart.
  const float x1 = std::max(b.x0 + 1.0f, b.x1 - (b.x1 - b.x0 > 4.0f ? 1.0f : 0.0f));
  const ImVec2 min{b.x0, y}, max{std::min(x1, f.lanes.max.x), y + f.row_px};
  const float rounding = x1 - b.x0 > t.px(8) ? t.px(2) : 0.0f;
  if (b.count > 1) {
    painter.rect(min, max, with_alpha(fill, 0.35f + 0.65f * static_cast<float>(std::clamp(b.density(), 0.0, 1.0))));
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
      if (named)
        paint_name(painter, b, cursor_x, y, name(), palette.texts[b.tint.code], letter_px, f.row_px,
                   f.options.initials);
      break;
    case TimelineMark::pale:
      painter.rect(min, max, with_alpha(fill, 0.25f), rounding);
      if (named) paint_name(painter, b, cursor_x, y, name(), t.text, letter_px, f.row_px, f.options.initials);
      break;
    case TimelineMark::hatched:
      painter.rect(min, max, with_alpha(fill, 0.25f), rounding);
      hatch(painter, {min, max}, with_alpha(fill, 0.8f), t.px(5));
      break;
    case TimelineMark::dot:
      painter.circle({b.x0, y + f.row_px / 2}, f.row_px * 0.3f, fill);
      break;
    case TimelineMark::callout:
      painter.rect(min, max, with_alpha(fill, 0.16f), rounding);
      painter.frame(min, max, fill, 1.0f, rounding);
      if (named) paint_name(painter, b, cursor_x, y, name(), t.text, letter_px, f.row_px, f.options.initials);
      break;
  }
}

void paint_label(const TimelineFrame& f, const Painter& painter, std::size_t i) {
  const Theme& t = theme();
  const TimelineLane& lane = f.data.lanes[i];
  const float x = f.area.min.x + t.px(14) * static_cast<float>(std::min(lane.indent, 4u)),
              width = f.lanes.min.x - t.px(8) - x;
  float y = f.lane_top(i) + std::max(0.0f, (f.row_px - t.type(Type::body)) / 2);
  if (f.index.lanes[i].rows.empty() && !lane.counters.empty()) y = f.lane_top(i) + f.view.scratch.lanes[i].counters;
  fit_text(painter, {x, y}, lane.label, width, t.text);
  fit_text(painter, {x, y + t.type(Type::body) + t.px(1)}, lane.sublabel, width, t.muted, Type::small);
}

}  // namespace

void paint_timeline_lane(const TimelineFrame& f, const Painter& painter, std::size_t i) {
  const Theme& t = theme();
  const auto& placed = f.view.scratch.lanes[i];
  const std::size_t rows = f.index.lanes[i].rows.size();
  const float letter_px = text_size("0", Type::small, Font::mono).x;
  for (std::size_t r = 0; r < rows; ++r) {
    const float y = f.row_top(i, r);
    if (y < f.lanes.max.y && y + f.row_px > f.lanes.min.y)
      painter.rect({f.lanes.min.x, y}, {f.lanes.max.x, y + f.row_px}, with_alpha(t.card, 0.6f), t.px(2));
  }
  Palette palette;
  for (const TimelineBlock& b : std::span(f.view.scratch.blocks).subspan(placed.first_block, placed.blocks))
    paint_block(f, painter, b, f.row_top(i, b.row), palette, letter_px);
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
    layout_counter(c.points, f.viewport, c.steps, low, high, top + t.px(4), bottom - t.px(1), s.vertices,
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

void paint_timeline_links(const TimelineFrame& f, const Painter& painter) {
  const Theme& t = theme();
  const double first_s = f.viewport.start_s - static_cast<double>(f.index.longest_link_ns) * 1e-9;
  const double last_s = f.viewport.start_s + f.viewport.duration_s;
  const auto start_s = [&](std::size_t position) {
    const auto times = link_times(f.data, f.data.links[f.index.link_at(position)]);
    return times ? f.viewport.since_origin_s(times->first_ns) : 0.0;
  };
  const std::size_t begin = first_place(0, f.index.link_count, [&](std::size_t i) { return start_s(i) >= first_s; });
  const std::size_t end = first_place(begin, f.index.link_count, [&](std::size_t i) { return start_s(i) > last_s; });
  constexpr std::size_t most = 600;  // more arrows than this hide the spans
  const std::size_t stride = std::max<std::size_t>(1, (end - begin + most - 1) / most);
  // Many arrows are a texture behind the spans' names; few are meant to be followed.
  constexpr float easily_followed = 60;
  const float crowd = std::min(
      1.0f, std::max(0.2f, easily_followed / static_cast<float>(std::max<std::size_t>(1, (end - begin) / stride))));
  for (std::size_t i = begin; i < end; i += stride) {
    const TimelineLink l = f.data.links[f.index.link_at(i)];
    const TimelineSpan from = f.data.lanes[l.from_lane].spans[l.from_span],
                       to = f.data.lanes[l.to_lane].spans[l.to_span];
    const float from_y = f.row_top(l.from_lane, f.index.lanes[l.from_lane].row_of(from.depth));
    const float to_y = f.row_top(l.to_lane, f.index.lanes[l.to_lane].row_of(to.depth));
    // From edge to edge, so that an arrow lies between its spans and not on them; within a row, through the middle of
    // the gap.
    const float way = to_y > from_y ? 1.0f : to_y < from_y ? -1.0f : 0.0f, half = f.row_px / 2;
    const ImVec2 a{f.viewport.x_of(from.end_ns()), from_y + half + way * half},
        b{f.viewport.x_of(to.start_ns), to_y + half - way * half};
    if (std::max(a.x, b.x) < f.lanes.min.x || std::min(a.x, b.x) > f.lanes.max.x) continue;
    if (std::abs(a.x - b.x) > 2e4f) continue;
    const auto is = [&](std::uint32_t lane, std::uint32_t span) {
      return f.view.selected == TimelineSelection{lane, span};
    };
    const bool strong = is(l.from_lane, l.from_span) || is(l.to_lane, l.to_span);
    const ImU32 ink = with_alpha(strong ? t.accent : t.muted, strong ? 1.0f : 0.75f * crowd);
    std::array<ImVec2, 13> curve;
    for (std::size_t k = 0; k < curve.size(); ++k) {
      const float u = static_cast<float>(k) / static_cast<float>(curve.size() - 1), e = u * u * (3 - 2 * u);
      curve[k] = {a.x + (b.x - a.x) * e, a.y + (b.y - a.y) * u};
    }
    painter.polyline(curve, ink, strong ? t.px(2) : t.px(1));
    if (!strong && crowd < 0.5f) continue;
    const float head = t.px(strong ? 6 : 5), sign = way != 0 ? way : b.x >= a.x ? 1.0f : -1.0f;
    const ImVec2 back = way != 0 ? ImVec2{b.x, b.y - sign * head} : ImVec2{b.x - sign * head, b.y};
    const ImVec2 side = way != 0 ? ImVec2{head * 0.6f, 0} : ImVec2{0, head * 0.6f};
    const ImVec2 arrow[] = {b, {back.x - side.x, back.y - side.y}, {back.x + side.x, back.y + side.y}};
    painter.polygon(arrow, ink);
  }
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
  for (std::size_t i = 0; i < lanes; ++i) {
    if (!f.lane_shown(i)) continue;
    paint_timeline_lane(f, painter, i);
    paint_timeline_counters(f, painter, i);
  }
  paint_timeline_links(f, painter);
  painter.unclip();
  paint_timeline_cursor(f, painter);
}

}  // namespace widgets
