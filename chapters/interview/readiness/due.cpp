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

std::vector<Due> due_list(const Inputs& in, std::int64_t cards_due) {
  std::vector<Due> out;
  const double now_s = in.now_s;
  if (!(now_s > 0)) return out;
  if (cards_due > 0)
    out.push_back({std::to_string(cards_due) + (cards_due == 1 ? " open question" : " open questions"), "now",
                   "interview/recall"});
  std::vector<std::pair<double, std::string_view>> due;
  for (const auto& [id, memory] : memories(in.history))
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
