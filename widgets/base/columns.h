#pragma once
#include <imgui.h>

/// Two pictures beside each other where there is room, one under the other where there is none.
namespace widgets {

struct ColumnsOptions {
  float least = 620;        ///< width from which they stand beside each other; at a scale of 1
  float gap = 24;           ///< between them; at a scale of 1
  float left_share = 0.5f;  ///< The left column's share of the width that the gap leaves.
};

/// Widths in px, whole pixels; one under the other, both have all of it.
struct TwoColumns {
  float left = 0, right = 0, gap = 0;
  bool beside = false;
};
TwoColumns two_columns(float width, const ColumnsOptions& options = {});

/// Between the first picture's group and the second's.
void next_column(const TwoColumns& columns);

/// `left` and `right` draw downwards from the cursor in the width that they are called with.
template <class Left, class Right>
void draw_columns(const TwoColumns& columns, const Left& left, const Right& right) {
  ImGui::BeginGroup();
  left(columns.left);
  ImGui::EndGroup();
  next_column(columns);
  ImGui::BeginGroup();
  right(columns.right);
  ImGui::EndGroup();
}

}  // namespace widgets
