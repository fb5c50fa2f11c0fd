#pragma once
#include <cstdint>
#include <vector>

#include "widgets/prose/formula.h"
#include "widgets/prose/prose_parse.h"

/// Where every piece of a text stands. Positions are pixels from its top left corner.
namespace widgets {

struct ProseItem {
  enum class Kind : std::uint8_t { text, marker, value, unknown, formula, card, rule, bar };
  Kind kind = Kind::text;
  Type type = Type::body;
  Font font = Font::sans;
  bool muted = false;
  ImVec2 at, size;
  std::uint32_t begin = 0, end = 0;  ///< text: bytes in ProseDoc::text
  std::uint32_t index = 0;           ///< marker: block; value: slot; formula: in ProseLayout::formulas
  std::int32_t link = -1;
};

/// One line's part of a link: what can be clicked.
struct ProseLinkBox {
  ImVec2 at, size;
  std::int32_t link = 0;
};

struct ProseLayout {
  std::vector<ProseItem> items;  ///< in painting order
  std::vector<ProseLinkBox> links;
  std::vector<FormulaLayout> formulas;
  struct Block {
    float top = 0;  ///< below the gap before it
    std::size_t first_item = 0, first_link = 0;
  };
  std::vector<Block> blocks;  ///< The document's blocks, in its order.
  float width = 0, height = 0;
};

/// Widest line that reads well: 76 digits of the body type, in pixels.
float prose_max_width();
/// Breaks lines at spaces; only what is wider than a whole line is broken inside. Uses the texts in `doc.values`.
ProseLayout layout_prose(const ProseDoc& doc, float width);
/// The same in one column that reads well or, from 1,000 design pixels on and for texts of some length, in two of about
/// the same height, parted between blocks and never right after a heading.
ProseLayout layout_prose_columns(const ProseDoc& doc, float width);

}  // namespace widgets
