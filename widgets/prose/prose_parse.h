#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/prose/formula.h"

/// Markdown as a flat list of blocks; nesting is a number on each, so that no depth of input can overflow anything.
namespace widgets {

struct ProseRun {
  enum class Kind : std::uint8_t { text, value, formula, line_break };
  Kind kind = Kind::text;
  bool bold = false, code = false;
  std::uint32_t begin = 0, end = 0;  ///< text: bytes in ProseDoc::text
  std::uint32_t index = 0;           ///< value: slot in ProseDoc::values; formula: in ProseDoc::formulas
  std::int32_t link = -1;            ///< in ProseDoc::links
};

struct ProseCell {
  std::uint32_t first_run = 0, run_end = 0;
  Align align = Align::left;
};

struct ProseBlock {
  enum class Kind : std::uint8_t { paragraph, heading, code, rule, table };
  Kind kind = Kind::paragraph;
  std::uint8_t level = 0;  ///< A heading's level, 1 to 6.
  bool tight = false;      ///< follows the block before it closely (items of a list)
  std::uint32_t indent = 0, quotes = 0;
  std::string marker;  ///< "•" or "3." of the list item that begins here
  std::uint32_t first_run = 0, run_end = 0;
  std::uint32_t columns = 0, first_cell = 0, cell_end = 0;  ///< table, row by row; the first row is the header
};

struct ProseLink {
  std::string target, label;
};

struct ProseFormula {
  Formula formula;
  bool display = false;
  std::uint32_t begin = 0, end = 0;  ///< its markup in ProseDoc::text
};

/// A live key where it stands in ProseDoc::source, braces or command included.
struct ProseUse {
  std::uint32_t begin = 0, end = 0, slot = 0;
  bool in_formula = false;
};

struct ProseDoc {
  std::string source;  ///< valid UTF-8
  std::string text;    ///< what is shown, without markup
  std::vector<ProseBlock> blocks;
  std::vector<ProseRun> runs;
  std::vector<ProseCell> cells;
  std::vector<ProseLink> links;
  std::vector<ProseFormula> formulas;
  std::vector<ProseUse> uses;
  std::vector<std::string> problems;
  ValueCache values;  ///< The values of all keys, those in formulas included.

  std::string_view shown(std::uint32_t begin, std::uint32_t end) const {
    return std::string_view(text).substr(begin, end - begin);
  }
  /// Reads all values; true when a text changed.
  bool refresh(const ValueSource& source);
};

/// Never throws. Bytes that are not UTF-8 become '?', and what is over 256 KiB is cut: both are said in `problems`.
ProseDoc parse_prose(std::string_view markdown);

}  // namespace widgets
