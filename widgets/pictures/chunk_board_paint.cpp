#include "widgets/pictures/chunk_board_paint.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "widgets/base/arrow.h"

namespace widgets {
namespace {

ImU32 mixed(ImU32 from, ImU32 to, float share) {
  ImU32 out = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const auto a = static_cast<float>((from >> shift) & 255u), b = static_cast<float>((to >> shift) & 255u);
    out |= static_cast<ImU32>(std::lround(a + (b - a) * share)) << shift;
  }
  return out;
}

void paint_places(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& l, const Rect& cell,
                  std::uint64_t origins, ImU32 ink) {
  if (data.places == 1 || !l.full) {
    if (origins) painter.rect(cell.min, cell.max, ink, std::min(2.0f, cell.height() / 4));
    return;
  }
  for (std::int64_t i = 0; i < data.places; ++i)
    if (origins >> i & 1) {
      const Rect p = l.place(cell, i, data.places);
      painter.rect(p.min, p.max, ink, p.width() > 5 ? 1.5f : 0.0f);
    }
}

void paint_dashed_frame(const Painter& painter, const Rect& r, ImU32 ink, float dash) {
  painter.dashed_line(r.min, {r.max.x, r.min.y}, ink, 1, dash);
  painter.dashed_line({r.max.x, r.min.y}, r.max, ink, 1, dash);
  painter.dashed_line(r.max, {r.min.x, r.max.y}, ink, 1, dash);
  painter.dashed_line({r.min.x, r.max.y}, r.min, ink, 1, dash);
}

/// What a message brings: places that fill as it comes closer.
void paint_arrival(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& l, const Rect& cell,
                   std::uint64_t brings, ImU32 ink, double done) {
  const auto alpha = static_cast<float>(0.75 * done * done);
  const Theme& t = theme();
  if (data.places == 1 || !l.full) {
    painter.rect(cell.min, cell.max, with_alpha(ink, alpha), 2);
    paint_dashed_frame(painter, cell, ink, t.px(3));
    return;
  }
  const bool outlined = cell.width() / static_cast<float>(data.places) >= t.px(4);
  for (std::int64_t i = 0; i < data.places; ++i)
    if (brings >> i & 1) {
      const Rect p = l.place(cell, i, data.places);
      painter.rect(p.min, p.max, with_alpha(ink, outlined ? alpha : std::max(alpha, 0.25f)));
      if (outlined)
        paint_dashed_frame(painter, {{p.min.x + 0.5f, p.min.y + 0.5f}, {p.max.x - 0.5f, p.max.y - 0.5f}}, ink, t.px(2));
    }
  if (!outlined) paint_dashed_frame(painter, cell, ink, t.px(3));
}

/// What is under way on an arrow: a bead that has gone `done` of it. Half way, where a picture rests, the arrow stands
/// alone.
void paint_bead(const Painter& painter, std::span<const ImVec2> path, double done) {
  if (std::abs(done - 0.5) < 0.02) return;
  const Theme& t = theme();
  const float along = static_cast<float>(done) * static_cast<float>(path.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(along), path.size() - 2);
  const float share = along - static_cast<float>(i);
  const ImVec2 at{path[i].x + (path[i + 1].x - path[i].x) * share, path[i].y + (path[i + 1].y - path[i].y) * share};
  painter.circle(at, t.px(4), t.background);
  painter.circle(at, t.px(3), t.text);
}

/// An arrow across the gap to a neighbour, or out at one edge of the board and in at the other.
void paint_neighbour_arrow(const Painter& painter, const ChunkBoardLayout& l, const ChunkMessage& m, double done) {
  const Theme& t = theme();
  const ImU32 ink = t.accent;
  const Rect from = l.cell(m.source, m.chunk), to = l.cell(m.target, m.chunk);
  const float y = (from.min.y + from.max.y) / 2, width = t.px(1.75f), air = t.px(3);
  const bool wraps = std::abs(m.target - m.source) > 1;
  const bool right = wraps ? m.source > m.target : m.target > m.source;
  if (!wraps) {
    const std::array<ImVec2, 2> path{right ? ImVec2{from.max.x + air, y} : ImVec2{from.min.x - air, y},
                                     right ? ImVec2{to.min.x - air, y} : ImVec2{to.max.x + air, y}};
    draw_arrow(painter, path, ink, width);
    paint_bead(painter, path, done);
    return;
  }
  const float reach = t.px(20);
  const std::array<ImVec2, 2> out{right ? ImVec2{from.max.x + air, y} : ImVec2{from.min.x - air, y},
                                  right ? ImVec2{from.max.x + reach, y} : ImVec2{from.min.x - reach, y}};
  const std::array<ImVec2, 2> in{right ? ImVec2{to.min.x - reach, y} : ImVec2{to.max.x + reach, y},
                                 right ? ImVec2{to.min.x - air, y} : ImVec2{to.max.x + air, y}};
  draw_arrow(painter, out, ink, width);
  draw_arrow(painter, in, ink, width);
  paint_bead(painter, done < 0.5 ? out : in, done < 0.5 ? 2 * done : 2 * done - 1);
}

/// A bow from one column's name to another's. Its height grows with the distance.
void paint_bow(const Painter& painter, const ChunkBoardLayout& l, std::int64_t source, std::int64_t target,
               std::int64_t furthest, double done) {
  const Theme& t = theme();
  const Rect from = l.column(source), to = l.column(target);
  const bool right = target > source;
  const float aside = std::min(t.px(5), from.width() / 6) * (right ? 1.0f : -1.0f);
  const float x0 = (from.min.x + from.max.x) / 2 + aside, x1 = (to.min.x + to.max.x) / 2 - aside;
  const float base = l.arcs.max.y - t.px(1);
  const float share =
      static_cast<float>(std::abs(target - source)) / static_cast<float>(std::max<std::int64_t>(furthest, 1));
  // Of two that go both ways between two ranks one lies inside of the other.
  const float height = (l.arcs.height() - t.px(6)) * (0.35f + 0.65f * share) - (right ? 0.0f : t.px(5));
  std::array<ImVec2, 25> path;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const float a = 3.14159265f * static_cast<float>(i) / static_cast<float>(path.size() - 1);
    path[i] = {x0 + (x1 - x0) * (1 - std::cos(a)) / 2, base - std::sin(a) * std::max(height, t.px(6))};
  }
  draw_arrow(painter, path, t.accent, t.px(1.5f));
  paint_bead(painter, path, done);
}

void paint_hub(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& l,
               const ChunkBoardMoment& now) {
  const Theme& t = theme();
  for (std::int64_t c = 0; c < data.chunks; ++c) {
    const Rect cell = l.hub_cell(c);
    painter.rect(cell.min, cell.max, t.card, 3);
    const std::uint64_t there = data.at(now.state, data.ranks, c);
    paint_places(painter, data, l, cell, there, chunk_tone(data, -1, c, there));
  }
  const Rect first = l.hub_cell(0), last = l.hub_cell(data.chunks - 1);
  painter.frame({first.min.x - t.px(4), first.min.y - t.px(3)}, {last.max.x + t.px(4), first.max.y + t.px(3)}, t.line,
                1, 4);
  if (now.step < 0) return;
  std::uint64_t up = 0, down = 0;
  for (std::size_t i = now.first; i < now.last; ++i) {
    const ChunkMessage& m = data.messages[i];
    if (m.target == data.ranks) up |= std::uint64_t{1} << m.source;
    if (m.source == data.ranks) down |= std::uint64_t{1} << m.target;
    if (m.target == data.ranks) {
      const std::uint64_t brings = data.at(now.state, m.source, m.chunk);
      paint_arrival(painter, data, l, l.hub_cell(m.chunk), brings, chunk_tone(data, -1, m.chunk, brings), now.done);
    }
  }
  for (std::int64_t r = 0; r < data.ranks; ++r) {
    const Rect column = l.column(r);
    const float x = (column.min.x + column.max.x) / 2, top = first.max.y + t.px(6), bottom = l.arcs.max.y - t.px(1);
    const std::array<ImVec2, 2> rise{ImVec2{x, bottom}, ImVec2{x, top}}, fall{ImVec2{x, top}, ImVec2{x, bottom}};
    for (const bool rises : {true, false}) {
      if (((rises ? up : down) >> r & 1) == 0) continue;
      draw_arrow(painter, rises ? rise : fall, t.accent, t.px(1.75f));
      paint_bead(painter, rises ? rise : fall, now.done);
    }
  }
}

void paint_names(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& l,
                 const ChunkBoardMoment& now) {
  const Theme& t = theme();
  for (std::int64_t r = 0; r < data.ranks && l.full; ++r) {
    const Rect c = l.column(r);
    const std::string_view name = data.rank_names[static_cast<std::size_t>(r)];
    const float room = l.column_pitch - t.px(4);
    const std::string_view shown = measure_text(name, Type::body) <= room ? name : name.substr(name.rfind(' ') + 1);
    painter.text({(c.min.x + c.max.x) / 2, l.names_y + t.px(1)}, shown, r == now.hovered_rank ? t.accent : t.text,
                 Type::body, Font::bold, Align::center);
  }
  if (!l.full)  // too many for a name each: the first and the last tell which way they go
    for (const std::int64_t r : {std::int64_t{0}, data.ranks - 1})
      painter.text({r == 0 ? l.column(r).min.x : l.column(r).max.x, l.names_y + t.px(1)},
                   data.rank_names[static_cast<std::size_t>(r)], t.text, Type::body, Font::bold,
                   r == 0 ? Align::left : Align::right);
  if (data.hub && l.full) {
    const Rect cell = l.hub_cell(0);
    painter.text({l.column_x - t.px(8), (cell.min.y + cell.max.y - t.type(Type::small)) / 2}, hub_name, t.text,
                 Type::small, Font::bold, Align::right);
  }
  if (l.chunk_names)
    for (std::int64_t c = 0; c < data.chunks; ++c) {
      const Rect cell = l.cell(0, c);
      painter.text({l.column_x - t.px(24), (cell.min.y + cell.max.y - t.type(Type::small)) / 2},
                   data.chunk_names[static_cast<std::size_t>(c)], c == now.hovered_chunk ? t.text : t.muted,
                   Type::small, Font::sans, Align::right);
    }
  if (l.group > 1)
    for (std::int64_t g = 0; g * l.group < data.ranks; ++g) {
      const float from = l.column(g * l.group).min.x, to = l.column((g + 1) * l.group - 1).max.x;
      const float y = l.nodes_y + t.type(Type::small) + t.px(5);
      painter.line({from, y}, {to, y}, t.line, t.px(1.5f));
      const std::string_view name = data.node_names[static_cast<std::size_t>(g)];
      painter.text({(from + to) / 2, l.nodes_y + t.px(1)}, name, t.muted, Type::small, Font::sans, Align::center);
    }
}

/// The messages in flight: what arrives, where it leaves and the way between.
void paint_board_messages(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& l,
                          const ChunkBoardMoment& now) {
  const Theme& t = theme();
  if (now.step >= 0 && l.full) {
    std::int64_t furthest = 1;
    for (std::size_t i = now.first; i < now.last; ++i)
      furthest = std::max<std::int64_t>(furthest, std::abs(data.messages[i].target - data.messages[i].source));
    for (std::size_t i = now.first; i < now.last; ++i) {
      const ChunkMessage& m = data.messages[i];
      const std::uint64_t brings = m.origin >= 0 ? std::uint64_t{1} << m.origin : data.at(now.state, m.source, m.chunk);
      if (m.target < data.ranks) {
        const std::uint64_t then = data.at(now.state + 1, m.target, m.chunk);
        paint_arrival(painter, data, l, l.cell(m.target, m.chunk), brings, chunk_tone(data, m.target, m.chunk, then),
                      now.done);
      }
    }
    for (std::size_t i = now.first; i < now.last; ++i) {
      const ChunkMessage& m = data.messages[i];
      // The hub copies a chunk to many: it is framed once.
      const bool again = m.source == data.ranks && i > now.first && data.messages[i - 1].source == m.source &&
                         data.messages[i - 1].chunk == m.chunk;
      if (!again) {
        const Rect cell = m.source < data.ranks ? l.cell(m.source, m.chunk) : l.hub_cell(m.chunk);
        const float out = t.px(1.5f);
        painter.frame({cell.min.x - out, cell.min.y - out}, {cell.max.x + out, cell.max.y + out}, t.accent, t.px(1.5f),
                      3);
      }
      if (data.hub) continue;
      if (!message_bows(data, m)) {
        paint_neighbour_arrow(painter, l, m, now.done);
      } else if (i == now.first || data.messages[i - 1].source != m.source || data.messages[i - 1].target != m.target) {
        paint_bow(painter, l, m.source, m.target, furthest, now.done);
      }
    }
  }
}

/// What a place is, and what happens.
void paint_board_words(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& l,
                       const ChunkBoardMoment& now) {
  const Theme& t = theme();
  float x = l.column_x;
  const Rect first = l.cell(0, 0);
  const float place = first.width() / static_cast<float>(std::max<std::int64_t>(data.places, 1));
  if (l.full && data.places > 1 && place >= measure_text("0", Type::small) + 1) {
    for (std::int64_t i = 0; i < data.places; ++i) {
      const Rect p = l.place(first, i, data.places);
      char digits[4] = {};
      if (i < 10) digits[0] = static_cast<char>('0' + i);
      if (i >= 10) break;
      painter.text({(p.min.x + p.max.x) / 2, l.says_y}, digits, t.muted, Type::small, Font::mono, Align::center);
    }
    x += l.column_pitch;
  }
  const bool flies = now.step >= 0 && static_cast<std::size_t>(now.step) < data.step_says.size();
  const std::string_view says =
      flies ? std::string_view(data.step_says[static_cast<std::size_t>(now.step)]) : data.places_say;
  const float right = l.track.max.x + t.px(20), said = measure_text(says, Type::small);
  const float verdict = measure_text(data.verdict, Type::small);
  fit_text(painter, {x, l.says_y}, says, right - x, t.muted, Type::small);
  if (!data.verdict.empty() && x + said + t.px(20) + verdict <= right)
    painter.text({right, l.says_y}, data.verdict, t.text, Type::small, Font::sans, Align::right);
}

}  // namespace

ImU32 chunk_tone(const ChunkBoardData& data, std::int64_t rank, std::int64_t chunk, std::uint64_t origins) {
  const Theme& t = theme();
  const ImU32 hue = t.of(Meaning::communication), own = mixed(t.card, t.muted, t.mode == Mode::dark ? 0.34f : 0.5f);
  const ImU32 whole = hue;
  const std::uint64_t asked =
      rank >= 0 ? data.asked[static_cast<std::size_t>(rank * data.chunks + chunk)] : std::uint64_t{0};
  if (!data.sums) return asked != 0 && origins == asked ? whole : mixed(t.card, hue, 0.62f);
  if (data.travels) return asked != 0 ? whole : std::popcount(origins) > 1 ? mixed(t.card, hue, 0.6f) : own;
  const int there = std::popcount(origins);
  if (there <= 1) return own;
  if (there >= data.places) return whole;
  return mixed(t.card, hue, 0.35f + 0.5f * static_cast<float>(there) / static_cast<float>(data.places));
}

ChunkBoardMoment chunk_board_moment(const ChunkBoardData& data, double time) {
  ChunkBoardMoment out;
  out.time = std::isfinite(time) ? std::clamp(time, 0.0, static_cast<double>(data.steps)) : 0;
  out.state = static_cast<std::int64_t>(std::floor(out.time));
  out.done = out.time - static_cast<double>(out.state);
  if (out.done <= 0) return out;
  out.step = out.state;
  const auto by_step = [](const ChunkMessage& m, std::int64_t step) { return m.step < step; };
  const auto first = std::lower_bound(data.messages.begin(), data.messages.end(), out.step, by_step);
  const auto last = std::lower_bound(first, data.messages.end(), out.step + 1, by_step);
  out.first = static_cast<std::size_t>(first - data.messages.begin());
  out.last = static_cast<std::size_t>(last - data.messages.begin());
  return out;
}

void paint_chunk_board(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& l,
                       const ChunkBoardMoment& now, bool playing) {
  if (data.ranks < 1 || data.chunks < 1 || data.origins.empty()) return;
  const Theme& t = theme();
  if (now.hovered_chunk >= 0) {
    const Rect a = l.cell(0, now.hovered_chunk), b = l.cell(data.ranks - 1, now.hovered_chunk);
    painter.rect({a.min.x - t.px(6), a.min.y - t.px(2)}, {b.max.x + t.px(6), b.max.y + t.px(2)},
                 with_alpha(t.accent, 0.10f), 3);
  }
  if (data.hub && l.full) paint_hub(painter, data, l, now);
  paint_names(painter, data, l, now);
  const ImU32 ground = t.mode == Mode::dark ? mixed(t.background, t.card, 0.75f) : mixed(t.background, t.line, 0.35f);
  for (std::int64_t r = 0; r < data.ranks; ++r)
    for (std::int64_t c = 0; c < data.chunks; ++c) {
      const Rect cell = l.cell(r, c);
      painter.rect(cell.min, cell.max, ground, l.full ? 2.0f : 0.0f);
      const std::uint64_t there = data.at(now.state, r, c);
      if (there) paint_places(painter, data, l, cell, there, chunk_tone(data, r, c, there));
    }
  paint_board_messages(painter, data, l, now);
  paint_board_words(painter, data, l, now);
  paint_chunk_film(painter, data, l, now, playing);
}

}  // namespace widgets
