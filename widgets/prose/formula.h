#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/base/painter.h"
#include "widgets/number/number.h"

/// Mathematics set in two dimensions from a small LaTeX-like markup, with live values in it.
///
/// Markup: letters and numbers as they are; `\frac{a}{b}`, `a_{i}`, `x^{2}`, `\sqrt{x}`, `\sum_{i=1}^{n}`, `\prod`,
/// `\min(a, b)`,
/// `\max`, `\log`, `\ln`, `\exp`, Greek names, `\cdot \times \div \pm \le \ge \ne \approx \ll \gg \to \infty`,
/// `\text{words}`,
/// `\lceil x \rceil`, `\lfloor x \rfloor`, `\quad`, and `\val{key}` or `{{key}}` for a live value. ( ) and [ ] grow
/// with what they hold; `\left` and `\right` are accepted and change nothing.
namespace widgets {

/// Where live values come from. Functions are called on every frame and must not allocate.
struct ValueSource {
  const void* context = nullptr;
  /// Current text of `key`, which may live in `scratch`; an empty view means that the key is unknown.
  std::string_view (*resolve)(const void* context, std::string_view key, NumberText& scratch) = nullptr;
  /// One line for the hover (name, formula, source); may be null or return an empty view.
  std::string_view (*explain)(const void* context, std::string_view key) = nullptr;

  std::string_view text(std::string_view key, NumberText& scratch) const {
    return resolve ? resolve(context, key, scratch) : std::string_view{};
  }
};

/// A live key in three parts: "total_bytes.bin" asks for binary prefixes, "rate:GB/s" for that unit.
struct LiveKey {
  std::string_view name, unit;
  Prefix prefix = Prefix::si;
};
LiveKey split_live_key(std::string_view key);
/// Length of the live key at the start of `s` (a-z, 0-9, _ and one suffix .word or :unit), 0 when there is none.
std::size_t live_key_length(std::string_view s);

/// Texts of some keys as they were last seen, so that a change is noticed without allocating.
struct ValueCache {
  std::vector<std::string> keys, texts;  ///< an empty text: unknown

  std::uint32_t slot(std::string_view key);  ///< index of the key, added when new
  bool refresh(const ValueSource& source);   ///< true when any text changed
};

struct FormulaNode {
  enum class Kind : std::uint8_t { row, symbol, value, space, fraction, scripts, root, fence };
  /// How much air an atom wants around it.
  enum class Air : std::uint8_t { ordinary, binary, relation, punctuation, function, big };
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  Kind kind = Kind::row;
  Air air = Air::ordinary;
  bool after_space = false;  ///< white space stood before it in the source
  float em = 0;              ///< width of a space
  std::uint32_t slot = 0;    ///< A value's place in Formula::values.
  bool variable = false;     ///< a symbol of one letter, set slanted
  std::string text;          ///< symbol: UTF-8; fence: "(" then ")" and so on, one name letter each
  std::vector<std::uint32_t>
      children;  ///< fraction: above, below; scripts: base, sub, sup (may be none); root, fence: inside
};

struct Formula {
  std::vector<FormulaNode> nodes;
  std::uint32_t root = FormulaNode::none;
  ValueCache values;
  std::string error;         ///< empty when good; else one sentence with the position
  std::size_t error_at = 0;  ///< byte offset in the source
};
/// Never throws; a faulty, too long (4,096 bytes) or too deep (24 levels) source gives `error` and an empty formula.
Formula parse_formula(std::string_view source);

enum class FormulaRole : std::uint8_t { symbol, value, unknown };

/// Positions are pixels from the left end of the first line's baseline, y down.
struct FormulaText {
  ImVec2 baseline;  ///< left end of the text's own baseline
  float width = 0;
  float size = 0;  ///< The type's size in pixels; scripts have 70 % of what they stand at, 9 design pixels at least.
  Font font = Font::sans;
  FormulaRole role = FormulaRole::symbol;
  std::uint32_t slot = 0;
  std::string text;
};
struct FormulaStroke {
  std::vector<ImVec2> points;
  float width = 1;
};
struct FormulaLayout {
  float width = 0, ascent = 0, descent = 0;
  std::vector<FormulaText> texts;
  std::vector<FormulaStroke> strokes;
};

struct FormulaStyle {
  Type type = Type::body;
  bool display = true;        ///< full-size fractions, limits above and below sums
  float max_width = 3.4e38f;  ///< longer formulas break before relations and operators of the outermost row
};
/// Uses the texts in `formula.values`.
FormulaLayout layout_formula(const Formula& formula, const FormulaStyle& style = {});
void paint_formula(const Painter& painter, const FormulaLayout& layout, ImVec2 baseline);
/// Distance from the top of a text line, as Painter::text places it, to its baseline.
float baseline_of(Type type, Font font = Font::sans);
float baseline_at(float size_px, Font font = Font::sans);

struct FormulaView {
  std::string source;
  Formula formula;
  FormulaLayout layout;
  std::uint64_t layouts = 0;  ///< how often it was laid out
  float scale = 0, max_width = 0;
  ImFont* font = nullptr;
};
/// Draws at the cursor and takes its place there; a faulty source shows its error. Returns the size in pixels.
ImVec2 draw_formula(const char* id, std::string_view source, const ValueSource& values, FormulaView& view,
                    const FormulaStyle& style = {});

}  // namespace widgets
