#pragma once
#include "chapters/interview/drills/lab.h"
#include "widgets/base/painter.h"

/// Parts of the card of interview/drills, each in its own file.
namespace chapters::interview::drills {

/// The question on the card: the one that waits, or the one that was answered.
struct Shown {
  const DrillQuestion& question;
  const CardText& card;
  std::string_view heading;
  const DrillMark* mark;  ///< null: not answered
  bool solution;
  double elapsed_s, limit_s;
};

/// Verdict, ruler, steps and the way into the lab in at most `room` px; returns the height. `link_at` receives where
/// the link ends. `paint` off measures alone.
float paint_solution(const widgets::Painter& painter, ImVec2 at, float width, float room, const Shown& shown,
                     const Ruler& ruler, bool paint, ImVec2& link_at);

/// The answer in the middle of what counts as right, what was said, and the slips that people make, on a log axis;
/// `ruler_px` design pixels high.
void paint_ruler(const widgets::Painter& painter, ImVec2 at, float width, const Ruler& ruler, bool right);
inline constexpr float ruler_px = 72;

/// What stands on the card before Start, in `width` from `at` down to `bottom`: the last question on its ruler, or the
/// form of one.
void paint_promise(const widgets::Painter& painter, ImVec2 at, float width, float bottom, const Picture& picture);

/// The card after the last question of a round: how it went, what was furthest off, and where that is computed.
/// True when the next round is asked for.
bool draw_round_end(const Inputs& in, const Picture& picture, View& view, ImVec2 size);

/// What the card does.
void begin_question(View& view, double now);
void record_answer(Inputs& in, const Outputs& out, const Picture& picture, View& view, double now);
/// Goes on to the next question as soon as it is there.
void next_question(const Picture& picture, View& view, double now);
/// Another question on the card has a clock and a box of its own; an answer of a scenario is graded and shown.
void follow_question(const Picture& picture, View& view);

}  // namespace chapters::interview::drills
