#include "app/shell/toasts.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/base/press_area.h"

namespace app {
namespace {

constexpr std::size_t max_toasts = 4;

/// Draws one message with its lower right corner there; returns its height in pixels. Sets `gone` when it was closed.
float draw_toast(const Toast& toast, ImVec2 corner, float width, bool& gone) {
  const auto& t = theme();
  const bool failure = toast.message.failure;
  char id[32];
  std::snprintf(id, sizeof id, "message##%d", toast.id);
  const ImVec2 pad{t.px(14), t.px(8)};
  ImGui::SetNextWindowPos(corner, ImGuiCond_Always, {1, 1});
  const float text_width = widgets::text_size(toast.message.text, Type::small).x;
  const float extra =
      t.px(34) +
      (toast.message.action.label.empty() ? 0 : widgets::button_size(toast.message.action.label.c_str()).x + t.px(12));
  const float wide = std::min(width, text_width + extra + 2 * pad.x + (failure ? t.px(20) : 0));
  ImGui::SetNextWindowSize({wide, 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, t.card);
  ImGui::PushStyleColor(ImGuiCol_Border, failure ? t.bad : t.accent);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, t.px(failure ? 1.5f : 1));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, t.px(6));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, pad);
  float height = 0;
  if (ImGui::Begin(id, nullptr,
                   ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove |
                       ImGuiWindowFlags_NoFocusOnAppearing)) {
    if (failure) {
      ui::text("!", t.bad, Type::body, widgets::Font::bold);
      ImGui::SameLine(0, t.px(12));
    }
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(ImGui::GetWindowWidth() - pad.x - extra);
    ui::text(toast.message.text, t.text, Type::small);
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    ImGui::SameLine(ImGui::GetWindowWidth() - pad.x - extra + t.px(12));
    if (!toast.message.action.label.empty()) {
      if (ui::button(toast.message.action.label.c_str(), true)) {
        gone = true;
        if (toast.message.action.run) toast.message.action.run();
      }
      ImGui::SameLine(0, t.px(12));
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (widgets::press_area("Close", {t.px(20), t.px(20)})) gone = true;
    ui::focus_ring(t.px(4));
    widgets::Painter::window().text({at.x + t.px(5), at.y + t.px(1)}, "\xC3\x97",
                                    ImGui::IsItemHovered() ? t.text : t.muted, Type::body);
    height = ImGui::GetWindowHeight();
  }
  ImGui::End();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor(2);
  return height;
}

}  // namespace

double stay_of(const Message& message) {
  double seconds = 4.0 + 0.04 * static_cast<double>(message.text.size());
  if (message.failure) seconds = 2 * seconds + 4;
  if (!message.action.label.empty()) seconds = std::max(seconds, 15.0);
  return seconds;
}

void draw_toasts(Shell& shell, ImVec2 corner) {
  ToastState& state = shell.toasts;
  auto& waiting = shell.workspace.messages();
  const double now = ImGui::GetTime();
  for (Message& message : waiting) {
    // The same sentence again is the same message: it stays longer and does not stack up.
    std::erase_if(state.shown, [&](const Toast& old) { return old.message.text == message.text; });
    const double until = now + stay_of(message);
    state.shown.insert(state.shown.begin(), {std::move(message), until, state.made++});
  }
  waiting.clear();
  std::erase_if(state.shown, [&](const Toast& toast) { return now >= toast.until; });
  while (state.shown.size() > max_toasts) {
    // An error that nobody had time to read outlives what went well.
    const auto fine = std::find_if(state.shown.rbegin(), state.shown.rend(),
                                   [](const Toast& toast) { return !toast.message.failure; });
    state.shown.erase(fine == state.shown.rend() ? state.shown.end() - 1 : fine.base() - 1);
  }
  corner.y -= draw_opening(shell, corner);
  if (state.shown.empty()) return;
  shell.animating = true;  // so that they go away by themselves
  const auto& t = theme();
  const float width = std::min(t.px(560), corner.x - t.px(16));
  // The newest stands highest; drawn from the foot up.
  int closed = -1;
  for (std::size_t i = state.shown.size(); i-- > 0;) {
    bool gone = false;
    const Toast toast = state.shown[i];
    const float height = draw_toast(toast, corner, width, gone);
    if (gone) closed = toast.id;
    corner.y -= std::max(height, t.px(34)) + t.px(6);
  }
  std::erase_if(state.shown, [&](const Toast& toast) { return toast.id == closed; });
}

}  // namespace app
