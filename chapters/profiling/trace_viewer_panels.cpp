#include <imgui.h>

#include <algorithm>
#include <array>

#include "chapters/profiling/trace_viewer.h"
#include "widgets/heading.h"
#include "widgets/number.h"
#include "widgets/painter.h"
#include "widgets/parts.h"

namespace chapters::profiling::viewer {
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
  static constexpr std::array<Part, 7> parts{{{"computing", Meaning::forward, "computation with no communication beside it", false},
                                              {"both", Meaning::communication, "communication hidden under computation", true},
                                              {"communicating", Meaning::communication, "exposed: nothing computes meanwhile", false},
                                              {"copying", Tint::series(6), "copies and memsets with nothing beside them", false},
                                              {"idle: host", Meaning::data_loading, "the device ran dry before the next launch was called", true},
                                              {"idle: kernel", Meaning::launch_bound, "gaps under 30 us between kernels launched in time", true},
                                              {"idle: other", Meaning::idle, "launched in time and yet late: waits for streams and events", true}}};
  std::array<std::array<widgets::BarSegment, parts.size()>, most_bars> segments;
  std::array<widgets::StackedBar, most_bars> bars;
  const std::size_t n = std::min(out.bars.size(), most_bars);
  for (std::size_t b = 0; b < n; ++b) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (out.bars[b].parts[i] > 0) segments[b][used++] = {.label = parts[i].label, .value = out.bars[b].parts[i], .tint = parts[i].tint, .info = parts[i].info, .hatched = parts[i].hatched};
    bars[b] = {.label = out.bars[b].label, .segments = {segments[b].data(), used}};
  }
  widgets::draw_stacked_bars("breakdown", {bars.data(), n}, view.breakdown, {.unit = "s", .size = {width, 0}, .bar_px = 24});
  if (!out.beside_story.empty()) {
    const auto& t = widgets::theme();
    widgets::fit_text(Painter::window(), ImGui::GetCursorScreenPos(), out.beside_story, width, t.text, Type::small);
    ImGui::Dummy({width, t.type(Type::small) + t.px(4)});
  }
}

void draw_ranks(const Inputs& in, const Outputs& out, View& view, float width) {
  static constexpr std::string_view titles[] = {"compute", "comm.", "idle", "step"};
  heading("Ranks and steps", out.rank_story, width);
  std::array<std::string_view, 64> labels;
  const std::size_t rows = std::min(out.heat_rows, labels.size());
  for (std::size_t i = 0; i < rows; ++i) labels[i] = out.heat_labels[i];
  const auto& t = widgets::theme();
  const float height = std::min(t.px(280), t.px(86) + t.px(26) * static_cast<float>(rows));
  widgets::draw_heat_map("ranks", {.values = {out.heat.data(), rows * out.heat_cols}, .rows = rows, .cols = out.heat_cols, .row_labels = {labels.data(), rows}, .revision = view.version}, view.heat,
                         {.col_title = "step", .value_title = titles[static_cast<std::size_t>(in.rank_figure)], .unit = "s", .size = {width, height}});
}

void draw_kernels(const Outputs& out, View& view, float width) {
  heading("Kernels by time", "of the whole recording; press a title to sort", width);
  static constexpr std::array<widgets::TableColumn, 6> columns{{{.title = "kernel", .number = false, .code = true},
                                                                {.title = "runs"},
                                                                {.title = "total", .value_unit = "s"},
                                                                {.title = "share", .value_unit = "%"},
                                                                {.title = "mean", .value_unit = "s"},
                                                                {.title = "longest", .value_unit = "s"}}};
  const auto value = [](const KernelRow& r, std::size_t column) {
    return column == 1 ? static_cast<double>(r.count) : column == 2 ? r.total_s : column == 3 ? r.share : column == 4 ? r.mean_s : r.longest_s;
  };
  widgets::TableSource source;
  source.context = const_cast<Outputs*>(&out);
  source.rows = out.kernels.size();
  source.version = view.version + 1;
  source.cell = [](void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const KernelRow& r = static_cast<const Outputs*>(context)->kernels[row];
    static constexpr std::string_view units[] = {"", "", "s", "%", "s", "s"};
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    cell.value = decltype(value){}(r, column);
    cell.number = widgets::format(cell.value, units[column]);
  };
  const auto& t = widgets::theme();
  widgets::draw_table("kernels", columns, source, view.kernels, {width, t.px(44) + t.px(24) * static_cast<float>(std::min<std::size_t>(out.kernels.size(), 10))});
}

}  // namespace

void draw_panels(const Inputs& in, const Outputs& out, View& view) {
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

}  // namespace chapters::profiling::viewer
