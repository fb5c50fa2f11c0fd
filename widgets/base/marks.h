#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "widgets/base/painter.h"
#include "widgets/base/parts.h"

/// Marks of a lab's picture that have a duty: those that answer its question never drop, and those that a question
/// gives stay while it is open.
namespace widgets {

/// Is what is drawn now under the veil of an open question? Then only what is drawn inside a GivenMarks is seen, and
/// none of its lengths, ranges and words may come from the outputs.
bool veiled();

/// While one lives, what is drawn is given by the question and stands on the veil: a vessel with its rim, lanes with
/// their names, a chip's ceilings, empty tiles. A plot inside paints everything that it holds, its range included. Does
/// nothing while no question is open.
class GivenMarks {
 public:
  GivenMarks();
  ~GivenMarks();
  GivenMarks(const GivenMarks&) = delete;
  GivenMarks& operator=(const GivenMarks&) = delete;

 private:
  bool shown_;
  std::optional<ResumedRecording> kept_;
};

/// Does a GivenMarks live while a question is open?
bool given_now();

/// Says that a mark was drawn which PanelSpec::marks names. `mark` must be a literal.
void drew(std::string_view mark);

/// What a Stage has of the body that it paints; nobody else makes one.
class BodyMarks {
 public:
  /// `veil`: where the panel stands that is veiled; null where no question is open. The names of marks that are drawn
  /// go into `drawn`, and nowhere where it is null.
  BodyMarks(const Rect* veil, std::vector<std::string_view>* drawn);
  ~BodyMarks();
  BodyMarks(const BodyMarks&) = delete;
  BodyMarks& operator=(const BodyMarks&) = delete;
  bool gave() const;  ///< the body drew something that is given
};

}  // namespace widgets
