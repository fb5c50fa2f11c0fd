#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "chapters/profiling/trace_viewer/draw.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using widgets::Meaning, widgets::Painter, widgets::Tint, widgets::Type;

constexpr std::size_t max_bars = 17;

/// A line of words over a picture; returns its height.
float draw_story(std::string_view words, float width) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = widgets::wrapped_text(Painter::window(), at, words, width, t.muted, {.max_lines = 2}) + t.px(6);
  ImGui::SetCursorScreenPos({at.x, at.y + height});
  return height;
}

float table_height(ImVec2 size, float above) { return std::max(widgets::theme().px(60), size.y - above); }

/// The timeline goes to what a row of a table is about.
void show_row(View& view, const std::vector<Place>& places, std::int64_t row) {
  if (row >= 0 && row < static_cast<std::int64_t>(places.size())) show(view, places[static_cast<std::size_t>(row)]);
}

/// Hovering a row says its name, which a column may cut.
template <class R>
std::string_view whole_name(const R& row, std::string_view) {
  return row.name;
}

struct BreakdownPart {
  std::string_view label;
  Tint tint;
  std::string_view info;
  bool hatched;
};

/// In the order of Bar::parts.
const std::array<BreakdownPart, 10>& breakdown_parts() {
  static const std::string short_gaps = "gaps under " + short_gap_text() + " between kernels launched in time";
  static const std::array<BreakdownPart, 10> parts{
      {{"computing", Meaning::forward, "computation with no communication at the same time", false},
       {"hidden comms", Tint::series(4), "communication while something computes", true},
       {"exposed comms", Meaning::communication, "communication while nothing computes", false},
       {"copying", Tint::series(0), "copies and memsets with nothing else at the same time", false},
       {"idle: not launched", Meaning::idle, "the device had run dry, and the next launch was not yet called", true},
       {"idle: in the launch", Tint::series(5), "the device waited while the host was inside the launching call", true},
       {"idle: launched", Tint::series(3), "the launching call had returned, and the work had not begun", true},
       {"idle: between", Tint(), short_gaps, true},
       {"idle: other", Tint::series(1), "launched before the gap and yet late: waits for streams and events", true},
       {"idle: unknown", Tint(), "the launching call of what came next is not in the file", false}}};
  return parts;
}

}  // namespace

void draw_breakdown(const Picture& pic, View& view, ImVec2 size) {
  const float above = draw_story(pic.breakdown_story, size.x);
  if (pic.bars.empty()) return ImGui::Dummy({1, 1});
  const auto& parts = breakdown_parts();
  std::array<std::array<widgets::BarSegment, std::tuple_size_v<decltype(Bar::parts)>>, max_bars> segments;
  std::array<widgets::StackedBar, max_bars> bars;
  const std::size_t n = std::min(pic.bars.size(), max_bars);
  for (std::size_t b = 0; b < n; ++b) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (pic.bars[b].parts[i] > 0)
        segments[b][used++] = {
            .label = parts[i].label,
            .value = pic.bars[b].parts[i],
            .tint = parts[i].tint,
            .info = parts[i].info,
            .hatched = parts[i].hatched,
        };
    bars[b] = {.label = pic.bars[b].label, .segments = {segments[b].data(), used}};
  }
  widgets::draw_stacked_bars(
      "breakdown", {bars.data(), n}, view.breakdown,
      {.unit = "s", .size = {size.x, std::max(widgets::theme().px(60), size.y - above)}, .bar_px = 24});
}

void draw_spans(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "name", .code = true},
                                                           {.key = "count", .priority = 2},
                                                           {.key = "self_s", .title = "Self"},
                                                           {.key = "share", .bar = true, .full = 100},
                                                           {.key = "total_s", .priority = 1},
                                                           {.key = "longest_s", .title = "Longest"}}};
  const float above = draw_story(pic.span_story, size.x);
  const auto result =
      view.spans.draw("spans", out.span_rows, columns, {size.x, table_height(size, above)}, {.hover = whole_name});
  if (result.selection_changed) show_row(view, pic.span_places, view.spans.view.selected);
}

void draw_kernels(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 8> columns{{{.key = "name", .code = true},
                                                           {.key = "count", .priority = 2},
                                                           {.key = "total_s"},
                                                           {.key = "share", .bar = true, .full = 100},
                                                           {.key = "mean_s", .priority = 1},
                                                           {.key = "longest_s"},
                                                           {.key = "beside_s", .title = "Other run"},
                                                           {.key = "saved_s", .title = "Saved"}}};
  const float above = draw_story(pic.kernel_story, size.x);
  const std::span<const DescribedColumn> shown(columns.data(), pic.compared ? columns.size() : columns.size() - 2);
  const auto result =
      view.kernels.draw("kernels", out.kernels, shown, {size.x, table_height(size, above)}, {.hover = whole_name});
  if (result.selection_changed) show_row(view, pic.kernel_places, view.kernels.view.selected);
}

void draw_host(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{
      {{.key = "name", .code = true}, {.key = "pieces"}, {.key = "time_s"}, {.key = "share"}, {.key = "longest_s"}}};
  const float above = draw_story(pic.host_story, size.x);
  const auto result =
      view.host.draw("host", out.host_rows, columns, {size.x, table_height(size, above)}, {.hover = whole_name});
  if (result.selection_changed) show_row(view, pic.host_places, view.host.view.selected);
}

void draw_causes(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const float wanted = t.px(130 + 40 * static_cast<float>(std::min(pic.bars.size(), max_bars)));
  const float chart = size.y >= 1.6f * wanted ? wanted : std::max(t.px(150), 0.62f * size.y);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_breakdown(pic, view, {size.x, chart});
  float y = at.y + chart + t.px(8);
  widgets::fit_text(Painter::window(), {at.x, y}, pic.findings_title, size.x, t.text, Type::small, widgets::Font::bold);
  y += t.type(Type::small) + t.px(8);
  ImGui::SetCursorScreenPos({at.x, y});
  draw_findings(out, pic, size.x);
}

void draw_kernels_and_host(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  if (out.host_rows.empty()) return draw_kernels(out, pic, view, size);
  if (out.kernels.empty()) return draw_host(out, pic, view, size);
  const auto& t = widgets::theme();
  // Both where there is room; else the kernels, since the cards say what the host did.
  const float gap = t.px(10), upper = std::floor(size.y * 0.6f);
  const bool both = size.y >= t.px(320);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_kernels(out, pic, view, {size.x, both ? upper : size.y});
  if (!both) return;
  ImGui::SetCursorScreenPos({at.x, at.y + upper + gap});
  draw_host(out, pic, view, {size.x, size.y - upper - gap});
}

}  // namespace chapters::profiling::trace_viewer
