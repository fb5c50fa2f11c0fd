#pragma once
#include <imgui.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/doors.h"
#include "chapters/mechanism/lab_interface.h"
#include "models/base/result.h"

/// Doors that open other labs, with the links that they follow.
namespace chapters {

/// A lab that shows one side of what stands here.
struct DoorTo {
  const char *label, *words, *lab;  ///< label: of the button, as tests and the keyboard know it
};

struct LabDoor {
  const char* label = "";              ///< name of the button
  std::string_view words;              ///< what is shown
  models::Result<std::string> link{};  ///< or why there is none, in a sentence

  Door shown() const { return {label, words, link ? std::string_view() : std::string_view(link.error)}; }
};
using LabDoors = std::vector<LabDoor>;

/// A door to each of these labs; `link_to(lab)` says what is opened there.
template <class LinkTo>
LabDoors lab_doors(std::span<const DoorTo> to, const LinkTo& link_to) {
  LabDoors doors;
  for (const DoorTo& door : to) doors.push_back({door.label, door.words, link_to(std::string_view(door.lab))});
  return doors;
}

/// Pixels that the doors take of a hero of this size, 0 where they are not drawn.
float lab_doors_height(std::span<const LabDoor> doors, ImVec2 size, float least_px);
/// Draws them at the lower end of the panel that begins at `corner`.
void draw_lab_doors(std::span<const LabDoor> doors, ImVec2 corner, ImVec2 size, Requests& requests);

/// Draws `hero(size)` and below it the doors, at most six; the link of the one that is pressed is asked for. Without
/// doors while a question is open, and where the panel has less than `least_px` for both.
template <class Hero>
void draw_over_doors(std::span<const LabDoor> doors, ImVec2 size, Requests& requests, const Hero& hero,
                     float least_px = 420) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float below = lab_doors_height(doors, size, least_px);
  hero(ImVec2{size.x, size.y - below});
  if (below > 0) draw_lab_doors(doors, corner, size, requests);
}

}  // namespace chapters
