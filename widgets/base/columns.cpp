#include "widgets/base/columns.h"

#include <cmath>

#include "widgets/base/theme.h"

namespace widgets {

TwoColumns two_columns(float width, const ColumnsOptions& o) {
  const Theme& t = theme();
  const float gap = t.px(o.gap);
  if (!(width >= t.px(o.least))) return {width, width, gap, false};
  const float left = std::floor((width - gap) * o.left_share);
  return {left, std::floor(width - gap - left), gap, true};
}

void next_column(const TwoColumns& columns) {
  if (columns.beside)
    ImGui::SameLine(0, columns.gap);
  else
    ImGui::Dummy({columns.left, theme().px(6)});
}

}  // namespace widgets
