#include <algorithm>
#include <cmath>
#include <cstdio>

#include "chapters/interview/drills/draw_parts.h"
#include "chapters/interview/shared/words.h"
#include "widgets/number/number.h"

namespace chapters::interview::drills {

void begin_question(View& view, double now) {
  view.begun = view.running = view.focus = true;
  view.started = now;
}

namespace {

void note_furthest(View& view) {
  const double said = view.mark.said, answer = view.held.answer;
  const double miss = said > 0 && answer > 0 ? std::abs(std::log(said / answer)) : 100;
  if (view.mark.right || !(miss > view.furthest.miss)) return;
  view.furthest = {miss,
                   view.held_card.question + " You said " + spoken(widgets::format_text(said, view.held.unit, 4)) +
                       "; it is " + spoken(widgets::format_text(answer, view.held.unit, 4)) + ".",
                   view.held.link};
}

}  // namespace

void record_answer(Inputs& in, const Outputs& out, const Picture& picture, View& view, double now) {
  const double seconds = view.running ? std::max(0.0, now - view.started) : 0;
  DrillMark mark = grade(picture.run->asked, typed_prefixes(view.typed), seconds, out.limit_s);
  view.refused = mark.read ? std::string() : mark.verdict;
  if (!mark.read) return;
  mark.verdict = spoken(mark.verdict);
  view.held = picture.run->asked;
  view.held_card = picture.card;
  view.held_heading = picture.heading;
  view.held_seconds = seconds;
  view.ruler = ruler_of(picture.run->asked, mark.said);
  view.mark = std::move(mark);
  view.holding = true;
  view.running = false;
  note_furthest(view);
  view.answered_version = picture.version;
  in.reveal = false;  // it was of this question: the next one is not shown answered
  add_record(in.history,
             {picture.run->asked.drill->id, static_cast<std::int64_t>(picture.run->asked.seed), view.mark.said,
              view.mark.right, seconds, in.now_s > 0 ? in.now_s + (now - view.first) : 0, view.mark.near});
}

void next_question(const Picture& picture, View& view, double now) {
  view.goes_on = picture.version == view.answered_version;
  if (view.goes_on) return;
  view.holding = false;
  view.typed[0] = '\0';
  view.refused.clear();
  begin_question(view, now);  // a round goes on: the clock starts with the question
}

void follow_question(const Picture& picture, View& view) {
  if (view.asked_drill != picture.run->asked.drill || view.asked_seed != picture.run->asked.seed) {
    if (view.asked_drill && !view.holding) {  // another topic or drill was chosen: its clock has not begun
      view.begun = view.running = false;
      view.typed[0] = '\0';
      view.refused.clear();
    }
    view.asked_drill = picture.run->asked.drill;
    view.asked_seed = picture.run->asked.seed;
  }
  // An answer from a scenario is graded and shown, not kept.
  if (view.said.empty() || view.holding) return;
  if (view.held.drill == picture.run->asked.drill && view.held.seed == picture.run->asked.seed &&
      view.held.text == picture.run->asked.text && !view.mark.verdict.empty())
    return;
  view.held = picture.run->asked;
  view.held_card = picture.card;
  view.mark = grade(picture.run->asked, typed_prefixes(view.said), 0, 0);
  view.mark.verdict = spoken(view.mark.verdict);
  view.ruler = ruler_of(picture.run->asked, view.mark.said);
  std::snprintf(view.typed, sizeof view.typed, "%s", view.said.c_str());
}

}  // namespace chapters::interview::drills
