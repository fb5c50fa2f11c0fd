#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

using widgets::Font;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

void brand(float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const ImVec2 ridge[] = {
      {at.x + t.px(4), at.y + t.px(19)}, {at.x + t.px(12), at.y + t.px(7)}, {at.x + t.px(24), at.y + t.px(7)}};
  p.polyline(ridge, t.accent, t.px(2.5f));
  p.text({at.x + t.px(32), at.y + t.px(1)}, "Ridgeline", t.text, Type::title, Font::bold);
  ImGui::Dummy({width, t.px(34)});
}

/// One row of the rail. `indent` shifts labs under their chapter.
bool row(const char* id, std::string_view ordinal, std::string_view title, bool selected, double fraction, float width,
         float indent) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 box{width, t.px(indent > 0 ? 28.0f : 36.0f)};
  const bool pressed = ImGui::InvisibleButton(id, box, ImGuiButtonFlags_EnableNav);
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  if (selected || hovered)
    p.rect(at, {at.x + box.x, at.y + box.y}, selected ? t.card : widgets::with_alpha(t.card, 0.5f), t.px(6));
  const float x = at.x + t.px(8) + indent;
  if (!ordinal.empty()) p.text({x, at.y + t.px(8)}, ordinal, t.muted, Type::small, Font::mono);
  const float text_x = x + (ordinal.empty() ? t.px(14) : t.px(26));
  p.text_fit({text_x, at.y + t.px(indent > 0 ? 6.0f : 7.0f)}, title, at.x + box.x - text_x - t.px(6),
             selected ? t.text : t.muted, indent > 0 ? Type::small : Type::body, selected ? Font::bold : Font::sans);
  if (ordinal.empty()) {  // a lab: an open or filled ring says how far it is
    const ImVec2 c{x + t.px(4), at.y + box.y / 2};
    if (fraction >= 1)
      p.circle(c, t.px(4), t.accent);
    else
      p.ring(c, t.px(3.5f), fraction > 0 ? t.accent : t.line, t.px(1.5f));
    if (fraction > 0 && fraction < 1) p.circle(c, t.px(1.8f), t.accent);
  } else {
    ui::bar({text_x, at.y + box.y - t.px(5)}, at.x + box.x - text_x - t.px(8), fraction, t.accent);
  }
  ui::focus_ring(t.px(6));
  return pressed;
}

}  // namespace

void draw_rail(Shell& shell, ImVec2 size) {
  if (ui::begin_panel("rail", size, theme().rail, {10, 14})) {
    const float width = ImGui::GetContentRegionAvail().x;
    brand(width);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, theme().px(3)});
    const std::string_view open = shell.workspace.lab().info().id;
    for (const auto& chapter : chapters::all_chapters()) {
      const bool here = open.size() > chapter.slug.size() && open.substr(0, chapter.slug.size()) == chapter.slug &&
                        open[chapter.slug.size()] == '/';
      double fraction = 0;
      for (const auto& entry : chapter.labs)
        fraction += shell.workspace.lab_fraction(entry.id) / static_cast<double>(chapter.labs.size());
      if (row(chapter.title.data(), chapter.ordinal, chapter.title, here, fraction, width, 0) && !here &&
          !chapter.labs.empty())
        shell.workspace.open(chapter.labs.front().id);
      if (!here) continue;
      for (const auto& entry : chapter.labs) {
        ImGui::PushID("rail");
        if (row(entry.id.data(), "", shell.workspace.title_of(entry.id), entry.id == open,
                shell.workspace.lab_fraction(entry.id), width, theme().px(18)))
          shell.workspace.open(entry.id);
        ImGui::PopID();
      }
    }
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

}  // namespace app
