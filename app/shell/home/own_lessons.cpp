#include "app/shell/home/own_lessons.h"

#include "app/shell/shell.h"
#include "app/shell/ui.h"

namespace app {

float draw_own_lessons(Shell& shell, ImVec2 at, float width) {
  const auto& t = theme();
  const auto& lessons = shell.workspace.content.lessons;
  float bottom = at.y;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    if (!lessons[i].own) continue;
    if (bottom == at.y) {
      const float height = widgets::button_size("A").y;
      const float words = Painter::window().text({at.x, at.y + (height - t.type(Type::body)) / 2 - t.px(2)},
                                                 "Your lessons", t.text, Type::body, Font::bold);
      ImGui::SetCursorScreenPos({at.x + words + t.px(14), at.y});
    } else {
      widgets::next_button(lessons[i].title.c_str(), at.x + width);
    }
    ImGui::PushID(static_cast<int>(i));
    if (ui::button(lessons[i].title.c_str())) lesson_resume(shell, i);
    ImGui::PopID();
    bottom = ImGui::GetItemRectMax().y;
  }
  return bottom == at.y ? 0 : bottom - at.y + t.px(16);
}

}  // namespace app
