#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "chapters/practice/recall_history.h"
#include "models/learning/deck_forecast.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// Open questions: said aloud, uncovered point by point, graded by yourself, and asked again when FSRS says so.
namespace chapters::interview::recall {

enum class Memory : std::uint8_t { yours, example };
enum class Clock : std::uint8_t { none, one_minute, two_minutes, five_minutes };
double limit_of(Clock clock);  ///< s; 0 without a clock

struct Inputs {
  std::string topic = "due", card = "due";
  Clock clock = Clock::two_minutes;
  double wait_s = 0, retention = 90;
  std::int64_t new_per_day = 8, horizon_days = 30, seed = 1;
  double first_known = 50, seconds_per_answer_s = 90;
  Memory memory = Memory::yours;
  std::vector<double> example_grades{3, 1, 3, 3}, example_gaps_s{2 * 86400.0, 1 * 86400.0, 4 * 86400.0};
  double example_since_s = 12 * 86400.0;
  std::vector<RecallRecord> history;
  double now_s = 0;
  bool operator==(const Inputs&) const = default;
};

struct Outputs {
  std::string question, topic_now, why_now;
  double retrievability = 0;  ///< percent; NaN: the card was never answered, and is asked today
  double interval_again_s = 0, interval_hard_s = 0, interval_good_s = 0, interval_easy_s = 0;
  double expected_interval_s = 0, stability_s = 0, difficulty = 0;  ///< stability and difficulty are NaN when unseen
  std::int64_t points = 0;
  std::int64_t cards = 0, seen = 0, due_today = 0, due_again = 0, answered_today = 0;
  double known_today = 0;      ///< cards
  double retention_today = 0;  ///< percent of those seen; NaN: none
  double retention_expected = 0, known_then = 0, seen_then = 0, reviews_per_day = 0, most_per_day = 0,
         minutes_per_day = 0;
  std::int64_t answered = 0, right = 0, sure_and_wrong = 0;
  double calibration = 0;  ///< percentage points surer than right; NaN: nothing answered
  std::string reason;
};

/// One answer of the open card's past.
struct PastAnswer {
  double at_days = 0;  ///< from today, so not above 0
  models::FsrsGrade grade{};
  models::FsrsMemory after;
};
struct CardState {
  double chance = -1;  ///< 0 to 1 that it is known today; -1: never answered
  bool due = false;
};
struct WorkloadPoint {
  double retention = 0, answers_a_day = 0, known = 0;  ///< percent; answers; percent of the deck on the last day
};
struct SureBin {
  double sure = 0, right = 0, asked = 0;  ///< percent; answers
};

struct Run {
  std::size_t open = 0;                     ///< the card on the table: its place in the deck
  std::vector<PastAnswer> past;             ///< oldest first
  models::FsrsMemory asked;                 ///< what is known of it when it is asked; empty: it is new
  double since_days = 0;                    ///< from the last answer to the day of asking
  std::array<models::FsrsMemory, 4> after;  ///< by grade
  std::vector<CardState> cards;             ///< one a card of the deck
  models::DeckForecast forecast;
  std::vector<WorkloadPoint> workload;
  std::vector<SureBin> bins;
  std::int64_t answers = 0;  ///< how many the history holds: changes when one was given
};

/// A row of the wall.
struct WallRow {
  std::string label, count;
  std::size_t first = 0, size = 0;
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  const RecallCard* card = nullptr;  ///< the one on the table; of the catalog, which stays alive
  std::string heading, today;        ///< over the card; at its right
  std::vector<WallRow> wall;
  std::vector<std::string> tips;  ///< one a card
  std::string wall_note, legend_low, legend_high;
  std::vector<widgets::Curve> memory, calendar, workload, calibration;
  double first_day = 0, last_day = 1, lowest = 50;  ///< ends of the memory plot: days from today, percent
  double asked_day = 0, asked_chance = 100;         ///< where the handle stands
  std::string_view memory_heading = "This card in your memory";
  std::string drag_words, memory_note;
  std::array<double, 4> back_days{};           ///< by grade, from today
  std::array<std::string, 4> back_words;       ///< "good  99 d"
  bool pressable = false;                      ///< grades can be given: it is asked today, and is the learner's card
  double yours_answers = 0, most_answers = 1;  ///< ends of the workload plot
  std::string yours_words;
};

struct View {
  Requests requests;
  std::int64_t uncovered = 0;  ///< points that are open
  std::int64_t said_mask = 0;  ///< bit i: point i was said
  double sure_percent = -1;    ///< below 0: not said yet
  char typed[512] = {};
  const RecallCard* card = nullptr;               ///< whose card this belongs to
  std::int64_t answers = -1;                      ///< how many the history held when it was laid on the table
  double started = -1, first = -1, stopped = -1;  ///< ImGui time, s
  widgets::PlotView memory, calendar, workload, calibration;
};

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
std::string days_words(double seconds);  ///< whole days: "1 day", "163 days"
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::interview::recall
