#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/shell/controls/control_kinds.h"
#include "app/shell/controls/field_text.h"
#include "app/shell/ui.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Scale;

/// A dragged value lands on round figures: three significant digits on a log scale, a thousandth of the range
/// otherwise.
double rounded_to_grain(const Field& f, double v) {
  if (f.kind == Kind::integer) return std::round(v);
  const auto& [lo, hi, scale, step] = f.spec.range;
  if (scale == Scale::step) return lo + std::round((v - lo) / step) * step;
  const double grain = scale == Scale::log && v > 0 ? std::pow(10.0, std::floor(std::log10(v)) - 2)
                                                    : std::pow(10.0, std::floor(std::log10(hi - lo)) - 3);
  return std::clamp(std::round(v / grain) * grain, lo, hi);
}

/// A logarithm has no 0. Where the range of an input on such a scale begins there, 0 leaves the number to the program:
/// it is the left end of the slider, a little before the first number.
bool zero_end(const Field& f) { return f.spec.range.lo == 0 && f.spec.range.is_log(f.spec.drag().lo); }

/// Dear ImGui's slider behaviour (mouse, keyboard, gamepad) under our own paint: a thin track and a round knob.
bool number_slider(const Field& f, double& value, float width) {
  const auto& t = theme();
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const ImGuiID id = window->GetID(control_label(f));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImRect box(at, {at.x + width, at.y + t.px(16)});
  ImGui::ItemSize(box.GetSize(), 0);
  if (!ImGui::ItemAdd(box, id, &box, ImGuiItemFlags_Inputable)) return false;
  ImGuiContext& g = *ImGui::GetCurrentContext();
  IMGUI_TEST_ENGINE_ITEM_INFO(id, control_label(f), g.LastItemData.StatusFlags | ImGuiItemStatusFlags_Inputable);
  const bool hovered = ImGui::ItemHoverable(box, id, g.LastItemData.ItemFlags);
  const bool clicked = hovered && ImGui::IsMouseClicked(0, ImGuiInputFlags_None, id);
  if (clicked || g.NavActivateId == id) {
    if (clicked) ImGui::SetKeyOwner(ImGuiKey_MouseLeft, id);
    ImGui::SetActiveID(id, window);
    ImGui::SetFocusID(id, window);
    ImGui::FocusWindow(window);
    g.ActiveIdUsingNavDirMask |= (1u << ImGuiDir_Left) | (1u << ImGuiDir_Right);
  }
  chapters::Span span = f.spec.drag();
  const bool log = f.spec.range.is_log(span.lo), zero = zero_end(f);
  const double first = span.lo;
  if (zero) span.lo = first / std::pow(span.hi / first, 0.06);
  double v = std::max(value, span.lo);
  ImRect grab;
  bool changed =
      ImGui::SliderBehavior(box, id, ImGuiDataType_Double, &v, &span.lo, &span.hi, "%.17g",
                            ImGuiSliderFlags_NoRoundToFormat | (log ? ImGuiSliderFlags_Logarithmic : 0), &grab);
  if (changed) {
    if (zero && v < first) v = v < std::sqrt(first * span.lo) ? 0 : first;
    v = rounded_to_grain(f, v);
    changed = v != value;
    value = v;
    ImGui::MarkItemEdited(id);
  }
  const Painter p = Painter::window();
  const float y = at.y + box.GetHeight() / 2, knob = (grab.Min.x + grab.Max.x) / 2,
              r = t.px(hovered || g.ActiveId == id ? 7.0f : 6.0f);
  p.rect({at.x, y - t.px(1.5f)}, {at.x + width, y + t.px(1.5f)}, t.line, t.px(1.5f));
  p.rect({at.x, y - t.px(1.5f)}, {knob, y + t.px(1.5f)}, t.accent, t.px(1.5f));
  p.circle({knob, y}, r, t.text);
  ui::focus_ring(t.px(4));
  return changed;
}

}  // namespace

bool number_control(const Field& f, ControlState& state, float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  double value = f.number();
  const auto shown = widgets::format(value, f.spec.unit, f.kind == Kind::integer ? 12 : 4, prefix_of(f));
  const float value_width = widgets::text_size(shown, Type::small, widgets::Font::mono).x + t.px(4);
  const float label_width = widgets::text_size(f.spec.label, Type::small).x;
  // One line where the label and the value leave the slider its room, else the slider has a line of its own.
  const float value_column = std::max(value_width, width * 0.27f),
              label_column = std::max(width * 0.38f, label_width + t.px(10));
  const bool one_line = width - label_column - value_column >= t.px(64);
  const float row = t.px(22);
  Painter::window().text_fit({at.x, at.y + t.px(3)}, f.spec.label,
                             one_line ? label_column : width - value_width - t.px(6), t.muted, Type::small);
  bool changed = false;
  if (state.editing == f.key) {
    const float box = std::max(value_column, width * 0.45f);
    ImGui::SetCursorScreenPos({at.x + width - box, at.y - t.px(3)});
    const ui::ScopedType mono(Type::small, widgets::Font::mono);
    changed = typing_box(f, state, box);
    value = f.number();  // the slider goes on from what was typed
  } else {
    ImGui::SetCursorScreenPos({at.x + width - value_width, at.y});
    ImGui::PushID(f.key.data());
    const bool pressed = widgets::press_area("value", {value_width, row});
    ImGui::PopID();
    const bool hovered = ImGui::IsItemHovered();
    Painter::window().text({at.x + width, at.y + t.px(3)}, shown, hovered ? t.accent : t.text, Type::small,
                           widgets::Font::mono, widgets::Align::right);
    ui::focus_ring(t.px(4));
    if (pressed)
      start_typing(f, state,
                   widgets::format(value, f.kind == Kind::integer ? "" : f.spec.unit, 9,
                                   f.kind == Kind::integer ? widgets::Prefix::none : prefix_of(f)));
  }
  const bool covered = one_line && state.editing == f.key;
  ImGui::SetCursorScreenPos({one_line ? at.x + label_column : at.x, one_line ? at.y + t.px(3) : at.y + row});
  const float slider =
      one_line ? width - label_column - (covered ? std::max(value_column, width * 0.45f) : value_column) - t.px(8)
               : width;
  // The knob rests at an end for what lies beyond it; only a drag changes the value.
  const chapters::Span span = f.spec.drag();
  const double least = zero_end(f) && value <= 0 ? 0 : span.lo;
  const double rest = value >= span.hi ? span.hi : value >= span.lo ? value : least;
  double dragged = rest;
  if (slider >= t.px(24)) number_slider(f, dragged, slider);
  if (dragged != rest) value = dragged;
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, one_line ? row : row + t.px(16)});
  if (value != f.number() && !std::isnan(value)) {
    f.set_number(value);
    changed = true;
  }
  return changed;
}

}  // namespace app
