#include "chapters/interview/readiness/lab.h"
#include "chapters/mechanism/registry.h"
#include "widgets/number/number.h"

namespace chapters::interview::readiness {
namespace {

std::string whole(double v) { return widgets::format_text(v, "", 9); }

std::string standing_text(const TopicStanding& s) {
  if (!(s.asked > 0)) return "not asked yet";
  return whole(s.right) + " of " + whole(s.asked) + " right, level " + whole(s.best) + " of 6" +
         (s.due > 0 ? ", " + whole(static_cast<double>(s.due)) + " due" : "");
}

/// The line under the topics: how often the first answer was close, and where to look again.
Line predictions_line(const Outputs& out) {
  const PredictionStanding& s = out.predictions;
  const LabPtr missed = make_lab_by_id(s.missed_lab);
  const std::string_view lab = missed ? missed->info().id : std::string_view("roofline/roofline");
  return {
      .label = "Predictions",
      .detail =
          s.asked > 0 ? whole(s.close) + " of " + whole(s.asked) + " close at the first try" : "none committed yet",
      .link = std::string(lab),
      .next = missed ? "missed last in: " + std::string(missed->info().title) : "next: any lab's Predict tab",
      .share = out.predictions_ready_percent / 100,
      .known = s.asked > 0,
      .act = missed ? "look again" : "predict",
  };
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture picture;
  if (!out.reason.empty()) return picture;
  picture.goal = in.goal_percent / 100;
  for (const TopicStanding& s : out.standings)
    picture.lines.push_back({
        .label = s.label,
        .detail = standing_text(s),
        .link = "interview/drills?topic=" + std::string(s.topic),
        .next = "next: " + (s.next ? s.next->title : std::string()),
        .share = s.ready,
        .known = s.asked > 0,
        .chosen = s.topic == in.topic,
    });
  picture.lines.push_back(predictions_line(out));
  return picture;
}

}  // namespace chapters::interview::readiness
