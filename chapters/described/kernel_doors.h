#pragma once
#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/lab_interface.h"
#include "models/base/result.h"

/// Words under the hero of a lab of chapter 12 that open its neighbours with what was found here.
namespace chapters {

struct KernelDoor {
  const char* label = "";              ///< name of the button
  std::string_view words;              ///< what is shown
  models::Result<std::string> link{};  ///< or why there is none, in a sentence
};
using KernelDoors = std::vector<KernelDoor>;

/// Pixels that the doors take of a hero of this size, 0 where it is too low for both or a question is open.
float kernel_doors_height(std::span<const KernelDoor> doors, ImVec2 size);
/// Draws them at the lower end of the panel that begins at `corner`; the link of the one that is pressed is asked for.
void draw_kernel_doors(std::span<const KernelDoor> doors, ImVec2 corner, ImVec2 size, Requests& requests);

/// "0, 4, -1": the byte address of each lane as the labs of warps read it.
std::string address_list(std::span<const std::int64_t> addresses);
/// These addresses in kernels/coalescing or kernels/bank-conflicts.
models::Result<std::string> link_of_addresses(std::string_view lab, std::span<const std::int64_t> addresses,
                                              std::int64_t width_bytes);

/// Draws `hero(size)` and the doors below it.
template <class Hero>
void draw_over_doors(std::span<const KernelDoor> doors, ImVec2 size, Requests& requests, const Hero& hero) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float below = kernel_doors_height(doors, size);
  hero(ImVec2{size.x, size.y - below});
  if (below > 0) draw_kernel_doors(doors, corner, size, requests);
}

}  // namespace chapters
