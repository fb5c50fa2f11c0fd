#include "chapters/practice/prediction_history.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace chapters {

void describe(Fields& f, PredictionRecord& r) {
  f.text("lab", r.lab, {.label = "Lab"});
  f.text("question", r.question, {.label = "Question"});
  f.real("said", r.said,
         {
             .label = "Said",
             .help = "In the SI unit of the answer.",
             .lo = -1e300,
             .hi = 1e300,
         });
  f.real("answer", r.answer,
         {
             .label = "Computed",
             .help = "What the lab computed then.",
             .lo = -1e300,
             .hi = 1e300,
         });
  f.toggle("close", r.close, {.label = "Close"});
  f.real("time_s", r.time_s,
         {
             .label = "Predicted",
             .unit = "s",
             .help = "Seconds since 1970.",
             .lo = 0,
             .hi = 1e11,
         });
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
