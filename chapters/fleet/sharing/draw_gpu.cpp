#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/sharing/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

/// Jobs on one GPU: a while of each as a lane, and next to it a mean step.
namespace chapters::fleet::sharing {
namespace {

using models::fleet::GpuState;
using widgets::Font, widgets::Painter, widgets::Type;

ImU32 lane_fill(std::size_t lane) {
  const auto& t = widgets::theme();
  return lane == 0 ? t.accent : lane == 1 ? t.warning : t.muted;
}

/// The host's part, paler than the work of a job like yours.
ImU32 host_fill() { return widgets::with_alpha(widgets::theme().muted, 0.45f); }

/// A lane from `at` on: the host as a line, work as high as its pace, and waiting hatched.
void paint_lane(const Painter& p, const Picture& picture, std::size_t lane, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const float foot = at.y + size.y;
  p.rect(at, {at.x + size.x, foot}, t.card, t.px(2));
  for (const LanePiece& piece : picture.lanes) {
    if (piece.lane != lane) continue;
    const float from = at.x + size.x * piece.from, to = std::max(from + 1, at.x + size.x * piece.to);
    if (piece.state == GpuState::host)
      p.line({from, foot - t.px(2)}, {to, foot - t.px(2)}, host_fill(), t.px(2));
    else if (piece.state == GpuState::computes)
      p.rect({from, foot - size.y * piece.pace}, {to, foot}, lane_fill(lane));
    else
      p.rect({from, at.y}, {to, foot}, widgets::with_alpha(t.bad, 0.45f));
    // What is lacking to the full pace stands above it.
    if (piece.state == GpuState::computes && piece.pace < 1)
      p.rect({from, at.y}, {to, foot - size.y * piece.pace}, widgets::with_alpha(t.bad, 0.3f));
  }
}

/// A mean step: host, the GPU alone, and what is added.
void paint_step(const Painter& p, const TenantBar& bar, std::size_t lane, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const float foot = at.y + size.y, host = at.x + size.x * bar.host, alone = host + size.x * bar.alone;
  p.rect(at, {host, foot}, host_fill(), t.px(2));
  p.rect({host, at.y}, {alone, foot}, lane_fill(lane), t.px(2));
  if (!(bar.added > 0)) return;
  const ImVec2 min{alone, at.y}, max{alone + size.x * bar.added, foot};
  p.rect(min, max, widgets::with_alpha(t.bad, 0.3f), t.px(2));
  widgets::hatch(p, {min, max}, widgets::with_alpha(t.bad, 0.9f), t.px(6));
}

struct Key {
  std::string_view words;
  ImU32 colour = 0;
};
void paint_keys(const Painter& p, ImVec2 at, float room, std::span<const Key> keys) {
  const auto& t = widgets::theme();
  const float mid = at.y + t.type(Type::small) / 2, swatch = t.px(10), end = at.x + room;
  for (const Key& key : keys) {
    if (at.x + swatch + t.px(40) > end) return;
    p.rect({at.x, mid - swatch / 2}, {at.x + swatch, mid + swatch / 2}, key.colour, t.px(2));
    at.x += swatch + t.px(5);
    at.x += p.text_fit(at, key.words, end - at.x, t.muted, Type::small) + t.px(14);
  }
}

/// The number of lanes is what is dragged: one job more or less.
void drag_lanes(Inputs& in, ImVec2 at, ImVec2 size, float lane) {
  ImGui::SetCursorScreenPos(at);
  widgets::press_area("drag the number of jobs", {size.x, std::max(widgets::theme().px(8), size.y)});
  if (ImGui::IsItemFocused()) {
    const int steps = widgets::play_keys().steps;
    if (steps != 0) in.tenants = std::clamp<std::int64_t>(in.tenants + steps, 1, max_jobs);
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left) && ImGui::GetIO().MouseDelta.y != 0) {
    const float y = (ImGui::GetIO().MousePos.y - at.y) / std::max(lane, 1.0f);
    in.tenants = static_cast<std::int64_t>(std::clamp(std::ceil(y), 1.0f, float{max_jobs}));
  }
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
}

/// Lanes and steps; in a narrow panel the steps alone.
void draw_jobs(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(4), gap = t.px(20);
  const bool both = size.x > t.px(560);
  const float left = both ? 0.58f * size.x : 0, steps = corner.x + (both ? left + gap : 0);
  const float steps_wide = corner.x + size.x - steps, head = 2 * line + t.px(2);
  const float count = static_cast<float>(picture.tenants.size());
  const float below = picture.unplaced_words.empty() ? 0 : line;
  const float lane = std::min((size.y - head - below) / count, t.px(170)),
              tall = std::max(t.px(3), lane - line - t.px(8));
  const std::array<Key, 3> lane_keys{{{"computes, as high as its pace", t.accent},
                                      {"waits or is slowed", widgets::with_alpha(t.bad, 0.45f)},
                                      {"host works", host_fill()}}};
  const std::array<Key, 3> step_keys{
      {{"host", host_fill()},
       {"GPU alone", t.accent},
       {picture.cut ? "added by fewer slices" : "added by the others", widgets::with_alpha(t.bad, 0.6f)}}};
  if (both) {
    p.text_fit(corner, picture.lanes_title, left, t.text, Type::small, Font::bold);
    paint_keys(p, {corner.x, corner.y + line}, left, lane_keys);
  }
  p.text_fit({steps, corner.y}, "a mean step of each", steps_wide, t.text, Type::small, Font::bold);
  paint_keys(p, {steps, corner.y + line}, steps_wide, step_keys);
  for (std::size_t i = 0; i < picture.tenants.size(); ++i) {
    const float y = corner.y + head + static_cast<float>(i) * lane;
    p.text_fit({both ? corner.x : steps, y}, picture.tenant_words[i], both ? size.x : steps_wide, t.text, Type::small);
    if (both) paint_lane(p, picture, i, {corner.x, y + line}, {left, tall});
    paint_step(p, picture.tenants[i], i, {steps, y + line}, {steps_wide, tall});
  }
  if (below > 0)
    p.text_fit({corner.x, corner.y + head + count * lane}, picture.unplaced_words, size.x, t.bad, Type::small,
               Font::bold);
  drag_lanes(in, {corner.x, corner.y + head}, {size.x, count * lane}, lane);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace

void draw_gpu(Inputs& in, const Picture& picture, ImVec2 size) {
  if (picture.version == 0 || picture.tenants.empty() || widgets::veiled()) {
    ImGui::Dummy(size);
    return;
  }
  draw_jobs(in, picture, size);
}

}  // namespace chapters::fleet::sharing
