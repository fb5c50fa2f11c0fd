#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "widgets/pictures/chunk_board.h"
#include "widgets/pictures/chunk_board_paint.h"
#include "widgets/pictures/rank_circle.h"

using namespace widgets;

namespace {

float plain_width(std::string_view s, Type) { return 7.0f * static_cast<float>(s.size()); }

/// A ring's first two steps on some ranks, all of whom hold only their own.
struct MadeBoard {
  std::vector<std::uint64_t> origins, asked;
  std::vector<std::string> ranks, chunks;
  std::vector<ChunkMessage> messages;
  ChunkBoardData data;
  MadeBoard(std::int64_t n, std::int64_t rows, std::int64_t steps) {
    for (std::int64_t s = 0; s <= steps; ++s)
      for (std::int64_t r = 0; r < n; ++r)
        for (std::int64_t c = 0; c < rows; ++c) origins.push_back(std::uint64_t{1} << r);
    asked.assign(static_cast<std::size_t>(n * rows), (std::uint64_t{1} << n) - 1);
    for (std::int64_t r = 0; r < n; ++r) ranks.push_back("rank " + std::to_string(r));
    for (std::int64_t c = 0; c < rows; ++c) chunks.push_back("chunk " + std::to_string(c));
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(steps); ++s)
      for (std::int32_t r = 0; r < static_cast<std::int32_t>(n); ++r)
        messages.push_back({s, r, static_cast<std::int32_t>((r + 1) % n), 0, true, -1});
    data.ranks = n;
    data.chunks = rows;
    data.steps = steps;
    data.places = n;
    data.origins = origins;
    data.asked = asked;
    data.messages = messages;
    data.rank_names = ranks;
    data.chunk_names = chunks;
  }
};

ChunkBoardLayout laid_out(const MadeBoard& board, ImVec2 size) {
  ChunkBoardLayout l;
  layout_chunk_board(board.data, {{0, 0}, size}, 1, 13, 15, plain_width, l);
  return l;
}

}  // namespace

TEST_CASE("chunk board: cells lie in columns and rows that do not touch, inside of the area, places inside of cells") {
  for (const std::int64_t n : {2, 5, 8, 16})
    for (const ImVec2 size : {ImVec2{1100, 420}, ImVec2{620, 300}, ImVec2{620, 200}}) {
      const MadeBoard board(n, n, 2 * (n - 1));
      const ChunkBoardLayout l = laid_out(board, size);
      INFO(n << " ranks in " << size.x << " x " << size.y);
      CHECK(l.height <= size.y);
      CHECK(l.track.max.x <= size.x);
      for (std::int64_t r = 0; r < n; ++r) {
        CHECK(l.column(r).min.x >= 0);
        CHECK(l.column(r).max.x <= size.x);
        if (r > 0) CHECK(l.column(r).min.x >= l.column(r - 1).max.x + 4);  // room for an arrow's head
        for (std::int64_t c = 1; c < n; ++c) CHECK(l.cell(r, c).min.y >= l.cell(r, c - 1).max.y);
      }
      const Rect cell = l.cell(n - 1, n - 1);
      CHECK(cell.max.y <= l.says_y);
      CHECK(l.place(cell, 0, n).min.x >= cell.min.x);
      CHECK(l.place(cell, n - 1, n).max.x <= cell.max.x);
      CHECK(l.place(cell, 1, n).min.x >= l.place(cell, 0, n).max.x);
      CHECK(l.says_y < l.track.min.y);
      CHECK(l.track.max.y <= l.words_y);
    }
}

TEST_CASE("chunk board: the film's frames stand over their place on the slider, and thin out where they are many") {
  const MadeBoard board(8, 8, 14);
  const ChunkBoardLayout l = laid_out(board, {1100, 420});
  REQUIRE(l.film.height() > 0);
  CHECK(l.frames == 15);
  for (std::int64_t state = 0; state <= 14; ++state) {
    const Rect at = l.thumb(state, 14);
    CHECK(std::abs((at.min.x + at.max.x) / 2 - l.time_x(static_cast<double>(state), 14)) < 0.01f);
    CHECK(std::abs(l.time_at(l.time_x(static_cast<double>(state), 14), 14) - static_cast<double>(state)) < 1e-4);
    if (state > 0) CHECK(at.min.x > l.thumb(state - 1, 14).max.x);
  }
  const MadeBoard many(16, 16, 30);
  const ChunkBoardLayout thin = laid_out(many, {620, 400});
  CHECK(thin.frame_stride > 1);
  CHECK(thin.frames < 31);
  // In a low room the thumbnails go before the slider does.
  CHECK(laid_out(board, {1100, 180}).film.height() == 0);
  CHECK(laid_out(board, {1100, 180}).track.height() > 0);
}

TEST_CASE("chunk board: the switch has room for its name and its frames, also where the chunks' names have none") {
  MadeBoard board(8, 8, 4);
  board.data.hub = true;
  for (const ImVec2 size : {ImVec2{1100, 420}, ImVec2{620, 220}}) {
    const ChunkBoardLayout l = laid_out(board, size);
    INFO(size.x << " x " << size.y);
    CHECK(l.hub_cell(0).min.y >= 4);
    CHECK(l.hub_cell(7).max.y < l.arcs.max.y - 8);
    CHECK(l.column_x - 8 - plain_width(hub_name, Type::small) >= 0);
  }
  CHECK_FALSE(laid_out(board, {620, 220}).chunk_names);
}

TEST_CASE("chunk board: messages to neighbours cross the gap, others bow, and a moment knows its own") {
  const MadeBoard board(8, 8, 3);
  CHECK_FALSE(message_bows(board.data, {.source = 3, .target = 4}));
  CHECK_FALSE(message_bows(board.data, {.source = 7, .target = 0}));
  CHECK(message_bows(board.data, {.source = 4, .target = 0}));
  ChunkBoardData nodes = board.data;
  nodes.group = 4;
  CHECK(message_bows(nodes, {.source = 7, .target = 0}));
  const MadeBoard whole(8, 1, 3);
  CHECK(message_bows(whole.data, {.source = 1, .target = 0}));

  const ChunkBoardMoment flight = chunk_board_moment(board.data, 1.5);
  CHECK(flight.state == 1);
  CHECK(flight.step == 1);
  CHECK(flight.first == 8);
  CHECK(flight.last == 16);
  CHECK(chunk_board_moment(board.data, 2).step == -1);
  CHECK(chunk_board_moment(board.data, 99).state == 3);
  CHECK(chunk_board_start(14) == 4.5);
  CHECK(chunk_board_start(3) == 1.5);
}

TEST_CASE("rank circle: dots lie inside of the area, clockwise from the top, and do not touch") {
  for (const std::int64_t n : {2, 3, 8, 16, 32})
    for (const ImVec2 size : {ImVec2{600, 300}, ImVec2{120, 400}, ImVec2{60, 40}}) {
      const RankCircleLayout l = layout_rank_circle(n, {{0, 0}, size}, 1);
      INFO(n << " ranks in " << size.x << " x " << size.y);
      CHECK(l.at(0).x == l.centre.x);
      CHECK(l.at(0).y < l.centre.y);
      if (n > 2) CHECK(l.at(1).x > l.centre.x);
      CHECK(l.at(n).x == l.centre.x);  // the hub
      for (std::int64_t r = 0; r < n; ++r) {
        const ImVec2 a = l.at(r), b = l.at((r + 1) % n);
        CHECK(a.x - l.dot >= 0);
        CHECK(a.x + l.dot <= size.x);
        CHECK(a.y + l.dot <= size.y);
        CHECK(std::hypot(a.x - b.x, a.y - b.y) > 2 * l.dot);
      }
    }
}
