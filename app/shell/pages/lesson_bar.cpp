#include <algorithm>
#include <cstdio>

#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/base/press_area.h"

/// The bar of the lesson that plays or is recorded, under the canvas: as low as its words allow.
namespace app {
namespace {

constexpr float bar_side = 18, bar_above = 6, bar_gap = 14;  // design pixels

float body_px_of(std::string_view s) { return widgets::text_size(s).x; }
float small_px_of(std::string_view s) { return widgets::text_size(s, Type::small).x; }
float line_px(Type type) { return theme().type(type) * 1.3f; }

/// The words of a step and where they are broken. Numbers are pixels.
struct BarText {
  char head[160] = {};  ///< "2 / 7   The chip"
  std::string_view say, teach;
  bool one_line = false;   ///< head and words stand beside each other
  Type type = Type::body;  ///< how the words are set
  widgets::WrappedLines lines, notes;
  float room = 0, words_from = 0, height = 0;
};

/// What the step's buttons take at the right.
float buttons_px(bool away, bool last) {
  const auto& t = theme();
  float width = t.px(24 + 3 * 8);
  width += away ? widgets::button_size("To this step").x : t.px(34);
  for (const char* label : {"Back", last ? "End" : "Next"}) width += widgets::button_size(label).x;
  return width;
}

/// Where the notes of whoever teaches begin, behind what they are.
float notes_from() { return small_px_of("Teaching") + theme().px(bar_gap); }

/// In a presentation neither the step's title nor the notes of whoever teaches are shown: it is the picture's height.
BarText text_of(const Shell& shell, float width) {
  const auto& t = theme();
  const LessonState& state = shell.lesson;
  const Lesson& l = shell.workspace.content.lessons[state.lesson];
  const LessonStep& s = l.steps[std::min(state.step, l.steps.size() - 1)];
  const bool away = step_shown(shell) == nullptr;
  BarText out;
  const std::string_view title = shell.presentation ? std::string_view() : s.title;
  std::snprintf(out.head, sizeof out.head, "%zu / %zu   %.*s", state.step + 1, l.steps.size(),
                static_cast<int>(std::min<std::size_t>(title.size(), 120)), title.data());
  out.say = away ? std::string_view("You wandered off: F8 brings this step back, Escape leaves the lesson.") : s.say;
  if (!shell.presentation && !away) out.teach = s.teach;
  out.room = width - t.px(2 * bar_side) - buttons_px(away, state.step + 1 >= l.steps.size()) - t.px(20);
  const float head_px = widgets::text_size(out.head, Type::small, Font::bold).x + t.px(bar_gap);
  out.one_line = head_px + body_px_of(out.say) <= out.room;
  const bool beside = out.one_line || shell.presentation;
  out.words_from = beside ? head_px : 0;
  out.lines = widgets::wrap_lines(out.say, out.room - out.words_from, body_px_of);
  if (out.lines.count > 2) {
    out.type = Type::small;
    out.lines = widgets::wrap_lines(out.say, out.room - out.words_from, small_px_of);
  }
  out.notes = widgets::wrap_lines(out.teach, out.room - notes_from(), small_px_of);
  const float head = beside ? 0 : line_px(Type::small);
  const float words = static_cast<float>(std::max<std::size_t>(out.lines.count, 1)) * line_px(out.type);
  const float notes = static_cast<float>(out.notes.count) * line_px(Type::small);
  out.height = std::max(head + words + notes, widgets::button_size("Next").y);
  return out;
}

/// Beside the buttons the words stand in the middle, as one line does.
void draw_words(const BarText& text, ImVec2 at, float height, bool away) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const float words = static_cast<float>(std::max<std::size_t>(text.lines.count, 1)) * line_px(text.type);
  const bool beside = text.words_from > 0;
  const float all =
      words + (beside ? 0 : line_px(Type::small)) + static_cast<float>(text.notes.count) * line_px(Type::small);
  float y = at.y + (height - all) / 2;
  // Beside larger words the head stands on their baseline.
  const float lower = beside ? (t.type(text.type) - t.type(Type::small)) * 0.8f : 0;
  p.text_fit({at.x, y + lower}, text.head, text.room, t.muted, Type::small, Font::bold);
  if (!beside) y += line_px(Type::small);
  const ImU32 colour = away ? widgets::with_alpha(t.text, 0.7f) : t.text;
  for (std::size_t i = 0; i < text.lines.count; ++i, y += line_px(text.type))
    p.text({at.x + text.words_from, y}, text.lines.lines[i], colour, text.type);
  if (text.notes.count > 0) p.text({at.x, y}, "Teaching", t.muted, Type::small);
  for (std::size_t i = 0; i < text.notes.count; ++i, y += line_px(Type::small))
    p.text({at.x + notes_from(), y}, text.notes.lines[i], t.muted, Type::small);
}

/// Brings back what the step shows: a key's name, and a button of words once one is elsewhere.
void draw_return(Shell& shell, bool away) {
  const auto& t = theme();
  bool pressed = false;
  if (away) {
    pressed = ui::button("To this step", true);
  } else {
    const ImVec2 at = ImGui::GetCursorScreenPos(), size{t.px(34), widgets::button_size("Back").y};
    pressed = widgets::press_area("To this step", size);
    const Painter p = Painter::window();
    if (ImGui::IsItemHovered()) p.rect(at, {at.x + size.x, at.y + size.y}, t.panel, t.px(6));
    p.text({at.x + size.x / 2, at.y + (size.y - t.type(Type::small)) / 2 - t.px(2)}, "F8", t.muted, Type::small,
           Font::sans, widgets::Align::center);
    ui::focus_ring(t.px(6));
  }
  if (pressed) lesson_go(shell, shell.lesson.lesson, shell.lesson.step);
  ui::hint("Wander as you like: this, or F8, brings back what the step shows.");
}

void draw_playing(Shell& shell, ImVec2 at, float width, float height) {
  const auto& t = theme();
  LessonState& state = shell.lesson;
  const bool away = step_shown(shell) == nullptr;
  const bool last = state.step + 1 >= shell.workspace.content.lessons[state.lesson].steps.size();
  draw_words(text_of(shell, width + t.px(2 * bar_side)), at, height, away);
  const float button = widgets::button_size("Next").y, y = at.y + (height - button) / 2;
  ImGui::SetCursorScreenPos({at.x + width - buttons_px(away, last), y});
  ImGui::BeginDisabled(state.step == 0);
  if (ui::button("Back")) lesson_go(shell, state.lesson, state.step - 1);
  ImGui::EndDisabled();
  ImGui::SameLine();
  draw_return(shell, away);
  ImGui::SameLine();
  if (ui::button(last ? "End" : "Next", !away)) {
    if (!last)
      lesson_next(shell);
    else if (lesson_may_go_on(shell))
      close_lesson(shell);
  }
  ImGui::SameLine();
  const ImVec2 close = ImGui::GetCursorScreenPos();
  if (widgets::press_area("Leave lesson", {t.px(24), button})) lesson_leave(shell);
  ui::hint("Leave the lesson (Escape); home goes on where you left it.");
  ui::focus_ring(t.px(4));
  Painter::window().text({close.x + t.px(8), close.y + (button - t.type(Type::body)) / 2 - t.px(2)}, "\xC3\x97",
                         t.muted, Type::body);
}

void draw_recording(Shell& shell, ImVec2 at, float width) {
  const auto& t = theme();
  const float buttons = widgets::button_size("Record step").x + widgets::button_size("Finish lesson").x + t.px(8);
  const Painter p = Painter::window();
  p.circle({at.x + t.px(6), at.y + t.px(11)}, t.px(5), t.bad);
  p.text({at.x + t.px(20), at.y}, "Recording a lesson", t.text, Type::body, Font::bold);
  p.text_fit({at.x + t.px(20), at.y + t.px(22)},
             "F9 keeps what you see as a step, with the question that is open; its words are written in the drawer.",
             width - buttons - t.px(30), t.muted, Type::small);
  ImGui::SetCursorScreenPos({at.x + width - buttons, at.y + t.px(4)});
  if (ui::button("Record step")) lesson_record_step(shell);
  ImGui::SameLine();
  if (ui::button("Finish lesson", true)) lesson_finish_recording(shell);
}

bool plays_lesson(const Shell& shell) {
  return shell.lesson.playing && shell.lesson.lesson < shell.workspace.content.lessons.size();
}

}  // namespace

float lesson_bar_height(const Shell& shell, float width) {
  const auto& t = theme();
  if (shell.lesson.recording) return t.px(56);
  return plays_lesson(shell) ? text_of(shell, width).height + t.px(2 * bar_above) : 0;
}

void draw_lesson_bar(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  if (ui::begin_panel("lesson", size, t.card, {bar_side, bar_above},
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    if (shell.lesson.recording)
      draw_recording(shell, at, width);
    else if (plays_lesson(shell))
      draw_playing(shell, at, width, size.y - t.px(2 * bar_above));
  }
  ImGui::EndChild();
}

}  // namespace app
