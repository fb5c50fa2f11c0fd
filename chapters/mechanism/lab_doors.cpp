#include "chapters/mechanism/lab_doors.h"

#include <array>

#include "widgets/base/marks.h"
#include "widgets/base/theme.h"

namespace chapters {
namespace {

constexpr std::size_t max_doors = 6;

/// The first `max_doors` as they are drawn.
std::span<const Door> shown_doors(std::span<const LabDoor> doors, std::array<Door, max_doors>& out) {
  const std::size_t count = std::min(doors.size(), max_doors);
  for (std::size_t i = 0; i < count; ++i) out[i] = doors[i].shown();
  return {out.data(), count};
}

float gap_px() { return widgets::theme().px(6); }

}  // namespace

float lab_doors_height(std::span<const LabDoor> doors, ImVec2 size, float least_px) {
  if (doors.empty() || widgets::veiled() || size.y < widgets::theme().px(least_px)) return 0;
  std::array<Door, max_doors> shown;
  return doors_height(shown_doors(doors, shown), size.x) + gap_px();
}

void draw_lab_doors(std::span<const LabDoor> doors, ImVec2 corner, ImVec2 size, Requests& requests) {
  std::array<Door, max_doors> shown;
  const auto drawn = shown_doors(doors, shown);
  const float height = doors_height(drawn, size.x);
  if (const int pressed = draw_doors(drawn, {corner.x, corner.y + size.y - height}, size.x); pressed >= 0)
    requests.open_link = *doors[static_cast<std::size_t>(pressed)].link;
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters
