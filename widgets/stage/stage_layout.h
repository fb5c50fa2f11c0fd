#pragma once
#include <imgui.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"

/// Where the panels of a stage stand. Pure: sizes in, rectangles out.
namespace widgets {

/// One picture of a lab. Sizes are those of its body in design pixels, without its heading.
struct PanelSpec {
  std::string_view title;
  ImVec2 least{320, 180};  ///< in less room the panel is not shown beside others: it folds into a tab
  ImVec2 ideal{0, 0};      ///< more room than this brings nothing; 0: any room is of use
  bool answers = false;    ///< the panel that answers the lab's question; without one the first does
  bool scrolls = false;    ///< a table or a text: what does not fit scrolls in it
  /// Names of the marks that answer, between commas: "time curve, memory strips". At every size of a projector the body
  /// draws each of them and says so with widgets::drew.
  std::string_view marks{};
};

/// A panel that has a place. `at` is that of its body in screen pixels; its heading, where it has one, stands above.
struct PlacedPanel {
  std::size_t panel = 0;
  Rect at{};
  bool headed = false;  ///< the title stands over it; the only panel of a stage has its title in the tab alone
};

struct StageOptions {
  float scale = 1;         ///< screen pixels a design pixel
  float gap = 16;          ///< between panels; design pixels
  float heading = 24;      ///< height of a heading; design pixels
  float tabs = 34;         ///< height of the row of tabs; design pixels
  bool one_panel = false;  ///< presentation and enlarging: the main panel has all of it
};

struct StagePlan {
  bool tabs = false;  ///< some panel has no place, so that a row of tabs stands above
  Rect body{};        ///< what the panels share, below the tabs
};

/// Places as many panels as have their least size, the main one above or to the left of the others, which follow in
/// their order. `main` is the index of the panel that is shown whatever the room; it gets most of what is left over.
/// Rectangles are whole pixels, lie inside `area` and do not overlap.
StagePlan layout_stage(std::span<const PanelSpec> panels, std::size_t main, Rect area, const StageOptions& options,
                       std::vector<PlacedPanel>& out);

/// The index of the panel that answers.
std::size_t answering_panel(std::span<const PanelSpec> panels);

}  // namespace widgets
