#include "chapters/capstone/perception/lab.h"
#include "widgets/base/marks.h"

namespace chapters::capstone::perception {
namespace {

void draw_game(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const BoardMove move = draw_board(picture.board, view.board, size);
  widgets::drew("rounds");
  take_move(move, in.rounds, in.said);
  if (move.open >= 0 && static_cast<std::size_t>(move.open) < picture.links.size())
    view.requests.open_link = picture.links[static_cast<std::size_t>(move.open)];
}

void draw_rounds(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {{"move", "move"},
                                                {.key = "latency_s", .title = "undisturbed", .priority = 2},
                                                {"p50_s", "typical"},
                                                {"p99_s", "99 in 100"},
                                                {"won_s", "won"},
                                                {"late", "late"},
                                                {.key = "said_s", .title = "you said", .priority = 1},
                                                {.key = "bounced", .title = "bounced", .priority = 3}};
  view.rounds.draw("rounds", out.board, columns, size);
}

void draw_study(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {
      {"move", "move"}, {"latency_s", "undisturbed"}, {"p99_s", "99 in 100"}, {"won_s", "won"}, {"late", "late"}};
  view.study.draw("study", out.study, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("board",
              {.title = "The board", .least = {480, 330}, .ideal = {0, 480}, .answers = true, .marks = "rounds"},
              [&](ImVec2 size) { draw_game(in, picture, view, size); });
  stage.panel("round", {.title = "This round: its frame, 99 in 100, the road", .least = {760, 260}}, [&](ImVec2 size) {
    if (picture.version == 0) {
      ImGui::Dummy(size);
      return;
    }
    draw_over_doors(
        picture.doors, size, view.requests, [&](ImVec2 room) { draw_round(picture, room); }, 300);
  });
  stage.panel("rounds", {.title = "Round by round", .least = {420, 150}, .scrolls = true},
              [&](ImVec2 size) { draw_rounds(out, view, size); });
  stage.panel("study", {.title = "The study's way, by the models", .least = {420, 150}, .scrolls = true},
              [&](ImVec2 size) { draw_study(out, view, size); });
}

}  // namespace chapters::capstone::perception
