#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "chapters/serving/chunked_disaggregated/lab.h"
#include "widgets/base/tint.h"
#include "widgets/plot/plot.h"

namespace chapters::serving::chunked_disaggregated {
namespace {

using widgets::AxisKind, widgets::Plot;

/// First token against the longest silence, both on logarithms.
void draw_pace(const Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("first token against silence", view.pace,
            {.x = {.kind = AxisKind::log10, .label = "first token of the prompt", .unit = "s"},
             .y = {.kind = AxisKind::log10, .label = "longest silence of a user", .unit = "s"},
             .size = size});
  plot.curves(picture.pace);
  plot.horizontal_mark(in.gap_limit_s, "limit");
  plot.vertical_mark(in.ttft_limit_s, "limit");
}

/// Tokens in time: all GPUs doing both, and each split of them.
void draw_ratio(const Picture& picture, View& view, ImVec2 size) {
  std::array<std::string_view, max_bars> names;
  const std::size_t bars = std::min(picture.ratio_names.size(), max_bars);
  std::copy_n(picture.ratio_names.begin(), bars, names.begin());
  // A plot of one kind of bar has no legend: the axis says then what stands out in every bar.
  const widgets::Curve& late = picture.ratio.back();
  const bool all_late = std::all_of(picture.ratio.begin(), picture.ratio.end(),
                                    [&](const widgets::Curve& c) { return &c == &late || c.x.empty(); });
  Plot plot("pool ratio", view.ratio,
            {.x = {.lo = -0.6,
                   .hi = static_cast<double>(std::max<std::size_t>(3, bars)) - 0.4,
                   .label = "read : write",
                   .categories = std::span(names).first(bars)},
             .y = {.lo = 0, .label = all_late ? "in time, some first token too late" : "in time", .unit = "tokens/s"},
             .size = size});
  for (const widgets::Curve& c : picture.ratio)
    if (!c.x.empty())
      plot.bars(c.label, c.x, c.y, {.colour = widgets::colour(c.tint, widgets::theme()), .info = c.info});
}

void draw_pools(const Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool two = size.x > t.px(640);
  const float gap = t.px(18), left = two ? std::floor(0.5f * (size.x - gap)) : size.x;
  draw_ratio(picture, view, {left, size.y});
  if (!two) return;
  ImGui::SetCursorScreenPos({at.x + left + gap, at.y});
  draw_pace(in, picture, view, {size.x - left - gap, size.y});
}

/// The bill a second by how often a prompt comes; its tag is dragged.
void draw_often(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("how often", view.bill,
            {.x = {.kind = AxisKind::log10, .label = "a prompt every", .unit = "s"},
             .y = {.lo = 0, .label = "not written", .unit = "tokens/s"},
             .size = size});
  if (picture.bill.empty()) return;
  plot.curves(picture.bill);
  if (std::isfinite(out.even_interval_s))
    plot.vertical_mark(out.even_interval_s, "pool and chunks even", {.output = "even_interval_s"});
  double x = in.interval_s;
  plot.tag_x(x, {});
  if (plot.drag_x("drag interval", x, {.label = "", .lo = 0.05, .hi = 60}))
    in.interval_s = std::clamp(std::round(x * 100) / 100, 0.05, 60.0);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("worlds",
              {.title = "Three worlds", .least = {520, 300}, .ideal = {0, 560}, .answers = true, .marks = "worlds"},
              [&](ImVec2 size) { draw_worlds(in, out, picture, view, size); });
  stage.panel("pools", {.title = "Pool ratio", .least = {420, 220}},
              [&](ImVec2 size) { draw_pools(in, picture, view, size); });
  stage.panel("often", {.title = "How often", .least = {360, 220}},
              [&](ImVec2 size) { draw_often(in, out, picture, view, size); });
  published_panel(stage, "Measured transfers", picture.published);
}

}  // namespace chapters::serving::chunked_disaggregated
