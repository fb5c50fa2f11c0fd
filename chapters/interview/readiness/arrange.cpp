#include <algorithm>
#include <cmath>

#include "chapters/interview/readiness/lab.h"
#include "chapters/interview/shared/words.h"
#include "chapters/mechanism/registry.h"
#include "models/learning/practice.h"
#include "widgets/number/number.h"

namespace chapters::interview::readiness {
namespace {

std::string whole(double v) { return widgets::format_text(v, "", 9); }
std::string percent(double v, std::string_view quote = "`") {
  return std::string(quote) + widgets::format_text(std::round(v), "%", 3) + std::string(quote);
}

std::string standing_text(const TopicStanding& s) {
  const std::string next = s.next ? "; next: " + s.next->title : std::string();
  if (!(s.asked > 0)) return "not asked yet" + next;
  return right_of_asked(s) + ", level " + whole(s.best) + " of 6" +
         (s.due > 0 ? ", " + whole(static_cast<double>(s.due)) + " due" : "") + next;
}

/// How often the first answer to a lab's question was close, and where to look again.
Line predictions_line(const PredictionStanding& s) {
  const LabPtr missed = make_lab_by_id(s.missed_lab);
  return {
      .label = "Predictions",
      .detail = s.asked > 0 ? whole(s.close) + " of " + whole(s.asked) + " close at the first try" +
                                  (missed ? "; missed last: " + std::string(missed->info().title) : std::string())
                            : "none committed yet: any lab's Predict tab asks",
      .link = std::string(missed ? missed->info().id : std::string_view("roofline/roofline")),
      .act = missed ? "look again" : "predict",
  };
}

widgets::IntervalRow row_of(std::string_view label, double score, double asked, double goal, double z,
                            std::string_view info) {
  widgets::IntervalRow row{.label = label, .goal = goal, .n = static_cast<std::int64_t>(asked), .info = info};
  if (!(asked > 0)) return row;
  row.value = 100 * score / asked;
  row.low = 100 * models::wilson_lower(score, asked, z);
  row.high = 100 - 100 * models::wilson_lower(asked - score, asked, z);
  return row;
}

double score_of(const Outputs& out) { return static_cast<double>(out.right) + static_cast<double>(out.near) / 2; }

/// Those asked, the ones that support least first, then those never asked, in the order of teaching.
std::vector<const TopicStanding*> weak_first(std::span<const TopicStanding> all, bool sorted) {
  std::vector<const TopicStanding*> out;
  for (const TopicStanding& s : all) out.push_back(&s);
  if (sorted)
    std::stable_sort(out.begin(), out.end(), [](const TopicStanding* a, const TopicStanding* b) {
      return (a->asked > 0 ? a->ready : 2) < (b->asked > 0 ? b->ready : 2);
    });
  return out;
}

/// Answers a day over the last weeks.
void add_calendar(const Inputs& in, Picture& picture) {
  constexpr std::int64_t weeks = 26;
  if (!(in.now_s > 0)) return;
  picture.last_day = day_of(in.now_s);
  picture.days.assign(weeks * 7, 0);
  for (const DrillRecord& r : in.history) {
    const std::int64_t back = picture.last_day - day_of(r.time_s);
    if (r.time_s > 0 && back >= 0 && back < weeks * 7) ++picture.days[static_cast<std::size_t>(weeks * 7 - 1 - back)];
  }
  for (const std::int64_t n : picture.days) {
    picture.most_a_day = std::max(picture.most_a_day, n);
    picture.days_with += n > 0;
  }
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string next = out.next.empty() ? std::string() : " Next: " + out.next + ".";
  if (out.asked == 0 && in.plan_questions == 0) return "Nothing is shown yet, and no answer is planned." + next;
  if (out.asked == 0)
    return "Nothing is shown yet; `" + whole(static_cast<double>(in.plan_questions)) +
           (in.plan_questions == 1 ? "` answer with " : "` answers with ") + percent(in.plan_right_percent) +
           " right would support " + percent(out.plan_ready_percent) + "." + next;
  const bool reached = out.ready_percent >= in.goal_percent;
  // Short of the goal nothing is rounded up to it.
  std::string text =
      "Your answers support " + percent(reached ? out.ready_percent : std::floor(out.ready_percent)) + " right";
  text += reached ? ", which reaches the goal of " : "; the goal is ";
  return text + percent(in.goal_percent) + "." + next;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  if (!out.reason.empty()) return picture;
  picture.answer = answer_of(in, out);
  const double z = z_of(in.confidence);
  const auto order = weak_first(run.topics, in.topic == "weak");
  picture.lines.reserve(order.size() + 3);
  for (const TopicStanding* s : order) {
    const Line& line = picture.lines.emplace_back(Line{
        .label = s->label, .detail = standing_text(*s), .link = "interview/drills?topic=" + std::string(s->topic)});
    if (s->topic == in.topic) picture.chosen = static_cast<std::int64_t>(picture.rows.size());
    picture.rows.push_back(row_of(s->label, s->score, s->asked, in.goal_percent, z, line.detail));
  }
  const Line& line = picture.lines.emplace_back(predictions_line(run.predictions));
  picture.rows.push_back(
      row_of(line.label, run.predictions.close, run.predictions.asked, in.goal_percent, z, line.detail));
  if (run.topics_ahead > 0) {
    const Line& ahead = picture.lines.emplace_back(Line{
        .label = "Not opened yet",
        .detail = whole(static_cast<double>(run.topics_ahead)) +
                  (run.topics_ahead == 1 ? " topic is in a chapter" : " topics are in chapters") +
                  " of which no lab was opened",
        .act = nullptr,
    });
    picture.rows.push_back(row_of(ahead.label, 0, 0, in.goal_percent, z, ahead.detail));
  }
  if (in.plan_questions > 0) {
    const double more = static_cast<double>(in.plan_questions);
    const Line& plan = picture.lines.emplace_back(Line{
        .label = "If you go on so",
        .detail = "supposed: " + whole(more) + (in.plan_questions == 1 ? " more answer, " : " more answers, ") +
                  percent(in.plan_right_percent, "") + " of them right",
        .act = nullptr,
    });
    picture.rows.push_back(row_of(plan.label, score_of(out) + more * in.plan_right_percent / 100,
                                  static_cast<double>(out.asked) + more, in.goal_percent, z, plan.detail));
  }
  picture.due = due_list(in.history, in.now_s);
  add_calendar(in, picture);
  return picture;
}

}  // namespace chapters::interview::readiness
