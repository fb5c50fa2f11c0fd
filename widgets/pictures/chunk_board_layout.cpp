#include <algorithm>
#include <cmath>

#include "widgets/pictures/chunk_board.h"

namespace widgets {
namespace {

/// Columns, right of the chunks' names, with a margin for what leaves at the edges. Gives the right end.
float place_board_columns(const ChunkBoardData& data, Rect area, float scale, float small_px, Measure measure,
                          ChunkBoardLayout& l) {
  const auto px = [&](float design) { return design * scale; };
  float gutter = 0;
  l.chunk_names = l.row_pitch >= small_px;
  if (l.chunk_names)
    for (const std::string& name : data.chunk_names) gutter = std::max(gutter, measure(name, Type::small));
  if (data.hub && l.full) gutter = std::max(gutter, measure(hub_name, Type::small));
  const float margin = l.full ? px(26) : px(4);
  const float left = area.min.x + gutter + margin, right = area.max.x - margin;
  const float groups = data.group > 1 ? static_cast<float>((l.ranks - 1) / data.group) : 0;
  l.group_gap = groups > 0 ? px(14) : 0;
  const float pitch = std::max(1.0f, (right - left - groups * l.group_gap) / static_cast<float>(l.ranks));
  const float gap = l.full ? std::clamp(pitch * 0.26f, px(5), px(32)) : std::min(1.0f, pitch * 0.2f);
  l.column_pitch = pitch + gap / static_cast<float>(l.ranks);
  l.cell_width = std::max(1.0f, l.column_pitch - gap);
  l.column_x = left;
  return right;
}

/// Thumbs of the film, of as many states as have room where the slider's states lie `per` pixels apart.
void place_board_thumbs(const ChunkBoardData& data, float scale, float per, float film_h, ChunkBoardLayout& l) {
  const auto px = [&](float design) { return design * scale; };
  l.frame_stride = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(px(30) / std::max(per, 0.01f))));
  l.thumb_width = std::min(px(40), per * static_cast<float>(l.frame_stride) - px(6));
  const float aspect = std::min(1.0f, static_cast<float>(l.chunks) / static_cast<float>(l.ranks));
  l.thumb_height = std::clamp(l.thumb_width * aspect, px(8), film_h - px(2));
  l.frames = (data.steps + l.frame_stride) / l.frame_stride;
}

}  // namespace

Rect ChunkBoardLayout::column(std::int64_t rank) const {
  const float gaps = group > 1 ? group_gap * static_cast<float>(rank / group) : 0;
  const float x = column_x + column_pitch * static_cast<float>(rank) + gaps;
  return {{x, row_y}, {x + cell_width, row_y + row_pitch * static_cast<float>(chunks)}};
}

Rect ChunkBoardLayout::cell(std::int64_t rank, std::int64_t chunk) const {
  const Rect c = column(rank);
  const float y = row_y + row_pitch * static_cast<float>(chunk);
  return {{c.min.x, y}, {c.max.x, y + cell_height}};
}

Rect ChunkBoardLayout::place(const Rect& cell, std::int64_t i, std::int64_t places) const {
  const float pitch = cell.width() / static_cast<float>(std::max<std::int64_t>(places, 1));
  const float gap = places > 1 ? std::clamp(pitch * 0.18f, 0.0f, 3.0f) : 0;
  const float x = cell.min.x + pitch * static_cast<float>(i);
  return {{x + gap / 2, cell.min.y}, {x + pitch - gap / 2, cell.max.y}};
}

Rect ChunkBoardLayout::hub_cell(std::int64_t chunk) const {
  const float top = arcs.min.y + hub_inset, bottom = top + std::min(cell_height * 1.4f, arcs.height() * 0.5f);
  if (chunks == ranks) {
    const Rect c = column(chunk);
    return {{c.min.x, top}, {c.max.x, bottom}};
  }
  const float from = column(0).min.x, width = (column(ranks - 1).max.x - from) / static_cast<float>(chunks);
  return {{from + width * static_cast<float>(chunk), top}, {from + width * static_cast<float>(chunk + 1) - 1, bottom}};
}

float ChunkBoardLayout::time_x(double time, std::int64_t steps) const {
  const double share = steps > 0 ? std::clamp(time / static_cast<double>(steps), 0.0, 1.0) : 0;
  return track.min.x + static_cast<float>(share) * track.width();
}
double ChunkBoardLayout::time_at(float x, std::int64_t steps) const {
  if (track.width() <= 0) return 0;
  return std::clamp(static_cast<double>((x - track.min.x) / track.width()), 0.0, 1.0) * static_cast<double>(steps);
}
Rect ChunkBoardLayout::thumb(std::int64_t state, std::int64_t steps) const {
  const float x = time_x(static_cast<double>(state), steps) - thumb_width / 2;
  const float y = film.min.y + (film.height() - thumb_height) / 2;
  return {{x, y}, {x + thumb_width, y + thumb_height}};
}

bool message_bows(const ChunkBoardData& data, const ChunkMessage& m) {
  if (data.hub) return false;
  if (data.chunks < 3) return true;
  const std::int64_t way = std::abs(m.target - m.source);
  return way != 1 && (way != data.ranks - 1 || data.group > 1);
}

void layout_chunk_board(const ChunkBoardData& data, Rect area, float scale, float small_px, float body_px,
                        Measure measure, ChunkBoardLayout& l) {
  const auto px = [&](float design) { return design * scale; };
  l = ChunkBoardLayout{};
  l.ranks = std::max<std::int64_t>(data.ranks, 1);
  l.chunks = std::max<std::int64_t>(data.chunks, 1);
  l.group = data.group;
  l.full = data.ranks <= max_board_ranks_in_full;
  const float height = std::max(area.height(), 1.0f);

  bool bows = data.hub;
  for (const ChunkMessage& m : data.messages) bows = bows || message_bows(data, m);
  bows = bows && l.full;
  l.hub_inset = data.hub && bows ? px(5) : 0;

  // What is fixed: names, the line that says what happens, the film.
  const float words = small_px + px(6), names = body_px + px(6), nodes = data.group > 1 ? small_px + px(10) : 0;
  const float track_h = px(18), film_h = px(46);
  float fixed = names + nodes + words + track_h + words;
  const bool film = height >= fixed + film_h + px(120);
  if (film) fixed += film_h + px(6);
  const float rows = static_cast<float>(l.chunks);
  const float arcs_least = bows ? px(44) : 0, arcs_most = bows ? px(120) : 0;
  const float least_row = l.full ? px(7) : 1.0f, most_row = l.chunks < 3 ? px(44) : px(27);
  const float room = height - fixed - arcs_least;
  l.row_pitch = std::clamp(room / rows, std::min(least_row, px(3)), most_row);
  const float spare = room - l.row_pitch * rows;
  const float arcs_h = arcs_least + std::clamp(spare, 0.0f, arcs_most - arcs_least);
  l.cell_height = std::max(1.0f, l.row_pitch - std::min(px(4), l.row_pitch * 0.25f));

  const float right = place_board_columns(data, area, scale, small_px, measure, l), left = l.column_x;
  float y = area.min.y;
  l.arcs = {{left, y}, {right, y + arcs_h}};
  y += arcs_h;
  l.nodes_y = y;
  y += nodes;
  l.names_y = y;
  y += names;
  l.row_y = y;
  y += l.row_pitch * rows;
  l.says_y = y + px(2);
  y += words;
  // The film: as many states as have room, the slider from the middle of its first to that of its last.
  const std::int64_t states = data.steps + 1;
  const float track_left = area.min.x + px(44), track_right = area.max.x - px(24);
  if (film) {
    l.film = {{area.min.x, y + px(2)}, {area.max.x, y + px(2) + film_h}};
    const float per =
        states > 1 ? (track_right - track_left) / static_cast<float>(states - 1) : track_right - track_left;
    place_board_thumbs(data, scale, per, film_h, l);
    y += film_h + px(6);
  }
  l.track = {{track_left, y}, {std::max(track_right, track_left + 1), y + track_h}};
  l.play = {{area.min.x, y}, {area.min.x + px(22), y + track_h}};
  y += track_h;
  l.words_y = y;
  y += words;
  l.height = std::min(y - area.min.y, height);
}

}  // namespace widgets
