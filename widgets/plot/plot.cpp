#include "widgets/plot/plot.h"

#include <algorithm>
#include <cmath>

#include "widgets/base/lit_figure.h"
#include "widgets/base/picture_version.h"
#include "widgets/base/press_area.h"
#include "widgets/plot/plot_paint.h"

namespace widgets {
namespace {

constexpr std::size_t copied_values = 4096;

}  // namespace

Plot::Plot(const char* id, PlotView& view, const PlotOptions& options) : view_(view), options_(options) {
  PlotScratch& s = view_.scratch;
  s.text.clear();
  s.data.clear();
  s.series.clear();
  s.marks.clear();
  s.point_labels.clear();
  s.handle_active = false;
  s.key = reference_key(id, options.x.label, options.y.label);
  if (options.link) options_.link->begin(ImGui::GetFrameCount());
  const Theme& t = theme();
  ImVec2 size = options.size;
  if (!(size.x > 0)) size.x = ImGui::GetContentRegionAvail().x;
  if (!(size.y > 0)) size.y = t.px(360);
  size = {std::max(size.x, 16.0f), std::max(size.y, 16.0f)};
  ImGui::BeginGroup();
  ImGui::PushID(id);
  outer_.min = ImGui::GetCursorScreenPos();
  outer_.max = {outer_.min.x + size.x, outer_.min.y + size.y};
  if (!options.interactive) {
    ImGui::Dummy(size);
    return;
  }
  ImGui::SetNextItemAllowOverlap();
  press_area(id, size,
             ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_EnableNav);
  hovered_ = ImGui::IsItemHovered();
  take_input(hovered_, ImGui::IsItemActive(), ImGui::IsItemFocused());
}

PlotText Plot::keep(std::string_view s) {
  std::vector<char>& text = view_.scratch.text;
  const PlotText kept{static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(s.size())};
  text.insert(text.end(), s.begin(), s.end());
  return kept;
}

PlotSeries& Plot::add(PlotSeries::Kind kind, std::string_view label, Values xs, Values ys, Values y2, ImU32 colour,
                      bool legend, std::string_view info, std::uint64_t version) {
  PlotScratch& s = view_.scratch;
  PlotSeries series;
  series.kind = kind;
  series.label = keep(label);
  series.info = keep(info);
  series.colour = colour;
  if (colour == 0) {
    series.marker = theme().series_marker_at(colours_used_);
    series.dashed = colours_used_ >= theme().series.size();
    series.colour = theme().series_at(colours_used_++);
  }
  series.version = version;
  series.n = std::min(xs.size(), ys.size());
  series.has_y2 = y2.data() != nullptr;
  if (series.has_y2) series.n = std::min(series.n, y2.size());
  if (legend && !label.empty() && legend_entries_ < 64) series.legend_index = legend_entries_++;
  series.hidden = series.legend_index >= 0 && ((view_.hidden >> series.legend_index) & 1) != 0;
  const Values all[] = {xs, ys, y2};
  for (std::size_t k = 0; k < (series.has_y2 ? 3u : 2u); ++k) {
    if (series.n > copied_values) {
      series.outside[k] = all[k].data();
      continue;
    }
    series.inside[k] = s.data.size();
    s.data.insert(s.data.end(), all[k].begin(), all[k].begin() + static_cast<std::ptrdiff_t>(series.n));
  }
  // Reading long data once a frame is cheaper than reducing it, and safer than trusting a pointer.
  if (series.version == 0 && series.n > copied_values) {
    std::uint64_t all_values = 1;
    for (std::size_t k = 0; k < (series.has_y2 ? 3u : 2u); ++k)
      all_values = all_values * 31 + fingerprint(all[k].first(series.n));
    series.version = std::max<std::uint64_t>(all_values, 1);
  }
  s.series.push_back(series);
  return s.series.back();
}

void Plot::line(std::string_view label, Values xs, Values ys, const LineOptions& o) {
  PlotSeries& s = add(PlotSeries::Kind::line, label, xs, ys, {}, o.colour, o.legend, o.info, o.version);
  s.width = o.width;
  s.dashed = s.dashed || o.dashed;
  s.label_line = o.label;
  s.lit = output_lit(o.output);
  s.given = o.given;
}

void Plot::curve(const Curve& c) {
  const std::uint64_t version = picture_version();
  const ImU32 whole = colour(c.tint, theme()), ink = c.alpha < 1 ? with_alpha(whole, c.alpha) : whole;
  if (c.kind == Curve::Kind::dots) {
    const ScatterOptions options{.colour = ink,
                                 .marker = c.marker,
                                 .radius = c.radius,
                                 .legend = c.legend,
                                 .info = c.info,
                                 .version = version,
                                 .output = c.output,
                                 .given = c.given};
    scatter(c.label, c.x, c.y, options);
    PlotSeries& s = view_.scratch.series.back();
    s.point_labels = std::min(s.n, c.labels.size());
    for (std::size_t i = 0; i < s.point_labels; ++i) view_.scratch.point_labels.push_back(keep(c.labels[i]));
    return;
  }
  if (c.kind == Curve::Kind::area) {
    const Values lower = c.lower.empty() ? Values() : Values(c.lower);
    PlotSeries& s = add(PlotSeries::Kind::area, c.label, c.x, c.y, lower, whole, c.legend, c.info, version);
    s.alpha = c.alpha;
    s.width = c.width;
    return;
  }
  const LineOptions options{.colour = ink,
                            .width = c.width,
                            .dashed = c.dashed,
                            .label = c.named,
                            .legend = c.legend,
                            .info = c.info,
                            .version = version,
                            .output = c.output,
                            .given = c.given};
  if (c.kind == Curve::Kind::steps)
    steps(c.label, c.x, c.y, options);
  else
    line(c.label, c.x, c.y, options);
}

void Plot::steps(std::string_view label, Values xs, Values ys, const LineOptions& o) {
  line(label, xs, ys, o);
  view_.scratch.series.back().kind = PlotSeries::Kind::steps;
}

void Plot::area(std::string_view label, Values xs, Values upper, Values lower, const AreaOptions& o) {
  PlotSeries& s = add(PlotSeries::Kind::area, label, xs, upper, lower, o.colour, o.legend, o.info, o.version);
  s.alpha = o.alpha;
  if (!o.outline) s.width = 0;
}

void Plot::area(std::string_view label, Values xs, Values ys, const AreaOptions& o) {
  PlotSeries& s = add(PlotSeries::Kind::area, label, xs, ys, {}, o.colour, o.legend, o.info, o.version);
  s.alpha = o.alpha;
  if (!o.outline) s.width = 0;
}

void Plot::scatter(std::string_view label, Values xs, Values ys, const ScatterOptions& o) {
  PlotSeries& s = add(PlotSeries::Kind::scatter, label, xs, ys, {}, o.colour, o.legend, o.info, o.version);
  if (o.colour != 0 || o.marker != Marker::circle) s.marker = o.marker;
  s.radius = o.radius;
  s.lit = output_lit(o.output);
  s.given = o.given;
  s.first_point_label = view_.scratch.point_labels.size();
  s.point_labels = std::min(s.n, o.labels.size());
  for (std::size_t i = 0; i < s.point_labels; ++i) view_.scratch.point_labels.push_back(keep(o.labels[i]));
}

void Plot::bars(std::string_view label, Values xs, Values ys, const BarOptions& o) {
  PlotSeries& s = add(PlotSeries::Kind::bars, label, xs, ys, {}, o.colour, o.legend, o.info, 0);
  s.width = o.width;
  s.offset = o.offset;
}

void Plot::stacked(std::span<const std::string_view> labels, Values xs, Values values, const StackedOptions& o) {
  const std::size_t n = xs.size();
  PlotScratch& s = view_.scratch;
  const std::size_t first = s.series.size();
  for (std::size_t layer = 0; layer < labels.size() && (layer + 1) * n <= values.size(); ++layer) {
    const ImU32 colour = layer < o.colours.size() ? o.colours[layer] : 0;
    const Values ys = values.subspan(layer * n, n);
    PlotSeries& added = add(o.bars ? PlotSeries::Kind::bars : PlotSeries::Kind::area, labels[layer], xs, ys, ys, colour,
                            true, o.info, 0);
    added.width = o.width;
    added.alpha = o.bars ? 1.0f : 0.75f;
    // The sums are our own, so every layer lives inside, however long.
    for (std::size_t k = 0; k < 3; ++k) {
      if (!added.outside[k]) continue;
      added.inside[k] = s.data.size();
      s.data.insert(s.data.end(), added.outside[k], added.outside[k] + n);
      added.outside[k] = nullptr;
      added.version = 0;  // the copies move about
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    double base = 0;
    for (std::size_t k = first; k < s.series.size(); ++k) {
      const PlotSeries& layer = s.series[k];
      const double value = s.data[layer.inside[1] + i];
      s.data[layer.inside[2] + i] = base;
      if (!layer.hidden && std::isfinite(value)) base += value;
      s.data[layer.inside[1] + i] = base;
    }
  }
}

void Plot::error_bars(Values xs, Values lo, Values hi, ImU32 colour) {
  const ImU32 c = colour != 0 ? colour : theme().muted;
  add(PlotSeries::Kind::errors, {}, xs, hi, lo, c, false, {}, 0);
}

void Plot::mark(PlotMark::Kind kind, double x, double y, std::string_view label, const MarkOptions& o) {
  PlotMark m;
  m.kind = kind;
  m.label = keep(label);
  m.colour = o.colour != 0 ? o.colour : kind == PlotMark::Kind::text ? theme().text : theme().muted;
  m.x = m.x2 = x;
  m.y = m.y2 = y;
  m.dashed = o.dashed;
  m.lit = output_lit(o.output);
  view_.scratch.marks.push_back(m);
}

void Plot::vertical_mark(double x, std::string_view label, const MarkOptions& o) {
  mark(PlotMark::Kind::vertical, x, 0, label, o);
}
void Plot::horizontal_mark(double y, std::string_view label, const MarkOptions& o) {
  mark(PlotMark::Kind::horizontal, 0, y, label, o);
}
void Plot::text(double x, double y, std::string_view label, const MarkOptions& o) {
  mark(PlotMark::Kind::text, x, y, label, o);
}
void Plot::arrow(double x0, double y0, double x1, double y1, std::string_view label, const MarkOptions& o) {
  mark(PlotMark::Kind::arrow, x0, y0, label, o);
  view_.scratch.marks.back().x2 = x1;
  view_.scratch.marks.back().y2 = y1;
}

void Plot::tag_x(double x, std::string_view label, const MarkOptions& o) {
  mark(PlotMark::Kind::tag_x, x, 0, label.empty() ? axis_value(options_.x, x, 3).view() : label, o);
  if (o.colour == 0) view_.scratch.marks.back().colour = theme().accent;
}
void Plot::tag_y(double y, std::string_view label, const MarkOptions& o) {
  mark(PlotMark::Kind::tag_y, 0, y, label.empty() ? axis_value(options_.y, y, 3).view() : label, o);
  if (o.colour == 0) view_.scratch.marks.back().colour = theme().accent;
}
void Plot::bracket(double x, double y0, double y1, std::string_view bold, std::string_view words,
                   const MarkOptions& o) {
  mark(PlotMark::Kind::bracket, x, y0, bold, o);
  PlotMark& m = view_.scratch.marks.back();
  m.y2 = y1;
  m.note = keep(words);
  if (o.colour == 0) m.colour = theme().text;
}
void Plot::callout(double x, double y, std::string_view bold, std::string_view words, const MarkOptions& o) {
  mark(PlotMark::Kind::callout, x, y, bold, o);
  PlotMark& m = view_.scratch.marks.back();
  m.note = keep(words);
  if (o.colour == 0) m.colour = theme().accent;
}

bool Plot::drag_point(const char* id, double& x, double& y, const DragOptions& o) {
  return handle(PlotMark::Kind::handle, id, x, y, o);
}
bool Plot::drag_x(const char* id, double& x, const DragOptions& o) {
  double y = 0;
  return handle(PlotMark::Kind::handle_x, id, x, y, o);
}
bool Plot::drag_y(const char* id, double& y, const DragOptions& o) {
  double x = 0;
  DragOptions turned = o;
  std::swap(turned.lo, turned.y_lo);
  std::swap(turned.hi, turned.y_hi);
  return handle(PlotMark::Kind::handle_y, id, x, y, turned);
}

void Plot::end() {
  if (ended_) return;
  ended_ = true;
  finish_plot({
      .view = view_,
      .options = options_,
      .outer = outer_,
      .hovered = hovered_ && options_.interactive,
  });
  ImGui::PopID();
  ImGui::EndGroup();
}

}  // namespace widgets
