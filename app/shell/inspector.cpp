#include "app/shell/inspector.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/scenario/scenario.h"
#include "app/shell/controls/field_text.h"
#include "app/shell/ui.h"
#include "chapters/mechanism/file_name.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace app {
namespace {

bool enabled(const chapters::Lab& lab, const Field& f) { return chapters::holds(f.spec.when, lab.inputs()); }

bool is_input_shown(const chapters::Lab& lab, const Field& f) {
  return enabled(lab, f) && !is_personal(f) && f.spec.origin != chapters::Origin::measured;
}

/// What a folded group says: the value of one of its fields, and the name of that, since the group's is another.
struct GroupValue {
  std::string_view label, value;
};

/// Paints the value at the right end of a heading, and its label in front of it, which shortens. A value without room
/// for its name is not said.
void paint_group_value(const Painter& p, const GroupValue& said, std::string_view title, float left, ImVec2 right_end) {
  const auto& t = theme();
  const float value = widgets::text_size(said.value, Type::small).x, gap = t.px(6);
  const float room = right_end.x - left - value;
  if (said.value.empty() || room < 0) return;
  const bool named = said.label != title && !said.label.empty();
  if (named && room - gap < std::min(t.px(64), widgets::text_size(said.label, Type::small).x)) return;
  p.text(right_end, said.value, t.text, Type::small, Font::sans, widgets::Align::right);
  if (named)
    p.text_fit({right_end.x - value - gap, right_end.y}, said.label, room - gap, t.muted, Type::small, Font::sans,
               widgets::Align::right);
}

/// A heading that folds what follows; folded, it says `said` at its right. True while it is open, which it always is
/// where all are `unfolded`.
bool group_heading(std::string_view title, bool open_at_first, bool unfolded, const GroupValue& said, float width) {
  const auto& t = theme();
  ImGuiStorage* storage = ImGui::GetStateStorage();
  const ImGuiID id = ImGui::GetID(title.data(), title.data() + title.size());
  bool open = unfolded || storage->GetBool(id, open_at_first);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = t.px(30);
  ImGui::PushID("group");
  if (widgets::press_area(title.data(), {width, height})) {
    open = !open;
    storage->SetBool(id, open);
  }
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const ImVec2 c{at.x + t.px(5), at.y + height / 2};
  const float r = t.px(3.5f);
  const ImVec2 mark[] = {open ? ImVec2{c.x - r, c.y - r / 2} : ImVec2{c.x - r / 2, c.y - r},
                         open ? ImVec2{c.x, c.y + r / 2} : ImVec2{c.x + r / 2, c.y},
                         open ? ImVec2{c.x + r, c.y - r / 2} : ImVec2{c.x - r / 2, c.y + r}};
  p.polyline(mark, t.muted, t.px(1.5f));
  const float y = at.y + (height - t.type(Type::small)) / 2 - t.px(1);
  const float title_end = p.text({at.x + t.px(18), y}, title, open || hovered ? t.text : t.muted, Type::small,
                                 open ? Font::bold : Font::sans) +
                          t.px(18);
  if (!open) paint_group_value(p, said, title, at.x + title_end + t.px(12), {at.x + width, y});
  ui::focus_ring(t.px(3));
  return open;
}

void buttons(Shell& shell, float right, float y) {
  const auto& t = theme();
  const auto link = [&](const char* label, bool possible) {
    const ImVec2 size = widgets::text_size(label, Type::small);
    right -= size.x;
    ImGui::SetCursorScreenPos({right, y});
    ImGui::BeginDisabled(!possible);
    const bool pressed = widgets::press_area(label, {size.x, size.y + t.px(6)});
    ImGui::EndDisabled();
    const ImU32 colour = !possible ? widgets::with_alpha(t.muted, 0.45f) : ImGui::IsItemHovered() ? t.text : t.muted;
    Painter::window().text({right, y + t.px(2)}, label, colour, Type::small);
    ui::focus_ring(t.px(3));
    right -= t.px(14);
    return pressed && possible;
  };
  if (link("Reset", true)) shell.workspace.reset();
  if (link("Redo", shell.workspace.can_redo())) shell.workspace.redo();
  if (link("Undo", shell.workspace.can_undo())) shell.workspace.undo();
}

/// Is the field that was looked for one of this group's? Then the group stands open.
bool seeks_in(const Shell& shell, const chapters::Fields& fields, std::string_view group) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Field& f) { return f.group == group && is_sought(shell, f); });
}

/// What a folded group says: its first field that is shown. The value may stand in `scratch`.
GroupValue first_value(const chapters::Lab& lab, std::span<const Field> fields, std::string_view group,
                       bool (*shown)(const chapters::Lab&, const Field&), widgets::NumberText& scratch) {
  for (const Field& f : fields)
    if (f.group == group && shown(lab, f)) return {f.spec.label, field_text(f, scratch)};
  return {};
}

/// A glowing dot beside the control drawn last: what a lesson asks to be dragged.
void point_at_control(Shell& shell) {
  const auto& t = theme();
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  const double beat = shell.host.animates ? 0.5 + 0.5 * std::sin(3.0 * ImGui::GetTime()) : 1.0;
  const Painter p = Painter::window();
  const ImVec2 at{(min.x + max.x) / 2, max.y + t.px(10)};
  p.circle(at, t.px(4.0f + 3.0f * static_cast<float>(beat)), widgets::with_alpha(t.accent, 0.3f));
  p.circle(at, t.px(3.5f), t.accent);
  p.text({at.x + t.px(12), at.y - t.type(Type::small) / 2 - t.px(1)}, "drag me", t.accent, Type::small, Font::bold);
  ImGui::Dummy({0, t.px(16)});
  if (shell.host.animates) shell.animating = true;
}

/// An input that a file of the person's own stands in for: its name, pale, and the file's.
void draw_replaced(const Field& f, const Field& file, float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = t.px(26), y = at.y + (height - t.type(Type::small)) / 2;
  ImGui::Dummy({width, height});
  const ImU32 pale = widgets::with_alpha(t.muted, 0.8f);
  const float label = Painter::window().text_fit({at.x, y}, f.spec.label, width * 0.4f, pale, Type::small);
  Painter::window().text_fit({at.x + width, y}, chapters::file_name(file.file().path), width - label - t.px(12), pale,
                             Type::small, Font::sans, widgets::Align::right);
  ui::hint("A file of your own stands in for it.");
}

void draw_inputs(Shell& shell) {
  const auto& t = theme();
  const chapters::Lab& lab = shell.workspace.lab();
  const float width = ImGui::GetContentRegionAvail().x - t.px(4);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Painter::window().text({at.x, at.y + t.px(1)}, "Inputs", t.text, Type::body, Font::bold);
  buttons(shell, at.x + width, at.y);
  ImGui::SetCursorScreenPos({at.x, at.y + t.px(30)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(8), t.px(8)});
  ImGui::PushID(lab.info().id.data());
  shell.controls.inputs = &lab.inputs();
  std::string_view group;
  bool open = true, first = true;
  // A step of a lesson may show a few controls and put the rest behind "more".
  const LessonStep* step = step_shown(shell);
  const bool few = step && !step->controls.empty() && !shell.lesson.more;
  for (const Field& f : lab.inputs()) {
    const Field* const file = file_instead(f, lab.inputs());
    if (!file && !is_input_shown(lab, f)) continue;
    if (few) {
      if (std::find(step->controls.begin(), step->controls.end(), f.key) == step->controls.end()) continue;
      draw_control(f, shell.controls, width);
      if (step->point_at == f.key) point_at_control(shell);
      continue;
    }
    if (f.group != group) {
      group = f.group;
      widgets::NumberText scratch;
      open =
          group.empty() || group_heading(group, first, shell.unfold_groups || seeks_in(shell, lab.inputs(), group),
                                         first_value(lab, lab.inputs().all(), group, is_input_shown, scratch), width);
      first = false;
    }
    if (open && file)
      draw_replaced(f, *file, width);
    else if (open)
      draw_control(f, shell.controls, width);
    if (open) mark_sought(shell, f);
  }
  shell.controls.inputs = nullptr;
  if (few && ui::pill("More inputs", false)) shell.lesson.more = true;
  ImGui::PopID();
  ImGui::PopStyleVar();
}

void draw_outputs(Shell& shell) {
  const auto& t = theme();
  const chapters::Lab& lab = shell.workspace.lab();
  Session& session = shell.workspace.current();
  const float width = ImGui::GetContentRegionAvail().x - t.px(4);
  const OutputState state{.feasible = lab.reason().empty(), .hidden = shell.prediction_hides_outputs};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Painter::window().text({at.x, at.y + t.px(1)}, "Outputs", t.text, Type::body, Font::bold);
  if (state.hidden)
    Painter::window().text({at.x + width, at.y + t.px(3)}, "veiled", t.muted, Type::small, Font::sans,
                           widgets::Align::right);
  ImGui::SetCursorScreenPos({at.x, at.y + t.px(28)});
  if (session.computing()) {
    ui::bar(ImGui::GetCursorScreenPos(), width, session.fraction(), t.accent);
    ui::spacing(4);
    if (ui::button("Cancel")) session.cancel();
  }
  if (!session.job_error().empty()) ui::wrapped(session.job_error(), t.warning, Type::small);
  if (!state.feasible) ui::wrapped(lab.reason(), t.warning, Type::small);
  draw_headlines(shell, state, width);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::PushID(lab.info().id.data());
  std::string_view group;
  bool open = true;
  for (const Field& f : lab.outputs()) {
    if (f.spec.headline || !enabled(lab, f)) continue;
    if (f.group != group) {
      group = f.group;
      widgets::NumberText scratch;
      GroupValue value{{}, state.hidden ? "veiled" : ""};
      if (!state.hidden && state.feasible)
        value = first_value(
            lab, lab.outputs().all(), group,
            [](const chapters::Lab& l, const Field& o) { return !o.spec.headline && enabled(l, o); }, scratch);
      open = group.empty() ||
             group_heading(group, false, shell.unfold_groups || seeks_in(shell, lab.outputs(), group), value, width);
    }
    if (!open) continue;
    draw_output_row(shell, f, state, width);
    mark_sought(shell, f);
  }
  ImGui::PopID();
  ImGui::PopStyleVar();
}

}  // namespace

bool is_sought(const Shell& shell, const Field& field) {
  const SoughtField& sought = shell.sought;
  Session& session = shell.workspace.current();
  return !sought.key.empty() && field.key == sought.key && session.lab().info().id == sought.lab &&
         session.edits() == sought.edits;
}

void mark_sought(Shell& shell, const Field& field) {
  if (!is_sought(shell, field)) return;
  const auto& t = theme();
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax(), out{t.px(3), t.px(1)};
  Painter::window().frame({min.x - out.x, min.y - out.y}, {max.x + out.x, max.y + out.y}, t.accent, t.px(1.5f),
                          t.px(4));
  if (std::exchange(shell.sought.scroll, false))
    ImGui::SetScrollFromPosY((min.y + max.y) / 2 - ImGui::GetWindowPos().y);
}

void draw_inspector(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  // Outputs keep a place of their own, so that what a slider does is seen while it is dragged.
  const chapters::Lab& lab = shell.workspace.lab();
  std::size_t cards = 0, rows = 0, groups = 0;
  std::string_view group;
  for (const Field& f : lab.outputs()) {
    if (!enabled(lab, f)) continue;
    if (f.spec.headline || guess_of(shell, f.key)) ++cards;
    if (f.spec.headline) continue;
    if (f.group.empty())
      ++rows;
    else if (f.group != group)
      ++groups;
    group = f.group;
  }
  const float wanted = t.px(44) + t.px(82) * static_cast<float>((cards + 1) / 2) + t.px(25) * static_cast<float>(rows) +
                       t.px(30) * static_cast<float>(groups) + t.px(groups > 0 ? 60.0f : 0.0f);
  const float outputs = std::min(wanted, size.y * (cards > 0 ? 0.55f : 0.42f));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(lab.info().id.data());  // each lab scrolls for itself
  if (ui::begin_panel("inputs", {size.x, size.y - outputs}, t.panel, {14, 10})) {
    ImGui::BeginDisabled(question_open(shell));  // set by the question
    draw_inputs(shell);
    ImGui::EndDisabled();
  }
  ImGui::EndChild();
  ImGui::SetCursorScreenPos({at.x, at.y + size.y - outputs});
  if (ui::begin_panel("outputs", {size.x, outputs}, t.panel, {14, 8})) draw_outputs(shell);
  ImGui::EndChild();
  ImGui::PopID();
  const Painter p = Painter::window();
  p.line(at, {at.x, at.y + size.y}, t.line);
  p.line({at.x, at.y + size.y - outputs}, {at.x + size.x, at.y + size.y - outputs}, t.line);
}

}  // namespace app
