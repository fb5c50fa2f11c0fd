#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/pictures/chunk_board_paint.h"

namespace widgets {
namespace {

void paint_thumb(const Painter& painter, const ChunkBoardData& data, const Rect& at, std::int64_t state) {
  const Theme& t = theme();
  painter.rect(at.min, at.max, t.card, 2);
  const std::int64_t columns = std::min<std::int64_t>(data.ranks, 64), rows = std::min<std::int64_t>(data.chunks, 64);
  const float w = at.width() / static_cast<float>(columns), h = at.height() / static_cast<float>(rows);
  const float gap = w >= 4 && h >= 4 ? 1.0f : 0.0f;
  for (std::int64_t c = 0; c < rows; ++c)
    for (std::int64_t r = 0; r < columns; ++r) {
      const std::uint64_t there = data.at(state, r, c);
      if (!there) continue;
      const ImU32 ink = chunk_tone(data, r, c, there);
      // Without gaps a run of one tone is one rectangle.
      std::int64_t end = r + 1;
      while (gap == 0 && end < columns && data.at(state, end, c) &&
             chunk_tone(data, end, c, data.at(state, end, c)) == ink)
        ++end;
      const ImVec2 from{at.min.x + w * static_cast<float>(r), at.min.y + h * static_cast<float>(c)};
      painter.rect(from, {at.min.x + w * static_cast<float>(end) - gap, from.y + h - gap}, ink);
      r = end - 1;
    }
}

void paint_play(const Painter& painter, const Rect& at, bool playing) {
  const Theme& t = theme();
  const ImVec2 middle{(at.min.x + at.max.x) / 2, (at.min.y + at.max.y) / 2};
  const float r = t.px(9), s = t.px(4);
  painter.ring(middle, r, t.muted, t.px(1.2f));
  if (playing) {
    painter.rect({middle.x - s * 0.8f, middle.y - s}, {middle.x - s * 0.2f, middle.y + s}, t.text);
    painter.rect({middle.x + s * 0.2f, middle.y - s}, {middle.x + s * 0.8f, middle.y + s}, t.text);
  } else {
    const std::array<ImVec2, 3> head{ImVec2{middle.x - s * 0.7f, middle.y - s}, ImVec2{middle.x + s, middle.y},
                                     ImVec2{middle.x - s * 0.7f, middle.y + s}};
    painter.polygon(head, t.text);
  }
}

/// The states on the film; the one shown is framed, the one that the step leads to framed by dashes.
void paint_film_states(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& l,
                       const ChunkBoardMoment& now) {
  const Theme& t = theme();
  if (l.film.height() > 0)
    for (std::int64_t i = 0; i < l.frames; ++i) {
      const std::int64_t state = std::min(i * l.frame_stride, data.steps);
      const Rect at = l.thumb(state, data.steps);
      paint_thumb(painter, data, at, state);
      const bool from = state == now.state, to = now.step >= 0 && state == now.state + 1;
      const float out = t.px(3);
      const ImVec2 min{at.min.x - out, at.min.y - out}, max{at.max.x + out, at.max.y + out};
      if (from) painter.frame(min, max, t.accent, t.px(1.5f), 3);
      if (to) {
        painter.dashed_line(min, {max.x, min.y}, t.accent, t.px(1.2f), t.px(3));
        painter.dashed_line({max.x, min.y}, max, t.accent, t.px(1.2f), t.px(3));
        painter.dashed_line(max, {min.x, max.y}, t.accent, t.px(1.2f), t.px(3));
        painter.dashed_line({min.x, max.y}, min, t.accent, t.px(1.2f), t.px(3));
      }
    }
}

/// Where the slider stands, in words.
Line film_position(const ChunkBoardData& data, const ChunkBoardMoment& now) {
  Line where;
  if (now.step >= 0)
    where.add("step ").add_integer(now.step + 1).add(" of ").add_integer(data.steps).add(", in flight");
  else if (now.state == 0)
    where.add("before the first step");
  else
    where.add("after step ").add_integer(now.state).add(" of ").add_integer(data.steps);
  return where;
}

}  // namespace

void paint_chunk_film(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& l,
                      const ChunkBoardMoment& now, bool playing) {
  const Theme& t = theme();
  paint_film_states(painter, data, l, now);
  const float y = (l.track.min.y + l.track.max.y) / 2, x = l.time_x(now.time, data.steps);
  painter.rect({l.track.min.x, y - t.px(1.5f)}, {l.track.max.x, y + t.px(1.5f)}, t.line, t.px(1.5f));
  painter.rect({l.track.min.x, y - t.px(1.5f)}, {x, y + t.px(1.5f)}, t.accent, t.px(1.5f));
  const bool turns = data.turn > 0 && data.turn < data.steps;
  const float turn_x = l.time_x(static_cast<double>(data.turn), data.steps);
  if (turns) painter.line({turn_x, y - t.px(6)}, {turn_x, y + t.px(6)}, t.text, t.px(1.5f));
  painter.circle({x, y}, t.px(8), with_alpha(t.accent, 0.25f));
  painter.circle({x, y}, t.px(6), t.text);
  painter.circle({x, y}, t.px(4.5f), t.accent);
  paint_play(painter, l.play, playing);

  // Under it: where the slider stands, then what has room beside that.
  const Line where = film_position(data, now);
  const float width = text_size(where.view(), Type::small, Font::bold).x, air = t.px(14);
  const float at = std::clamp(x - width / 2, l.track.min.x, std::max(l.track.min.x, l.track.max.x + t.px(20) - width));
  painter.text({at, l.words_y}, where.view(), t.accent, Type::small, Font::bold);
  const float left = l.track.min.x, right = l.track.max.x + t.px(20);
  // Its words stand in the middle under its tick, or on one side of it.
  const float turn_width = measure_text(data.turn_says, Type::small);
  float turn_at = 0;
  bool says_turn = false;
  for (const float shift : {turn_width / 2, t.px(6), turn_width - t.px(6)}) {
    turn_at = turn_x - shift;
    const bool fits = turn_at >= left && turn_at + turn_width <= right;
    const bool apart = turn_at > at + width + air || turn_at + turn_width + air < at;
    says_turn = turns && !data.turn_says.empty() && fits && apart;
    if (says_turn) break;
  }
  if (says_turn) painter.text({turn_at, l.words_y}, data.turn_says, t.text, Type::small);
  const auto free = [&](float from, float to) {
    const bool hits_where = from < at + width + air && to > at - air;
    const bool hits_turn = says_turn && from < turn_at + turn_width + air && to > turn_at - air;
    return !hits_where && !hits_turn && from >= left && to <= right;
  };
  const float before = measure_text(data.before, Type::small), after = measure_text(data.after, Type::small);
  if (!data.before.empty() && free(left, left + before))
    painter.text({left, l.words_y}, data.before, t.muted, Type::small);
  if (!data.after.empty() && free(right - after, right))
    painter.text({right, l.words_y}, data.after, t.muted, Type::small, Font::sans, Align::right);
}

}  // namespace widgets
