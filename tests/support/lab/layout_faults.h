#pragma once
#include <string>
#include <vector>

#include "widgets/base/painter.h"
#include "widgets/base/parts.h"

/// What a stranger would call badly set in what was drawn.
namespace support {

struct LayoutRules {
  widgets::Rect canvas{};                ///< nothing written may leave it
  std::vector<widgets::Rect> scrolling;  ///< tables and texts, whose lower rows may be out of sight
  ImU32 ground = 0;                      ///< what lies behind everything
  double least_contrast = 4.5;
  float least_text_px = 0;  ///< text smaller than this did not scale
};

/// One sentence a fault: a text that is cut by a clip or by the canvas, a figure or a heading that ends in an ellipsis,
/// two texts over each other, a contrast that is too low, a text that did not scale.
std::vector<std::string> layout_faults(const widgets::Record& record, const LayoutRules& rules);

}  // namespace support
