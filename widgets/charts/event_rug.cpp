#include "widgets/charts/event_rug.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

constexpr float px_an_event = 3.0f;  ///< nearer than that, ticks run into each other

NumberText whole(double n) { return format(std::round(n), "", 12); }

/// What the header says, the longest wording first.
Line rug_words(const EventRugLayout& l, const EventRugOptions& o, int wording) {
  Line text;
  text.add(wording == 2 ? "" : o.label).add(wording == 2 ? "" : ": ").add(whole(static_cast<double>(l.inside)));
  if (wording == 0 && std::isfinite(l.expected))
    text.add(", ").add(format(l.expected, "", 3)).add(" ").add(o.expected_words);
  if (wording == 0 && l.outside > 0)
    text.add(", ").add(whole(static_cast<double>(l.outside))).add(" outside this range");
  if (wording == 0 && l.dense)
    text.add("; bars of ").add(format(l.bin_width, o.unit)).add(", at most ").add(whole(static_cast<double>(l.most)));
  return text;
}

void tip_rug(const EventRugLayout& l, std::span<const double> events, const EventRugOptions& o, float x) {
  Line value;
  if (l.dense) {
    const auto bin =
        std::find_if(l.bins.begin(), l.bins.end(), [&](const EventBin& b) { return x >= b.from && x < b.to; });
    if (bin == l.bins.end()) return;
    value.add(whole(static_cast<double>(bin->count))).add(" from ");
    value.add(format(l.map.value(static_cast<double>(bin->from)), o.unit, 4)).add(" to ");
    value.add(format(l.map.value(static_cast<double>(bin->to)), o.unit, 4));
    if (std::isfinite(o.expected_per_unit))
      value.add(", ").add(format(o.expected_per_unit * l.bin_width, "")).add(" ").add(o.expected_words);
    tip(o.label, value.view());
    return;
  }
  double best = 0, nearest = 8.0 * static_cast<double>(theme().scale);
  bool any = false;
  for (const double e : events) {
    if (!std::isfinite(e)) continue;
    const double away = std::abs(l.map.pixel(e) - static_cast<double>(x));
    if (!(away <= nearest)) continue;
    nearest = away;
    best = e;
    any = true;
  }
  if (any) tip(o.label, value.add("at ").add(format(best, o.unit, 5)).view());
}

}  // namespace

void layout_event_rug(std::span<const double> events, const EventRugOptions& o, Rect area, EventRugLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  out.ticks.clear();
  out.bins.clear();
  out.inside = out.outside = out.most = 0;
  out.expected_y = 0;
  double lo = 0, hi = 0;
  bool any = false;
  for (const double e : events) {
    if (!std::isfinite(e)) continue;
    lo = any ? std::min(lo, e) : e;
    hi = any ? std::max(hi, e) : e;
    any = true;
  }
  if (std::isfinite(o.lo)) lo = o.lo;
  if (std::isfinite(o.hi)) hi = o.hi;
  out.axis_lines = o.axis ? row_axis_lines(area.height() - small - t.px(5), t.px(12), !o.axis_label.empty()) : 0;
  const float foot = row_axis_height(out.axis_lines);
  const float ends = o.axis ? small * 1.8f : t.px(1);  // the labels at both ends of the axis stand within the area
  out.strip = {{area.min.x + std::max(o.left_px, ends), area.min.y + small + t.px(5)},
               {area.max.x - std::max(o.right_px, ends), area.max.y - foot}};
  out.strip.max.x = std::max(out.strip.max.x, out.strip.min.x + 1);
  out.strip.max.y = std::max(out.strip.max.y, out.strip.min.y + 1);
  out.range = sane_range(AxisKind::linear, {lo, hi});
  out.map =
      AxisMap(AxisKind::linear, out.range, static_cast<double>(out.strip.min.x), static_cast<double>(out.strip.max.x));
  const auto within = [&](double e) { return e >= out.range.lo && e <= out.range.hi; };
  for (const double e : events)
    if (std::isfinite(e)) ++(within(e) ? out.inside : out.outside);
  const float width = out.strip.width();
  out.dense = static_cast<float>(out.inside) * px_an_event > width;
  const double span = out.range.hi - out.range.lo;
  out.expected = o.expected_per_unit * span;
  out.bin_width = 0;
  if (!out.dense) {
    for (const double e : events)
      if (within(e)) out.ticks.push_back(static_cast<float>(out.map.pixel(e)));
    return;
  }
  const auto count = static_cast<std::size_t>(std::max(1.0f, std::floor(width / t.px(6))));
  out.bin_width = span / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i)
    out.bins.push_back({out.strip.min.x + width * static_cast<float>(i) / static_cast<float>(count),
                        out.strip.min.x + width * static_cast<float>(i + 1) / static_cast<float>(count)});
  for (const double e : events)
    if (within(e))
      ++out.bins[std::min(static_cast<std::size_t>((e - out.range.lo) / span * static_cast<double>(count)), count - 1)]
            .count;
  for (const EventBin& b : out.bins) out.most = std::max(out.most, b.count);
  const double expected = o.expected_per_unit * out.bin_width;
  // An expectation up to twice the fullest bin sets the height; one far above it would flatten all bars.
  const double top =
      std::max(static_cast<double>(out.most), expected <= 2 * static_cast<double>(out.most) ? expected * 1.05 : 0.0);
  const auto y = [&](double n) {
    return out.strip.max.y - out.strip.height() * static_cast<float>(n / std::max(top, 1.0));
  };
  for (EventBin& b : out.bins) b.top = y(static_cast<double>(b.count));
  if (expected >= 0 && expected <= top) out.expected_y = y(expected);
}

void draw_event_rug(const char* label, std::span<const double> events, EventRugView& view, const EventRugOptions& o) {
  const Theme& t = theme();
  const Rect area =
      canvas(label, {o.size.x, o.size.y > 0 ? o.size.y : t.px(o.axis ? 84.0f : 56.0f)}, {t.px(40), t.px(24)});
  const bool hovered = ImGui::IsItemHovered();
  EventRugLayout& l = view.layout;
  layout_event_rug(events, o, area, l);
  const Painter painter = Painter::window();
  if (Record* record = painter.record()) {
    DataTable table{label, {o.axis_label.empty() ? "event" : std::string(o.axis_label)}, {}};
    for (const double e : events) table.rows.push_back({exact(e)});
    record->tables.push_back(std::move(table));
  }
  if (l.inside + l.outside == 0) {
    Line none;
    paint_nothing(painter, area, none.add("No ").add(o.label).add(".").view());
    return;
  }
  if (o.axis)
    paint_row_axis(painter, {.label = o.axis_label, .unit = o.unit}, l.range, l.map, l.strip, area, l.axis_lines);
  const ImU32 ink = colour(o.tint, t);
  for (int wording = 0; wording < 3; ++wording)
    if (paint_whole(painter, {l.strip.min.x, area.min.y}, rug_words(l, o, wording).view(), area.max.x - l.strip.min.x,
                    t.muted))
      break;
  painter.line({l.strip.min.x, l.strip.max.y}, {l.strip.max.x, l.strip.max.y}, t.line);
  for (const float x : l.ticks) painter.line({x, l.strip.min.y}, {x, l.strip.max.y}, ink, t.px(1.2f));
  for (const EventBin& b : l.bins)
    if (b.count > 0) painter.rect({b.from, b.top}, {std::max(b.to - 1, b.from + 1), l.strip.max.y}, ink);
  if (l.expected_y > 0)
    painter.dashed_line({l.strip.min.x, l.expected_y}, {l.strip.max.x, l.expected_y}, t.text, t.px(1.4f));
  if (hovered) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (l.strip.contains(mouse)) tip_rug(l, events, o, mouse.x);
  }
}

}  // namespace widgets
