#pragma once
#include <imgui.h>

namespace support {

/// One frame's window over the whole display, in which `draw` draws.
template <class Draw>
void draw_full_window(Draw&& draw) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("canvas", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  draw();
  ImGui::End();
}

/// The same as the frame of a UiDriver.
template <class Draw>
auto full_window(Draw draw) {
  return [draw] { draw_full_window(draw); };
}

/// Stands in for a renderer: every texture that Dear ImGui asks for exists at once.
inline void accept_textures() {
  for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
    if (texture->Status == ImTextureStatus_WantCreate) texture->SetTexID(1);
    if (texture->Status == ImTextureStatus_WantDestroy) {
      texture->SetTexID(ImTextureID_Invalid);
      texture->SetStatus(ImTextureStatus_Destroyed);
    } else if (texture->Status != ImTextureStatus_Destroyed) {
      texture->SetStatus(ImTextureStatus_OK);
    }
  }
}

}  // namespace support
