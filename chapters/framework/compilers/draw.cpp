#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/framework/compilers/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"
#include "widgets/plot/plot.h"

namespace chapters::framework::compilers {
namespace {

using widgets::AxisKind, widgets::Plot;

constexpr std::array<DescribedColumn, 10> way_columns{{
    {.key = "name"},
    {.key = "launches", .priority = 2, .digits = 4},
    {.key = "bytes", .priority = 4, .digits = 3},
    {.key = "host_s", .priority = 3, .digits = 3},
    {.key = "device_s", .priority = 3, .digits = 3},
    {.key = "call_s", .priority = 1, .digits = 3},
    {.key = "graphs", .priority = 2},
    {.key = "compile_s", .digits = 3},
    {.key = "won_s", .digits = 3},
    {.key = "ahead_from", .digits = 4},
}};

widgets::RowMark way_mark(const WayRow& row) {
  return {widgets::Marker::circle, widgets::colour(way_tint(row.way, row.yours), widgets::theme())};
}

bool buckets(const Inputs& in) {
  return in.policy == ShapePolicy::powers || in.policy == ShapePolicy::multiples ||
         in.policy == ShapePolicy::any_padded;
}

void draw_stream(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("calls", view.stream,
            {.x = {.kind = AxisKind::log10, .lo = axis_from, .hi = max_calls, .label = "call"},
             .y = {.lo = 0, .hi = picture.length_hi, .label = picture.length_label},
             .size = size,
             .link = &view.link,
             .x_axis = false,
             .ghost = false});
  plot.curves(picture.stream);
  if (picture.ahead_from > 0)
    plot.vertical_mark(picture.ahead_from, {}, {.colour = widgets::theme().good, .output = "ahead_from"});
  auto calls = static_cast<double>(in.calls);
  if (plot.drag_x("drag the end of the stream", calls, {.label = "the stream ends", .lo = 1, .hi = max_calls}))
    in.calls = std::clamp<std::int64_t>(std::llround(calls), 1, static_cast<std::int64_t>(max_calls));
  if (buckets(in)) {
    auto bucket = static_cast<double>(in.bucket);
    if (plot.drag_y("drag the bucket", bucket, {.label = "bucket", .lo = 1, .hi = 4096}))
      in.bucket = std::clamp<std::int64_t>(std::llround(bucket), 1, 4096);
  } else if (in.lengths == Lengths::lognormal || in.lengths == Lengths::same) {
    auto median = static_cast<double>(in.median);
    if (plot.drag_y("drag the median", median, {.label = "median", .lo = 1, .hi = picture.length_hi}))
      in.median = std::clamp<std::int64_t>(std::llround(median), 1, 8192);
  }
}

void draw_lead(const Picture& picture, View& view, ImVec2 size) {
  Plot plot("ledger", view.lead,
            {.x = {.kind = AxisKind::log10, .lo = axis_from, .hi = max_calls, .label = "call"},
             .y = {.lo = picture.lead_lo, .hi = picture.lead_hi, .label = "won so far", .unit = "s"},
             .size = size,
             .legend = false,
             .link = &view.link,
             .ghost = false});
  if (picture.lead.empty()) return;
  plot.curves(picture.lead);
  plot.tag_y(picture.won_s, {}, {.output = "won_s"});
  const auto& t = widgets::theme();
  if (picture.lowest_s < 0 && size.y > t.px(110))
    plot.bracket(picture.lowest_x, 0, picture.lowest_s, picture.lowest_bold, "behind at most", {.output = "lowest_s"});
  if (picture.sliver_at > 0 && size.y > t.px(130))
    plot.text(picture.sliver_at, picture.sliver_s, picture.sliver_words, {.output = "saving_s"});
  if (picture.ahead_from > 0)
    plot.vertical_mark(picture.ahead_from, picture.ahead_words, {.colour = t.good, .output = "ahead_from"});
}

struct FallHeights {
  float stream = 0, lanes = 0;
};

/// Lanes are as high as their words need, where there is room; what they take so is the stream's, not the ledger's.
FallHeights fall_heights(const Picture& picture, float height, float gap) {
  const auto& t = widgets::theme();
  const bool roomy = height >= t.px(300);
  const float plain = std::floor(roomy ? std::min(0.28f * height, t.px(190)) : 0.16f * height);
  const float words = static_cast<float>(picture.lanes.size()) * lane_words_height() + t.px(6);
  const float lanes = roomy ? std::floor(std::clamp(words, plain, std::max(plain, 0.36f * height))) : plain;
  const float ledger = std::ceil(0.56f * (height - plain - 2 * gap));
  return {.stream = height - lanes - ledger - 2 * gap, .lanes = lanes};
}

/// The stream, the graphs that its calls fall into, and what it has won, one under the other.
void draw_fall(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float gap = t.px(2);
  const auto [upper, lanes] = fall_heights(picture, size.y, gap);
  // The lanes first, on the axis of the frame before: what falls goes under the stream's dots and words.
  float y = corner.y + upper + gap;
  ImGui::SetCursorScreenPos({corner.x, y});
  draw_lanes(picture, view, {size.x, lanes});
  ImGui::SetCursorScreenPos(corner);
  draw_stream(in, picture, view, {size.x, upper});
  widgets::drew("the stream");
  y += lanes + gap;
  ImGui::SetCursorScreenPos({corner.x, y});
  draw_lead(picture, view, {size.x, corner.y + size.y - y});
  widgets::drew("the ledger");
}

void draw_mean(const Picture& picture, View& view, ImVec2 size) {
  const bool wide = size.x >= widgets::theme().px(360) && size.y >= widgets::theme().px(170);
  Plot plot("mean", view.mean,
            {.x = {.kind = AxisKind::log10, .lo = axis_from, .hi = max_calls, .label = "calls so far"},
             .y = {.kind = AxisKind::log10,
                   .lo = picture.mean_lo,
                   .hi = picture.mean_hi,
                   .label = "time per call",
                   .unit = "s"},
             .size = size,
             .legend = !wide,
             .end_labels = wide,
             .ghost = false});
  plot.curves(picture.mean);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("fall",
              {.title = "The stream through the guards",
               .least = {480, 420},
               .ideal = {0, 560},
               .answers = true,
               .marks = "the stream, the ledger"},
              [&](ImVec2 size) {
                draw_over_doors(
                    picture.doors, size, view.requests, [&](ImVec2 room) { draw_fall(in, picture, view, room); }, 470);
              });
  stage.panel("ways", {.title = "All ways over this stream", .least = {460, 200}, .ideal = {0, 240}, .scrolls = true},
              [&](ImVec2 size) { view.ways.draw("ways", out.ways, way_columns, size, {.mark = way_mark}); });
  stage.panel("mean", {.title = "A call with its share of the compiling, all ways", .least = {380, 220}},
              [&](ImVec2 size) { draw_mean(picture, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::framework::compilers
