#include "chapters/capstone/shared/game_fields.h"

#include <cmath>

namespace chapters::capstone {
namespace {

constexpr std::string_view not_said = "Nothing was said before this round.";

}  // namespace

Score score_of(const Played& played) {
  const Round& last = played.now();
  Score score{.rounds = static_cast<std::int64_t>(played.count),
              .won_s = last.won,
              .won_in_all_s = played.rounds.front().figures.said_of - last.figures.said_of,
              .nothing_won = played.count > 0 && last.nothing_won()};
  for (const Round& r : played.rounds) score.wasted += r.wasted();
  if (played.predicted > 0) score.off = 100 * (played.off - 1);
  if (last.said > 0) {
    score.said_s = last.said;
    score.said_off_s = std::abs(last.said - last.figures.said_of);
  }
  return score;
}

void describe_rounds(Fields& f, std::string& rounds, std::vector<double>& said, std::string_view said_help,
                     double most_s) {
  f.group("The game");
  f.text("rounds", rounds, "Rounds", "The cards that were played, in order, between commas.", {.headline = true});
  f.reals("said", said, {"Said before each", "s"}, said_help, {.range = {0, most_s}});
}

void describe_row_end(Fields& f, double& said_s, std::string& bounced) {
  f.real("said_s", said_s, {"You said", "s"}, "Before the round.", {.absent = not_said});
  f.text("bounced", bounced, "Bounced");
}

void describe_score(Fields& f, Score& s, const ScoreFormulas& formulas) {
  f.group("The game");
  f.integer("rounds_played", s.rounds, "Rounds", "Cards played, those that bounced too.");
  f.real("par", s.par, "Par", "The fewest rounds to the target, found by a search over all cards.",
         {.absent = "It is told once the target is met."});
  f.integer("wasted", s.wasted, "Wasted", "Rounds that won next to nothing, lost, or bounced.");
  f.real("off", s.off, {"Your lines are off by", "%"}, "The geometric mean over the rounds.", {.absent = not_said});
  f.real("won_s", s.won_s, {"The last round won", "s"}, "Below 0 it lost.", {.formula = formulas.won});
  f.toggle("nothing_won", s.nothing_won, "The last round won next to nothing", "Less than half a percent, either way.");
  f.real("won_in_all_s", s.won_in_all_s, {"Won in all", "s"}, {.formula = formulas.won_in_all});
  f.real("said_s", s.said_s, {"You said", "s"}, "Before the last round.", {.absent = not_said});
  f.real("said_off_s", s.said_off_s, {"... off by", "s"}, {.absent = not_said, .formula = formulas.said_off});
}

}  // namespace chapters::capstone
