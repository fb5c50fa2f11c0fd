#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"

/// What was done in interview/scenarios, as it is kept, and how it counts.
namespace chapters {

inline constexpr std::string_view scenarios_table = "scenarios.history";  ///< the kept table's shared name
inline constexpr std::size_t max_scenario_records = 2000;                 ///< the oldest go first

/// One case that ended: a symptom of a board, a branching case, a design or a pitch.
struct ScenarioRecord {
  std::string kind;                ///< board, branching, design, pitch or detective
  std::string id, topic;           ///< the case's, and the slug of its chapter
  std::int64_t seed = 0;           ///< what it was dealt with
  std::int64_t right = 0, of = 0;  ///< threads, points, or the score of a branching case out of 100
  std::int64_t wrong = 0;          ///< threads that were ever wrong
  double seconds = 0, time_s = 0;  ///< taken; when, in seconds since 1970
  bool operator==(const ScenarioRecord&) const = default;
};
void describe(Fields& f, ScenarioRecord& r);
void add_record(std::vector<ScenarioRecord>& history, ScenarioRecord record);

/// What a case counts, 0 to 1: the share that was right, less half a share for each wrong one.
double scenario_share(const ScenarioRecord& r);

/// The cases of a topic, counted.
struct ScenarioStanding {
  std::string topic;
  double cases = 0, score = 0;  ///< score: the sum of scenario_share
  double last_s = 0;            ///< when the last one ended
};
/// One a topic, in the order in which they were met first.
std::vector<ScenarioStanding> scenario_standings(std::span<const ScenarioRecord> history);

}  // namespace chapters
