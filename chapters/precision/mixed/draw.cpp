#include <algorithm>
#include <cmath>

#include "chapters/precision/mixed/lab.h"
#include "widgets/base/heading.h"
#include "widgets/table/table_layout.h"

namespace chapters::precision::mixed {

void draw(Inputs&, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || out.operations.empty() || out.recipes.size() != models::recipe_count) return;
  const auto& t = widgets::theme();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = room.x, top = ImGui::GetCursorScreenPos().y, gap = t.px(22),
              space = ImGui::GetStyle().ItemSpacing.y;
  const bool beside = width >= t.px(900);  // The bars stand right of the table, or under it.
  const float left = beside ? std::min(std::floor(width * 0.58f), t.px(740)) : width,
              right = beside ? width - left - gap : width;
  widgets::heading(picture.verdict, picture.story, width, widgets::HeadingMore::beside);
  widgets::TableLayout rows;
  widgets::arrange_columns({}, rows, 0, false);
  ImGui::BeginGroup();
  draw_legend(picture, left);
  const float used = ImGui::GetCursorScreenPos().y - top,
              all = rows.header_height + static_cast<float>(out.operations.size()) * rows.row_height + 1;
  const float table = std::max(t.px(230), beside ? room.y - used - t.px(4) : room.y * 0.45f);
  const float fit = std::floor((table - rows.header_height) / rows.row_height);
  draw_operations(out, picture, view, left, std::min(all, rows.header_height + fit * rows.row_height + 1));
  ImGui::EndGroup();
  if (beside) ImGui::SameLine(0, gap);
  ImGui::BeginGroup();
  const float line = t.type(widgets::Type::body) + t.px(5) + space, small = t.type(widgets::Type::small) + t.px(6),
              note = (picture.time_note.empty() ? 0.0f : small) + (picture.left_out.empty() ? 0.0f : small);
  const float head = used - (beside ? t.type(widgets::Type::small) + t.px(8) + space : 0.0f);
  const float bars =
      beside ? std::clamp((room.y - head - 2 * line - note - 2 * space) / 2, t.px(205), t.px(340)) : t.px(215);
  widgets::heading("Memory of one chip", picture.left_out, right);
  draw_memory(out, picture, view, right, bars);
  widgets::heading("Time of a step", picture.time_note, right);
  draw_time(out, picture, view, right, bars);
  ImGui::EndGroup();
}

}  // namespace chapters::precision::mixed
