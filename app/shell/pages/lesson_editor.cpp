#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/scenario/scenario.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"

namespace app {
namespace {

/// `hint` stands in an empty box of one line, and is the hover of a larger one.
bool text_box(const char* id, const char* hint, std::string& text, ImVec2 size, bool lines) {
  char buffer[4096];
  const std::size_t n = std::min(text.size(), sizeof buffer - 1);
  std::memcpy(buffer, text.data(), n);
  buffer[n] = '\0';
  ImGui::SetNextItemWidth(size.x);
  const bool edited = lines ? ImGui::InputTextMultiline(id, buffer, sizeof buffer, size)
                            : ImGui::InputTextWithHint(id, hint, buffer, sizeof buffer);
  if (edited) text = buffer;
  if (lines) ui::hint(hint);
  return edited;
}

}  // namespace

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
  text_box("Lesson title", "", state.draft.title, {width * 0.5f, 0}, false);
  std::size_t remove = state.draft.steps.size(), swap = remove;
  for (std::size_t i = 0; i < state.draft.steps.size(); ++i) {
    LessonStep& s = state.draft.steps[i];
    ImGui::PushID(static_cast<int>(i));
    ui::text(s.lab, t.muted, Type::small, Font::mono);
    if (s.asks()) {
      ImGui::SameLine();
      ui::text(s.question.empty() ? "asks for" : "asks", t.muted, Type::small);
      ImGui::SameLine();
      ui::text(s.question.empty() ? s.ask : s.question, t.accent, Type::small, Font::mono);
    }
    text_box("##title", "title", s.title, {width * 0.18f, 0}, false);
    ImGui::SameLine();
    text_box("##say", "what everybody reads", s.say, {width * 0.34f, t.px(48)}, true);
    ImGui::SameLine();
    text_box("##teach", "notes for whoever teaches", s.teach, {width * 0.24f, t.px(48)}, true);
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
