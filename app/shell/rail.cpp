#include <algorithm>
#include <cstdio>

#include "app/shell/home/progress_ring.h"
#include "app/shell/pages/pages.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "chapters/mechanism/registry.h"
#include "widgets/base/press_area.h"

namespace app {
namespace {

constexpr float folded_width = 48, open_width = 212, narrow_window = 1700;

const chapters::Chapter* open_chapter(std::string_view slug) {
  for (const auto& chapter : chapters::all_chapters())
    if (chapter.slug == slug) return &chapter;
  return nullptr;
}

double fraction_of(const Workspace& w, const chapters::Chapter& chapter) {
  double sum = 0;
  for (const auto& entry : chapter.labs) sum += w.learner.quarters(entry.id).fraction();
  return chapter.labs.empty() ? 0 : sum / static_cast<double>(chapter.labs.size());
}

/// A numbered ring and, in the open rail, the chapter's name. Returns whether it was pressed.
bool chapter_row(const Workspace& w, const CurriculumChapter& row, const chapters::Chapter* chapter, bool here,
                 float width, bool folded) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos(), box{width, t.px(folded ? 36.0f : 38.0f)};
  const ImVec2 end{at.x + box.x, at.y + box.y};
  const bool planned = chapter == nullptr;
  const bool pressed = widgets::press_area(row.title.c_str(), box);
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  if (here || (hovered && !planned)) p.rect(at, end, here ? t.card : widgets::with_alpha(t.card, 0.5f), t.px(6));
  if (here) p.rect({at.x - t.px(6), at.y + t.px(5)}, {at.x - t.px(3), end.y - t.px(5)}, t.accent, t.px(1));
  const ImVec2 centre{folded ? (at.x + end.x) / 2 : at.x + t.px(18), at.y + box.y / 2};
  draw_chapter_ring(p, centre, t.px(13), planned ? 0 : fraction_of(w, *chapter), planned, row.ordinal,
                    here ? t.text : t.muted);
  if (folded) {
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort) || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible))
      ImGui::SetTooltip(planned ? "%s, planned" : "%s", row.title.c_str());
  } else {
    const float x = at.x + t.px(38), planned_width = planned ? widgets::text_size("planned", Type::small).x : 0;
    p.text_fit({x, at.y + t.px(9)}, row.title, end.x - x - planned_width - t.px(8), here ? t.text : t.muted,
               planned ? Type::small : Type::body, here ? Font::bold : Font::sans);
    if (planned)
      p.text({end.x - t.px(4), at.y + t.px(10)}, "planned", t.muted, Type::small, Font::sans, widgets::Align::right);
  }
  ui::focus_ring(t.px(6));
  return pressed && !planned;
}

bool lab_row(const Workspace& w, std::string_view id, bool here, float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos(), box{width, t.px(28)};
  const bool pressed = widgets::press_area(id.data(), box);
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  if (here || hovered)
    p.rect(at, {at.x + box.x, at.y + box.y}, here ? t.card : widgets::with_alpha(t.card, 0.5f), t.px(6));
  draw_lab_ring(p, {at.x + t.px(18), at.y + box.y / 2}, t.px(4.5f), w.learner.quarters(id));
  const float x = at.x + t.px(38);
  p.text_fit({x, at.y + t.px(6)}, w.title_of(id), at.x + width - x - t.px(4), here ? t.text : t.muted, Type::small,
             here ? Font::bold : Font::sans);
  ui::focus_ring(t.px(6));
  return pressed;
}

/// The chapter's lesson, where there is one: begin it, or go on.
void lesson_row(Shell& shell, std::string_view slug, float width) {
  const auto& t = theme();
  const auto& lessons = shell.workspace.content.lessons;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    if (lessons[i].id != slug) continue;
    const ImVec2 at = ImGui::GetCursorScreenPos(), box{width, t.px(28)};
    const bool plays = shell.lesson.playing && shell.lesson.lesson == i;
    if (widgets::press_area("Lesson", box)) lesson_resume(shell, i);
    const bool hovered = ImGui::IsItemHovered();
    ui::hint(lessons[i].title);
    const Painter p = Painter::window();
    if (hovered) p.rect(at, {at.x + box.x, at.y + box.y}, widgets::with_alpha(t.card, 0.5f), t.px(6));
    const ImVec2 c{at.x + t.px(18), at.y + box.y / 2};
    const ImVec2 triangle[] = {{c.x - t.px(3), c.y - t.px(5)}, {c.x + t.px(5), c.y}, {c.x - t.px(3), c.y + t.px(5)}};
    p.polygon(triangle, t.accent);
    const auto kept = shell.workspace.resume.lesson_steps.find(lessons[i].id);
    const bool begun = kept != shell.workspace.resume.lesson_steps.end() && kept->second > 0;
    p.text_fit({at.x + t.px(38), at.y + t.px(6)},
               plays   ? "Lesson, playing"
               : begun ? "Go on with the lesson"
                       : "Start the lesson",
               width - t.px(42), t.accent, Type::small);
    ui::focus_ring(t.px(6));
    return;
  }
}

void fold_button(Shell& shell, bool folded, float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 box{folded ? width : t.px(28), t.px(28)};
  if (widgets::press_area("Fold rail", box))
    shell.workspace.settings.rail = folded ? store::Settings::Rail::open : store::Settings::Rail::folded;
  const bool hovered = ImGui::IsItemHovered();
  ui::hint(folded ? "Show the names of chapters and labs (Ctrl+B)." : "Fold to numbers (Ctrl+B).");
  ui::focus_ring(t.px(6));
  const Painter p = Painter::window();
  const float x = at.x + box.x / 2, y = at.y + box.y / 2, d = t.px(folded ? 4.0f : -4.0f);
  for (const float shift : {-t.px(3), t.px(3)}) {
    const ImVec2 chevron[] = {
        {x + shift - d / 2, y - t.px(5)}, {x + shift + d / 2, y}, {x + shift - d / 2, y + t.px(5)}};
    p.polyline(chevron, hovered ? t.text : t.muted, t.px(1.5f));
  }
}

}  // namespace

float rail_width(const Shell& shell, ImVec2 screen) {
  const auto& t = theme();
  using Rail = store::Settings::Rail;
  const Rail rail = shell.workspace.settings.rail;
  const bool folded = rail == Rail::folded || (rail == Rail::by_width && screen.x < t.px(narrow_window));
  // However it was left, an open rail never takes more than a quarter of the window.
  return folded || t.px(open_width) > screen.x * 0.25f ? t.px(folded_width) : t.px(open_width);
}

void draw_rail(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  const bool folded = size.x < t.px(100);
  Workspace& w = shell.workspace;
  if (ui::begin_panel("rail", size, t.rail, {folded ? 6.0f : 10.0f, 10},
                      folded ? ImGuiWindowFlags_NoScrollbar : ImGuiWindowFlags_None)) {
    const float width = ImGui::GetContentRegionAvail().x;
    draw_logo(shell, width, t.px(36));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, t.px(2)});
    ui::spacing(2);
    const std::string_view open = w.lab().info().id;
    const std::string_view here = open.substr(0, open.find('/'));
    for (const CurriculumChapter& row : w.content.curriculum) {
      const chapters::Chapter* chapter = open_chapter(row.slug);
      const bool is_here = row.slug == here;
      if (chapter_row(w, row, chapter, is_here, width, folded) && !is_here && !chapter->labs.empty())
        w.open(chapter->labs.front().id);
      if (!is_here || folded || !chapter) continue;
      ImGui::PushID("rail");
      for (const auto& entry : chapter->labs)
        if (lab_row(w, entry.id, entry.id == open, width)) w.open(entry.id);
      lesson_row(shell, row.slug, width);
      ImGui::PopID();
    }
    ui::spacing(6);
    fold_button(shell, folded, width);
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

}  // namespace app
