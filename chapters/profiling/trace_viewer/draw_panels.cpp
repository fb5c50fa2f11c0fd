#include <imgui.h>

#include <algorithm>
#include <array>

#include "chapters/profiling/trace_viewer/lab.h"
#include "widgets/base/heading.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using widgets::heading;
using widgets::Meaning;
using widgets::Painter;
using widgets::Tint;
using widgets::Type;

constexpr std::size_t most_bars = 17;

void draw_breakdown(const Outputs& out, View& view, float width) {
  heading("Where the time went", out.breakdown_story, width);
  struct Part {
    std::string_view label;
    Tint tint;
    std::string_view info;
    bool hatched;
  };
  static constexpr std::array<Part, 7> parts{
      {{"computing", Meaning::forward, "computation with no communication beside it", false},
       {"both", Meaning::communication, "communication hidden under computation", true},
       {"communicating", Meaning::communication, "exposed: nothing computes meanwhile", false},
       {"copying", Tint::series(0), "copies and memsets with nothing beside them", false},
       {"idle: host", Meaning::data_loading, "the device ran dry before the next launch was called", true},
       {"idle: kernel", Meaning::launch_bound, "gaps under 30 us between kernels launched in time", true},
       {"idle: other", Meaning::idle, "launched in time and yet late: waits for streams and events", true}}};
  std::array<std::array<widgets::BarSegment, parts.size()>, most_bars> segments;
  std::array<widgets::StackedBar, most_bars> bars;
  const std::size_t n = std::min(out.bars.size(), most_bars);
  for (std::size_t b = 0; b < n; ++b) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (out.bars[b].parts[i] > 0)
        segments[b][used++] = {
            .label = parts[i].label,
            .value = out.bars[b].parts[i],
            .tint = parts[i].tint,
            .info = parts[i].info,
            .hatched = parts[i].hatched,
        };
    bars[b] = {.label = out.bars[b].label, .segments = {segments[b].data(), used}};
  }
  widgets::draw_stacked_bars("breakdown", {bars.data(), n}, view.breakdown,
                             {.unit = "s", .size = {width, 0}, .bar_px = 24});
  if (!out.beside_story.empty()) {
    const auto& t = widgets::theme();
    widgets::fit_text(Painter::window(), ImGui::GetCursorScreenPos(), out.beside_story, width, t.text, Type::small);
    ImGui::Dummy({width, t.type(Type::small) + t.px(4)});
  }
}

void draw_ranks(Inputs& in, const Outputs& out, View& view, float width) {
  static constexpr std::string_view titles[] = {"Ranks and steps: computation", "Ranks and steps: communication",
                                                "Ranks and steps: idle", "Ranks and steps: step time"};
  heading(titles[static_cast<std::size_t>(in.rank_figure)], out.rank_story, width);
  std::array<std::string_view, 64> labels;
  const std::size_t rows = std::min(out.heat_rows, labels.size());
  for (std::size_t i = 0; i < rows; ++i) labels[i] = out.heat_labels[i];
  const auto& t = widgets::theme();
  const float height = std::min(t.px(280), t.px(86) + t.px(26) * static_cast<float>(rows));
  const auto events = widgets::draw_heat_map("ranks",
                                             {
                                                 .values = {out.heat.data(), rows * out.heat_cols},
                                                 .rows = rows,
                                                 .cols = out.heat_cols,
                                                 .row_labels = {labels.data(), rows},
                                                 .first_col = 1,
                                                 .revision = view.version,
                                             },
                                             view.heat, {.col_title = "step", .unit = "s", .size = {width, height}});
  if (!events.clicked || events.row < 0) return;
  in.device = events.row;  // rows are in the order in which devices are counted
  in.step = events.col + 1;
}

float table_height(std::size_t rows, std::size_t most) {
  return widgets::theme().px(44) + widgets::theme().px(24) * static_cast<float>(std::min(rows, most));
}

/// The timeline goes to what a row of a table is about.
void show_row(View& view, const std::vector<Place>& places, std::int64_t row) {
  if (row >= 0 && row < static_cast<std::int64_t>(places.size())) show(view, places[static_cast<std::size_t>(row)]);
}

void draw_kernels(const Outputs& out, View& view, float width) {
  heading("Kernels by time",
          out.compared && !out.kernel_story.empty()
              ? std::string_view(out.kernel_story)
              : "of the whole recording; press a row to see its longest run, a title to sort",
          width);
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
  source.version = view.version + 1;
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
  const std::span<const widgets::TableColumn> shown(columns.data(), out.compared ? columns.size() : columns.size() - 2);
  const auto result =
      widgets::draw_table("kernels", shown, source, view.kernels, {width, table_height(out.kernels.size(), 10)});
  if (result.selection_changed) show_row(view, out.kernel_places, view.kernels.selected);
}

void draw_host(const Outputs& out, View& view, float width) {
  heading("What the host did while the device waited for it", out.host_story, width);
  static constexpr std::array<widgets::TableColumn, 5> columns{
      {{.title = "the host was in", .number = false, .code = true},
       {.title = "times"},
       {.title = "total", .value_unit = "s"},
       {.title = "share", .value_unit = "%"},
       {.title = "longest", .value_unit = "s"}}};
  widgets::TableSource source;
  source.context = &out;
  source.rows = out.host_rows.size();
  source.version = view.version + 1;
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
  const auto result =
      widgets::draw_table("host", columns, source, view.host, {width, table_height(out.host_rows.size(), 6)});
  if (result.selection_changed) show_row(view, out.host_places, view.host.selected);
}

}  // namespace

void draw_panels(Inputs& in, const Outputs& out, View& view) {
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, gap = t.px(24);
  const bool beside = width >= t.px(620);
  const float half = beside ? std::floor((width - gap) / 2) : width;
  ImGui::BeginGroup();
  draw_breakdown(out, view, half);
  ImGui::EndGroup();
  if (beside) ImGui::SameLine(0, gap);
  ImGui::BeginGroup();
  draw_ranks(in, out, view, half);
  ImGui::EndGroup();
  ImGui::Dummy({width, t.px(8)});
  if (!out.host_rows.empty()) {
    draw_host(out, view, width);
    ImGui::Dummy({width, t.px(8)});
  }
  if (!out.kernels.empty()) draw_kernels(out, view, width);
  if (!out.losses.empty()) {
    ImGui::Dummy({width, t.px(6)});
    ImGui::PushStyleColor(ImGuiCol_Text, t.warning);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(out.losses.data(), out.losses.data() + out.losses.size());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
  }
}

}  // namespace chapters::profiling::trace_viewer
