#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/platform/file.h"
#include "app/scenario/scenario.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/base/press_area.h"

namespace app {
namespace {

bool text_box(const char* id, std::string& text, ImVec2 size, bool lines) {
  char buffer[4096];
  const std::size_t n = std::min(text.size(), sizeof buffer - 1);
  std::memcpy(buffer, text.data(), n);
  buffer[n] = '\0';
  ImGui::SetNextItemWidth(size.x);
  const bool edited =
      lines ? ImGui::InputTextMultiline(id, buffer, sizeof buffer, size) : ImGui::InputText(id, buffer, sizeof buffer);
  if (edited) text = buffer;
  return edited;
}

/// The step's words, and the ways on. Pale while another lab than the step's is open.
void draw_playing(Shell& shell, ImVec2 at, float width) {
  const auto& t = theme();
  LessonState& state = shell.lesson;
  const Lesson& l = shell.workspace.content.lessons[state.lesson];
  const LessonStep& s = l.steps[std::min(state.step, l.steps.size() - 1)];
  const bool away = step_shown(shell) == nullptr;
  const bool last = state.step + 1 >= l.steps.size();
  const char* on = last ? "End" : "Next";
  float buttons = t.px(24 + 3 * 8);
  for (const char* label : {"Back", "To this step", on}) buttons += widgets::button_size(label).x;
  char head[256];
  std::snprintf(head, sizeof head, "%s   %zu / %zu   %s", l.title.c_str(), state.step + 1, l.steps.size(),
                away ? "You wandered off: F8 brings this step back, Escape leaves the lesson." : s.title.c_str());
  Painter::window().text_fit(at, head, width - buttons - t.px(20), t.muted, Type::small, Font::bold);
  ImGui::SetCursorScreenPos({at.x, at.y + t.px(20)});
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width - buttons - t.px(20));
  ui::text(s.say, away ? widgets::with_alpha(t.muted, 0.6f) : t.text);
  ImGui::PopTextWrapPos();
  ImGui::SetCursorScreenPos({at.x + width - buttons, at.y + t.px(8)});
  ImGui::BeginDisabled(state.step == 0);
  if (ui::button("Back")) lesson_go(shell, state.lesson, state.step - 1);
  ImGui::EndDisabled();
  ImGui::SameLine();
  if (ui::button("To this step", away)) lesson_go(shell, state.lesson, state.step);
  ui::hint("Wander as you like: this, or F8, brings back what the step shows.");
  ImGui::SameLine();
  if (ui::button(on, !away)) {
    if (last)
      close_lesson(shell);
    else
      lesson_go(shell, state.lesson, state.step + 1);
  }
  ImGui::SameLine();
  const ImVec2 close = ImGui::GetCursorScreenPos();
  if (widgets::press_area("Leave lesson", {t.px(24), t.px(28)})) lesson_leave(shell);
  ui::hint("Leave the lesson (Escape); home goes on where you left it.");
  ui::focus_ring(t.px(4));
  Painter::window().text({close.x + t.px(8), close.y + t.px(4)}, "\xC3\x97", t.muted, Type::body);
}

}  // namespace

void lesson_go(Shell& shell, std::size_t lesson, std::size_t step) {
  Workspace& w = shell.workspace;
  if (lesson >= w.content.lessons.size()) return;
  const Lesson& l = w.content.lessons[lesson];
  if (step >= l.steps.size()) return;
  const LessonStep& s = l.steps[step];
  const auto opened = w.open_with(s.lab, parse_own_json(s.inputs), parse_own_json(s.view));
  if (!opened) w.say("Step " + std::to_string(step + 1) + " of \"" + l.title + "\": " + opened.error);
  shell.lesson.playing = true;
  shell.lesson.recording = false;
  shell.lesson.more = false;
  shell.lesson.lesson = lesson;
  shell.lesson.step = step;
  w.resume.lesson_steps[l.id] = static_cast<std::int64_t>(step);
  if (step + 1 == l.steps.size()) w.progress.play_lesson(l.id);
}

const LessonStep* step_shown(const Shell& shell) {
  const LessonState& state = shell.lesson;
  const auto& lessons = shell.workspace.content.lessons;
  if (!state.playing || state.lesson >= lessons.size() || state.step >= lessons[state.lesson].steps.size()) return {};
  const LessonStep& s = lessons[state.lesson].steps[state.step];
  return s.lab == shell.workspace.lab().info().id ? &s : nullptr;
}

std::size_t next_lesson(const Shell& shell) {
  const Content& content = shell.workspace.content;
  std::vector<std::string_view> order{"start"};  // what the other lessons build on, then one a chapter
  for (const CurriculumChapter& chapter : content.curriculum) order.push_back(chapter.slug);
  std::size_t first = content.lessons.size();
  for (const std::string_view id : order)
    for (std::size_t i = 0; i < content.lessons.size(); ++i) {
      if (content.lessons[i].id != id) continue;
      if (!shell.workspace.progress.lessons.contains(content.lessons[i].id)) return i;
      first = std::min(first, i);
    }
  return first < content.lessons.size() ? first : 0;
}

void lesson_resume(Shell& shell, std::size_t lesson) {
  const auto& lessons = shell.workspace.content.lessons;
  if (lesson >= lessons.size()) return;
  const auto kept = shell.workspace.resume.lesson_steps.find(lessons[lesson].id);
  const std::size_t last = lessons[lesson].steps.size() - 1;
  std::size_t step =
      kept == shell.workspace.resume.lesson_steps.end() ? 0 : std::min(static_cast<std::size_t>(kept->second), last);
  if (step == last) step = 0;  // played to the end: from the start again
  lesson_go(shell, lesson, step);
}

void lesson_leave(Shell& shell) {
  shell.lesson.playing = false;
  shell.lesson.more = false;
}

void lesson_record_step(Shell& shell) {
  LessonState& state = shell.lesson;
  if (!state.recording) {
    state.recording = true;
    state.playing = false;
    state.draft = Lesson{.id = "my-lesson", .title = "My lesson", .steps = {}};
  }
  const chapters::Lab& lab = shell.workspace.lab();
  state.draft.steps.push_back({std::string(lab.info().id), "Step " + std::to_string(state.draft.steps.size() + 1), "",
                               to_text(inputs_to_hand_on(lab)), to_text(fields_to_json(lab.view()))});
  shell.drawer = Drawer::lesson;
  shell.drawer_open = true;
}

void lesson_finish_recording(Shell& shell) {
  LessonState& state = shell.lesson;
  if (!state.recording) return;
  state.recording = false;
  if (state.draft.steps.empty()) return;
  const auto kept = shell.workspace.keep_lesson(state.draft);
  shell.workspace.say(kept ? "Lesson \"" + state.draft.title + "\" is kept with " +
                                 std::to_string(state.draft.steps.size()) + " steps; play it from the palette."
                           : kept.error);
}

void draw_lesson_bar(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  LessonState& state = shell.lesson;
  if (ui::begin_panel("lesson", size, t.card, {18, 8}, ImGuiWindowFlags_NoScrollbar)) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, buttons = t.px(300);
    if (state.recording) {
      Painter::window().circle({at.x + t.px(6), at.y + t.px(11)}, t.px(5), t.bad);
      Painter::window().text({at.x + t.px(20), at.y}, "Recording a lesson", t.text, Type::body, Font::bold);
      Painter::window().text_fit({at.x + t.px(20), at.y + t.px(24)},
                                 "F9 keeps what you see as a step; edit what to say in the drawer's Lesson tab.",
                                 width - buttons - t.px(30), t.muted, Type::small);
      ImGui::SetCursorScreenPos({at.x + width - buttons, at.y + t.px(8)});
      if (ui::button("Record step")) lesson_record_step(shell);
      ImGui::SameLine();
      if (ui::button("Finish lesson", true)) lesson_finish_recording(shell);
    } else if (state.lesson < shell.workspace.content.lessons.size()) {
      draw_playing(shell, at, width);
    }
  }
  ImGui::EndChild();
}

void draw_lesson_editor(Shell& shell) {
  const auto& t = theme();
  LessonState& state = shell.lesson;
  if (!state.recording) {
    ui::text("No lesson is being made.", t.muted);
    if (ui::button("Start a lesson here", true)) lesson_record_step(shell);
    if (state.playing && state.lesson < shell.workspace.content.lessons.size()) {
      ImGui::SameLine();
      if (ui::button("Edit the lesson that plays")) {
        state.draft = shell.workspace.content.lessons[state.lesson];
        state.recording = true;
        state.playing = false;
      }
    }
    return;
  }
  const float width = ImGui::GetContentRegionAvail().x;
  text_box("Lesson title", state.draft.title, {width * 0.5f, 0}, false);
  std::size_t remove = state.draft.steps.size(), swap = remove;
  for (std::size_t i = 0; i < state.draft.steps.size(); ++i) {
    LessonStep& s = state.draft.steps[i];
    ImGui::PushID(static_cast<int>(i));
    ui::text(s.lab, t.muted, Type::small, Font::mono);
    text_box("##title", s.title, {width * 0.3f, 0}, false);
    ImGui::SameLine();
    text_box("##say", s.say, {width * 0.45f, t.px(48)}, true);
    ImGui::SameLine();
    if (i > 0 && ui::button("Up")) swap = i;
    ImGui::SameLine();
    if (ui::button("Show"))
      shell.workspace.say_failure(shell.workspace.open_with(s.lab, parse_own_json(s.inputs), parse_own_json(s.view)));
    ImGui::SameLine();
    if (ui::button("Remove")) remove = i;
    ImGui::PopID();
  }
  if (swap < state.draft.steps.size()) std::swap(state.draft.steps[swap], state.draft.steps[swap - 1]);
  if (remove < state.draft.steps.size())
    state.draft.steps.erase(state.draft.steps.begin() + static_cast<std::ptrdiff_t>(remove));
}

}  // namespace app
