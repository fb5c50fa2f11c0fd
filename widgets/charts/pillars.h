#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"

/// A row of pillars, one per layer: solid as high as what the layer keeps, hollow where it is recomputed. Pressing one
/// turns it over, and dragging does the same to those that the pointer crosses.
namespace widgets {

struct Pillar {
  double kept = 1;      ///< part of its height that is solid, 0 to 1
  bool hollow = false;  ///< recomputed in the backward pass
  bool joined = false;  ///< hollow in one piece with the pillar before it
};

struct PillarOptions {
  ImVec2 size{0, 0};
  std::string_view full{}, low{};  ///< words at the top of the axis and at the height of a hollow one's base
  double low_share = 0;            ///< that height, 0 to 1
  std::ptrdiff_t mark = -1;        ///< a pillar after which a mark stands; -1: none
  std::string_view mark_words{};
};

struct PillarLayout {
  std::vector<Rect> pillars;  ///< their whole height
  Rect row{};
  float label_top = 0;  ///< Where the numbers under them begin.
  std::size_t number_step = 1;
};

/// Pillars of one width with whole gaps between the axis words at the left and the right edge.
void layout_pillars(std::span<const Pillar> pillars, const PillarOptions& options, Rect area, Measure measure,
                    PillarLayout& out);

struct PillarView {
  PillarLayout layout;
  std::ptrdiff_t last = -1;  ///< the pillar that the drag came to last
  bool turning_hollow = false;
};

/// What was turned over in this frame.
struct PillarEvent {
  std::ptrdiff_t pillar = -1;
  bool hollow = false;
};
PillarEvent draw_pillars(const char* label, std::span<const Pillar> pillars, PillarView& view,
                         const PillarOptions& options = {});

}  // namespace widgets
