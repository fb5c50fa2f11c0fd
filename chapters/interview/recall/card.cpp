#include <algorithm>
#include <bit>
#include <cstdint>

#include "chapters/interview/recall/draw_parts.h"

/// What is done with the card: laid on the table, answered, uncovered, graded.
namespace chapters::interview::recall {

Stage stage_of(const Inputs& in, const Picture& picture, const View& view) {
  if (static_cast<std::int64_t>(in.history.size()) != picture.run->answers) return Stage::waiting;
  if (view.sure_percent < 0) return Stage::sure;
  const auto points = static_cast<std::int64_t>(picture.card->points.size());
  return view.uncovered < points ? Stage::speaking : Stage::grading;
}

void follow_card(const Picture& picture, View& view, double now) {
  if (view.first < 0) view.first = now;
  if (view.card == picture.card && view.answers == picture.run->answers) return;
  if (view.card) {  // of a scenario, the first card comes as far as it says
    view.uncovered = view.said_mask = 0;
    view.sure_percent = -1;
    view.typed[0] = '\0';
  }
  view.started = view.stopped = -1;
  view.card = picture.card;
  view.answers = picture.run->answers;
}

void say_sure(View& view, double percent, double now) {
  view.sure_percent = percent;
  view.started = now;
  view.stopped = -1;
}

void uncover(Inputs& in, const Picture& picture, View& view, double now) {
  const auto points = static_cast<std::int64_t>(picture.card->points.size());
  if (view.uncovered >= points) return;
  if (view.stopped < 0) view.stopped = now;
  ++view.uncovered;
  // What is graded is the learner's own memory of the card, asked today.
  in.wait_s = 0;
  in.memory = Memory::yours;
}

void give_grade(Inputs& in, const Picture& picture, View& view, int grade, double now) {
  const double seconds = view.started >= 0 ? std::max(0.0, (view.stopped < 0 ? now : view.stopped) - view.started) : 0;
  add_record(in.history, {.card = picture.card->id,
                          .grade = grade,
                          .sure_percent = std::clamp(view.sure_percent, 0.0, 100.0),
                          .said = std::popcount(static_cast<std::uint64_t>(view.said_mask)),
                          .points = static_cast<std::int64_t>(picture.card->points.size()),
                          .seconds = seconds,
                          .time_s = in.now_s > 0 ? in.now_s + (now - view.first) : 0});
  in.card = "due";
  view.requests.awake = false;
}

}  // namespace chapters::interview::recall
