#pragma once
#include <string>

#include "chapters/mechanism/lab.h"
#include "tests/support/lab/lab_fixture.h"

namespace support {

/// Draws a lab's canvas alone, without the shell, and says what it drew.
class PictureFrame {
 public:
  explicit PictureFrame(ImVec2 size = {1200, 800})
      : ui_(
            [this] {
              if (lab_) lab_test::draw_canvas(*lab_);
            },
            size, lab_test::dark_theme) {}

  /// Every primitive of one settled frame: kind, place, colour and text.
  std::string strokes_of(chapters::Lab& lab) {
    lab_ = &lab;
    ui_.frames(3);
    const widgets::Record record = ui_.record();
    lab_ = nullptr;
    std::string out;
    const auto add = [&](const auto& v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); };
    for (const auto& s : record.strokes) {
      add(s.kind);
      add(s.fill);
      add(s.stroke);
      for (const ImVec2 p : s.points) {
        add(p.x);
        add(p.y);
      }
      (out += s.text) += '\0';
    }
    return out;
  }

 private:
  chapters::Lab* lab_ = nullptr;
  UiDriver ui_;
};

}  // namespace support
