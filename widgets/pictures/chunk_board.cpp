#include "widgets/pictures/chunk_board.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "widgets/base/motion.h"
#include "widgets/base/press_area.h"
#include "widgets/pictures/chunk_board_paint.h"

namespace widgets {
namespace {

constexpr double steps_per_s = 1.4;  // while it plays

/// Half a step on or back: from rest into flight, from flight to rest.
double half_step(double time, int by) {
  const double halves = std::round(2 * time);
  return (halves + by) / 2;
}

double shown_time(const ChunkBoardData& data, const ChunkBoardView& view) {
  return view.time < 0 ? chunk_board_start(data.steps) : view.time;
}

/// Near a state the slider comes to rest on it.
double snapped(double time) {
  const double state = std::round(time);
  return std::abs(time - state) < 0.12 ? state : time;
}

void take_slider(const ChunkBoardData& data, ChunkBoardView& view, Rect slider) {
  const ChunkBoardLayout& l = view.layout;
  const auto end = static_cast<double>(data.steps);
  ImGui::SetCursorScreenPos(slider.min);
  ImGui::PushID("film");
  press_area("Step", {slider.width(), slider.height()});
  ImGui::PopID();
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(0)) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    view.playing = false;
    view.time = snapped(l.time_at(mouse.x, data.steps));
  }
  const PlayKeys keys = play_keys();
  if (keys.steps != 0) {
    view.playing = false;
    view.time = std::clamp(half_step(std::min(shown_time(data, view), end), keys.steps), 0.0, end);
  }
  ImGui::SetCursorScreenPos(l.play.min);
  const bool pressed = press_area("Play", {l.play.width(), l.play.height()});
  if (pressed || keys.play) {
    view.playing = !view.playing;
    if (view.playing && !view.driven && (view.time < 0 || view.time >= end)) view.time = 0;
  }
  if (!view.playing) return;
  motion().moving = true;  // another frame must follow
  if (view.driven) return;
  const double frame_s = std::min(static_cast<double>(ImGui::GetIO().DeltaTime), 0.1);
  view.time = std::min(view.time + steps_per_s * frame_s, end);
  if (view.time >= end) view.playing = false;
}

void record_messages(Record& record, const char* label, const ChunkBoardData& data) {
  DataTable table{label, {"step", "source", "target", "chunk"}, {}};
  for (const ChunkMessage& m : data.messages)
    table.rows.push_back(
        {std::to_string(m.step), std::to_string(m.source), std::to_string(m.target), std::to_string(m.chunk)});
  record.tables.push_back(std::move(table));
}

}  // namespace

double chunk_board_start(std::int64_t steps) {
  return steps < 1 ? 0 : std::floor(static_cast<double>(steps) / 3) + 0.5;
}

float draw_chunk_board(const char* label, const ChunkBoardData& data, ChunkBoardView& view, ImVec2 size) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Rect area{at, {at.x + size.x, at.y + size.y}};
  ChunkBoardLayout& l = view.layout;
  layout_chunk_board(data, area, t.scale, t.type(Type::small), t.type(Type::body), measure_text, l);
  ImGui::PushID(label);
  press_area("Board", {size.x, std::max(1.0f, l.says_y - at.y)}, 0);
  const bool hovered = ImGui::IsItemHovered();
  take_slider(
      data, view,
      {{area.min.x + l.play.width(), l.film.height() > 0 ? l.film.min.y : l.track.min.y}, {area.max.x, l.track.max.y}});
  ImGui::PopID();

  ChunkBoardMoment moment = chunk_board_moment(data, shown_time(data, view));
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (hovered)
    for (std::int64_t r = 0; r < data.ranks; ++r)
      if (const Rect column = l.column(r); column.contains(mouse)) {
        moment.hovered_rank = r;
        moment.hovered_chunk =
            std::clamp<std::int64_t>(static_cast<std::int64_t>((mouse.y - l.row_y) / l.row_pitch), 0, data.chunks - 1);
      }
  const Painter painter = Painter::window();
  paint_chunk_board(painter, data, l, moment, view.playing);
  if (Record* record = painter.record()) record_messages(*record, label, data);
  if (moment.hovered_rank >= 0 && data.cell_says) {
    Line name, value, info;
    const auto rank = static_cast<std::size_t>(moment.hovered_rank),
               chunk = static_cast<std::size_t>(moment.hovered_chunk);
    if (rank < data.rank_names.size()) name.add(data.rank_names[rank]);
    if (chunk < data.chunk_names.size()) name.add(", ").add(data.chunk_names[chunk]);
    data.cell_says(data.context, moment.state, moment.hovered_rank, moment.hovered_chunk, value, info);
    tip(name.view(), value.view(), info.view());
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({size.x, l.height});
  return l.height;
}

}  // namespace widgets
