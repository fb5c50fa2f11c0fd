#include <algorithm>
#include <cmath>

#include "chapters/interview/readiness/lab.h"
#include "chapters/mechanism/catalog.h"
#include "widgets/number/number.h"

namespace chapters::interview::readiness {
namespace {

std::string ago(double seconds) {
  return seconds < 60 ? std::string("now") : "since " + widgets::format_text(seconds, "s", 2);
}

}  // namespace

std::vector<Due> due_list(std::span<const DrillRecord> history, double now_s) {
  std::vector<Due> out;
  if (!(now_s > 0)) return out;
  std::vector<std::pair<double, std::string_view>> due;
  for (const auto& [id, memory] : memories(history))
    if (memory.due_s() <= now_s) due.emplace_back(memory.due_s(), id);
  std::sort(due.begin(), due.end());
  for (const auto& [at, id] : due) {
    const Drill* drill = find_drill(catalog().drills, id);
    out.push_back({drill ? drill->title : std::string(id), ago(now_s - at),
                   drill ? "interview/drills?drill=" + std::string(id) : std::string("interview/drills")});
  }
  return out;
}

}  // namespace chapters::interview::readiness
