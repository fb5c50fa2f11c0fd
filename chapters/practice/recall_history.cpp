#include "chapters/practice/recall_history.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace chapters {
namespace {

constexpr double recall_day_s = 86400;

double recall_day(double time_s) { return std::floor(time_s / recall_day_s); }

}  // namespace

void describe(Fields& f, RecallRecord& r) {
  f.text("card", r.card, "Card");
  f.integer("grade", r.grade, "Grade", "1 again, 2 hard, 3 good, 4 easy.", {.range = {1, 4}});
  f.real("sure_percent", r.sure_percent, {"Sure", "%"}, "Before the answer was seen.", {.range = {0, 100}});
  f.integer("said", r.said, "Points said", {.range = {0, 100}});
  f.integer("points", r.points, "Points", {.range = {0, 100}});
  f.real("seconds", r.seconds, {"Time taken", "s"}, {.range = {0, 1e6}});
  f.real("time_s", r.time_s, {"Answered", "s"}, "Seconds since 1970.", {.range = {0, 1e11}});
}

void add_record(std::vector<RecallRecord>& history, RecallRecord record) {
  record.seconds = std::clamp(record.seconds, 0.0, 1e6);
  record.time_s = std::clamp(record.time_s, 0.0, 1e11);
  if (history.size() >= max_recall_records)
    history.erase(history.begin(),
                  history.begin() + static_cast<std::ptrdiff_t>(history.size() - max_recall_records + 1));
  history.push_back(std::move(record));
}

std::vector<std::size_t> recall_order(std::span<const RecallRecord> history, std::string_view card) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < history.size(); ++i)
    if (card.empty() || history[i].card == card) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return history[a].time_s < history[b].time_s; });
  return order;
}

RecallMemories recall_memories(std::span<const RecallRecord> history) {
  RecallMemories out;
  for (const std::size_t i : recall_order(history, {})) {
    const RecallRecord& r = history[i];
    RecallMemory& m = out[r.card];
    const double since = m.memory.seen() ? recall_days_since(m, r.time_s) : 0;
    m.memory =
        models::fsrs_review(m.memory, since, static_cast<models::FsrsGrade>(std::clamp<std::int64_t>(r.grade, 1, 4)));
    if (m.answers == 0) m.first_s = r.time_s;
    m.last_s = r.time_s;
    ++m.answers;
    m.right += r.known();
  }
  return out;
}

double recall_days_since(const RecallMemory& memory, double now_s) {
  return std::max(0.0, recall_day(now_s) - recall_day(memory.last_s));
}

bool recall_due(const RecallMemory& memory, double retention, double now_s) {
  return memory.memory.seen() &&
         recall_days_since(memory, now_s) >= models::fsrs_next_interval_days(memory.memory.stability_days, retention);
}

std::int64_t recall_due_count(const RecallMemories& known, double retention, double now_s) {
  std::int64_t due = 0;
  for (const auto& [card, memory] : known) due += recall_due(memory, retention, now_s);
  return due;
}
std::int64_t recall_due_count(std::span<const RecallRecord> history, double retention, double now_s) {
  return recall_due_count(recall_memories(history), retention, now_s);
}

RecallTally recall_tally(const RecallDeck& deck, std::span<const RecallRecord> history, std::string_view topic) {
  RecallTally out;
  std::unordered_set<std::string_view> of_topic, seen;
  for (const RecallCard& c : deck.cards)
    if (c.topic == topic) of_topic.insert(c.id);
  out.cards = static_cast<double>(of_topic.size());
  for (const RecallRecord& r : history) {
    if (!of_topic.contains(r.card)) continue;
    out.asked += 1;
    out.right += r.known();
    seen.insert(r.card);
  }
  out.seen = static_cast<double>(seen.size());
  return out;
}

RecallCalibration recall_calibration(std::span<const RecallRecord> history) {
  constexpr double sure = 75;
  RecallCalibration out;
  for (const RecallRecord& r : history) {
    out.asked += 1;
    out.right += r.known();
    out.sure += r.sure_percent / 100;
    out.sure_and_wrong += r.sure_percent >= sure && !r.known();
  }
  return out;
}

}  // namespace chapters
