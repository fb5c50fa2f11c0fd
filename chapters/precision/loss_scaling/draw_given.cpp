#include <algorithm>
#include <array>

#include "chapters/precision/loss_scaling/lab.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot.h"

namespace chapters::precision::loss_scaling {
namespace {

using widgets::AxisKind;

/// The place inside of the veil's rim.
struct GivenRoom {
  ImVec2 at, size;
};
GivenRoom given_room(ImVec2 size) {
  const ImVec2 inset = veil_inset(), at = ImGui::GetCursorScreenPos();
  return {{at.x + inset.x, at.y + inset.y}, {size.x - 2 * inset.x, size.y - 2 * inset.y}};
}

}  // namespace

void draw_run_given(const Inputs& in, View& view, ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const GivenRoom room = given_room(size);
  const auto steps = static_cast<double>(in.steps);
  const float scale_h = room.size.y >= t.px(220) ? room.size.y * 0.4f : 0, count_h = room.size.y - scale_h;
  const std::array<double, 2> x{0, steps}, fifty{0, steps / 50};
  ImGui::SetCursorScreenPos(room.at);
  {
    widgets::Plot plot("given: steps skipped", view.given_skips,
                       {
                           .x = {.lo = 0, .hi = steps, .label = "step"},
                           .y = {.lo = 0, .hi = 1.1 * fifty[1], .label = "skipped so far"},
                           .size = {room.size.x, count_h},
                           .legend = false,
                           .x_axis = scale_h == 0,
                       });
    plot.line("1 in 50", x, fifty, {.colour = t.muted, .width = 1.5f, .dashed = true});
  }
  if (scale_h == 0 || in.policy == models::ScalerPolicy::none) return;
  ImGui::SetCursorScreenPos({room.at.x, room.at.y + count_h});
  widgets::Plot plot("given: first scale", view.given_scale,
                     {
                         .x = {.lo = 0, .hi = steps, .label = "step"},
                         .y = {.kind = AxisKind::log2, .lo = 0.5, .hi = 0x1p25, .label = "loss scale"},
                         .size = {room.size.x, scale_h},
                         .legend = false,
                     });
  const std::array<double, 1> at{0}, first{in.init_scale};
  constexpr std::array<std::string_view, 1> name{"first scale"};
  plot.scatter("first scale", at, first, {.colour = t.text, .radius = 4, .labels = name});
}

void draw_range_given(const Picture& picture, View& view, ImVec2 size) {
  const widgets::GivenMarks given;
  const GivenRoom room = given_room(size);
  const widgets::Curve& middle = picture.middle;
  ImGui::SetCursorScreenPos(room.at);
  widgets::Plot plot("given: gradients", view.given_range,
                     {
                         .x = {.lo = 0, .hi = picture.steps, .label = "step"},
                         .y = {.kind = AxisKind::log2,
                               .lo = *std::min_element(middle.lower.begin(), middle.lower.end()) / 16,
                               .hi = *std::max_element(middle.y.begin(), middle.y.end()) * 16,
                               .label = "|g| \xC3\x97 scale"},
                         .size = room.size,
                     });
  plot.curve(middle);
}

}  // namespace chapters::precision::loss_scaling
