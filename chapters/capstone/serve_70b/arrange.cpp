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

/// What the first card did, the best one, and the one that lost most: two of them at most.
std::string cards_words(const Outputs& out) {
  const bool won = std::isfinite(out.best_won_s), lost = std::isfinite(out.most_lost_s);
  std::string says;
  const auto add = [&](const std::string& words) { says += (says.empty() ? "" : "; ") + words; };
  if (out.first_slight && !(won && lost)) add(out.first_card + " won nothing");
  if (!out.first_slight && out.first_won_s > 0 && !lost && out.first_card != out.best_card)
    add(out.first_card + " won " + figure(out.first_won_s, "s"));
  if (won) add(out.best_card + " won " + figure(out.best_won_s, "s"));
  if (lost) add(out.lost_card + " lost " + figure(out.most_lost_s, "s"));
  if (says.empty()) add(out.first_card + " left the time from token to token as it was");
  return says;
}

constexpr std::array<std::string_view, cause_count> cause_words{"Matrix products take",       "Attention takes",
                                                                "Element-wise kernels take",  "All-reduces take",
                                                                "Waiting for launches takes", "Prompts of others take"};

/// What the study says of each round whose cards are those of one of its own.
std::vector<std::array<double, max_targets>> claimed_of(const ServeRules& rules, const Played& game) {
  std::vector<std::array<double, max_targets>> claimed(game.rounds.size(),
                                                       {not_claimed, not_claimed, not_claimed, not_claimed});
  const auto claim = [&](CardSet cards, const std::array<double, max_targets>& says) {
    for (std::size_t i = 0; i < game.rounds.size(); ++i)
      if (!game.rounds[i].bounced && game.rounds[i].cards == cards) claimed[i] = says;
  };
  CardSet set = rules.start();
  claim(set, study_start());
  for (const StudyRound& round : study_rounds()) {
    for (const std::string_view id : round.cards)
      for (std::size_t card = 0; card < rules.cards().size(); ++card)
        if (rules.cards()[card].id == id) set = put(rules.cards(), set, card);
    claim(set, round.claimed);
  }
  return claimed;
}

/// Rounds against par, and how far predictions were off.
std::string score_of(const Outputs& out) {
  std::string says = std::to_string(out.rounds_played) + (out.rounds_played == 1 ? " round" : " rounds");
  if (std::isfinite(out.won_in)) says += ", all met after " + std::to_string(static_cast<int>(out.won_in));
  if (std::isfinite(out.won_in) && out.targets_met < 3) says += ", now " + std::to_string(out.targets_met) + " of 3";
  if (std::isfinite(out.par)) says += ", par " + std::to_string(static_cast<int>(out.par));
  if (std::isfinite(out.prediction_off))
    says += ". What you said was off by " + widgets::format_text(out.prediction_off, widgets::times_unit);
  return says + ".";
}

}  // namespace

std::string answer_of(const Outputs& out) {
  constexpr std::array<std::string_view, 4> met{"no target is met", "one of three targets is met",
                                                "two of three targets are met", "all three targets are met"};
  const std::string gap = out.of_longest ? "The longest gap is " + figure(out.now.longest_gap_s, "s")
                                         : "A token takes " + figure(out.now.itl_s, "s");
  const std::string says = gap + ", the first " + (out.of_longest ? "token takes " : "") + figure(out.now.ttft_s, "s") +
                           ", at " + figure(out.now.tokens_per_s, "tokens/s") + ": " +
                           std::string(met[static_cast<std::size_t>(out.targets_met)]) + ".\n";
  const std::string back = out.last_bounced ? " The last card came back." : "";
  if (!std::isfinite(out.first_won_s))
    return says + std::string(cause_words[static_cast<std::size_t>(out.bottleneck)]) + " " +
           figure(out.bottleneck_s, "s") + " of it." + back;
  return says + "After " + rounds_words(out.rounds_played) + ": " + cards_words(out) + "." + back;
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.game.rounds.empty()) return p;
  p.answer = answer_of(out);
  const ServeRules rules(in);
  const std::vector<std::array<double, max_targets>> claimed = claimed_of(rules, run.game);
  p.board = make_board(rules, run.game,
                       {.causes = causes(),
                        .start_name = "As found",
                        .start_note = "eager, BF16",
                        .opens = "opens Optimize with this round",
                        .slab_words = in.gap == GapKind::mean ? "per token" : "a gap",
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
