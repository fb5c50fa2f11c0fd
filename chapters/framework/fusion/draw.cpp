#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "chapters/framework/fusion/lab.h"
#include "widgets/number/number.h"
#include "widgets/table/row_table.h"

namespace chapters::framework::fusion {
namespace {

using widgets::AxisKind;
using widgets::Meaning;

/// The chain's time as the lasso's last box moves on.
void draw_ends(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.ends.empty()) return;
  double most = out.unfused_s;
  for (const double s : picture.ends.front().y) most = std::max(most, s);
  // A box is whole: there is none between the second and the third.
  static constexpr std::array<std::string_view, 10> boxes{"", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  const std::size_t count = std::min(picture.names.size() + 1, boxes.size());
  widgets::Plot plot("ends", view.ends,
                     {.x = {.lo = 0.5,
                            .hi = static_cast<double>(picture.names.size()) + 0.5,
                            .label = "last box",
                            .categories = std::span(boxes).first(count)},
                      .y = {.lo = 0, .hi = 1.08 * most, .label = "the chain", .unit = "s"},
                      .size = size});
  plot.curves(picture.ends);
  plot.horizontal_mark(out.unfused_s, "none fused");
  double at = picture.last + 1;
  if (plot.drag_x("drag end", at,
                  {.label = "", .lo = picture.first + 1.0, .hi = static_cast<double>(picture.names.size())}))
    in.last = std::llround(at);
}

/// What attention moves, fused and not.
void draw_attention(const Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("attention", view.attention,
                     {.x = {.kind = AxisKind::log2, .lo = 256, .hi = 131072, .label = "tokens"},
                      .y = {.kind = AxisKind::log10, .label = "traffic of all heads", .unit = "B"},
                      .size = size});
  if (picture.attention.empty()) return;
  plot.curves(picture.attention);
  if (in.tokens >= 256)
    plot.vertical_mark(static_cast<double>(in.tokens), "yours");
  else
    plot.vertical_mark(marked_length, picture.ratio_words);
}

/// Kernels under the roof: of none fused, and of the plan.
void draw_roofline(const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("roofline", view.roofline,
                     {.x = {.kind = AxisKind::log10, .lo = 0.1, .hi = 1e4, .label = "intensity", .unit = "FLOP/B"},
                      .y = {.kind = AxisKind::log10, .label = "reached", .unit = "FLOP/s"},
                      .size = size});
  if (picture.roof.x.empty()) return;
  plot.curve(picture.roof);
  plot.curves(picture.dots);
}

void draw_kernels(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 12> columns{
      {{.key = "name", .title = "kernel"},
       {.key = "tile", .title = "tile", .priority = 4},
       {.key = "registers", .title = "registers"},
       {.key = "spilled", .title = "spilled", .priority = 1},
       {.key = "shared_bytes", .title = "shared memory", .priority = 3},
       {.key = "resident", .title = "blocks per SM", .priority = 2},
       {.key = "occupancy", .title = "occupancy"},
       {.key = "bytes", .title = "traffic"},
       {.key = "l2_bytes", .title = "from L2", .priority = 1},
       {.key = "time_s", .title = "time", .bar = true},
       {.key = "waits", .title = "waits for"},
       {.key = "kind", .title = "kind", .priority = 2}}};
  view.kernels.draw("kernels", out.kernel_rows, columns, size);
}

void draw_stages(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{{{.key = "stage", .title = "stage"},
                                                           {.key = "count", .title = "how many"},
                                                           {.key = "makes", .title = "of what"},
                                                           {.key = "bytes", .title = "bytes"},
                                                           {.key = "time_s", .title = "the chain"}}};
  view.stages.draw("stages", out.stages, columns, size);
}

void draw_assumed(const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 3> columns{
      {{.title = "assumed", .number = false}, {.title = "here", .number = false}, {.title = "from", .number = false}}};
  const widgets::TableSource source = widgets::table_of(
      picture.assumed, [](const AssumedRow& r, const widgets::RowCells& cells) { cells(r.what, r.value, r.from); });
  widgets::draw_table("assumed", columns, source, view.assumed, size);
}

/// One panel over another where there is room for both, else the upper one alone.
template <class Upper, class Lower>
void draw_stacked_parts(ImVec2 size, float upper_share, const Upper& upper, const Lower& lower) {
  const auto& t = widgets::theme();
  const float gap = t.px(12), height = std::floor(size.y * upper_share);
  if (size.y < t.px(330)) return upper(size);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  upper(ImVec2{size.x, height});
  ImGui::SetCursorScreenPos({at.x, at.y + height + gap});
  lower(ImVec2{size.x, size.y - height - gap});
}

/// The chain over the lasso's end, and next to it what attention moves, or the roofline of other chains.
void draw_curves(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const bool two = size.x >= t.px(620);
  const float gap = t.px(16), width = two ? std::floor((size.x - gap) / 2) : size.x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_ends(in, out, picture, view, {width, size.y});
  if (!two) return;
  ImGui::SetCursorScreenPos({at.x + width + gap, at.y});
  const ImVec2 rest{size.x - width - gap, size.y};
  if (in.chain == models::gpu::ChainKind::attention)
    draw_attention(in, picture, view, rest);
  else
    draw_roofline(picture, view, rest);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("boxes", {.title = "Boxes", .least = {600, 330}, .ideal = {0, 560}, .answers = true, .marks = "boxes"},
              [&](ImVec2 size) { draw_boxes(in, out, picture, view, size); });
  stage.panel("kernels", {.title = "Kernels, and what is assumed", .least = {520, 170}, .scrolls = true},
              [&](ImVec2 whole) {
                draw_stacked_parts(
                    whole, 0.5f, [&](ImVec2 size) { draw_kernels(out, view, size); },
                    [&](ImVec2 size) { draw_assumed(picture, view, size); });
              });
  stage.panel("ends", {.title = "One box more", .least = {420, 230}}, [&](ImVec2 whole) {
    draw_stacked_parts(
        whole, 0.6f, [&](ImVec2 size) { draw_curves(in, out, picture, view, size); },
        [&](ImVec2 size) { draw_stages(out, view, size); });
  });
  published_panel(stage, "Measured on an H100", picture.published);
}

}  // namespace chapters::framework::fusion
