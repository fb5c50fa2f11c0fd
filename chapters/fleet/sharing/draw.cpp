#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/sharing/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"
#include "widgets/plot/plot.h"

namespace chapters::fleet::sharing {
namespace {

using widgets::Font, widgets::Painter, widgets::Plot, widgets::Type;

constexpr std::array<DescribedColumn, 6> size_columns{{
    {.key = "size"},
    {.key = "jobs_share", .priority = 2, .digits = 2},
    {.key = "time_share", .priority = 2, .digits = 2},
    {.key = "mean_wait_s", .digits = 2},
    {.key = "waited", .priority = 1, .digits = 2},
    {.key = "jobs", .priority = 3},
}};
constexpr std::array<DescribedColumn, 7> rule_columns{{
    {.key = "rule"},
    {.key = "used", .digits = 3},
    {.key = "mean_wait_s", .digits = 2},
    {.key = "small_wait_s", .priority = 2, .digits = 2},
    {.key = "large_wait_s", .priority = 1, .digits = 2},
    {.key = "stranded", .priority = 3, .digits = 2},
    {.key = "held_back", .priority = 3, .digits = 2},
}};

void draw_waits(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("waits", view.waits,
            {.x = {.lo = 15, .hi = 105, .label = "load", .unit = "%"},
             .y = {.kind = widgets::AxisKind::log10,
                   .lo = 1,
                   .hi = picture.wait_hi_s,
                   .label = "mean wait",
                   .unit = "s",
                   .zero_word = "none"},
             .size = size,
             .ghost = false});
  plot.curves(picture.waits);
  double load = in.load, wait = picture.wait_s;
  if (plot.drag_point("drag the load", load, wait, {.label = picture.wait_label, .lo = 20, .hi = 100}))
    in.load = std::round(load);
}

void draw_uses(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("uses", view.uses,
            {.x = {.lo = 15, .hi = 105, .label = "load", .unit = "%"},
             .y = {.lo = 0, .hi = 105, .label = "used", .unit = "%"},
             .size = size,
             .ghost = false});
  plot.curves(picture.uses);
  double load = in.load, used = out.used;
  if (plot.drag_point("drag the load in use", load, used, {.label = picture.use_label, .lo = 20, .hi = 100}))
    in.load = std::round(load);
}

}  // namespace

void draw_tenants(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (picture.version == 0 || picture.tenant_words.empty() || widgets::veiled()) {
    ImGui::Dummy(size);
    return;
  }
  const float line = t.type(Type::small) + t.px(4);
  p.text_fit(corner, picture.tenants_title, size.x, t.muted, Type::small);
  const float from = corner.y + line, count = static_cast<float>(picture.tenant_words.size());
  const float lane = std::min((size.y - line) / count, t.px(46));
  for (std::size_t i = 0; i < picture.tenant_words.size(); ++i) {
    const float y = from + static_cast<float>(i) * lane;
    const bool named = lane > line + t.px(8);
    const float top = named ? y + line : y + t.px(1);
    const float foot = named ? top + std::max(t.px(4), lane - line - t.px(5)) : y + lane - t.px(1);
    const TenantBar& bar = picture.tenants[i];
    const float host = corner.x + size.x * bar.host, alone = host + size.x * bar.alone;
    p.rect({corner.x, top}, {host, foot}, widgets::with_alpha(t.muted, 0.3f), t.px(2));
    p.rect({host, top}, {alone, foot}, i == 0 ? t.accent : t.muted, t.px(2));
    const ImVec2 added_min{alone, top}, added_max{alone + size.x * bar.added, foot};
    if (bar.added > 0) {
      p.rect(added_min, added_max, widgets::with_alpha(t.bad, 0.3f), t.px(2));
      widgets::hatch(p, {added_min, added_max}, widgets::with_alpha(t.bad, 0.9f), t.px(6));
    }
    if (named) p.text_fit({corner.x, y}, picture.tenant_words[i], size.x, t.text, Type::small);
  }
  // One job more or less: the number of lanes is what is dragged.
  ImGui::SetCursorScreenPos({corner.x, from});
  widgets::press_area("drag the number of jobs", {size.x, std::max(t.px(8), count * lane)});
  if (ImGui::IsItemFocused()) {
    const int steps = widgets::play_keys().steps;
    if (steps != 0) in.tenants = std::clamp<std::int64_t>(in.tenants + steps, 1, 7);
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left) && ImGui::GetIO().MouseDelta.y != 0) {
    const auto wanted = static_cast<std::int64_t>(std::ceil((ImGui::GetIO().MousePos.y - from) / std::max(lane, 1.0f)));
    in.tenants = std::clamp<std::int64_t>(wanted, 1, 7);
  }
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

namespace {

/// Two pictures in one panel: next to each other where it is wide, else one above the other.
template <class First, class Second>
void draw_two(ImVec2 size, First first, Second second) {
  const float gap = widgets::theme().px(14);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool wide = size.x > 1.5f * size.y;
  const ImVec2 half{wide ? (size.x - gap) / 2 : size.x, wide ? size.y : (size.y - gap) / 2};
  first(half);
  ImGui::SetCursorScreenPos(wide ? ImVec2{corner.x + half.x + gap, corner.y}
                                 : ImVec2{corner.x, corner.y + half.y + gap});
  second(half);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

/// Jobs on the GPU, and below them, for instances, what is published of them.
void draw_gpu(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const float strip = t.px(170);
  if (!picture.cut || !picture.published.any || size.y < strip + t.px(150)) return draw_tenants(in, picture, size);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  draw_tenants(in, picture, {size.x, size.y - strip - t.px(10)});
  ImGui::SetCursorScreenPos({corner.x, corner.y + size.y - strip});
  published_strip(picture.published, {size.x, strip});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("shelves", {.title = "The shelves", .least = {440, 320}, .answers = true, .marks = "the shelves"},
              [&](ImVec2 size) {
                draw_over_doors(
                    picture.doors, size, view.requests, [&](ImVec2 room) { draw_shelves(in, picture, room); }, 420);
                widgets::drew("the shelves");
              });
  stage.panel("loads", {.title = "Waiting and use by load", .least = {420, 320}}, [&](ImVec2 size) {
    draw_two(
        size, [&](ImVec2 room) { draw_waits(in, picture, view, room); },
        [&](ImVec2 room) { draw_uses(in, out, picture, view, room); });
  });
  stage.panel("rules", {.title = "Who waits under which rule", .least = {420, 320}, .scrolls = true}, [&](ImVec2 size) {
    draw_two(
        size, [&](ImVec2 room) { view.rules.draw("rules", out.rules, rule_columns, room); },
        [&](ImVec2 room) { view.sizes.draw("sizes", out.sizes, size_columns, room); });
  });
  stage.panel("gpu", {.title = "One GPU, many jobs", .least = {380, 180}},
              [&](ImVec2 size) { draw_gpu(in, picture, size); });
}

}  // namespace chapters::fleet::sharing
