#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/explore/explore.h"
#include "app/scenario/fields_json.h"
#include "app/shell/controls/control_kinds.h"
#include "app/shell/ui.h"
#include "widgets/number/number.h"

namespace app {
namespace {

/// A cell at rest: its value, pressed to type another. Long texts show their beginning.
bool cell_at_rest(const Field& c) {
  char shown[128];
  const auto write = [&](std::string_view text) {
    std::snprintf(shown, sizeof shown, "%.*s###cell", static_cast<int>(std::min<std::size_t>(text.size(), 100)),
                  text.data());
  };
  if (c.kind == Kind::text)
    write(c.text());
  else if (c.is_number())
    write(widgets::format(c.number(), c.spec.unit, c.kind == Kind::integer ? 12 : 4));
  else
    write(display_text(c));
  return ImGui::Selectable(shown);
}

/// Design pixels in which a column of the kind can be read.
float column_px(const Field& c) {
  const float label = widgets::text_size(c.spec.label, Type::small).x + theme().px(10);
  switch (c.kind) {
    case Kind::toggle:
      return std::max(label, theme().px(34));
    case Kind::choice:
      return std::max(label, theme().px(94));
    case Kind::text:
      return std::max(label, theme().px(130));
    default:
      return std::max(label, theme().px(68));
  }
}

/// The width and height of a table, and whether it scrolls. Many columns keep a width in which they can be read, and
/// scroll sideways behind the first.
struct TableExtent {
  bool scrolls = false;
  float inner_width = 0, height = 0;
};
TableExtent table_extent(const Field& f, const chapters::Fields& cells, float width) {
  TableExtent out;
  out.inner_width = theme().px(22) + ImGui::GetStyle().CellPadding.x * 2 * static_cast<float>(cells.size() + 1);
  for (const Field& c : cells) out.inner_width += column_px(c);
  out.scrolls = cells.size() > 5 && out.inner_width > width;
  const float row_height = ImGui::GetFrameHeight() + ImGui::GetStyle().CellPadding.y * 2;
  if (out.scrolls)
    out.height =
        row_height * static_cast<float>(std::min<std::size_t>(f.table_size(), 8) + 1) + ImGui::GetStyle().ScrollbarSize;
  return out;
}

bool choice_cell(const Field& c, ControlState& state, float width) {
  bool changed = false;
  ImGui::SetNextItemWidth(width);
  if (ImGui::BeginCombo("##cell", c.choice_id().data(), ImGuiComboFlags_NoArrowButton)) {
    const int i =
        draw_option_list(*c.options, state, [&](std::size_t k) { return static_cast<double>(k) == c.number(); });
    if (i >= 0) {
      c.set_number(i);
      changed = true;
    }
    ImGui::EndCombo();
  }
  return changed;
}

/// The text box of the cell that is being typed.
bool typed_cell(const Field& table, const Field& c, ControlState& state, float width) {
  ImGui::SetNextItemWidth(width);
  if (state.focus) ImGui::SetKeyboardFocusHere();
  state.focus = false;
  const bool entered = ImGui::InputText("##cell", state.buffer, sizeof state.buffer,
                                        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  if (!entered && !ImGui::IsItemDeactivated()) return false;
  const bool keep = ImGui::IsKeyPressed(ImGuiKey_Escape) || !ImGui::IsItemDeactivatedAfterEdit();
  state.editing.clear();
  return !keep && take_typed(c, state, table.key);
}

bool table_cell(const Field& table, std::size_t row, const Field& c, ControlState& state) {
  char key[160];
  std::snprintf(key, sizeof key, "%.*s.%zu.%.*s", static_cast<int>(table.key.size()), table.key.data(), row,
                static_cast<int>(c.key.size()), c.key.data());
  bool changed = false;
  ImGui::PushID(c.key.data());
  const float width = ImGui::GetContentRegionAvail().x;
  if (c.kind == Kind::choice) {
    changed = choice_cell(c, state, width);
  } else if (c.kind == Kind::toggle) {
    changed = ImGui::Checkbox("##cell", &c.toggle());
  } else if (state.editing == key) {
    changed = typed_cell(table, c, state, width);
  } else if (cell_at_rest(c)) {
    start_typing(c, state, c.kind == Kind::text ? c.text() : display_text(c));
    state.editing = key;
  }
  ImGui::PopID();
  return changed;
}

/// Takes a row out through the table's JSON, because fields can only cut a table at its end.
void remove_row(const Field& f, std::size_t row) {
  Json rows = field_to_json(f);
  rows.erase(row);
  (void)field_from_json(f, rows);  // the table held all of them a moment ago
}

}  // namespace

bool table_control(const Field& f, ControlState& state, float width) {
  const auto& t = theme();
  ui::text(f.spec.label, t.muted, Type::small);
  chapters::Fields& cells = state.cells;
  if (f.table_size() > 0)
    f.table_row(0, cells);
  else
    f.table_columns(cells);
  bool changed = false;
  std::size_t removed = f.table_size();
  ImGui::PushID(f.key.data());
  const ui::ScopedType small(Type::small);
  const TableExtent extent = table_extent(f, cells, width);
  ImGuiTableFlags flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp;
  if (extent.scrolls) flags |= ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY;
  if (ImGui::BeginTable("rows", static_cast<int>(cells.size()) + 1, flags, {width, extent.height},
                        extent.scrolls ? extent.inner_width : 0.0f)) {
    if (extent.scrolls) ImGui::TableSetupScrollFreeze(1, 1);
    for (const Field& c : cells)
      ImGui::TableSetupColumn(c.spec.label.data(), ImGuiTableColumnFlags_WidthStretch, column_px(c));
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, t.px(22));
    ImGui::TableHeadersRow();
    for (std::size_t row = 0; row < f.table_size(); ++row) {
      f.table_row(row, cells);
      ImGui::TableNextRow();
      ImGui::PushID(static_cast<int>(row));
      for (const Field& c : cells) {
        ImGui::TableNextColumn();
        changed |= table_cell(f, row, c, state);
      }
      ImGui::TableNextColumn();
      if (ImGui::SmallButton("x")) removed = row;
      ImGui::PopID();
    }
    ImGui::EndTable();
  }
  if (removed < f.table_size()) {
    remove_row(f, removed);
    changed = true;
  }
  if (f.table_size() < f.spec.max_items && ui::button("Add row")) {
    f.table_resize(f.table_size() + 1);
    changed = true;
  }
  ImGui::PopID();
  return changed;
}

}  // namespace app
