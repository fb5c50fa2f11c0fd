#include "chapters/practice/prediction_history.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace chapters {

void describe(Fields& f, PredictionRecord& r) {
  f.text("lab", r.lab, "Lab");
  f.text("question", r.question, "Question");
  f.real("said", r.said, "Said", "In the SI unit of the answer.", {.range = {-1e300, 1e300}});
  f.real("answer", r.answer, "Computed", "What the lab computed then.", {.range = {-1e300, 1e300}});
  f.toggle("close", r.close, "Close");
  f.real("time_s", r.time_s, {"Predicted", "s"}, "Seconds since 1970.", {.range = {0, 1e11}});
}

PredictionStanding standing(std::span<const PredictionRecord> history) {
  std::vector<const PredictionRecord*> order;
  for (const auto& r : history) order.push_back(&r);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->time_s < b->time_s; });
  PredictionStanding out;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const auto* r : order) {
    if (!seen.emplace(r->lab, r->question).second) continue;
    out.asked += 1;
    out.close += r->close;
    if (!r->close) out.missed_lab = r->lab;
  }
  return out;
}

}  // namespace chapters
