#include "chapters/practice/scenario_history.h"

#include <algorithm>
#include <cmath>

namespace chapters {

void describe(Fields& f, ScenarioRecord& r) {
  f.text("kind", r.kind, "Kind");
  f.text("id", r.id, "Case");
  f.text("topic", r.topic, "Topic");
  f.integer("seed", r.seed, "Seed", {.range = {0, 1e9}});
  f.integer("right", r.right, "Right", {.range = {0, 1000}});
  f.integer("of", r.of, "Out of", {.range = {0, 1000}});
  f.integer("wrong", r.wrong, "Wrong", {.range = {0, 1000}});
  f.real("seconds", r.seconds, {"Time taken", "s"}, {.range = {0, 1e6}});
  f.real("time_s", r.time_s, {"Ended", "s"}, "Seconds since 1970.", {.range = {0, 1e11}});
}

void add_record(std::vector<ScenarioRecord>& history, ScenarioRecord record) {
  const auto tidy = [](double v, double most) { return std::isfinite(v) ? std::clamp(v, 0.0, most) : 0; };
  record.seconds = tidy(record.seconds, 1e6);
  record.time_s = tidy(record.time_s, 1e11);
  if (history.size() >= max_scenario_records)
    history.erase(history.begin(),
                  history.begin() + static_cast<std::ptrdiff_t>(history.size() - max_scenario_records + 1));
  history.push_back(std::move(record));
}

double scenario_share(const ScenarioRecord& r) {
  if (r.of <= 0) return 0;
  return std::clamp((static_cast<double>(r.right) - 0.5 * static_cast<double>(r.wrong)) / static_cast<double>(r.of),
                    0.0, 1.0);
}

std::vector<ScenarioStanding> scenario_standings(std::span<const ScenarioRecord> history) {
  std::vector<ScenarioStanding> out;
  for (const ScenarioRecord& r : history) {
    auto at = std::find_if(out.begin(), out.end(), [&](const ScenarioStanding& s) { return s.topic == r.topic; });
    if (at == out.end()) at = out.insert(out.end(), {.topic = r.topic});
    at->cases += 1;
    at->score += scenario_share(r);
    at->last_s = std::max(at->last_s, r.time_s);
  }
  return out;
}

}  // namespace chapters
