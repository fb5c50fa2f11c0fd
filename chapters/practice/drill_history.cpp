#include "chapters/practice/drill_history.h"

#include <algorithm>
#include <cmath>

#include "chapters/practice/drill_choice.h"
#include "models/learning/practice.h"

namespace chapters {
DrillTallies tallies(const std::vector<Drill>& drills, std::span<const DrillRecord> history) {
  std::unordered_map<std::string_view, const Drill*> by_id;
  for (const Drill& d : drills) by_id.emplace(d.id, &d);
  DrillTallies out;
  for (const DrillRecord& r : history) {
    const auto at = by_id.find(r.drill);
    if (at == by_id.end()) continue;
    const Drill& d = *at->second;
    DrillTally& t = out[d.topic];
    t.asked += 1;
    t.right += r.right ? 1 : 0;
    t.near += r.near ? 1 : 0;
    if (!r.near) t.level = models::next_level(t.level, d.level, r.right, drill_levels);
    if (r.right) t.best = std::max(t.best, d.level);
  }
  return out;
}

void describe(Fields& f, DrillRecord& r) {
  f.text("drill", r.drill, "Drill");
  f.integer("seed", r.seed, "Seed", {.range = {0, 1e9}});
  f.real("said", r.said, "Said", "In the SI unit of the answer.", {.range = {-1e300, 1e300}});
  f.toggle("right", r.right, "Right");
  f.real("seconds", r.seconds, {"Time taken", "s"}, {.range = {0, 1e6}});
  f.real("time_s", r.time_s, {"Answered", "s"}, "Seconds since 1970.", {.range = {0, 1e11}});
  // Written only where it is true, so that the answers of versions without it stay the rows that they are.
  f.toggle("near", r.near, "Near", "Not right, and within 15 %: counts half.", {.when = {"near", "true"}});
}

double DrillMemory::due_s() const {
  constexpr double day_s = 86400, again_s = 600;
  return last_s + (streak > 0 ? models::review_interval_days(streak) * day_s : again_s);
}

DrillMemories memories(std::span<const DrillRecord> history) {
  DrillMemories out;
  for (const DrillRecord& r : history) {
    DrillMemory& m = out[r.drill];
    m.streak = r.right ? m.streak + 1 : r.near ? 1 : 0;
    m.last_s = r.time_s;
  }
  return out;
}

void add_record(std::vector<DrillRecord>& history, DrillRecord record) {
  record.said = std::isfinite(record.said) ? std::clamp(record.said, -1e300, 1e300) : 0;
  record.seconds = std::clamp(record.seconds, 0.0, 1e6);
  record.time_s = std::clamp(record.time_s, 0.0, 1e11);
  if (history.size() >= max_drill_records)
    history.erase(history.begin(),
                  history.begin() + static_cast<std::ptrdiff_t>(history.size() - max_drill_records + 1));
  history.push_back(std::move(record));
}

std::int64_t due_count(std::span<const DrillRecord> history, double now_s) {
  std::int64_t due = 0;
  for (const auto& [id, memory] : memories(history)) due += now_s > 0 && memory.due_s() <= now_s;
  return due;
}

std::vector<TopicStanding> standings(const std::vector<Drill>& drills, const Choices& topics,
                                     std::span<const DrillRecord> history, const DrillScope& scope, double now_s,
                                     double z) {
  const DrillTallies all = tallies(drills, history);
  const DrillMemories known = memories(history);
  std::vector<TopicStanding> out;
  for (const Choice& topic : topics) {
    const auto tally = all.find(topic.id);
    const bool in_scope = std::any_of(drills.begin(), drills.end(), [&](const Drill& d) {
      return d.topic == topic.id && DrillScope::holds(scope.chapters, d);
    });
    if (!in_scope && tally == all.end()) continue;
    TopicStanding s{.topic = topic.id, .label = topic.label};
    if (tally != all.end()) {
      s.asked = tally->second.asked;
      s.right = tally->second.right;
      s.near = tally->second.near;
      s.score = tally->second.score();
      s.level = tally->second.level;
      s.best = tally->second.best;
    }
    s.ready = models::wilson_lower(s.score, s.asked, z);
    for (const Drill& d : drills) {
      if (d.topic != topic.id) continue;
      const auto at = known.find(d.id);
      s.due += at != known.end() && now_s > 0 && at->second.due_s() <= now_s;
    }
    s.next = choose_drill(drills, history, {.topic = topic.id, .now_s = now_s}, {all, known}).drill;
    out.push_back(s);
  }
  return out;
}

}  // namespace chapters
