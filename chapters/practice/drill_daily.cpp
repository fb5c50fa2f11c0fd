#include <algorithm>
#include <cmath>

#include "chapters/practice/drill_history.h"
#include "models/base/counter_random.h"

namespace chapters {
namespace {

constexpr std::int64_t first_seed =
    2'000'000;  // beyond the seeds of ordinary questions: an answer says by itself which day it was for
constexpr int least_level = 3;

bool answered_on(std::span<const DrillRecord> history, std::int64_t day) {
  return std::any_of(history.rbegin(), history.rend(),
                     [&](const DrillRecord& r) { return r.seed == first_seed + day; });
}

}  // namespace

std::int64_t day_of(double now_s) {
  return static_cast<std::int64_t>(std::floor(std::clamp(now_s, 0.0, 1e11) / 86400));
}

DrillChoice daily_drill(const std::vector<Drill>& drills, double now_s, const DrillScope* scope) {
  const std::int64_t day = day_of(now_s);
  std::vector<const Drill*> possible, worthy;
  int lowest = drill_levels;
  for (const Drill& d : drills) {
    if (scope && !DrillScope::holds(scope->day_chapters, d)) continue;
    if (!d.follows.empty() && d.ask_alone.empty()) continue;
    possible.push_back(&d);
    lowest = std::min(lowest, d.level);
  }
  for (const Drill* d : possible)
    if (scope && scope->first_week ? d->level == lowest : d->level >= least_level) worthy.push_back(d);
  if (worthy.empty()) worthy = possible;
  if (worthy.empty()) return {};
  // Day by day through a fixed shuffle: no question comes back before all the others were asked.
  const auto n = static_cast<std::uint64_t>(worthy.size()), round = static_cast<std::uint64_t>(day) / n;
  std::stable_sort(worthy.begin(), worthy.end(), [&](const Drill* a, const Drill* b) {
    const auto place = [&](const Drill* d) {
      return models::counter_hash(round, static_cast<std::uint64_t>(d - drills.data()));
    };
    return place(a) < place(b);
  });
  return {worthy[static_cast<std::size_t>(static_cast<std::uint64_t>(day) % n)],
          static_cast<std::uint64_t>(first_seed + day), "the question of the day"};
}

bool daily_done(std::span<const DrillRecord> history, double now_s) {
  return now_s > 0 && answered_on(history, day_of(now_s));
}

std::int64_t daily_streak(std::span<const DrillRecord> history, double now_s) {
  std::int64_t day = day_of(now_s);
  if (!answered_on(history, day)) --day;  // today is not over yet
  std::int64_t streak = 0;
  while (day >= 0 && answered_on(history, day)) ++streak, --day;
  return now_s > 0 ? streak : 0;
}

}  // namespace chapters
