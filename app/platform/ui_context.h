#pragma once
#include <imgui.h>

#include "widgets/base/theme.h"

namespace app {

/// A Dear ImGui context set up the same way for window and headless: keyboard navigation, no .ini or log file, our
/// fonts. Current from creation on.
class UiContext {
 public:
  UiContext();
  ~UiContext();
  UiContext(const UiContext&) = delete;
  UiContext& operator=(const UiContext&) = delete;

  ImGuiContext* get() const { return context_; }
  const widgets::Fonts& fonts() const { return fonts_; }

 private:
  ImGuiContext* context_;
  widgets::Fonts fonts_;
};

}  // namespace app
