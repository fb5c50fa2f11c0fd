#include <algorithm>
#include <cmath>

#include "chapters/serving/paged_kv/lab.h"
#include "widgets/base/parts.h"

namespace chapters::serving::paged_kv {
namespace {

using widgets::AxisKind, widgets::Plot;

/// Held and unfilled against the size of a block; the tag of the size is dragged.
void draw_block_sizes(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("every block size", view.sizes,
            {.x = {.kind = AxisKind::log2, .lo = 1, .hi = 1024, .label = "tokens per block"},
             .y = {.lo = 0, .hi = 100, .label = "share of the pool", .unit = "%"},
             .size = size,
             .ghost = false});
  plot.curves(picture.sizes);
  if (!picture.sizes.empty() && picture.sizes.front().x.empty())
    plot.text(1, 50, "Too many tokens to try every size: take fewer requests.");
  double x = std::clamp(static_cast<double>(in.block_tokens), 1.0, 1024.0);
  plot.tag_x(x, {});
  if (plot.drag_x("drag block size", x, {.label = "", .lo = 1, .hi = 1024}))
    in.block_tokens = std::max<std::int64_t>(1, std::llround(x));
}

/// Who runs and who waits, in both pools, over time.
void draw_over_time(const Picture& picture, View& view, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = widgets::theme().px(10), each = (size.y - gap) / 2;
  {
    Plot plot("running over time", view.running,
              {.x = {.lo = 0, .hi = picture.shown_s, .label = "time", .unit = "s"},
               .y = {.lo = 0, .hi = 1.1 * picture.most_running, .label = "requests that run"},
               .size = {size.x, each},
               .ghost = false});
    plot.curves(picture.running);
    if (!picture.sent_back.x.empty()) plot.curve(picture.sent_back);
  }
  ImGui::SetCursorScreenPos({at.x, at.y + each + gap});
  Plot plot("waiting over time", view.waiting,
            {.x = {.lo = 0, .hi = picture.shown_s, .label = "time", .unit = "s"},
             .y = {.lo = 0, .hi = 1.1 * picture.most_waiting, .label = "requests that wait"},
             .size = {size.x, each},
             .legend = false,
             .ghost = false});
  plot.curves(picture.waiting);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("pools",
              {.title = "Two pools",
               .least = {520, 320},
               .ideal = {0, 560},
               .answers = true,
               .marks = "reserved pool, paged pool"},
              [&](ImVec2 size) { draw_hero(in, out, picture, view, size); });
  stage.panel("sizes", {.title = "Block size", .least = {380, 220}},
              [&](ImVec2 size) { draw_block_sizes(in, picture, view, size); });
  stage.panel("time", {.title = "Over time", .least = {420, 300}},
              [&](ImVec2 size) { draw_over_time(picture, view, size); });
  published_panel(stage, "Published", picture.published);
}

}  // namespace chapters::serving::paged_kv
