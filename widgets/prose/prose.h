#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/prose/formula.h"
#include "widgets/prose/prose_layout.h"

/// Markdown on the screen: headings, paragraphs, lists, quotes, tables, code, links, `$formulas$`, and live values.
///
/// `{key}` shows the current value of an input or output in its unit; `{key.bin}` asks for binary prefixes and
/// `{key:GB/s}` for that unit (the source of values gets the whole of it, see split_live_key). In blocks of code
/// nothing is replaced, in spans of it `{key}` is. A link to `lab:chapter/lab?input=value` is reported when clicked;
/// one to http(s) copies its address. One to `term:WORD` reads as text with a dotted line, and the caller says what the
/// word means. Write
/// `\$` for a dollar sign where two of them could be taken for a formula.
namespace widgets {

using ProseSource = ValueSource;

struct ProseView {
  std::string markdown;  ///< what `doc` was read from
  ProseDoc doc;
  ProseLayout layout;
  std::uint64_t layouts = 0;  ///< how often it was laid out
  float width = 0, scale = 0;
  ImFont* font = nullptr;
};

struct ProseResult {
  std::string_view clicked;     ///< target of the link clicked in this frame, else empty; lives in the view
  std::string_view hovered;     ///< target of the link under the pointer or with the keyboard's ring, else empty
  std::string_view copied;      ///< http(s) address just copied to the clipboard, else empty; lives in the view
  float width = 0, height = 0;  ///< pixels
};

/// Draws at the cursor, at most `width` pixels wide, and takes its place there. A line is never wider than reads well:
/// where there is room, the text stands in two columns. Every
/// link is an item labelled with its text. Laid out anew only when the text, the width, the scale or a value changes.
ProseResult draw_prose(const char* id, std::string_view markdown, const ProseSource& values, ProseView& view,
                       float width);

/// The Markdown with every live value replaced by its current text; unknown keys stay as they are.
std::string prose_as_markdown(std::string_view markdown, const ProseSource& values);

/// Live keys that `values` does not know, each once, in order: a test of the texts fails on any.
std::vector<std::string> unknown_keys(std::string_view markdown, const ProseSource& values);

/// What is wrong with the text itself (formulas that cannot be read, not UTF-8, too long): one sentence each.
std::vector<std::string> prose_problems(std::string_view markdown);

}  // namespace widgets
