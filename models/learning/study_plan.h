#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// A plan of the days to an interview: what is due first, then what raises most what the answers support.
namespace models {

enum class StudyKind : std::uint8_t {
  review,    ///< drills whose time to come back has come
  recall,    ///< cards of open questions whose time has come, or new ones
  practice,  ///< questions on one topic
  scenario,  ///< a board of symptoms or a case
  talk,      ///< a pitch against the clock
};
inline constexpr std::size_t study_kinds = 5;

/// How a topic stands before the first day.
struct StudyTopic {
  double score = 0, asked = 0;  ///< right answers with half of the near ones; answers
};

/// A drill that comes back: in how many days it is due (at most 0: now), how many right answers it has in a row, and
/// its topic (-1: one that is not among the topics).
struct StudyReview {
  double due_days = 0;
  std::int64_t streak = 0, topic = -1;
};

struct StudyWish {
  std::int64_t days = 14;         ///< 1 or more, the first is today and the last is the day before the interview
  double minutes_a_day = 30;      ///< above 0
  double drill_minutes = 2;       ///< for one question of the drills
  double card_minutes = 1.5;      ///< for one card of an open question
  double board_minutes = 8;       ///< for one board or case
  double talk_minutes = 5;        ///< for one pitch
  std::int64_t chunk = 5;         ///< questions of a topic in one go
  std::int64_t new_cards = 5;     ///< unseen cards a day, while there are any
  std::int64_t unseen_cards = 0;  ///< cards that were never asked
  std::int64_t board_every = 3;   ///< days from board to board; 0: none
  std::int64_t talk_last = 2;     ///< a pitch on each of so many last days
  double rate = 0.9;              ///< share of answers that will be right, 0 to 1
  double goal = 0.8;              ///< the share that is to be shown, 0 to 1
  double z = 1.959964;            ///< normal quantile of the interval
};

/// Minutes on one day for one purpose.
struct StudyBlock {
  std::int64_t day = 0;  ///< 0: today
  StudyKind kind{};
  std::int64_t topic = -1;  ///< for practice: index into the topics
  std::int64_t count = 0;   ///< questions, cards, boards or pitches
  double minutes = 0;
};

struct StudyPlan {
  std::vector<StudyBlock> blocks;  ///< by day; within a day in the order in which they are to be done
  std::vector<double> ready;       ///< one a topic: the share that its answers will support at the interview
  std::int64_t topics_asked = 0;   ///< with an answer by then
  std::int64_t topics_ready = 0;   ///< that reach the goal
  std::int64_t left_due = 0;       ///< reviews and cards that are due by then and have no place
  double minutes = 0;              ///< in all
};

/// Plans day by day. A day takes first what is due (drills, then cards, the longest overdue first), as far as they have
/// room, then a pitch or a board on its days, then new cards, then chunks of questions: the first of a day for
/// the topic that is least supported of those answered below the goal, the others for the topic whose supported share
/// (wilson_lower, counted up to the goal) rises most for it, the earlier topic where two rise alike; where none rises,
/// for the least supported below the goal. A question
/// that is asked comes back after review_interval_days as one answered right does, and each answer counts for its topic
/// with the share `rate`. `card_due_days` holds, per card that was seen, the days in which it is due; a card that is
/// planned does not come back within the plan. What has no room waits for the next day.
StudyPlan plan_study(std::span<const StudyTopic> topics, std::span<const StudyReview> reviews,
                     std::span<const double> card_due_days, const StudyWish& wish);

}  // namespace models
