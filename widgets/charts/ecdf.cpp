#include "widgets/charts/ecdf.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

std::uint64_t ecdf_fingerprint(std::span<const EcdfSeries> series, const EcdfOptions& o, Rect area) {
  constexpr std::size_t looked_at = 65'536;
  Fingerprint f;
  for (const EcdfSeries& s : series) {
    f.add(s.label);
    f.add(std::uint64_t{s.tint.code});
    f.add(std::uint64_t{s.values.size()});
    for (const double v : s.values.first(std::min(s.values.size(), looked_at))) f.add(v);
  }
  for (const float x : {area.min.x, area.min.y, area.max.x, area.max.y, theme().scale, theme().type(Type::small)})
    f.add(static_cast<double>(x));
  f.add(o.limit);
  f.add(o.confidence);
  f.add(o.unit);
  f.add(o.axis_label);
  f.add(o.revision);
  f.add(std::uint64_t{static_cast<std::uint8_t>(o.axis)});
  return f.value;
}

void paint_shares(const Painter& painter, const EcdfLayout& l, Rect area) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  float above = -1e9f;
  const auto guide = [&](double share, std::string_view word, bool dashed) {
    const auto y = static_cast<float>(l.y_map.pixel(share));
    if (dashed)
      painter.dashed_line({l.plot.min.x, y}, {l.plot.max.x, y}, t.line);
    else
      painter.line({l.plot.min.x, y}, {l.plot.max.x, y}, t.grid);
    const float top = std::clamp(y - small / 2, area.min.y, area.max.y - small);
    if (top < above) return;
    if (paint_whole(painter, {l.plot.min.x - t.px(5), top}, word, l.plot.min.x - t.px(5) - area.min.x,
                    dashed ? t.text : t.muted, Type::small, Align::right))
      above = top + small;
  };
  guide(0.99, "p99", true);
  guide(0.75, "75 %", false);
  guide(0.5, "p50", true);
  guide(0.25, "25 %", false);
  guide(0, "0 %", false);
}

void paint_curve(const Painter& painter, const EcdfCurve& c, ImU32 ink, bool crowded) {
  if (c.line.empty()) return;
  const Theme& t = theme();
  if (!c.upper.empty()) painter.band(c.upper, c.lower, with_alpha(ink, 0.16f));
  painter.polyline(c.line, crowded ? with_alpha(ink, 0.55f) : ink, t.px(crowded ? 1.0f : 1.8f));
  if (crowded) return;  // the hover names curve and quantiles
  for (const ImVec2 at : {c.p50_px, c.p99_px}) {
    painter.circle(at, t.px(3.5f), t.background);
    painter.circle(at, t.px(2.8f), ink);
  }
}

void paint_ecdf_limit(const Painter& painter, const EcdfLayout& l, const EcdfOptions& o, Rect area) {
  const Theme& t = theme();
  painter.rect({l.limit_px, l.plot.min.y}, l.plot.max, with_alpha(t.text, 0.06f));
  painter.line({l.limit_px, l.plot.min.y - t.px(2)}, {l.limit_px, l.plot.max.y}, t.text, t.px(1.6f));
  if (!l.limit_named) return;
  Line whole, value;
  value.add(format(o.limit, o.unit));
  whole.add(o.limit_label).add(" ").add(value.view());
  for (const std::string_view s : {whole.view(), value.view()}) {
    const float w = text_size(s, Type::small).x;
    if (w > area.width()) continue;
    painter.text(
        {std::clamp(l.limit_px - w / 2, area.min.x, area.max.x - w), l.plot.min.y - t.type(Type::small) - t.px(3)}, s,
        t.text, Type::small);
    return;
  }
}

/// At the pointer's value: the share of each series up to it, the nearest curve named.
void hover_ecdf(const Painter& painter, const EcdfLayout& l, std::span<const EcdfSeries> series, const EcdfOptions& o,
                ImVec2 mouse) {
  const Theme& t = theme();
  const double x = l.x_map.value(static_cast<double>(mouse.x));
  std::size_t best = series.size();
  float nearest = 1e9f;
  double share_at = 0;
  for (std::size_t s = 0; s < series.size(); ++s) {
    const EcdfCurve& c = l.curves[s];
    if (c.sorted.empty()) continue;
    const double share = static_cast<double>(std::upper_bound(c.sorted.begin(), c.sorted.end(), x) - c.sorted.begin()) /
                         static_cast<double>(c.sorted.size());
    const float away = std::abs(static_cast<float>(l.y_map.pixel(share)) - mouse.y);
    if (away < nearest) {
      nearest = away;
      best = s;
      share_at = share;
    }
  }
  if (best == series.size()) return;
  painter.line({mouse.x, l.plot.min.y}, {mouse.x, l.plot.max.y}, t.muted);
  painter.ring({mouse.x, static_cast<float>(l.y_map.pixel(share_at))}, t.px(4), t.text, t.px(1.5f));
  const EcdfCurve& c = l.curves[best];
  Line value;
  value.add(format(100 * share_at, "%")).add(" up to ").add(format(x, o.unit)).add("; p50 ");
  value.add(format(c.p50, o.unit)).add(", p99 ").add(format(c.p99, o.unit)).add(", n ");
  value.add_integer(static_cast<std::int64_t>(c.sorted.size()));
  if (std::isfinite(c.beyond))
    value.add("; ").add(format(100 * c.beyond, "%")).add(" beyond ").add(format(o.limit, o.unit));
  tip(series[best].label, value.view());
}

void record_ecdf(Record& record, const char* label, const EcdfLayout& l, std::span<const EcdfSeries> series) {
  DataTable table{label, {"series", "value", "share up to it"}, {}};
  for (std::size_t s = 0; s < series.size(); ++s)
    for (std::size_t i = 0; i < l.curves[s].sorted.size(); ++i)
      table.rows.push_back({std::string(series[s].label), exact(l.curves[s].sorted[i]),
                            exact(static_cast<double>(i + 1) / static_cast<double>(l.curves[s].sorted.size()))});
  record.tables.push_back(std::move(table));
}

}  // namespace

void draw_ecdf(const char* label, std::span<const EcdfSeries> series, EcdfView& view, const EcdfOptions& o) {
  const Theme& t = theme();
  const Rect area = canvas(label, {o.size.x, o.size.y > 0 ? o.size.y : t.px(260)}, {t.px(60), t.px(40)});
  const bool hovered = ImGui::IsItemHovered();
  EcdfLayout& l = view.layout;
  if (const std::uint64_t now = ecdf_fingerprint(series, o, area); now != view.layout_of) {
    layout_ecdf(series, o, area, measure_text, l);
    view.layout_of = now;
  }
  const Painter painter = Painter::window();
  if (Record* record = painter.record()) record_ecdf(*record, label, l, series);
  if (std::all_of(l.curves.begin(), l.curves.end(), [](const EcdfCurve& c) { return c.sorted.empty(); })) {
    paint_nothing(painter, area, o.nothing);
    return;
  }
  // The words stay in the layout; the views of them are made anew, since a copied View has its own.
  for (std::size_t s = 0; s < l.legend.size(); ++s) l.legend[s].label = l.words[s].view();
  paint_legend(painter, area.min, area.width(), l.legend, l.placed_legend);
  if (l.legend_left_out > 0) {
    Line more;
    more.add("and ").add_integer(static_cast<std::int64_t>(l.legend_left_out)).add(" more series");
    paint_whole(painter, {area.min.x, area.min.y + l.legend_height}, more.view(), area.width(), t.muted);
  }
  if (l.has_limit) paint_ecdf_limit(painter, l, o, area);
  paint_row_axis(painter, {.kind = o.axis, .label = o.axis_label, .unit = o.unit}, l.range, l.x_map, l.plot, area,
                 l.axis_lines);
  paint_shares(painter, l, area);
  for (std::size_t s = 0; s < l.curves.size(); ++s)
    paint_curve(painter, l.curves[s], colour(series[s].tint, t), l.curves.size() > 8);
  for (const EcdfLabel& at : l.labels) painter.text(at.rect.min, at.text, t.text, Type::small);
  if (l.problem.length > 0 && l.axis_lines > 0)
    fit_text(painter, {area.min.x, area.max.y - t.type(Type::small)}, l.problem.view(), area.width(), t.muted,
             Type::small);
  if (const ImVec2 mouse = ImGui::GetIO().MousePos; hovered && l.plot.contains(mouse))
    hover_ecdf(painter, l, series, o, mouse);
}

}  // namespace widgets
