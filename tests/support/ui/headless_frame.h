#pragma once
#include <imgui.h>

#include "tests/support/ui/full_window.h"
#include "widgets/base/theme.h"

namespace support {

/// Dear ImGui without a window or a GPU: real input events in, draw lists out.
class HeadlessFrame {
 public:
  explicit HeadlessFrame(ImVec2 size = {900, 600}, widgets::Mode mode = widgets::Mode::dark)
      : context_(ImGui::CreateContext()) {
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = size;
    io.DeltaTime = 1.0f / 60.0f;
    io.IniFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset;
    widgets::set_theme(widgets::make_theme(mode, 1.0f, {}));
    widgets::apply_to_imgui(widgets::theme());
  }
  ~HeadlessFrame() { ImGui::DestroyContext(context_); }
  HeadlessFrame(const HeadlessFrame&) = delete;
  HeadlessFrame& operator=(const HeadlessFrame&) = delete;

  /// One frame with a window over the whole display; returns how many vertices it came to.
  template <class Draw>
  int frame(Draw&& draw) {
    ImGui::NewFrame();
    draw_full_window(draw);
    ImGui::Render();
    accept_textures();
    return ImGui::GetDrawData()->TotalVtxCount;
  }

 private:
  ImGuiContext* context_;
};

}  // namespace support
