#include "widgets/pictures/rank_circle.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/base/arrow.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/pictures/chunk_board_paint.h"

namespace widgets {
namespace {

/// Share of a rank's cells that hold all that is asked of them.
float whole_share(const ChunkBoardData& data, std::int64_t state, std::int64_t rank) {
  std::int64_t asked = 0, whole = 0;
  for (std::int64_t c = 0; c < data.chunks; ++c) {
    const std::uint64_t wanted = data.asked[static_cast<std::size_t>(rank * data.chunks + c)];
    asked += wanted != 0;
    whole += wanted != 0 && data.at(state, rank, c) == wanted;
  }
  return asked > 0 ? static_cast<float>(whole) / static_cast<float>(asked) : 0;
}

/// From the rim of one dot to that of another, bent to the right of its way so that the way back lies apart from it.
void paint_message(const Painter& painter, const RankCircleLayout& l, std::int64_t source, std::int64_t target,
                   float stroke) {
  const Theme& t = theme();
  const ImVec2 a = l.at(source), b = l.at(target);
  const float dx = b.x - a.x, dy = b.y - a.y, length = std::max(1.0f, std::sqrt(dx * dx + dy * dy));
  const float bend = std::min(length * 0.12f, t.px(22));
  const ImVec2 middle{(a.x + b.x) / 2 - dy / length * bend, (a.y + b.y) / 2 + dx / length * bend};
  std::array<ImVec2, 21> path;
  const float free = std::min((l.dot + t.px(3)) / length, 0.45f);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const float s = free + (1 - 2 * free) * static_cast<float>(i) / static_cast<float>(path.size() - 1), r = 1 - s;
    path[i] = {r * r * a.x + 2 * r * s * middle.x + s * s * b.x, r * r * a.y + 2 * r * s * middle.y + s * s * b.y};
  }
  draw_arrow(painter, path, t.accent, stroke);
}

void paint_rank(const Painter& painter, const ChunkBoardData& data, const RankCircleLayout& l, std::int64_t state,
                std::int64_t rank) {
  const Theme& t = theme();
  const ImVec2 at = l.at(rank);
  const bool hub = rank == data.ranks;
  painter.circle(at, l.dot, t.card);
  painter.ring(at, l.dot, t.line, t.px(1.2f));
  if (const float share = hub ? 0 : whole_share(data, state, rank); share > 0) {
    // What of its share is whole, filled from below.
    std::array<ImVec2, 26> shape;
    const float half = std::acos(std::clamp(1 - 2 * share, -1.0f, 1.0f));
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const float a = 1.5707963f - half + 2 * half * static_cast<float>(i) / static_cast<float>(shape.size() - 1);
      shape[i] = {at.x + std::cos(a) * l.dot, at.y + std::sin(a) * l.dot};
    }
    painter.polygon(shape, t.of(Meaning::communication));
  }
  char digits[4] = {};
  if (hub) digits[0] = '+';
  if (!hub && rank < 10) digits[0] = static_cast<char>('0' + rank);
  if (!hub && rank >= 10) {
    digits[0] = static_cast<char>('0' + rank / 10);
    digits[1] = static_cast<char>('0' + rank % 10);
  }
  const float share = hub ? 0 : whole_share(data, state, rank);
  const ImU32 ink = share > 0.55f ? text_on(t.of(Meaning::communication), t) : t.text;
  if (l.dot * 2 >= t.type(Type::small))
    painter.text({at.x, at.y - t.type(Type::small) / 2}, digits, ink, Type::small, Font::bold, Align::center);
}

}  // namespace

ImVec2 RankCircleLayout::at(std::int64_t rank) const {
  if (rank >= ranks) return centre;
  const double a =
      2 * 3.14159265358979 * static_cast<double>(rank) / static_cast<double>(std::max<std::int64_t>(ranks, 1));
  return {centre.x + radius * static_cast<float>(std::sin(a)), centre.y - radius * static_cast<float>(std::cos(a))};
}

RankCircleLayout layout_rank_circle(std::int64_t ranks, Rect area, float scale) {
  RankCircleLayout l;
  l.ranks = std::max<std::int64_t>(ranks, 1);
  l.centre = {(area.min.x + area.max.x) / 2, (area.min.y + area.max.y) / 2};
  const float room = std::max(1.0f, std::min(area.width(), area.height()) / 2 - 2 * scale);
  // Dots take at most two fifths of the way from one to the next.
  const float turn = static_cast<float>(std::sin(3.14159265 / static_cast<double>(std::max<std::int64_t>(l.ranks, 2))));
  l.dot = std::min(14 * scale, room * 0.8f * turn / (1 + 0.8f * turn));
  l.radius = room - l.dot;
  return l;
}

void draw_rank_circle(const char* label, const ChunkBoardData& data, double time, RankCircleView& view, ImVec2 size) {
  const Theme& t = theme();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float words = 2.8f * t.type(Type::small) + t.px(6);  // two lines
  press_area(label, size, 0);
  if (data.ranks < 1 || data.origins.empty()) return;
  const RankCircleLayout l =
      layout_rank_circle(data.ranks, {origin, {origin.x + size.x, origin.y + size.y - words}}, t.scale);
  const Painter painter = Painter::window();
  const ChunkBoardMoment now = chunk_board_moment(data, time < 0 ? chunk_board_start(data.steps) : time);
  const auto all = static_cast<std::size_t>(data.participants());
  view.joined.assign(all * all, 0);
  const auto pair = [&](const ChunkMessage& m) {
    const auto low = static_cast<std::size_t>(std::min(m.source, m.target));
    return low * all + static_cast<std::size_t>(std::max(m.source, m.target));
  };
  for (const ChunkMessage& m : data.messages) {
    if (view.joined[pair(m)]++ == 0) painter.line(l.at(m.source), l.at(m.target), t.line, t.px(1));
    view.joined[pair(m)] = 1;
  }
  for (std::size_t i = now.first; i < now.last;) {
    std::size_t end = i + 1;
    const ChunkMessage& m = data.messages[i];
    while (end < now.last && data.messages[end].source == m.source && data.messages[end].target == m.target) ++end;
    const float share = static_cast<float>(end - i) / static_cast<float>(data.chunks);
    paint_message(painter, l, m.source, m.target, t.px(1.25f + 4.0f * std::sqrt(share)));
    i = end;
  }
  for (std::int64_t r = 0; r < data.participants(); ++r) paint_rank(painter, data, l, now.state, r);
  const bool flies = now.step >= 0 && static_cast<std::size_t>(now.step) < data.step_says.size();
  if (flies)
    wrapped_text(painter, {origin.x, origin.y + size.y - words + t.px(3)},
                 data.step_says[static_cast<std::size_t>(now.step)], size.x, t.muted, {.max_lines = 2});
}

}  // namespace widgets
