#include "app/shell/pages/closing.h"

#include <algorithm>
#include <set>

#include "app/shell/home/teaching_order.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"

namespace app {
namespace {

/// The next lab in teaching order becomes the card's button; home where there is none.
void offer_next_lab(const Shell& shell, ClosingCard& card) {
  const std::vector<HomeChapter> course = course_of(shell.workspace);
  const HomeLab* lab = next_of(course);
  card.go_label = lab ? "Next lab: " + lab->title : "Home";
  card.go = go_home;
  if (lab) card.go = [id = lab->id](Shell& s) { s.workspace.open(id); };
}

}  // namespace

void close_questions(Shell& shell) {
  const std::string lab(shell.workspace.lab().info().id);
  const auto given = guesses(shell, lab);
  const std::size_t all = shell.workspace.content.of(lab).predictions.size();
  const auto right =
      static_cast<std::size_t>(std::count_if(given.begin(), given.end(), [](const Guess& g) { return g.right; }));
  ClosingCard card{.open = true, .title = shell.workspace.title_of(lab) + ": the last question", .lines = {}};
  card.lines.push_back("Answered in this sitting: " + std::to_string(given.size()) + " of " + counted(all, "question") +
                       ". Right: " + std::to_string(right) + ".");
  const auto furthest =
      std::max_element(given.begin(), given.end(), [](const Guess& a, const Guess& b) { return a.miss < b.miss; });
  if (furthest != given.end() && !furthest->right)
    card.lines.push_back("Furthest off: \"" + furthest->prompt + "\" " + furthest->verdict);
  else if (!given.empty())
    card.lines.push_back("None of them surprised you.");
  put_question_away(shell, true);
  offer_next_lab(shell, card);
  shell.closing = std::move(card);
}

void close_lesson(Shell& shell) {
  const Workspace& w = shell.workspace;
  const std::size_t index = shell.lesson.lesson;
  lesson_leave(shell);
  if (index >= w.content.lessons.size()) return;
  const Lesson& lesson = w.content.lessons[index];
  std::set<std::string> labs;
  for (const LessonStep& step : lesson.steps) labs.insert(step.lab);
  std::size_t questions = 0, answered = 0;
  for (const std::string& lab : labs) {
    questions += w.content.of(lab).predictions.size();
    answered += w.learner.answered_questions(lab);
  }
  ClosingCard card{.open = true, .title = "End of the lesson: " + lesson.title, .lines = {}};
  card.lines.push_back(counted(lesson.steps.size(), "step") + " in " + counted(labs.size(), "lab") + ".");
  if (questions > 0)
    card.lines.push_back("Of the " + counted(questions, "question") + " about " +
                         (labs.size() == 1 ? "this lab" : "these labs") + " you have answered " +
                         std::to_string(answered) + ".");
  if (const std::size_t next = next_lesson(shell); next != index && next < w.content.lessons.size()) {
    card.go_label = "Next lesson: " + w.content.lessons[next].title;
    card.go = [next](Shell& s) { lesson_resume(s, next); };
  } else {
    offer_next_lab(shell, card);
  }
  shell.closing = std::move(card);
}

void draw_closing(Shell& shell) {
  ClosingCard& card = shell.closing;
  if (!card.open) return;
  const auto& t = theme();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  if (!ImGui::IsPopupOpen("closing")) ImGui::OpenPopup("closing");
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowSize({std::min(t.px(560), screen.x - t.px(24)), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(24), t.px(20)});
  if (ImGui::BeginPopupModal(
          "closing", nullptr,
          ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    ui::text(card.title, t.text, Type::title, Font::bold);
    for (const std::string& line : card.lines) {
      ui::spacing(4);
      ui::wrapped(line, t.text);
    }
    ui::spacing(10);
    if (ImGui::IsWindowAppearing()) {
      ImGui::SetKeyboardFocusHere();
      ImGui::SetNavCursorVisible(true);
    }
    const bool goes = ui::button(card.go_label.c_str(), true);
    ImGui::SameLine();
    const bool stays = ui::button("Stay here") || ImGui::IsKeyPressed(ImGuiKey_Escape);
    if (goes || stays) {
      card.open = false;
      ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
    if (goes) {
      const auto go = std::move(card.go);  // it may open another card
      go(shell);
    }
  } else {
    card.open = false;
  }
  ImGui::PopStyleVar();
}

}  // namespace app
