#pragma once
#include <imgui.h>

#include <memory>
#include <string>
#include <string_view>

#include "app/platform/ui_context.h"
#include "app/shell/shell.h"

namespace bench {

/// Assets of the source tree; chips and models are put in force on the first call.
const std::string& assets();

/// Dear ImGui with our fonts, without window or GPU.
class Canvas {
 public:
  explicit Canvas(ImVec2 size);
  void begin();
  void end();  ///< builds the draw data, as a window would hand it to the GPU

 private:
  app::UiContext ui_;
};

/// The whole program but for its window: what is drawn for a lab at its defaults, frame by frame.
class Stage {
 public:
  explicit Stage(std::string_view lab, ImVec2 size = {1600, 1000});
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  void frame();
  /// Draws `least` frames or more, until messages have gone, layouts are settled and jobs are done.
  void settle(int least = 60);
  app::Shell& shell() { return *shell_; }

 private:
  Canvas canvas_;
  std::unique_ptr<app::Workspace> workspace_;
  std::unique_ptr<app::Shell> shell_;
};

/// A folder that is nobody's: nothing is kept.
models::Result<app::UserPaths> nowhere();

}  // namespace bench
