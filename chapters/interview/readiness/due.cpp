#include <algorithm>
#include <cmath>
#include <map>

#include "chapters/interview/readiness/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/learning/practice.h"
#include "widgets/number/number.h"

namespace chapters::interview::readiness {
namespace {

constexpr double day_s = 86400, again_s = 600;  // a wrong answer comes back after ten minutes

std::string ago(double seconds) {
  return seconds < 60 ? std::string("now") : "since " + widgets::format_text(seconds, "s", 2);
}

}  // namespace

std::vector<Due> due_list(std::span<const DrillRecord> history, double now_s) {
  std::vector<Due> out;
  if (!(now_s > 0)) return out;
  struct Kind {
    std::int64_t streak = 0;
    double last_s = 0;
  };
  std::map<std::string_view, Kind> kinds;
  for (const DrillRecord& r : history) {
    Kind& kind = kinds[r.drill];
    kind.streak = r.right ? kind.streak + 1 : 0;
    kind.last_s = r.time_s;
  }
  std::vector<std::pair<double, std::string_view>> due;
  for (const auto& [id, kind] : kinds) {
    const double at = kind.last_s + (kind.streak > 0 ? models::review_interval_days(kind.streak) * day_s : again_s);
    if (at <= now_s) due.emplace_back(at, id);
  }
  std::sort(due.begin(), due.end());
  for (const auto& [at, id] : due) {
    const Drill* drill = find_drill(catalog().drills, id);
    out.push_back({drill ? drill->title : std::string(id), ago(now_s - at),
                   drill ? "interview/drills?drill=" + std::string(id) : std::string("interview/drills")});
  }
  return out;
}

}  // namespace chapters::interview::readiness
