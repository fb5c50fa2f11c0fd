#include "app/shell/pages/pages.h"

#include <algorithm>
#include <utility>

#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/base/press_area.h"

namespace app {
namespace {

/// A pill at the right end: muted words, then a key. Moves `right` to its left.
bool key_pill(const char* label, std::string_view words, std::string_view key, float& right, float y, float least) {
  const auto& t = theme();
  const float words_width = words.empty() ? 0 : widgets::text_size(words, Type::small).x + t.px(14);
  const float key_width = widgets::text_size(key, Type::small).x;
  const ImVec2 box{std::max(t.px(least), words_width + key_width + t.px(28)), t.px(28)};
  const ImVec2 at{right - box.x, y}, end{right, y + box.y};
  ImGui::SetCursorScreenPos(at);
  const bool pressed = widgets::press_area(label, box);
  const Painter p = Painter::window();
  p.rect(at, end, t.card, box.y / 2);
  p.frame(at, end, ImGui::IsItemHovered() ? t.accent : t.line, 1, box.y / 2);
  p.text({at.x + t.px(14), at.y + t.px(6)}, words, t.muted, Type::small);
  p.text({end.x - t.px(14), at.y + t.px(6)}, key, t.text, Type::small, Font::sans, widgets::Align::right);
  ui::focus_ring(box.y / 2);
  right = at.x - t.px(10);
  return pressed;
}

}  // namespace

void draw_logo(Shell& shell, float width, float height) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool named = width > t.px(120);
  if (widgets::press_area("Ridgeline", {width, height})) go_home(shell);
  const bool hovered = ImGui::IsItemHovered();
  ui::hint("Home: doors, the map of all labs, what is next (Ctrl+H).");
  ui::focus_ring(t.px(6));
  const Painter p = Painter::window();
  const float y = at.y + height / 2;
  const float x = named ? at.x + t.px(4) : at.x + (width - t.px(20)) / 2;
  const ImVec2 ridge[] = {{x, y + t.px(6)}, {x + t.px(8), y - t.px(6)}, {x + t.px(20), y - t.px(6)}};
  p.polyline(ridge, t.accent, t.px(2.5f));
  if (named)
    p.text({x + t.px(30), y - t.type(Type::body) * 0.62f}, "Ridgeline", hovered ? t.accent : t.text, Type::body,
           Font::bold);
}

bool draw_page(Shell& shell, ImVec2 screen) {
  if (shell.workspace.openings() != shell.openings_seen) {
    shell.openings_seen = shell.workspace.openings();
    shell.page = Page::lab;
  }
  if (shell.page == Page::lab) return false;
  const auto& t = theme();
  ui::begin_screen(screen);
  switch (shell.page) {
    case Page::home:
      draw_home(shell, screen);
      break;
    case Page::chapter_test:
      draw_chapter_test(shell, screen);
      break;
    default:
      draw_glossary(shell, screen);
  }
  ImGui::End();
  if (shell.export_request.kind == ExportKind::record && !shell.export_request.path.empty())
    save_record(shell, std::exchange(shell.export_request, {}).path);
  shell.workspace.update(ImGui::IsAnyItemActive());
  draw_palette(shell);
  draw_help(shell);
  draw_closing(shell);
  draw_open_panel(shell);
  draw_asked_files(shell);
  draw_toasts(shell, {screen.x - t.px(16), screen.y - t.px(12)});
  return true;
}

float draw_page_bar(Shell& shell, std::string_view title, float width) {
  const auto& t = theme();
  const float height = t.px(48);
  ImGui::SetCursorScreenPos({0, 0});
  const float side = width / t.scale >= 1000 ? 36.0f : 16.0f;
  if (ui::begin_panel("bar", {width, height}, t.panel, {side, 8},
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    float right = at.x + ImGui::GetContentRegionAvail().x;
    draw_logo(shell, t.px(130), t.px(32));
    Painter::window().text({at.x + t.px(142), at.y + t.px(7)}, title, t.muted, Type::body);
    const float y = at.y + t.px(2);
    if (key_pill("Help", "Help", "F1", right, y, 0)) shell.help_open = true;
    const bool wide = width / t.scale >= 760;
    if (key_pill("Ctrl K", wide ? "Find a lab, a term, a figure" : "Find", "Ctrl K", right, y, wide ? 300.0f : 0))
      open_palette(shell);
  }
  ImGui::EndChild();
  Painter::window().line({0, height - 1}, {width, height - 1}, t.line);
  return height;
}

}  // namespace app
