#include <algorithm>
#include <cstring>

#include "app/shell/explore/explore_parts.h"
#include "app/shell/ui.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace app {
namespace {

/// A small drop-down over keys, shown by their labels. `none` offers an empty choice.
bool pick_key(const char* label, std::string& key, const std::vector<std::string>& keys, const chapters::Fields& fields,
              float width, const char* none = nullptr) {
  ImGui::BeginGroup();
  ui::text(label, theme().muted, Type::small);
  bool changed = false;
  if (ui::drop_down(label, key.empty() && none ? std::string_view(none) : field_label(fields, key), width))
    ImGui::OpenPopup(label);
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width * 2, theme().px(320)});
  if (ImGui::BeginPopup(label)) {
    if (none && ImGui::Selectable(none, key.empty())) {
      key.clear();
      changed = true;
    }
    for (const auto& k : keys)
      if (ImGui::Selectable(field_label(fields, k).data(), k == key)) {
        key = k;
        changed = true;
      }
    ImGui::EndPopup();
  }
  ImGui::EndGroup();
  return changed;
}

/// A box to type in; while it is empty it shows `hint`, which is what holds then.
bool typed_text(const char* label, std::string& text, float width, std::string_view hint = {}) {
  char buffer[64];
  const std::size_t n = std::min(text.size(), sizeof buffer - 1);
  std::memcpy(buffer, text.data(), n);
  buffer[n] = '\0';
  ImGui::BeginGroup();
  ui::text(label, theme().muted, Type::small);
  ImGui::SetNextItemWidth(width);
  ImGui::PushID(label);
  const widgets::Line shown = widgets::Line{}.add(hint);
  const bool edited = ImGui::InputTextWithHint("##typed", shown.c_str(), buffer, sizeof buffer);
  ImGui::PopID();
  ImGui::EndGroup();
  if (edited) text = buffer;
  return edited;
}

/// The row of pills that choose between the four ways to think.
void choose_mode(ExploreState& e) {
  using Mode = ExploreState::Mode;
  static constexpr std::pair<const char*, Mode> modes[] = {
      {"Sweep", Mode::sweep}, {"Sensitivity", Mode::sensitivity}, {"Solve", Mode::solve}, {"Compare", Mode::compare}};
  for (const auto& [name, mode] : modes) {
    if (mode != Mode::sweep) ImGui::SameLine(0, theme().px(6));
    if (ui::pill(name, e.mode == mode) && e.mode != mode) {
      e.mode = mode;
      e.error.clear();
    }
  }
}

/// What the row of questions says in this frame.
struct Asked {
  bool changed = false;  ///< one of the choices is another
  bool run = false;      ///< Run was pressed
};

/// The row with the inputs, the output and the Run button.
Asked ask_row(ExploreState& e, const chapters::Lab& lab, float width) {
  using Mode = ExploreState::Mode;
  const auto& t = theme();
  Asked out;
  const float box = std::clamp(width / 6, t.px(110), t.px(190));
  // Each piece has its place: Dear ImGui's own lines would shift them by the baselines of text and boxes.
  const ImVec2 row = ImGui::GetCursorScreenPos();
  float x = row.x;
  const auto next = [&](float piece) {
    ImGui::SetCursorScreenPos({x, row.y});
    x += piece + t.px(8);
    return piece;
  };
  if (e.mode != Mode::sensitivity) {
    if (pick_key("Input", e.input, e.inputs, lab.inputs(), next(box))) {
      out.changed = true;
      e.lo.clear();
      e.hi.clear();
    }
    const Field* in = lab.inputs().find(e.input);
    widgets::NumberText lo, hi;
    if (in && in->is_number()) {
      const chapters::Span drag = in->spec.drag();
      lo = widgets::format(drag.lo, in->spec.unit);
      hi = widgets::format(drag.hi, in->spec.unit);
    }
    out.changed |= typed_text("From", e.lo, next(box * 0.5f), lo);
    out.changed |= typed_text("To", e.hi, next(box * 0.5f), hi);
    if (e.mode == Mode::sweep)
      out.changed |= pick_key("Second input", e.second_input, e.inputs, lab.inputs(), next(box), "none");
  }
  out.changed |= pick_key("Output", e.output, e.outputs, lab.outputs(), next(box));
  if (e.mode == Mode::solve) typed_text("Target", e.target, next(box * 0.6f));
  ImGui::SetCursorScreenPos({x, row.y + t.type(Type::small) + t.px(5)});
  out.run = ui::button("Run", true);
  // An item as high as the row: where nothing follows, Dear ImGui refuses a cursor that was only set.
  ImGui::SetCursorScreenPos(row);
  ImGui::Dummy({0, t.type(Type::small) + t.px(37)});
  return out;
}

}  // namespace

std::string_view field_label(const chapters::Fields& fields, std::string_view key) {
  const Field* f = fields.find(key);
  return f ? f->spec.label : key;
}

void draw_explore(Shell& shell) {
  const auto& t = theme();
  ExploreState& e = shell.explore;
  const chapters::Lab& lab = shell.workspace.lab();
  if (e.lab != lab.info().id) begin_explore(shell);
  if (take_explored(e)) {
    shell.workspace.progress.explore(lab.info().id);
    if (e.mode == ExploreState::Mode::sweep) label_sweep_axes(e, lab);
  }
  using Mode = ExploreState::Mode;
  choose_mode(e);
  const float width = ImGui::GetContentRegionAvail().x;
  if (e.mode == Mode::compare) return show_compare(shell, width);
  const Asked asked = ask_row(e, lab, width);
  const bool one_number = !e.lo.empty() != !e.hi.empty();  // half typed: wait for the other end
  const bool stale = e.for_version != shell.workspace.current().version() && e.mode != Mode::solve;
  if (asked.run || ((asked.changed || stale) && !one_number && e.mode != Mode::solve)) {
    if (asked.run || asked.changed) e.choosing = false;  // the person has chosen
    start_explore(shell);
  }
  if (e.running) {
    shell.animating = true;
    ui::bar(ImGui::GetCursorScreenPos(), width, e.job.fraction(), t.accent);
    ui::spacing(4);
  }
  if (!e.error.empty()) return ui::wrapped(e.error, t.warning, Type::small);
  const float height = std::max(ImGui::GetContentRegionAvail().y - t.px(4), t.px(150));
  if (e.mode == Mode::sweep) {
    show_sweep(shell, {width, height});
  } else if (e.mode == Mode::sensitivity) {
    show_tornado(shell, width);
  } else {
    show_solution(shell);
  }
}

}  // namespace app
