#include "chapters/inference/attention_patterns/reach_layout.h"

#include <algorithm>

namespace chapters::inference::attention_patterns {

ReachPlaces layout_reach(const widgets::Rect& room, float scale, float small, std::size_t cards) {
  ReachPlaces l;
  const auto px = [&](float n) { return n * scale; };
  const float line = small + px(3), left = px(52), right = px(12);
  l.shown = std::clamp<std::size_t>(cards, 1, ReachPlaces::max_cards);
  const float pitch = room.width() / static_cast<float>(l.shown);
  // Cards get up to two fifths of the height; figures go before the masks get too small to read.
  const float share = 0.4f * room.height();
  const float wide = std::min(pitch - px(14), px(132));
  const bool heading = room.height() > px(400);
  const float head = heading ? line + px(4) : 0;
  for (l.lines = 3; l.lines > 0; --l.lines)
    if (share - head - static_cast<float>(l.lines + 1) * line >= px(42)) break;
  l.thumb = std::clamp(share - head - static_cast<float>(l.lines + 1) * line - px(4), px(20), std::max(px(20), wide));
  const float cards_height = l.thumb + static_cast<float>(l.lines + 1) * line + px(6);
  const float top_of_cards = room.max.y - cards_height;
  for (std::size_t i = 0; i < l.shown; ++i) {
    const float x = room.min.x + pitch * static_cast<float>(i);
    l.cards[i] = {{x, top_of_cards}, {x + pitch - px(6), room.max.y}};
  }
  l.heading = {{room.min.x, top_of_cards - head}, {room.max.x, top_of_cards - (heading ? px(4) : 0)}};
  const float axis_height = 2 * line + px(6), words_height = room.height() > px(240) ? line + px(4) : 0;
  l.words = {room.min, {room.max.x, room.min.y + words_height}};
  const float bottom = std::max(l.words.max.y + px(24), l.heading.min.y - px(8) - axis_height);
  l.cone = {{room.min.x + left, l.words.max.y + px(4)}, {room.max.x - right, bottom}};
  l.axis = {{l.cone.min.x, bottom}, {l.cone.max.x, bottom + axis_height}};
  return l;
}

}  // namespace chapters::inference::attention_patterns
