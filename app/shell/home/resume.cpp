#include <algorithm>
#include <array>
#include <utility>

#include "app/shell/shell.h"

/// What the shell remembers of where the person was.
namespace app {
namespace {

constexpr std::array<const char*, 11> drawer_names{"concept",  "design",  "code",    "debug", "frontier", "claims",
                                                   "measured", "predict", "explore", "notes", "lesson"};

}  // namespace

const char* name_of(Drawer drawer) { return drawer_names[static_cast<std::size_t>(drawer)]; }

Drawer drawer_of(std::string_view name) {
  const auto at = std::find(drawer_names.begin(), drawer_names.end(), name);
  return at == drawer_names.end() ? Drawer::concept_ : static_cast<Drawer>(at - drawer_names.begin());
}

void resume_shell(Shell& shell) {
  const store::Resume& left = shell.workspace.resume;
  shell.drawer = drawer_of(left.drawer);
  if (shell.drawer == Drawer::lesson) shell.drawer = Drawer::concept_;  // a recording does not outlive the program
  const auto& lessons = shell.workspace.content.lessons;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    const auto step = left.lesson_steps.find(lessons[i].id);
    if (left.lesson != lessons[i].id || step == left.lesson_steps.end()) continue;
    shell.lesson.playing = true;
    shell.lesson.lesson = i;
    shell.lesson.step = std::min(static_cast<std::size_t>(step->second), lessons[i].steps.size() - 1);
  }
}

void note_shell(Shell& shell) {
  Workspace& w = shell.workspace;
  w.settings.drawer_open = shell.drawer_open;
  w.resume.drawer = name_of(shell.drawer);
  const LessonState& lesson = shell.lesson;
  if (lesson.playing && lesson.lesson < w.content.lessons.size())
    w.resume.lesson = w.content.lessons[lesson.lesson].id;
  else
    w.resume.lesson.clear();
}

/// Who reads without touching anything for a minute may have gone for tea.
static void count_time_spent(Shell& shell, double now_s) {
  constexpr double idle_after_s = 60, longest_step_s = 5;  // a longer step is a machine that slept
  const double step = now_s - std::exchange(shell.counted_s, now_s);
  if (shell.page != Page::lab || step <= 0 || step > longest_step_s || now_s - shell.hand_s > idle_after_s) return;
  shell.workspace.progress.spend(shell.workspace.lab().info().id, step);
}

void keep_place(Shell& shell, double now_s) {
  note_shell(shell);
  count_time_spent(shell, now_s);
  shell.workspace.keep_place(now_s);
}

}  // namespace app
