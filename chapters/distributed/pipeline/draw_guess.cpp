#include <algorithm>

#include "chapters/distributed/pipeline/lab.h"
#include "chapters/distributed/shared/guess_marks.h"

/// What the learner said of the schedule below, in its lanes.
namespace chapters::distributed::pipeline {
namespace {

using widgets::Rect;

/// How many micro-batches the fullest rank keeps: a level over the strip of every rank.
void mark_kept(const widgets::ShownGuess& guess, const Picture& picture, const View& view, float row, float strip) {
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const widgets::TimelineView& own = view.timelines[1];
  const Rect lanes = own.lanes_rect();
  const float wanted = static_cast<float>(guess.value / picture.most_kept), share = std::clamp(wanted, 0.0f, 1.0f);
  bool said = false;
  for (std::size_t i = 0; i < view.ranks_shown.size() && i < own.drawn_lanes(); ++i) {
    if (view.ranks_shown[i] == folded_ranks) continue;
    const float top = own.lane_rect(i).min.y + t.px(row + 5), bottom = top + t.px(strip);
    const float y = bottom - t.px(1) + share * (top + t.px(4) - bottom + t.px(1));
    p.dashed_line({lanes.min.x, y}, {lanes.max.x, y}, t.accent, t.px(2), t.px(5));
    if (said) continue;
    const widgets::Line words = guess_line(guess, share != wanted);
    const float width = widgets::text_size(words.view(), widgets::Type::small).x;
    widgets::paint_guess_words(p, {lanes.max.x - width - t.px(8), std::min(y + t.px(3), bottom)}, words.view());
    said = true;
  }
}

}  // namespace

void draw_guess(const Picture& picture, const View& view, double makespan_s, float row, float strip) {
  const widgets::TimelineView& own = view.timelines[1];
  if (own.drawn_lanes() == 0) return;
  const Rect lanes = own.lanes_rect();
  if (const auto* guess = guess_about({"makespan"})) mark_guess_down(*guess, lanes, own.x_pixel(guess->value));
  if (const auto* guess = guess_about({"wall_bubble"}))
    mark_guess_along(*guess, lanes, own.x_pixel(makespan_s), own.x_pixel(makespan_s - guess->value),
                     lanes.max.y - widgets::theme().px(8));
  if (const auto* guess = guess_about({"peak"}); guess && strip > 0) mark_kept(*guess, picture, view, row, strip);
}

}  // namespace chapters::distributed::pipeline
