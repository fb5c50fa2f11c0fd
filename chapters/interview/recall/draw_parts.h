#pragma once
#include "chapters/interview/recall/lab.h"
#include "widgets/base/painter.h"

/// Parts of the picture of interview/recall, each in its own file.
namespace chapters::interview::recall {

/// How the card on the table stands.
enum class Stage : std::uint8_t {
  sure,      ///< the question is read; how sure?
  speaking,  ///< said aloud and uncovered point by point
  grading,   ///< all points are open
  waiting    ///< graded: the next card is on its way
};
Stage stage_of(const Inputs& in, const Picture& picture, const View& view);

/// Lays another card on the table where the picture has one.
void follow_card(const Picture& picture, View& view, double now);
/// How sure the learner is, in percent: the answer begins.
void say_sure(View& view, double percent, double now);
/// Opens the next point, and takes the day of asking back to today.
void uncover(Inputs& in, const Picture& picture, View& view, double now);
/// Keeps the grade, 1 to 4, and goes on.
void give_grade(Inputs& in, const Picture& picture, View& view, int grade, double now);

inline constexpr std::array<double, 4> sure_choices{25, 50, 75, 95};

/// The card with its clock. `grades`: its foot has the buttons, since no curve is shown for them to hang on.
void draw_card(Inputs& in, const Picture& picture, View& view, ImVec2 size, bool grades, double now);
/// The memory of the card, with the day of asking to drag and the grades where their dates are.
void draw_memory(Inputs& in, const Picture& picture, View& view, ImVec2 size, double now);
/// The deck, a tile a card.
void draw_wall(Inputs& in, const Picture& picture, ImVec2 size);

}  // namespace chapters::interview::recall
