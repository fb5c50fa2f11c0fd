#include "app/platform/ui_context.h"

#include "app/platform/fonts.h"

namespace app {

UiContext::UiContext() : context_(ImGui::CreateContext()) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigNavEscapeClearFocusItem = false;  // Escape leaves the keyboard where it is, and its ring is seen
  fonts_ = load_fonts(*io.Fonts);
}

UiContext::~UiContext() { ImGui::DestroyContext(context_); }

}  // namespace app
