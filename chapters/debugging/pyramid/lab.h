#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "models/debugging/search_cases.h"
#include "widgets/base/parts.h"

/// A fault, the causes that it may have, and checks that cost minutes: which one first?
namespace chapters::debugging::pyramid {

using models::debugging::CheckOrder, models::debugging::Layer, models::debugging::SearchCase;

/// Orders that follow a rule.
enum class Rule : std::uint8_t { cheapest, likeliest, rate, pyramid, best };
inline constexpr std::size_t rule_count = 5;

inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();

/// Defaults: the merge case, with the dearest check first.
struct Inputs {
  std::string which = "merge";
  std::int64_t seed = 1;
  std::vector<std::string> order{"profile"};  ///< ids of checks; the others follow, the cheapest first
  Rule against = Rule::cheapest;
  double dear_minutes = 0, likely = 0;  ///< 0: the case's own
  double sees = 100, false_alarm = 0;   ///< %
  double chase_minutes = 20, escalation_minutes = 0;
  bool operator==(const Inputs&) const = default;
};

struct CheckRow {
  std::string id, name;
  Layer layer{};
  double minutes = 0, convicts = 0, rate = 0;  ///< convicts: % of cases, run as the first; rate: of that per minute
  double points_at = 0;                        ///< % of cases in which it leaves a group, run as the first
  std::int64_t place = 0, best_place = 0;      ///< from 1
};
struct CauseRow {
  std::string name;
  Layer layer{};
  double likelihood = 0, minutes = 0, best_minutes = 0, missed = 0;
};

struct Outputs {
  std::string reason;
  double mean_minutes = 0, best_minutes = 0, against_minutes = 0, score = 100, factor = 1;
  std::array<double, rule_count> rule_minutes{};
  std::vector<std::string> best_order, order_run;
  bool exact = true, is_best = false;
  std::string first, best_first, likeliest_cause, dearest, not_in_case;
  double first_convicts = 0, first_rate = 0, first_minutes = 0;
  double best_first_convicts = 0, best_first_rate = 0, best_first_minutes = 0, next_rate = 0;
  double first_points_at = 0, best_first_points_at = 0;
  double pays_up_to = no_figure;
  double last_minutes = 0, missed = 0, checks_missed_minutes = 0;
  std::array<double, models::debugging::layer_count> layers{};
  double likeliest = 0, checks_count = 0;
  std::vector<CheckRow> checks;
  std::vector<CauseRow> causes;
};

/// What a check of a dealt case says; `points`: it is one of those that the check sees.
enum class Verdict : std::uint8_t { nothing, alarm, found, points };

struct Run {
  SearchCase search;
  std::string symptom;
  models::debugging::Prior prior{};
  models::debugging::SearchWalk yours, against, best;
  CheckOrder order, against_order, best_order;
  // A dealt case alone has these:
  bool dealt = false;
  std::size_t cause = 0;
  std::vector<Verdict> verdicts;         ///< what each check says
  double best_would_take = 0;            ///< minutes in which the best order finds this cause, by the same draws
  std::vector<std::vector<float>> left;  ///< by the set of checks that were run: each cause's probability
  std::vector<std::uint8_t> named;       ///< by that set: 1 where a group has one cause left
};

/// One cause in a shape: as thick as it is likely, as long as it takes.
struct Bar {
  std::string label, found;
  Layer layer{};
  double share = 0, minutes = 0;
};
/// One check on the clock.
struct Chip {
  std::string id, name, minutes, words, tip;
  double start = 0, end = 0;
  bool skipped = false;
  bool points = false;  ///< at a group; it convicts nobody
};
struct Shape {
  std::string title, mean_words;
  std::vector<Chip> chips;
  std::vector<Bar> bars;
  double mean = 0;
};
/// A figure with a bar: an order's mean, a check's rate.
struct Row {
  std::string name, words;
  double value = 0;
  bool marked = false;
};
/// A cause and a check as the case gives them, before anything is computed.
struct Cause {
  std::string name;
  Layer layer{};
  double share = 0;
};
struct Cost {
  std::string name;
  double share = 0;  ///< relative to the longest check
};
struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  Shape yours, against;
  std::vector<Bar> ghost;  ///< the best order's bars; empty where yours is as good
  std::string ghost_words, source, symptom;
  std::string points_words;  ///< what a dashed check is; empty where there is none
  std::vector<Row> rules, rates;
  std::vector<Cause> causes;
  std::vector<Cost> checks;
  double longest = 1;
  bool dealt = false;
  std::vector<std::string> deal_names, deal_minutes, cause_names;  ///< the dealt case's, as texts
  std::string deal_key;  ///< names the deal: what was run is forgotten when it changes
  std::shared_ptr<const Run> run;
};

/// A dealt case as it is played.
struct Play {
  std::vector<std::uint8_t> ran;
  std::string deal_key;
  bool found = false, escalated = false;
  double minutes = 0;
  std::uint32_t set = 0;
};

struct View {
  DescribedTable<CheckRow> checks;
  DescribedTable<CauseRow> causes;
  std::vector<widgets::PlacedLegend> legend;
  std::string held;  ///< id of the check that is moved
  Play play;
};

/// The case that the Inputs name, with what they change in it.
struct ReadCase {
  SearchCase search;
  std::string name, symptom;
  models::debugging::Prior prior{};
};
ReadCase read_case(const Inputs& in, models::debugging::DealtCase* dealt = nullptr);
CheckOrder rule_order(const SearchCase& c, Rule rule);
/// `exact`: the best order is proven to be the best.
std::string_view rule_name(Rule rule, bool exact);
/// Puts a check before another of `now`, or at the end, and makes that the order.
void move_check(Inputs& in, const std::vector<Chip>& now, std::string_view held, std::size_t to);

chapters::Computed<Outputs, Run> compute(const Inputs& in, const Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_shapes(Inputs& in, const Picture& picture, View& view, ImVec2 size);
void draw_play(const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, CheckRow& row);
void describe(Fields& f, CauseRow& row);

}  // namespace chapters::debugging::pyramid
