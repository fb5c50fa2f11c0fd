#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/recall_deck.h"
#include "models/learning/fsrs.h"

/// What is kept of the answers to open questions, and what they say.
namespace chapters {

/// One answer to a card, as it is kept.
struct RecallRecord {
  std::string card;
  std::int64_t grade = 3;             ///< 1 again, 2 hard, 3 good, 4 easy
  double sure_percent = 50;           ///< said before the answer was seen
  std::int64_t said = 0, points = 0;  ///< points that were said, of how many
  double seconds = 0, time_s = 0;     ///< taken; when, in seconds since 1970
  bool known() const { return grade >= 2; }
  bool operator==(const RecallRecord&) const = default;
};
void describe(Fields& f, RecallRecord& r);

inline constexpr std::string_view recall_table = "recall.history";  ///< the shared name that they are kept under
inline constexpr std::size_t max_recall_records = 4000;             ///< the oldest go first
void add_record(std::vector<RecallRecord>& history, RecallRecord record);

/// How a card is remembered. Days are those of UTC: two answers of one day are of the same day to FSRS.
struct RecallMemory {
  models::FsrsMemory memory;
  double first_s = 0, last_s = 0;  ///< when it was answered first and last, in seconds since 1970
  std::int64_t answers = 0, right = 0;
};
using RecallMemories = std::unordered_map<std::string_view, RecallMemory>;  ///< by card; the names are the history's
/// Rows in the order of time, whatever their order in the history: copies of several sessions are merged.
RecallMemories recall_memories(std::span<const RecallRecord> history);
/// The indices of the rows of one card, or of all where it is empty, in the order of time.
std::vector<std::size_t> recall_order(std::span<const RecallRecord> history, std::string_view card);

/// Whole days from the day of the last answer to `now_s`, in UTC.
double recall_days_since(const RecallMemory& memory, double now_s);
/// Has the day come on which a card of this memory is asked again?
bool recall_due(const RecallMemory& memory, double retention, double now_s);
/// Cards whose day has come, known to the program or not.
std::int64_t recall_due_count(const RecallMemories& known, double retention, double now_s);
std::int64_t recall_due_count(std::span<const RecallRecord> history, double retention, double now_s);

/// The answers of a topic, counted: for whoever draws a balance.
struct RecallTally {
  double asked = 0, right = 0;  ///< answers; right: hard, good or easy
  double seen = 0, cards = 0;   ///< cards answered, of how many
};
RecallTally recall_tally(const RecallDeck& deck, std::span<const RecallRecord> history, std::string_view topic);

/// How sure against how often right, over all answers.
struct RecallCalibration {
  double asked = 0, right = 0, sure = 0;  ///< answers; right ones; the sum of what was said, 1 for 100 %
  std::int64_t sure_and_wrong = 0;        ///< said 75 % or more, and not known
};
RecallCalibration recall_calibration(std::span<const RecallRecord> history);

}  // namespace chapters
