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
inline constexpr std::size_t most_scenario_records = 2000;                ///< the oldest go first

/// One case that ended: a symptom of a board, a branching case, a design or a pitch.
struct ScenarioRecord {
  std::string kind;                ///< board, branching, design or pitch
  std::string id, topic;           ///< the case; a chapter's slug
  std::int64_t seed = 0;           ///< the seed of the deal
  std::int64_t right = 0, of = 0;  ///< threads, checks of the best path, points
  std::int64_t wrong = 0;          ///< wrong threads, or a wrong diagnosis
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
