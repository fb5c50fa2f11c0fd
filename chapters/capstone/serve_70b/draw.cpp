#include <array>

#include "chapters/capstone/serve_70b/lab.h"
#include "widgets/base/heading.h"
#include "widgets/base/marks.h"

namespace chapters::capstone::serve_70b {
namespace {

void draw_game(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const BoardMove move = draw_board(picture.board, view.board, size);
  take_move(move, in.rounds, in.said);
  if (move.open >= 0 && static_cast<std::size_t>(move.open) < picture.links.size())
    view.requests.open_link = picture.links[static_cast<std::size_t>(move.open)];
  widgets::drew("the board");
}

void draw_ladder(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  widgets::heading("Guess the next record", picture.ladder_source, size.x);
  const float head = ImGui::GetCursorScreenPos().y - corner.y;
  const BoardMove move = draw_board(picture.ladder, view.ladder, {size.x, size.y - head});
  if (!move.play.empty()) in.guesses.push_back(move.said);
  if (move.back && !in.guesses.empty()) in.guesses.pop_back();
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  static constexpr std::array round_columns{
      DescribedColumn{.key = "name"},
      DescribedColumn{.key = "found", .priority = 2},
      DescribedColumn{.key = "itl_s", .digits = 3},
      DescribedColumn{.key = "won_s", .priority = 1, .digits = 3},
      DescribedColumn{.key = "said_s", .priority = 3, .digits = 3},
      DescribedColumn{.key = "ttft_s", .digits = 3},
      DescribedColumn{.key = "tokens_per_s", .digits = 3},
      DescribedColumn{.key = "memory_bytes", .priority = 1, .digits = 3},
      DescribedColumn{.key = "bottleneck", .priority = 2},
      DescribedColumn{.key = "met", .priority = 3},
  };
  static constexpr std::array study_columns{
      DescribedColumn{.key = "name"},
      DescribedColumn{.key = "claimed_itl_s", .digits = 3},
      DescribedColumn{.key = "itl_s", .digits = 3},
      DescribedColumn{.key = "claimed_ttft_s", .priority = 1, .digits = 3},
      DescribedColumn{.key = "ttft_s", .priority = 1, .digits = 3},
      DescribedColumn{.key = "claimed_rate", .digits = 3},
      DescribedColumn{.key = "rate", .digits = 3},
  };
  stage.panel("board", {.title = "The board", .least = {480, 440}, .answers = true, .marks = "the board"},
              [&](ImVec2 size) { draw_game(in, picture, view, size); });
  stage.panel("rounds", {.title = "The rounds as a table", .least = {520, 150}, .scrolls = true},
              [&](ImVec2 size) { view.rounds.draw("rounds", out.rounds, round_columns, size); });
  stage.panel("study", {.title = "The study next to the models", .least = {520, 150}, .scrolls = true},
              [&](ImVec2 size) { view.study.draw("study", out.study, study_columns, size); });
  stage.panel("ladder", {.title = "A published ladder", .least = {480, 330}},
              [&](ImVec2 size) { draw_ladder(in, picture, view, size); });
}

}  // namespace chapters::capstone::serve_70b
