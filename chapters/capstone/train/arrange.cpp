#include "chapters/capstone/train/lab.h"
#include "widgets/number/number.h"

namespace chapters::capstone::train {
namespace {

// In the order of Cause.
constexpr std::array<BoardCause, cause_count> causes{{{"arithmetic", widgets::Meaning::forward},
                                                      {"kernels", widgets::Meaning::compute_bound},
                                                      {"recompute", widgets::Meaning::backward},
                                                      {"tensor", widgets::Meaning::communication},
                                                      {"gradients", widgets::Meaning::weight_gradient},
                                                      {"bubble", widgets::Meaning::idle},
                                                      {"update", widgets::Meaning::optimizer},
                                                      {"the slowest", widgets::Meaning::memory_bound},
                                                      {"failures", widgets::Tint::bad(), true}}};

}  // namespace

std::string answer_of(const Outputs& out) {
  using widgets::figure;
  std::string first = "The run takes " + figure(out.wall_s, "s");
  if (out.score.rounds == 0 && out.met) return first + " as found, and is in time.";
  if (out.score.rounds == 0) return first + " as found, too long by " + figure(out.over_s, "s") + ". Take a card.";
  first += out.met ? " and is in time." : ", too long by " + figure(out.over_s, "s") + ".";
  if (out.bounced) return first + " The last card came back.";
  if (out.score.nothing_won) return first + " The last round won nothing.";
  return first + (out.score.won_s > 0 ? " The last round won " + figure(out.score.won_s, "s") + "."
                                      : " The last round lost " + figure(out.last_lost_s, "s") + ".");
}

Picture arrange(const Inputs& in, const Outputs& out, const Game& game) {
  Picture p;
  if (!out.reason.empty() || !game.rules) return p;
  p.answer = answer_of(out);
  p.board = make_board(*game.rules, game.played,
                       {.causes = causes,
                        .start_name = "Shard everything",
                        .start_note = "TP 8, ZeRO-3",
                        .opens = in.size == Size::b100 ? "" : "opens the planner",
                        .rows = true});
  p.links = game.links;
  p.doors = {{"open the plan", "This plan in the planner", game.doors[0]},
             {"open the failures", "Its failures on the clock", game.doors[1]}};
  for (std::size_t i = 0; i < item_count; ++i) p.item_labs[i] = item_lab(static_cast<Item>(i));
  p.ticked_words = std::to_string(out.ticked) + " of " + std::to_string(item_count) + " are settled";
  return p;
}

}  // namespace chapters::capstone::train
