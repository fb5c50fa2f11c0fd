#include <algorithm>
#include <array>

#include "chapters/profiling/trace_viewer/draw.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using widgets::Meaning, widgets::Painter, widgets::Tint, widgets::Type;

constexpr std::size_t most_bars = 17;

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

}  // namespace

void draw_breakdown(const Picture& pic, View& view, ImVec2 size) {
  const float above = draw_story(pic.breakdown_story, size.x);
  if (pic.bars.empty()) return ImGui::Dummy({1, 1});
  struct Part {
    std::string_view label;
    Tint tint;
    std::string_view info;
    bool hatched;
  };
  static constexpr std::array<Part, 10> parts{
      {{"computing", Meaning::forward, "computation with no communication beside it", false},
       {"hidden comms", Tint::series(4), "communication while something computes", true},
       {"exposed comms", Meaning::communication, "communication while nothing computes", false},
       {"copying", Tint::series(0), "copies and memsets with nothing beside them", false},
       {"idle: not launched", Meaning::idle, "the device had run dry, and the next launch was not yet called", true},
       {"idle: in the launch", Meaning::launch_bound, "the device waited while the host was inside the launching call",
        true},
       {"idle: launched", Tint::series(3), "the launching call had returned, and the work had not begun", true},
       {"idle: between", Tint(), "gaps under 30 us between kernels launched in time", true},
       {"idle: other", Tint::series(1), "launched before the gap and yet late: waits for streams and events", true},
       {"idle: unknown", Tint(), "the launching call of what came next is not in the file", false}}};
  std::array<std::array<widgets::BarSegment, parts.size()>, most_bars> segments;
  std::array<widgets::StackedBar, most_bars> bars;
  const std::size_t n = std::min(pic.bars.size(), most_bars);
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
  const float above = draw_story(pic.span_story, size.x);
  static constexpr std::array<widgets::TableColumn, 6> columns{
      {{.title = "span", .number = false, .code = true},
       {.title = "times", .priority = 2},
       {.title = "self", .value_unit = "s"},
       {.title = "share", .value_unit = "%", .bar = true, .full = 100},
       {.title = "total", .value_unit = "s", .priority = 1},
       {.title = "longest", .value_unit = "s"}}};
  widgets::TableSource source;
  source.context = &out;
  source.rows = out.span_rows.size();
  source.version = pic.version;
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const SpanRow& r = static_cast<const Outputs*>(context)->span_rows[row];
    static constexpr std::string_view units[] = {"", "", "s", "%", "s", "s"};
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const double values[] = {0, static_cast<double>(r.count), r.self_s, r.share, r.total_s, r.longest_s};
    cell.value = values[column];
    cell.number = widgets::format(cell.value, units[column]);
  };
  source.hover = [](const void* context, std::size_t row, std::size_t) -> std::string_view {
    return static_cast<const Outputs*>(context)->span_rows[row].name;
  };
  const auto result = widgets::draw_table("spans", columns, source, view.spans, {size.x, table_height(size, above)});
  if (result.selection_changed) show_row(view, pic.span_places, view.spans.selected);
}

void draw_kernels(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const float above = draw_story(pic.kernel_story, size.x);
  static constexpr std::array<widgets::TableColumn, 8> columns{
      {{.title = "kernel", .number = false, .code = true},
       {.title = "runs", .priority = 2},
       {.title = "total", .value_unit = "s"},
       {.title = "share", .value_unit = "%", .bar = true, .full = 100},
       {.title = "mean", .value_unit = "s", .priority = 1},
       {.title = "longest", .value_unit = "s"},
       {.title = "beside", .value_unit = "s"},
       {.title = "saved", .value_unit = "s"}}};
  widgets::TableSource source;
  source.context = &out;
  source.rows = out.kernels.size();
  source.version = pic.version;
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const KernelRow& r = static_cast<const Outputs*>(context)->kernels[row];
    static constexpr std::string_view units[] = {"", "", "s", "%", "s", "s", "s", "s"};
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const double values[] = {
        0, static_cast<double>(r.count), r.total_s, r.share, r.mean_s, r.longest_s, r.beside_s, r.saved_s};
    cell.value = values[column];
    cell.number = widgets::format(cell.value, units[column]);
  };
  source.hover = [](const void* context, std::size_t row, std::size_t) -> std::string_view {
    return static_cast<const Outputs*>(context)->kernels[row].name;
  };
  const std::span<const widgets::TableColumn> shown(columns.data(), pic.compared ? columns.size() : columns.size() - 2);
  const auto result = widgets::draw_table("kernels", shown, source, view.kernels, {size.x, table_height(size, above)});
  if (result.selection_changed) show_row(view, pic.kernel_places, view.kernels.selected);
}

void draw_host(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const float above = draw_story(pic.host_story, size.x);
  static constexpr std::array<widgets::TableColumn, 5> columns{
      {{.title = "the host was in", .number = false, .code = true},
       {.title = "times"},
       {.title = "total", .value_unit = "s"},
       {.title = "share", .value_unit = "%"},
       {.title = "longest", .value_unit = "s"}}};
  widgets::TableSource source;
  source.context = &out;
  source.rows = out.host_rows.size();
  source.version = pic.version;
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const HostRow& r = static_cast<const Outputs*>(context)->host_rows[row];
    static constexpr std::string_view units[] = {"", "", "s", "%", "s"};
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const double values[] = {0, static_cast<double>(r.pieces), r.time_s, r.share, r.longest_s};
    cell.value = values[column];
    cell.number = widgets::format(cell.value, units[column]);
  };
  source.hover = [](const void* context, std::size_t row, std::size_t) -> std::string_view {
    return static_cast<const Outputs*>(context)->host_rows[row].name;
  };
  const auto result = widgets::draw_table("host", columns, source, view.host, {size.x, table_height(size, above)});
  if (result.selection_changed) show_row(view, pic.host_places, view.host.selected);
}

}  // namespace chapters::profiling::trace_viewer
