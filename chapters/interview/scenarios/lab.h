#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/interview/scenarios/moves.h"
#include "chapters/mechanism/lab.h"
#include "chapters/practice/scenario_board.h"
#include "chapters/practice/scenario_history.h"
#include "models/debugging/check_tree.h"

/// Symptoms to be joined with causes, evidence and fixes; faults to be found by checks; designs; pitches.
namespace chapters::interview::scenarios {

enum class ScenarioKind : std::uint8_t { board, branching, design, pitch };
enum class Deal : std::uint8_t { mixed, twins, today };
enum class CaseLevel : std::uint8_t { any, one, two, three };

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::int64_t max_cards = 6;

/// Defaults: a board of five of all chapters, with twins on it.
struct Inputs {
  ScenarioKind kind = ScenarioKind::board;
  std::string topic = "any", which = "dealt";
  CaseLevel level = CaseLevel::any;
  Deal deal = Deal::mixed;
  std::int64_t cards = 5, seed = 7;
  double case_s = 60;       ///< clock per symptom; 0: none
  double dear_minutes = 0;  ///< the longest check of a branching case; 0: the case's own
  double design_s = 1800;   ///< clock of a design
  double words_per_min = 140;
  bool reveal = false;
  std::string moves;
  std::vector<ScenarioRecord> history;
  double now_s = 0;
  bool operator==(const Inputs&) const = default;
};

/// A figure of a design's model answer.
struct FigureRow {
  std::string label, value, lab, link;
};

struct Outputs {
  std::string what, topic_now, state, left_over, best_first;
  double score = 0, elapsed_s = 0, limit_s = 0;
  std::int64_t right = 0, of = 0, wrong = 0, told = 0, cards = 0, causes = 0, assignments = 0, of_topic = 0;
  double by_luck = 0;
  bool ended = false, moves_left_out = false;
  // A branching case has these:
  double spent_minutes = 0, best_mean_minutes = unknown, cheapest_mean_minutes = unknown, best_here_minutes = unknown,
         longest_minutes = unknown, all_checks_minutes = unknown;
  std::int64_t checks = 0, possible = 0;
  // A design, and a pitch:
  std::vector<FigureRow> figures;
  double words = 0, point_s = 0;
  // What was kept:
  std::int64_t kept = 0;
  double kept_score = unknown;
  std::string reason;
};

/// A thread that was drawn, and whether it is right.
struct Thread {
  std::size_t column = 0, from = 0, to = 0;
  bool right = false;
};
/// A part of the clock: until `to_s` a case was in hand.
struct ClockPart {
  double from_s = 0, to_s = 0;
  std::string_view name;
  bool right = false;
};
struct BoardPlay {
  std::vector<Thread> threads;  ///< those that lie on the board
  std::vector<ClockPart> parts;
  std::vector<std::int64_t> wrong_of, right_of;  ///< by case: wrong threads ever, right ones now
  std::vector<double> seconds_of;                ///< by case: clock that its threads took
  std::int64_t right = 0, wrong = 0, told = 0;
  bool ended = false;
  double ended_s = 0;
};
/// What the board says after these moves. Those after the limit do not count; no limit where it is 0.
BoardPlay play_board(const ScenarioBoard& board, const std::vector<Move>& moves, double limit_s);

/// A check that was run.
struct RanCheck {
  std::size_t check = 0;
  double from_min = 0, to_min = 0;
  std::uint32_t left = 0;  ///< causes still possible after it
  int outcome = 0;
};
struct TreePlay {
  std::vector<RanCheck> ran;
  std::uint32_t left = 0;
  double spent_min = 0;
  int named = -1;   ///< cause
  double sure = 0;  ///< share of what was still possible that the named cause had, 0 to 1
  bool ended = false;
};
TreePlay play_tree(const models::debugging::TreeCase& tree, std::size_t cause, const std::vector<Move>& moves);

/// When each point was said, s; NaN: not yet.
std::vector<double> play_ticks(std::size_t points, const std::vector<Move>& moves, bool& ended);

struct Run {
  ScenarioKind kind = ScenarioKind::board;
  std::string key;  ///< names the deal: moves are of it alone
  ScenarioBoard board;
  BoardPlay play;
  const BranchingCase* branching = nullptr;
  models::debugging::TreeCase tree;
  models::debugging::CheckTree best;
  std::vector<int> path;  ///< the best plan's checks for this cause
  std::size_t cause = 0;
  TreePlay tree_play;
  const DesignCase* design = nullptr;
  const Pitch* pitch = nullptr;
  std::vector<double> said;      ///< by point
  std::vector<std::string> say;  ///< by point, its figures filled in
  bool ended = false;
};

/// Why a thread is wrong, in a sentence and with the instruments side by side.
struct WhyWrong {
  std::string title, says;
  const SymptomCase* here = nullptr;
  const SymptomCase* would = nullptr;  ///< null: only the sentence
};

struct Lane {
  std::string name, share;
  double part = 0;
};
struct CheckCard {
  std::string name, minutes, says;
};
struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  std::vector<std::string> seconds_line;  ///< by case of the board: what its other instrument reads
  std::vector<Thread> solution;           ///< once it may be seen
  WhyWrong why;
  std::vector<std::string> notes;  ///< next to the clock
  std::vector<Lane> lanes;
  std::vector<CheckCard> check_cards;
  std::vector<std::string> ghost;  ///< the best path, check by check, once the case has ended
  double longest_min = 1, best_here = 0, most_part = 0;
  std::string heading, link, title;
  std::vector<std::string> point_times, heads;  ///< a head is "Point 3" until that point is open
  std::vector<bool> open_points, open_figures;  ///< said, or over: before that nothing of them is shown
};

struct View {
  Requests requests;
  std::string key;  ///< the deal that the clock belongs to
  bool running = false;
  double since = 0;  ///< ImGui time at which the clock stood at `base_s`
  double base_s = 0, first = -1;
  bool touched = false;   ///< a move was made by hand in this deal
  std::string ended_key;  ///< the deal that the clock has ended
  std::string kept_key;   ///< the deal whose end is in the history
  int held_column = -1;
  std::size_t held_row = 0;
  bool dragging = false;
};

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run, const WhyWrong& why);
WhyWrong why_wrong(const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, FigureRow& row);
void describe(Fields& f, View& view);

}  // namespace chapters::interview::scenarios
