#include <algorithm>

#include "app/scenario/scenario.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;
using widgets::Font;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

/// Formula, source and exact value of an output, on hover.
void explain(const Field& f) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort) || !ImGui::BeginTooltip()) return;
  ImGui::PushTextWrapPos(theme().px(380));
  ui::text(f.spec.label, theme().text, Type::body, Font::bold);
  if (!f.spec.help.empty()) ui::text(f.spec.help, theme().text, Type::small);
  if (f.kind == Kind::real || f.kind == Kind::integer) {
    const auto exact = widgets::format(f.number(), "", 10, widgets::Prefix::none);
    ui::text(exact, theme().text, Type::small, Font::mono);
    if (!f.spec.unit.empty()) {
      ImGui::SameLine();
      ui::text(f.spec.unit, theme().muted, Type::small);
    }
  }
  if (!f.spec.formula.empty()) ui::text(f.spec.formula, theme().accent, Type::small, Font::mono);
  if (!f.spec.source.empty()) ui::text(f.spec.source, theme().muted, Type::small);
  ui::text(f.key, theme().muted, Type::small, Font::mono);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void output_row(const Field& f, bool feasible, bool hidden, float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = t.px(25), unit_width = t.px(62);
  ImGui::PushID(f.key.data());
  ImGui::InvisibleButton(f.spec.label.data(), {width, height}, ImGuiButtonFlags_EnableNav);
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const float value_right = at.x + width - unit_width;
  std::string_view value = "—", unit;
  widgets::NumberParts parts;
  if (hidden) {
    value = "?";
  } else if (feasible) {
    switch (f.kind) {
      case Kind::real:
      case Kind::integer:
        parts = widgets::format_parts(f.number(), f.spec.unit, 4);
        value = parts.number;
        unit = parts.unit;
        break;
      case Kind::toggle:
        value = f.toggle() ? "yes" : "no";
        break;
      case Kind::choice: {
        const double i = f.number();
        value = i >= 0 ? std::string_view((*f.options)[static_cast<std::size_t>(i)].label) : f.choice_id();
        break;
      }
      case Kind::text:
        value = f.text();
        break;
      case Kind::reals:
        parts.number = widgets::format(static_cast<double>(f.reals().size()), "");
        value = parts.number;
        unit = "values";
        break;
      case Kind::table:
        parts.number = widgets::format(static_cast<double>(f.table_size()), "");
        value = parts.number;
        unit = "rows";
        break;
      default:
        break;
    }
  }
  const bool wide = f.kind == Kind::text || f.kind == Kind::choice;
  const float label_width = widgets::text_size(f.spec.label, Type::small).x;
  p.text_fit({at.x, at.y + t.px(5)}, f.spec.label, width - unit_width - t.px(56), hovered ? t.text : t.muted,
             Type::small);
  if (wide)
    p.text_fit({at.x + width, at.y + t.px(5)}, value, std::max(width - label_width - t.px(16), width * 0.4f), t.text,
               Type::small, Font::mono, widgets::Align::right);
  else {  // on the decimal point: whole part to its left, fraction to its right
    const auto point = std::min(value.find('.'), value.size());
    const float room = widgets::text_size(".01667", Type::small, Font::mono).x,
                fraction = widgets::text_size(value.substr(point), Type::small, Font::mono).x;
    const float x =
        value_right - std::max(room, fraction);  // 4.061e-237 gives up its column rather than cover its unit
    p.text({x, at.y + t.px(5)}, value.substr(0, point), t.text, Type::small, Font::mono, widgets::Align::right);
    p.text({x, at.y + t.px(5)}, value.substr(point), t.text, Type::small, Font::mono);
  }
  p.text_fit({value_right + t.px(8), at.y + t.px(5)}, unit, unit_width - t.px(8), t.muted, Type::small);
  p.line({at.x, at.y + height - 1}, {at.x + width, at.y + height - 1}, t.grid);
  ui::focus_ring(t.px(3));
  explain(f);
}

bool enabled(const chapters::Lab& lab, const Field& f) { return chapters::holds(f.spec.when, lab.inputs()); }

void buttons(Shell& shell) {
  Session& session = shell.workspace.current();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {theme().px(6), theme().px(6)});
  if (ui::pill("Reset", false)) session.reset();
  ImGui::SameLine();
  ImGui::BeginDisabled(!session.can_undo());
  if (ui::pill("Undo", false)) session.undo();
  ImGui::EndDisabled();
  ImGui::SameLine();
  ImGui::BeginDisabled(!session.can_redo());
  if (ui::pill("Redo", false)) session.redo();
  ImGui::EndDisabled();
  const auto& presets = shell.workspace.content.of(session.lab().info().id).presets;
  if (!presets.empty()) {
    ImGui::SameLine();
    if (ui::pill("Presets", false)) ImGui::OpenPopup("preset list");
  }
  if (ImGui::BeginPopup("preset list")) {
    for (const Preset& p : presets) {
      if (ImGui::Selectable(p.name.c_str())) shell.workspace.say_failure(shell.workspace.apply_preset(p));
      ui::hint(p.note);
    }
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

void draw_inputs(Shell& shell) {
  const auto& t = theme();
  const chapters::Lab& lab = shell.workspace.lab();
  const float width = ImGui::GetContentRegionAvail().x - t.px(4);
  ui::section("INPUTS");
  buttons(shell);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(8), t.px(9)});
  shell.controls.inputs = &lab.inputs();
  for (const Field& f : lab.inputs())
    if (enabled(lab, f) && !is_personal(f) && f.spec.origin != chapters::Origin::measured)
      draw_control(f, shell.controls, width);
  shell.controls.inputs = nullptr;
  ImGui::PopStyleVar();
}

void draw_outputs(Shell& shell) {
  const auto& t = theme();
  const chapters::Lab& lab = shell.workspace.lab();
  Session& session = shell.workspace.current();
  const float width = ImGui::GetContentRegionAvail().x - t.px(4);
  ui::section("OUTPUTS");
  if (session.computing()) {
    ui::bar(ImGui::GetCursorScreenPos(), width, session.fraction(), t.accent);
    ui::spacing(4);
    if (ui::button("Cancel")) session.cancel();
  }
  if (!session.job_error().empty()) ui::wrapped(session.job_error(), t.warning, Type::small);
  const bool feasible = lab.reason().empty();
  if (!feasible) ui::wrapped(lab.reason(), t.warning, Type::small);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  for (const Field& f : lab.outputs())
    if (enabled(lab, f)) output_row(f, feasible, shell.prediction_hides_outputs, width);
  ImGui::PopStyleVar();
}

}  // namespace

void draw_inspector(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  // Outputs keep a place of their own, so that what a slider does is seen while it is dragged.
  const float wanted = t.px(25) * static_cast<float>(shell.workspace.lab().outputs().size()) + t.px(60);
  const float outputs = std::min(wanted, size.y * 0.42f);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ui::begin_panel("inputs", {size.x, size.y - outputs}, t.panel, {16, 8})) {
    ImGui::BeginDisabled(question_open(shell));  // set by the question
    draw_inputs(shell);
    ImGui::EndDisabled();
  }
  ImGui::EndChild();
  ImGui::SetCursorScreenPos({at.x, at.y + size.y - outputs});
  if (ui::begin_panel("outputs", {size.x, outputs}, t.panel, {16, 2})) draw_outputs(shell);
  ImGui::EndChild();
  const Painter p = Painter::window();
  p.line(at, {at.x, at.y + size.y}, t.line);
  p.line({at.x, at.y + size.y - outputs}, {at.x + size.x, at.y + size.y - outputs}, t.line);
}

}  // namespace app
