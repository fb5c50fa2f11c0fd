#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/scaling_tax/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"
#include "widgets/plot/plot.h"

namespace chapters::fleet::scaling_tax {
namespace {

using widgets::AxisKind, widgets::Plot;

void draw_canary(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(widgets::Type::small) + t.px(6);
  if (!widgets::veiled()) {
    widgets::fit_text(widgets::Painter::window(), at, picture.canary_note, size.x, t.muted, widgets::Type::small);
    ImGui::SetCursorScreenPos({at.x, at.y + line});
    size.y -= line;
  }
  Plot plot("canary", view.canary,
            {.x = {.kind = AxisKind::log10, .lo = picture.gpus_lo, .hi = picture.gpus_hi, .label = "GPUs"},
             .y = {.lo = picture.canary_lo, .hi = picture.canary_hi, .label = "MFU by the model", .unit = "%"},
             .size = size,
             .ghost = false});
  plot.curves(picture.canary);
  if (picture.found_at > 0)
    plot.vertical_mark(picture.found_at, picture.canary_words, {.colour = t.bad, .output = "canary_gpus"});
}

void draw_slow(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("slow node", view.slow,
            {.x = {.lo = 0, .hi = max_slower, .label = "how much slower the node is", .unit = "%"},
             .y = {.lo = 0, .hi = picture.slow_hi, .label = "points lost by all"},
             .size = size,
             .ghost = false});
  plot.curves(picture.slow);
  double slower = in.slow_node, points = out.slow_points;
  if (plot.drag_point("drag how slow it is", slower, points, {.label = picture.slow_label, .lo = 0, .hi = max_slower}))
    in.slow_node = std::round(10 * slower) / 10;
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("stairs", {.title = "The staircase", .least = {480, 300}, .answers = true, .marks = "the stairs"},
              [&](ImVec2 size) {
                draw_over_doors(
                    picture.doors, size, view.requests, [&](ImVec2 room) { draw_stairs(in, picture, room); }, 480);
                widgets::drew("the stairs");
              });
  stage.panel("canary", {.title = "The canary: a release on ever more GPUs", .least = {420, 190}, .ideal = {0, 230}},
              [&](ImVec2 size) { draw_canary(picture, view, size); });
  stage.panel("slow", {.title = "One slow node, all failures", .least = {380, 220}},
              [&](ImVec2 size) { draw_slow(in, out, picture, view, size); });
  stage.panel("others", {.title = "Published staircases", .least = {420, 240}}, [&](ImVec2 size) {
    const auto& t = widgets::theme();
    // Where there is room, each published run stands next to the model's figure, too.
    const float strip = picture.published.any && size.y > t.px(520) ? t.px(240) : 0;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_others(picture, {size.x, size.y - strip});
    if (!(strip > 0)) return;
    ImGui::SetCursorScreenPos({at.x, at.y + size.y - strip + t.px(12)});
    published_strip(picture.published, {size.x, strip - t.px(12)});
  });
}

}  // namespace chapters::fleet::scaling_tax
