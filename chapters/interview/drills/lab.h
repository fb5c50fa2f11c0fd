#pragma once
#include <string>
#include <vector>

#include "chapters/practice/drill_history.h"

namespace chapters::interview::drills {

enum class Level : std::uint8_t { adaptive, recall, one_step, two_steps, formula, compare, design };
enum class Clock : std::uint8_t { none, two_minutes, sixty_seconds };
double limit_of(Clock clock);  ///< s; 0 without a clock

struct DrillInputs {
  std::string topic = "weak", drill = "any";
  Level level = Level::adaptive;
  Clock clock = Clock::two_minutes;
  std::int64_t questions = 10, seed = 0;
  bool hints = false, reveal = false;
  std::vector<DrillRecord> history;
  double now_s = 0;
  bool operator==(const DrillInputs&) const = default;
};

struct DrillOutputs {
  std::string question, topic_now, unit_hint, hint, why, weakest;
  std::int64_t level_now = 1, question_of_round = 1, right_in_round = 0, answered = 0, best_streak = 0, due = 0,
               daily_streak = 0;
  bool daily_done = false;
  double answer = 0, limit_s = 0, median_s = 0;
  std::string reason;

  DrillQuestion asked;
  std::string heading, daily;  ///< `daily`: how the question of the day stands
  bool is_daily = false;
  std::vector<TopicStanding> topics;
};

/// What is on the card: the question that waits, or the one just answered, held until Next.
struct DrillView {
  char typed[128] = {};
  Requests requests;    ///< the clock keeps the window awake; the card links to its lab
  std::string said;     ///< an answer to show graded without keeping it
  std::string refused;  ///< why the last answer could not be read
  DrillQuestion held;
  DrillMark mark;
  std::string held_heading;
  const Drill* asked_drill = nullptr;  ///< which question the clock and the box belong to
  std::uint64_t asked_seed = 0;
  bool holding = false, running = false, focus = false;
  double started = 0, first = -1, held_seconds = 0;  ///< ImGui time, s
};

void describe(Fields& f, DrillInputs& in);
void describe(Fields& f, DrillOutputs& out);
void describe(Fields& f, DrillView& view);
DrillOutputs compute_drills(const DrillInputs& in);
void draw_drills(DrillInputs& in, const DrillOutputs& out, DrillView& view);

}  // namespace chapters::interview::drills
