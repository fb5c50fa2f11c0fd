#pragma once
#include <string>

#include "chapters/mechanism/lab.h"
#include "tests/support/ui/ui_driver.h"

/// A lab's canvas without the shell.
namespace support {

/// The lab's canvas in a window over the whole display, for a frame function.
void draw_canvas(chapters::Lab& lab, widgets::StageView& view);
/// Dark theme, scale 1: `set_up` of a UiDriver.
void dark_theme();

/// The canvas under a driver. As in the shell, what is drawn is computed of the inputs it is drawn with.
class Canvas {
 public:
  Canvas(chapters::Lab& lab, ImVec2 size);

 private:
  void frame();
  chapters::Lab& lab_;
  chapters::LabPtr computed_;
  widgets::StageView stage_;

 public:
  UiDriver ui;  ///< last: it draws while it is made
};

/// Draws one canvas after another and says what each drew.
class PictureFrame {
 public:
  explicit PictureFrame(ImVec2 size = {1200, 800});
  /// Every primitive of one settled frame: kind, place, colour and text.
  std::string strokes_of(chapters::Lab& lab);

 private:
  chapters::Lab* lab_ = nullptr;
  widgets::StageView stage_;
  UiDriver ui_;
};

}  // namespace support
