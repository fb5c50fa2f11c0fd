#pragma once
#include <functional>
#include <string>
#include <vector>

namespace app {

struct Shell;

/// What stands at the end of a lesson or of a lab's questions: how it went, and one button to what comes next.
struct ClosingCard {
  bool open = false;
  std::string title;
  std::vector<std::string> lines;
  std::string go_label;
  std::function<void(Shell&)> go;
};

/// After the last of a lab's questions: how many were right in this sitting, and the one that was furthest off.
void close_questions(Shell& shell);
/// After the last step of a lesson, which it leaves.
void close_lesson(Shell& shell);
void draw_closing(Shell& shell);

}  // namespace app
