#include "widgets/charts/stacked_bar.h"

#include <algorithm>
#include <cmath>

#include "widgets/plot/plot_reference.h"

namespace widgets {
namespace {

float needed_height(std::size_t bars, const StackedBarOptions& o) {
  const Theme& t = theme();
  if (o.vertical) return t.px(240);
  const float fixed = t.type(Type::small) * 4 + t.px(30);
  return fixed + static_cast<float>(std::max<std::size_t>(bars, 1)) * t.px(o.bar_px + 12);
}

void paint_piece(const Painter& painter, const BarPiece& piece, const BarSegment& s, std::string_view unit,
                 bool selected) {
  const Theme& t = theme();
  const ImU32 fill = colour(s.tint, t), ink = text_on(fill, t);
  // A hairline of background keeps neighbours of like colour apart.
  const ImVec2 max{piece.rect.max.x - (piece.rect.width() > 3 ? 1.0f : 0.0f),
                   piece.rect.max.y - (piece.rect.height() > 3 ? 1.0f : 0.0f)};
  painter.rect(piece.rect.min, max, s.hatched ? with_alpha(fill, 0.55f) : fill, t.px(2));
  if (s.hatched) hatch(painter, {piece.rect.min, max}, with_alpha(t.background, 0.5f), t.px(6));
  if (selected) painter.frame(piece.rect.min, max, t.text, t.px(2), t.px(2));
  const float x = piece.caption_centre.x, y = piece.caption_centre.y - t.type(Type::small) / 2;
  const ImU32 on = s.hatched ? t.text : ink;
  const char mark = letter(s.tint, t);
  Line text;
  switch (piece.caption) {
    case BarCaption::none:
      return;
    case BarCaption::letter:
      text.add({&mark, 1});
      break;
    case BarCaption::value:
      text.add(format(s.value, unit));
      break;
    case BarCaption::name:
      text.add(s.label);
      break;
    case BarCaption::name_and_value:
      text.add(s.label).add(" ").add(format(s.value, unit));
      break;
  }
  if (s.hatched) {  // a patch, so that the hatching does not cross the text
    const float half = text_size(text.view(), Type::small).x / 2 + t.px(3);
    painter.rect({x - half, y - 1}, {x + half, y + t.type(Type::small) + 1}, with_alpha(t.background, 0.75f), t.px(2));
  }
  painter.text({x, y}, text.view(), on, Type::small, Font::sans, Align::center);
}

void paint_bar_axis(const Painter& painter, const StackedBarLayout& l, const StackedBarOptions& o, float bottom) {
  const Theme& t = theme();
  const AxisSpec spec{.kind = o.axis, .label = o.axis_label, .unit = o.unit};
  const LabelMeasure measure{[](std::string_view s) { return measure_text(s, Type::small); }, t.type(Type::small),
                             o.vertical};
  AxisTicks ticks;
  layout_ticks(spec, l.range, l.map, measure, ticks);
  for (const Tick& tick : ticks.major()) {
    const auto at = static_cast<float>(tick.pixel);
    if (o.vertical) {
      painter.line({l.plot.min.x, at}, {l.plot.max.x, at}, t.grid);
      painter.text({l.plot.min.x - t.px(6), at - t.type(Type::small) / 2}, tick.label, t.muted, Type::small, Font::mono,
                   Align::right);
    } else {
      painter.line({at, l.plot.min.y}, {at, l.plot.max.y}, t.grid);
      painter.text({at, l.plot.max.y + t.px(4)}, tick.label, t.muted, Type::small, Font::mono, Align::center);
    }
  }
  if (o.vertical) {
    painter.text({l.plot.min.x - t.px(6), l.plot.min.y - t.type(Type::small) - t.px(4)}, ticks.unit, t.muted,
                 Type::small, Font::sans, Align::right);
  } else {
    const NumberText title = axis_title(spec, ticks);
    if (!o.axis_label.empty())
      painter.text({(l.plot.min.x + l.plot.max.x) / 2, bottom - t.type(Type::small) - t.px(1)}, title, t.muted,
                   Type::small, Font::sans, Align::center);
    else
      painter.text({l.plot.max.x + t.px(10), l.plot.max.y + t.px(4)}, ticks.unit, t.muted, Type::small);
  }
}

void paint_limit(const Painter& painter, const StackedBarLayout& l, const StackedBarOptions& o) {
  const auto at = static_cast<float>(l.map.pixel(o.limit));
  if (!std::isfinite(o.limit) || !std::isfinite(at)) return;
  const Theme& t = theme();
  const bool over = std::any_of(l.bars.begin(), l.bars.end(), [&](const PlacedBar& b) { return b.total > o.limit; });
  const ImU32 ink = over ? t.bad : t.text;
  Line text;
  text.add(o.limit_label).add(o.limit_label.empty() ? "" : " ").add(format(o.limit, o.unit));
  const float w = text_size(text.view(), Type::small).x, h = t.type(Type::small);
  if (o.vertical) {
    if (at < l.plot.min.y - 0.5f || at > l.plot.max.y) return;
    painter.dashed_line({l.plot.min.x, at}, {l.plot.max.x, at}, ink, t.px(1.5f));
    painter.text({l.plot.max.x - w, at - h - t.px(2)}, text.view(), ink, Type::small);
  } else {
    if (at < l.plot.min.x || at > l.plot.max.x + 0.5f) return;
    painter.dashed_line({at, l.plot.min.y}, {at, l.plot.max.y}, ink, t.px(1.5f));
    painter.text({std::max(l.plot.min.x, std::min(at - w / 2, l.plot.max.x - w)), l.plot.min.y - h - t.px(2)},
                 text.view(), ink, Type::small);
  }
}

void paint_bar(const Painter& painter, const PlacedBar& placed, const StackedBar& bar, const StackedBarLayout& l,
               const StackedBarOptions& o, Rect area) {
  const Theme& t = theme();
  const float small = t.type(Type::small), at = static_cast<float>(placed.measured_px);
  const ImVec2 centre{(placed.rect.min.x + placed.rect.max.x) / 2, (placed.rect.min.y + placed.rect.max.y) / 2};
  const Line total = total_text(placed, bar, o.unit);
  const bool has_total = o.totals && !bar.segments.empty();
  if (o.vertical) {
    const float slot = l.plot.width() / static_cast<float>(std::max<std::size_t>(l.bars.size(), 1));
    fit_text(painter, {centre.x, l.plot.max.y + t.px(4)}, bar.label, slot, t.text, Type::small, Font::sans,
             Align::center);
    const float head = placed.has_measured ? std::min(placed.rect.min.y, at) : placed.rect.min.y;
    // The measurement's figures are in the hover: there is no room for them over a column.
    if (has_total)
      fit_text(painter, {centre.x, head - small - t.px(3)}, format(placed.total, o.unit), slot - t.px(4), t.text,
               Type::small, Font::sans, Align::center);
  } else {
    const float y = centre.y - small / 2;
    fit_text(painter, {l.plot.min.x - t.px(8), y}, bar.label, l.plot.min.x - t.px(8) - area.min.x, t.text, Type::small,
             Font::sans, Align::right);
    float end = placed.has_measured ? std::max(placed.rect.max.x, at + t.px(4)) : placed.rect.max.x;
    // The text steps over the limit's line rather than being crossed by it.
    const auto limit = std::isfinite(o.limit) ? static_cast<float>(l.map.pixel(o.limit)) : end;
    if (limit > end && limit < end + t.px(10) + text_size(total.view(), Type::small).x) end = limit;
    if (has_total) fit_text(painter, {end + t.px(7), y}, total.view(), area.max.x - end - t.px(7), t.text, Type::small);
  }
  if (!placed.has_measured) return;
  // The measurement: a bar across, with a diamond, over and past the predicted stack.
  const float out = t.px(4), d = t.px(5);
  const ImVec2 a = o.vertical ? ImVec2{placed.rect.min.x - out, at} : ImVec2{at, placed.rect.min.y - out};
  const ImVec2 b = o.vertical ? ImVec2{placed.rect.max.x + out, at} : ImVec2{at, placed.rect.max.y + out};
  painter.line(a, b, t.text, t.px(2));
  const ImVec2 diamond[] = {{a.x - d, a.y}, {a.x, a.y - d}, {a.x + d, a.y}, {a.x, a.y + d}};
  painter.polygon(diamond, t.text);
}

/// Pieces and bars that have changed move to their new ends.
void ease_bars(StackedBarView& view, bool vertical) {
  if (!motion().on) return;
  StackedBarLayout& l = view.layout;
  const auto along = [&](ImVec2& p) -> float& { return vertical ? p.y : p.x; };
  const double start = static_cast<double>(along(l.plot.min)),
               length = std::max(static_cast<double>(along(l.plot.max)) - start, 1.0);
  const auto each = [&](auto&& visit) {
    for (BarPiece& piece : l.pieces) {
      visit(along(piece.rect.min));
      visit(along(piece.rect.max));
      visit(along(piece.caption_centre));
    }
    for (PlacedBar& bar : l.bars) {
      visit(along(bar.rect.min));
      visit(along(bar.rect.max));
    }
  };
  view.ends.clear();
  each([&](float& end) { view.ends.push_back((static_cast<double>(end) - start) / length); });
  const auto eased = view.eased.towards(view.ends);
  if (!view.eased.running()) return;
  std::size_t k = 0;
  each([&](float& end) { end = static_cast<float>(start + length * eased[k++]); });
}

/// Where the bars of the scenario that was set aside end: a dashed line across each, marked A.
void compare_bars(const Painter& painter, const char* id, std::span<const StackedBar> bars, const StackedBarLayout& l,
                  const StackedBarOptions& o) {
  const Theme& t = theme();
  PlotReference* const into = reference_gathered();
  for (std::size_t b = 0; b < bars.size() && b < l.bars.size(); ++b) {
    const std::uint64_t key = reference_key(id, o.axis_label, bars[b].label);
    if (into && !bars[b].segments.empty() && !into->totals.emplace(key, l.bars[b].total).second) ++into->clashes;
    const double* const theirs = reference_total(key);
    if (!theirs) continue;
    const auto at = static_cast<float>(l.map.pixel(*theirs));
    const Rect& r = l.bars[b].rect;
    const float out = t.px(4), small = t.type(Type::small);
    const bool inside = o.vertical ? at >= l.plot.min.y : at <= l.plot.max.x;
    if (!std::isfinite(at) || !inside) continue;
    if (o.vertical) {
      painter.dashed_line({r.min.x - out, at}, {r.max.x + out, at}, t.accent, t.px(1.5f), t.px(3));
      painter.text({r.max.x + out + t.px(2), at - small / 2}, "A", t.accent, Type::small, Font::bold);
    } else {
      painter.dashed_line({at, r.min.y - out}, {at, r.max.y + out}, t.accent, t.px(1.5f), t.px(3));
      painter.text({at, r.max.y + out}, "A", t.accent, Type::small, Font::bold, Align::center);
    }
  }
}

void record_bars(Record& record, const char* label, std::span<const StackedBar> bars, std::string_view unit) {
  DataTable table{label, {"bar", "segment", unit.empty() ? "value" : "value (" + std::string(unit) + ")"}, {}};
  for (const StackedBar& bar : bars) {
    for (const BarSegment& s : bar.segments)
      table.rows.push_back({std::string(bar.label), std::string(s.label), exact(s.value)});
    if (std::isfinite(bar.measured)) table.rows.push_back({std::string(bar.label), "measured", exact(bar.measured)});
  }
  record.tables.push_back(std::move(table));
}

void tip_segment(const BarSegment& s, double total, std::string_view bar, std::string_view unit) {
  Line value;
  value.add(format(s.value, unit, 4)).add(", ").add(format(100 * s.value / total, "%")).add(" of ").add(bar);
  tip(s.label, value.view(), s.info);
}

}  // namespace

bool draw_stacked_bars(const char* label, std::span<const StackedBar> bars, StackedBarView& view,
                       const StackedBarOptions& asked) {
  const Theme& t = theme();
  StackedBarOptions options = asked;
  for (const StackedBar& bar : bars)
    if (const double* theirs = reference_total(reference_key(label, options.axis_label, bar.label)))
      options.axis_least = std::max(options.axis_least, *theirs);
  const ImVec2 size{options.size.x, options.size.y > 0 ? options.size.y : needed_height(bars.size(), options)};
  const Rect area = canvas(label, size, {t.px(120), t.px(60)});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  StackedBarLayout& l = view.layout;
  layout_stacked_bars(bars, options, area, measure_text, l);
  ease_bars(view, options.vertical);

  const Painter painter = Painter::window();
  if (bars.empty())
    fit_text(painter, {area.min.x, area.min.y}, "Nothing to show: there are no bars.", area.width(), t.muted);
  if (!bars.empty()) paint_bar_axis(painter, l, options, area.max.y);
  paint_legend(painter, area.min, area.width(), l.legend, l.placed_legend);
  for (const BarPiece& piece : l.pieces)
    paint_piece(
        painter, piece, bars[piece.bar].segments[piece.segment], options.unit,
        static_cast<std::int64_t>(piece.bar) == view.bar && static_cast<std::int64_t>(piece.segment) == view.segment);
  for (std::size_t b = 0; b < bars.size(); ++b) paint_bar(painter, l.bars[b], bars[b], l, options, area);
  paint_limit(painter, l, options);
  compare_bars(painter, label, bars, l, options);
  if (l.problem.length > 0)
    fit_text(painter, {area.min.x, area.max.y - t.type(Type::small)}, l.problem.view(), area.width(), t.bad,
             Type::small);
  if (Record* record = painter.record()) record_bars(*record, label, bars, options.unit);

  if (!hovered) return false;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto under =
      std::find_if(l.pieces.begin(), l.pieces.end(), [&](const BarPiece& p) { return p.rect.contains(mouse); });
  if (under != l.pieces.end()) {
    tip_segment(bars[under->bar].segments[under->segment], l.bars[under->bar].total, bars[under->bar].label,
                options.unit);
  } else {
    for (std::size_t b = 0; b < bars.size(); ++b) {
      const Rect& r = l.bars[b].rect;
      const bool in_row =
          options.vertical ? mouse.x >= r.min.x && mouse.x < r.max.x : mouse.y >= r.min.y && mouse.y < r.max.y;
      if (in_row && !bars[b].segments.empty())
        tip(bars[b].label, total_text(l.bars[b], bars[b], options.unit).view(), bars[b].measured_source);
    }
  }
  if (!clicked) return false;
  const std::int64_t bar = under != l.pieces.end() ? static_cast<std::int64_t>(under->bar) : -1;
  const std::int64_t segment = under != l.pieces.end() ? static_cast<std::int64_t>(under->segment) : -1;
  const bool changed = bar != view.bar || segment != view.segment;
  view.bar = bar;
  view.segment = segment;
  return changed;
}

}  // namespace widgets
