#include "app/shell/controls/controls.h"

#include "app/shell/controls/control_kinds.h"
#include "app/shell/ui.h"

namespace app {

bool draw_control(const Field& f, ControlState& state, float width) {
  ImGui::BeginGroup();
  bool changed = false;
  switch (f.kind) {
    case Kind::real:
    case Kind::integer:
      changed = number_control(f, state, width);
      break;
    case Kind::toggle:
      changed = ui::toggle(control_label(f), f.toggle(), width);
      break;
    case Kind::choice:
      changed = choice_control(f, state, width);
      break;
    case Kind::choices:
      changed = choices_control(f, state, width);
      break;
    case Kind::text:
    case Kind::file:
    case Kind::reals:
      changed = text_control(f, state, width);
      break;
    case Kind::table:
      changed = table_control(f, state, width);
      break;
  }
  if (changed && state.error_key == f.key) state.error.clear();
  if (state.error_key == f.key && !state.error.empty()) ui::wrapped(state.error, theme().warning, Type::small);
  ImGui::EndGroup();
  ui::hint(f.spec.help);
  return changed;
}

}  // namespace app
