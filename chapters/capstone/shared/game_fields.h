#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/capstone/shared/game.h"
#include "chapters/mechanism/field.h"

/// Inputs, outputs and columns of every game of rounds whose figure is a time.
namespace chapters::capstone {

/// How a game stands.
struct Score {
  std::int64_t rounds = 0, wasted = 0;
  double won_s = 0, won_in_all_s = 0;  ///< by the last round, and by all
  bool nothing_won = false;            ///< by the last round
  double par = not_claimed;            ///< not known to score_of: a search finds it
  /// NaN where nothing was said; `off` in %, over all rounds.
  double off = not_claimed, said_s = not_claimed, said_off_s = not_claimed;
};
Score score_of(const Played& played);

/// The inputs `rounds` and `said`, of which none is above `most_s`.
void describe_rounds(Fields& fields, std::string& rounds, std::vector<double>& said, std::string_view said_help,
                     double most_s);
/// What a row has last: `said_s` and `bounced`.
void describe_row_end(Fields& fields, double& said_s, std::string& bounced);

/// Formulas in the words of a lab's figure.
struct ScoreFormulas {
  std::string_view won, won_in_all, said_off;
};
void describe_score(Fields& fields, Score& score, const ScoreFormulas& formulas);

}  // namespace chapters::capstone
