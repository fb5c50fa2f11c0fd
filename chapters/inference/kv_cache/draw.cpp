#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "chapters/inference/kv_cache/lab.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::inference::kv_cache {
namespace {

using widgets::AxisKind, widgets::Type;

void draw_contexts(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("contexts", view.against_context,
                     {.x = {.kind = AxisKind::log2, .lo = 256, .hi = 1048576, .label = "context", .unit = "tokens"},
                      .y = {.kind = AxisKind::log10, .lo = 1, .label = "users that fit"},
                      .size = size});
  if (picture.against_context.empty()) return;
  plot.curves(picture.against_context);
  double context = static_cast<double>(in.context);
  if (plot.drag_x("drag context", context, {.lo = 256, .hi = 1048576}))
    in.context = std::max<std::int64_t>(1, std::llround(context));
}

void draw_parked(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const widgets::Painter p = widgets::Painter::window();
  const float line = 2 * (t.type(Type::body) + t.px(6));
  widgets::wrapped_text(p, at, picture.parking, size.x, t.text);
  view.bars.clear();
  view.segments.resize(picture.parked_s.size());
  for (std::size_t i = 0; i < picture.parked_s.size(); ++i) {
    const bool last = i + 1 == picture.parked_s.size();
    view.segments[i] = {.label = picture.parked_names[i],
                        .value = picture.parked_s[i],
                        .tint = last ? widgets::Meaning::compute_bound : widgets::Meaning::communication};
    view.bars.push_back({.label = picture.parked_names[i], .segments = std::span(view.segments).subspan(i, 1)});
  }
  ImGui::SetCursorScreenPos({at.x, at.y + line});
  widgets::draw_stacked_bars(
      "parked", view.bars, view.parked,
      {.unit = "s", .size = {size.x - t.px(28), std::max(t.px(80), size.y - line)}, .legend = false});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("vessels", {.title = "Who fits", .least = {560, 330}, .answers = true, .marks = "vessels, rim"},
              [&](ImVec2 size) { draw_vessels(in, out, picture, size); });
  stage.panel("contexts", {.title = "Against context", .least = {420, 300}},
              [&](ImVec2 size) { draw_contexts(in, picture, view, size); });
  stage.panel("parked", {.title = "Users who wait", .least = {420, 260}},
              [&](ImVec2 size) { draw_parked(picture, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::inference::kv_cache
