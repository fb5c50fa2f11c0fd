#pragma once
#include "widgets/prose/prose_layout.h"

/// Runs of text, values and formulas broken into lines: what paragraphs, headings and table cells share.
namespace widgets {

struct FlowStyle {
  float width = 3.4e38f;
  Type type = Type::body;
  bool bold = false, muted = false;
  Align align = Align::left;
};

struct FlowSize {
  float width = 0, height = 0, longest_word = 0;  ///< pixels
};

class ProseFlow {
 public:
  ProseFlow(const ProseDoc& doc, ProseLayout& out) : d_(doc), out_(out) {}

  /// Adds the items of a run of runs from `at` down; the size is what they take.
  FlowSize place(std::uint32_t first_run, std::uint32_t run_end, ImVec2 at, const FlowStyle& style);
  /// What `place` would take on one endless line; adds nothing.
  FlowSize measure(std::uint32_t first_run, std::uint32_t run_end);
  /// Largest end, on a character boundary and past `begin`, for which the text is at most `width` wide.
  std::uint32_t fitting(std::uint32_t begin, std::uint32_t end, float width, Type type, Font font) const;

  static float line_height(Type type) { return 1.45f * theme().type(type); }
  /// Extra height of a line over its text, half of it above.
  static float leading(Type type) { return line_height(type) - theme().type(type); }

 private:
  /// Something that is never broken, except when it is wider than a line.
  struct Piece {
    ProseItem item;
    float ascent = 0, descent = 0;  ///< How far a formula reaches from the baseline.
    float space = 0;                ///< width of the white space before it; 0: stands against the piece before
    bool code = false, new_line = false, own_line = false;
    bool glued = false;  ///< no line ends before it, though there is a space: "4 KiB", "T = 4"
  };
  const ProseDoc& d_;
  ProseLayout& out_;
  std::vector<Piece> pieces_;

  void cut(std::uint32_t first_run, std::uint32_t run_end, const FlowStyle& style);
  void cut_text(const ProseRun& run, const FlowStyle& style, float& space);
  void cut_long_value(const ProseRun& run, const FlowStyle& style, float& space);
  void glue();
  std::string_view text_of(const Piece& piece) const;
  Piece formula_piece(const ProseRun& run, const FlowStyle& style);
  void break_wide(float width);
  float line(std::size_t first, std::size_t end, ImVec2 at, const FlowStyle& style, FlowSize& size);
};

}  // namespace widgets
