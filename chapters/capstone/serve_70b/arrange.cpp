#include <array>
#include <cmath>

#include "chapters/capstone/serve_70b/lab.h"
#include "widgets/number/number.h"

namespace chapters::capstone::serve_70b {
namespace {

using widgets::figure;

/// "`3` rounds", "`1` round".
std::string rounds_words(std::int64_t n) {
  return figure(static_cast<double>(n), "") + (n == 1 ? " round" : " rounds");
}

/// " won `47 ms`", " lost `2 ms`"; nothing where it is as little of the start.
std::string won(double seconds, double start_s) {
  if (std::abs(seconds) < slight_share * start_s) return " won nothing";
  return (seconds < 0 ? " lost " : " won ") + figure(std::abs(seconds), "s");
}

constexpr std::array<std::string_view, cause_count> cause_words{"Matrix products take",       "Attention takes",
                                                                "Element-wise kernels take",  "All-reduces take",
                                                                "Waiting for launches takes", "Prompts of others take"};

/// Rounds against par, and how far predictions were off.
std::string score_of(const Outputs& out) {
  std::string says = std::to_string(out.rounds_played) + (out.rounds_played == 1 ? " round" : " rounds");
  if (std::isfinite(out.won_in)) says += ", all met after " + std::to_string(static_cast<int>(out.won_in));
  if (std::isfinite(out.par)) says += ", par " + std::to_string(static_cast<int>(out.par));
  if (std::isfinite(out.prediction_off))
    says += ". What you said was off by " + widgets::format_text(out.prediction_off, widgets::times_unit);
  return says + ".";
}

}  // namespace

std::string answer_of(const Outputs& out) {
  constexpr std::array<std::string_view, 4> met{"no target is met", "one of three targets is met",
                                                "two of three targets are met", "all three targets are met"};
  const std::string says = "A token takes " + figure(out.now.itl_s, "s") + ", the first " +
                           figure(out.now.ttft_s, "s") + ", at " + figure(out.now.tokens_per_s, "tokens/s") + ": " +
                           std::string(met[static_cast<std::size_t>(out.targets_met)]) + ".\n";
  if (!std::isfinite(out.first_won_s))
    return says + std::string(cause_words[static_cast<std::size_t>(out.bottleneck)]) + " " +
           figure(out.bottleneck_s, "s") + " of it.";
  const std::string after = says + "After " + rounds_words(out.rounds_played) + ": ";
  if (out.first_card == out.best_card) return after + out.best_card + won(out.best_won_s, out.start_itl_s) + ".";
  return after + out.first_card + won(out.first_won_s, out.start_itl_s) + "; " + out.best_card +
         won(out.best_won_s, out.start_itl_s) + ".";
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.game.rounds.empty()) return p;
  p.answer = answer_of(out);
  const ServeRules rules(in);
  std::array<std::array<double, max_targets>, 4> claimed{study_start()};
  for (std::size_t i = 0; i < study_rounds().size(); ++i) claimed[i + 1] = study_rounds()[i].claimed;
  p.board = make_board(rules, run.game,
                       {.causes = causes(),
                        .start_name = "As found",
                        .start_note = "eager, BF16",
                        .opens = "Opens inference/optimize with this round.",
                        .slab_words = in.gap == GapKind::mean ? "a token" : "a gap",
                        .claimed = claimed,
                        .claimed_by = "the study"});
  p.board.score = score_of(out);
  for (const Round& r : run.game.rounds) p.links.push_back(link_of(in, rules, r.cards));
  const Ladder& ladder = published_ladders()[static_cast<std::size_t>(in.ladder)];
  p.ladder = ladder_board(ladder, run.guesses);
  p.ladder_source = std::string(ladder.source);
  return p;
}

}  // namespace chapters::capstone::serve_70b
