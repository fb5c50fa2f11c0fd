#include <algorithm>

#include "chapters/distributed/collectives/lab.h"
#include "widgets/base/heading.h"
#include "widgets/base/parts.h"

namespace chapters::distributed::collectives {
namespace {

constexpr double play_s = 8;  // seconds that the longer of the two plays

/// One of the two with its name over it.
void draw_half(const char* label, const BoardPicture& board, widgets::ChunkBoardView& view, ImVec2 at, ImVec2 size) {
  ImGui::SetCursorScreenPos(at);
  widgets::heading(board.title, board.subtitle, size.x, widgets::HeadingMore::beside);
  const float used = ImGui::GetCursorScreenPos().y - at.y;
  ImGui::SetCursorScreenPos({at.x, at.y + used});
  widgets::draw_chunk_board(label, board_of(board), view, {size.x, size.y - used});
}

}  // namespace

void draw_pair(const Picture& p, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(10);
  // A board of few chunks needs less room than one of many.
  const auto rows = [](const BoardPicture& b) {
    return 5.0f + static_cast<float>(std::min<std::int64_t>(b.chunks, 16));
  };
  const float share = std::clamp(rows(p.own) / (rows(p.own) + rows(p.beside)), 0.35f, 0.65f);
  const float above = (size.y - gap) * share;
  const double last_s = std::max(p.own.state_s.back(), p.beside.state_s.back());
  if (view.clock_playing) {
    const double frame_s = std::min(static_cast<double>(ImGui::GetIO().DeltaTime), 0.1);
    view.clock_s = std::min(view.clock_s + last_s * frame_s / play_s, last_s);
    view.clock_playing = view.clock_s < last_s;
  }
  const double clock_s = view.clock_s < 0 ? time_of_step(p.own, widgets::chunk_board_start(p.own.steps)) : view.clock_s;
  const bool playing = view.clock_playing;
  bool pressed = false;
  for (const bool own : {true, false}) {
    const BoardPicture& board = own ? p.own : p.beside;
    widgets::ChunkBoardView& half = own ? view.pair_board : view.beside_board;
    half.driven = true;
    half.playing = playing;
    half.time = step_at(board, clock_s);
    const double before = half.time;
    draw_half(own ? "own" : "other", board, half, {at.x, own ? at.y : at.y + above + gap},
              {size.x, own ? above : size.y - above - gap});
    if (half.time != before) view.clock_s = time_of_step(board, half.time);  // whichever slider is moved moves both
    pressed = pressed || half.playing != playing;
  }
  if (pressed) {
    view.clock_playing = !playing;
    if (!playing && clock_s >= last_s) view.clock_s = 0;
    if (!playing && view.clock_s < 0) view.clock_s = clock_s;
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::distributed::collectives
