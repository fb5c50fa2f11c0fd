#pragma once
#include <span>
#include <string>
#include <string_view>

#include "widgets/prose/prose_parse.h"

/// Prose while a question is open: the blocks that could answer it lie under the veil, where they stand.
namespace widgets {

/// What a question asks for.
struct AskedOutput {
  std::string_view key, label;             ///< the output's
  std::string_view figure{};               ///< how its value is written; empty: it is no number
  std::span<const std::string> options{};  ///< what a choice can be
};

/// Could this block answer the question? It holds the live value of the output, or the figure itself; or it names the
/// output together with a number, for a choice with one of the options. Headings name what follows and never do.
bool answers_question(const ProseDoc& doc, const ProseBlock& block, const AskedOutput& asked);

/// While one lives, draw_prose draws the veil in the place of such blocks, and their links cannot be pressed. `asked`
/// must outlive it.
class VeilProse {
 public:
  explicit VeilProse(const AskedOutput& asked);
  ~VeilProse();
  VeilProse(const VeilProse&) = delete;
  VeilProse& operator=(const VeilProse&) = delete;
};
/// Null where no such question is open.
const AskedOutput* prose_asked();

}  // namespace widgets
