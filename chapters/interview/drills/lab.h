#pragma once
#include <memory>
#include <string>
#include <vector>

#include "chapters/practice/drill_history.h"
#include "widgets/charts/interval_bar.h"
#include "widgets/prose/formula.h"

namespace chapters::interview::drills {

enum class Level : std::uint8_t { adaptive, recall, one_step, two_steps, formula, compare, design };
enum class Clock : std::uint8_t { none, two_minutes, sixty_seconds };
double limit_of(Clock clock);  ///< s; 0 without a clock

struct Inputs {
  std::string topic = "weak", drill = "any";
  Level level = Level::adaptive;
  Clock clock = Clock::two_minutes;
  std::int64_t questions = 10, seed = 0;
  bool hints = false, reveal = false;
  std::vector<DrillRecord> history;
  std::vector<OpenedLab> opened;
  double now_s = 0;
  bool operator==(const Inputs&) const = default;
};

struct Outputs {
  std::string question, topic_now, unit_hint, hint, why, weakest;
  std::int64_t right = 0, near = 0, level_now = 1, question_of_round = 1, right_in_round = 0, near_in_round = 0,
               answered = 0, best_streak = 0, due = 0, daily_streak = 0, right_in_last_round = 0,
               near_in_last_round = 0;
  bool daily_done = false, is_daily = false;     ///< is_daily: the question of the day is on the card
  double answer = 0, limit_s = 0, median_s = 0;  ///< NaN: not revealed; no clock's limit is 0; nothing answered
  std::string reason;
};

/// The question that was answered last, with its numbers, and what was said.
struct LastAnswer {
  DrillQuestion question;
  double said = 0;
  bool right = false;
};

struct Run {
  DrillQuestion asked;
  std::vector<TopicStanding> topics;
  std::shared_ptr<const LastAnswer> last;  ///< null where nothing was answered, or its template is gone
};

/// A question as it is read: in people's numbers, its formula set as one.
struct CardText {
  std::string question, unit_label;
  std::string hint, hint_formula;  ///< the formula is empty where the hint is a sentence
  std::vector<std::string> steps;
};
CardText card_text(const DrillQuestion& question);

/// Where an answer stands among those that count, on a logarithmic scale.
struct Ruler {
  double lo = 1, hi = 10, from = 0, to = 0;  ///< the scale; what counts as right
  double answer = 0, said = 0;               ///< in the SI unit
  std::string answer_text, said_text;
  struct Slip {
    double value = 0;
    std::string says;
  };
  std::vector<Slip> slips;
  struct Tick {
    double value = 0;
    std::string text;
    bool decade = false;
  };
  std::vector<Tick> ticks;  ///< 1, 2 and 5 times the powers of ten
  bool drawn = false;       ///< false where the answer or what was said is not above 0
};
Ruler ruler_of(const DrillQuestion& question, double said);

/// What stands on the card after the last question of a round.
struct RoundEnd {
  std::string title;               ///< "7 of 10 right, 1 near"
  std::vector<std::string> lines;  ///< about all answers
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  std::string heading;  ///< topic, level and number of the question
  std::string daily;    ///< how the question of the day stands
  CardText card;
  RoundEnd round_end;
  std::string promise;  ///< over the ruler before Start: your last question, or what a ruler will show
  Ruler last;           ///< the last answer among those that count; not drawn where there is none
  bool last_right = false;
  std::vector<std::string> notes;               ///< one a topic: "7 of 9 right"
  std::vector<widgets::IntervalRow> standings;  ///< one a topic; they point to `notes`
};

/// The answer of this round that was furthest from right.
struct FurthestOff {
  double miss = 0;  ///< |ln(said / answer)|; 0 where every answer was right
  std::string words, link;
};

/// What is on the card: the question that waits, or the one just answered, held until Next.
struct View {
  char typed[128] = {};
  Requests requests;    ///< the clock keeps the window awake; the card links to its lab
  std::string said;     ///< an answer to show graded without keeping it
  std::string refused;  ///< why the last answer could not be read
  DrillQuestion held;
  CardText held_card;
  DrillMark mark;
  Ruler ruler;
  std::string held_heading;
  const Drill* asked_drill = nullptr;  ///< which question the clock and the box belong to
  std::uint64_t asked_seed = 0;
  FurthestOff furthest;
  bool round_over = false;  ///< the card says how the round went
  bool begun = false;       ///< the question was opened, so that its clock runs
  /// Version of the picture that the answer which is held was given to; the next question comes with another one.
  std::uint64_t answered_version = 0;
  bool goes_on = false;  ///< Next was pressed, and the next question is not there yet
  bool holding = false, running = false, focus = false;
  double started = 0, first = -1, held_seconds = 0;  ///< ImGui time, s
  widgets::FormulaView hint;
  widgets::IntervalBarView standings;
};

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::interview::drills
