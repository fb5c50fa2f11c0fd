#include "chapters/described/kernel_doors.h"

#include <array>

#include "chapters/mechanism/doors.h"
#include "chapters/mechanism/link_writer.h"
#include "widgets/base/marks.h"
#include "widgets/base/theme.h"

namespace chapters {
namespace {

constexpr std::size_t most_doors = 6;

/// The first `most_doors` as the mechanism draws them.
std::span<const Door> shown_doors(std::span<const KernelDoor> doors, std::array<Door, most_doors>& out) {
  const std::size_t count = std::min(doors.size(), most_doors);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = {doors[i].label, doors[i].words,
              doors[i].link ? std::string_view() : std::string_view(doors[i].link.error)};
  return {out.data(), count};
}

float gap_px() { return widgets::theme().px(6); }

}  // namespace

float kernel_doors_height(std::span<const KernelDoor> doors, ImVec2 size) {
  if (doors.empty() || widgets::veiled() || size.y < widgets::theme().px(420)) return 0;
  std::array<Door, most_doors> shown;
  return doors_height(shown_doors(doors, shown), size.x) + gap_px();
}

void draw_kernel_doors(std::span<const KernelDoor> doors, ImVec2 corner, ImVec2 size, Requests& requests) {
  std::array<Door, most_doors> shown;
  const auto drawn = shown_doors(doors, shown);
  const float height = doors_height(drawn, size.x);
  if (const int pressed = draw_doors(drawn, {corner.x, corner.y + size.y - height}, size.x); pressed >= 0)
    requests.open_link = *doors[static_cast<std::size_t>(pressed)].link;
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

std::string address_list(std::span<const std::int64_t> addresses) {
  std::string text;
  for (const std::int64_t address : addresses) text += (text.empty() ? "" : ", ") + std::to_string(address);
  return text;
}

models::Result<std::string> link_of_addresses(std::string_view lab, std::span<const std::int64_t> addresses,
                                              std::int64_t width_bytes) {
  LinkWriter w(lab);
  w.choice("access", "addresses");
  w.words("addresses", address_list(addresses));
  w.choice("width_bytes", std::to_string(width_bytes));
  return w.link();
}

}  // namespace chapters
