#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chapters/practice/drill.h"
#include "chapters/practice/drill_scope.h"

namespace chapters {

/// One answered question, as it is kept.
struct DrillRecord {
  std::string drill;
  std::int64_t seed = 0;
  double said = 0;
  bool right = false;
  double seconds = 0, time_s = 0;  ///< taken; when, in seconds since 1970
  bool near = false;               ///< not right, and near enough to count half
  bool operator==(const DrillRecord&) const = default;
};
void describe(Fields& f, DrillRecord& r);

inline constexpr std::size_t max_drill_records = 2000;  ///< the oldest go first
void add_record(std::vector<DrillRecord>& history, DrillRecord record);

/// The answers of a topic, counted.
struct DrillTally {
  double asked = 0, right = 0, near = 0;
  int level = 1, best = 0;  ///< to be asked next; highest answered right (0: none)
  double score() const { return right + near / 2; }
};
using DrillTallies = std::unordered_map<std::string_view, DrillTally>;  ///< by topic
DrillTallies tallies(const std::vector<Drill>& drills, std::span<const DrillRecord> history);

/// How a topic stands. Topics of which nothing was asked and that have no template in the `scope` are left out.
struct TopicStanding {
  std::string_view topic, label;
  double asked = 0, right = 0, near = 0;
  double score = 0;             ///< right answers and half of the near ones
  double ready = 0;             ///< lower end of the interval around score / asked, 0 to 1
  int level = 1, best = 0;      ///< to be asked next; highest answered right (0: none)
  std::int64_t due = 0;         ///< templates to come back to
  const Drill* next = nullptr;  ///< what to do there first
};
std::vector<TopicStanding> standings(const std::vector<Drill>& drills, const Choices& topics,
                                     std::span<const DrillRecord> history, const DrillScope& scope, double now_s,
                                     double z);

/// How a kind of question is remembered: right answers in a row, of which a near one begins anew, and when the last
/// was.
struct DrillMemory {
  std::int64_t streak = 0;
  double last_s = 0;
  /// When it is due again: 10 minutes after a wrong answer, else as models::review_interval_days.
  double due_s() const;
};
using DrillMemories = std::unordered_map<std::string_view, DrillMemory>;
DrillMemories memories(std::span<const DrillRecord> history);

/// Templates, known or not, whose time to be asked again has come.
std::int64_t due_count(std::span<const DrillRecord> history, double now_s);

inline constexpr std::string_view today_drill = "today";

struct DrillWish {
  std::string_view topic;  ///< empty: weak ones first
  std::string_view drill;  ///< not empty: this one; "today": the question of the day until it is answered
  int level = 0;           ///< 0: adaptive
  std::uint64_t seed = 0;
  double now_s = 0;
  std::size_t in_round = 0;           ///< how many of the latest answers are of this round
  const DrillScope* scope = nullptr;  ///< where no topic was chosen; null: every template
};
struct DrillChoice {
  const Drill* drill = nullptr;  ///< null when there are none
  std::uint64_t seed = 0;
  const char* why = "";  ///< "the next link of a chain", "due again", ...
  DrillWords words = DrillWords::alone;
};
/// What to ask next: the next link of a chain after a right or near answer of the same round, then what is due, then
/// the weakest topic near its level. A template that follows another and cannot stand alone is asked in a chain only;
/// who chose it is asked first what it follows.
DrillChoice choose_drill(const std::vector<Drill>& drills, std::span<const DrillRecord> history, const DrillWish& wish);

struct DealtDrill {
  DrillChoice choice;
  DrillQuestion question;
};
/// Chooses and makes a question whose numbers the round has not had yet, if the template has any left. Fails where
/// there are no templates or the chosen one is broken.
models::Result<DealtDrill> deal_drill(const std::vector<Drill>& drills, std::span<const DrillRecord> history,
                                      const DrillWish& wish, DrillLabs& labs);

/// Days since 1970, in UTC.
std::int64_t day_of(double now_s);
/// One question a day, the same for everybody who has the same templates and opened the same chapters: of level 3 or
/// above, in the first week of the lowest there is, understood without another, with numbers of that day alone.
DrillChoice daily_drill(const std::vector<Drill>& drills, double now_s, const DrillScope* scope = nullptr);
/// Was it answered, right or wrong?
bool daily_done(std::span<const DrillRecord> history, double now_s);
/// Days in a row on which it was answered, up to today, or to yesterday while today's is open.
std::int64_t daily_streak(std::span<const DrillRecord> history, double now_s);

}  // namespace chapters
