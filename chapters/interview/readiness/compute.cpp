#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "chapters/interview/readiness/lab.h"
#include "chapters/interview/shared/words.h"
#include "chapters/mechanism/catalog.h"
#include "models/learning/practice.h"
#include "widgets/number/number.h"

namespace chapters::interview::readiness {
namespace {

std::string percent_text(double share) { return widgets::format_text(std::round(share * 1000) / 10, "%", 3); }

std::string verdict_of(std::int64_t needed, double rate, double goal) {
  if (needed == 1)
    return "One more question, right with a chance of " + percent_text(rate) + ", shows " + percent_text(goal) + ".";
  if (needed == 0) return "You are there: your answers support " + percent_text(goal) + ".";
  if (needed > 0)
    return widgets::format_text(static_cast<double>(needed), "", 9) + " more questions, " + percent_text(rate) +
           " of them right, show " + percent_text(goal) + ".";
  return percent_text(rate) + " right never shows " + percent_text(goal) + ".";
}

/// What was said of open questions, and how cases ended.
void count_rooms(const Inputs& in, const RecallMemories& cards, double z, Outputs& out) {
  const RecallCalibration said = recall_calibration(in.recall);
  out.recalled_right = static_cast<std::int64_t>(said.right);
  out.recalled = static_cast<std::int64_t>(said.asked);
  out.cards_due = in.now_s > 0 ? recall_due_count(cards, recall_retention, in.now_s) : 0;
  out.recall_ready_percent = 100 * models::wilson_lower(said.right, said.asked, z);
  out.cases = static_cast<std::int64_t>(in.cases.size());
  for (const ScenarioRecord& r : in.cases) out.cases_score += scenario_share(r);
  out.cases_ready_percent = 100 * models::wilson_lower(out.cases_score, static_cast<double>(out.cases), z);
}

Calendar calendar_of(const Inputs& in) {
  constexpr std::int64_t shown = 26 * 7;
  Calendar c;
  if (!(in.now_s > 0)) return c;
  const std::int64_t today = day_of(in.now_s);
  c.days.assign(shown, 0);
  const auto count = [&](const auto& rows) {
    for (const auto& r : rows) {
      const std::int64_t back = today - day_of(r.time_s);
      if (r.time_s > 0 && back >= 0 && back < shown) ++c.days[static_cast<std::size_t>(shown - 1 - back)];
    }
  };
  count(in.history);
  count(in.recall);
  count(in.cases);
  for (const std::int64_t n : c.days) {
    c.most_a_day = std::max(c.most_a_day, n);
    c.days_with += n > 0;
  }
  return c;
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in) {
  const Catalog& c = catalog();
  if (c.drills.empty()) return {.facts = {.reason = "No drills were found: assets/drills holds them."}};
  Outputs out;
  auto run = std::make_shared<Run>();
  const double z = z_of(in.confidence), goal = in.goal_percent / 100;
  const DrillScope scope = scope_of(c.drills, in.opened, in.now_s);
  run->topics = standings(c.drills, c.drill_topics, in.history, scope, in.now_s, z);
  run->topics_ahead = c.drill_topics.size() - 1 - run->topics.size();  // the first is all of them
  const bool everything = in.topic == "weak";
  double asked = 0, right = 0, near = 0;
  for (const TopicStanding& s : run->topics) {
    if (everything || s.topic == in.topic) {
      asked += s.asked;
      right += s.right;
      near += s.near;
      out.level_reached = std::max<std::int64_t>(out.level_reached, s.best);
    }
    out.topics_ready += s.ready >= goal;
    out.topics.push_back({std::string(s.label), s.next ? s.next->title : std::string(),
                          static_cast<std::int64_t>(s.asked), static_cast<std::int64_t>(s.right),
                          static_cast<std::int64_t>(s.near), s.best, s.due, s.ready * 100});
  }
  run->predictions = standing(in.predictions);
  out.predicted = static_cast<std::int64_t>(run->predictions.asked);
  out.predicted_close = static_cast<std::int64_t>(run->predictions.close);
  out.predictions_ready_percent = 100 * models::wilson_lower(run->predictions.close, run->predictions.asked, z);
  out.due = due_count(in.history, in.now_s);
  // A kind of question that the templates no longer have still counts as an answer given.
  out.asked = everything ? static_cast<std::int64_t>(in.history.size()) : static_cast<std::int64_t>(asked);
  out.right = static_cast<std::int64_t>(right);
  out.near = static_cast<std::int64_t>(near);
  const double score = right + near / 2;
  run->asked = asked;
  run->score = score;
  out.success_percent = asked > 0 ? 100 * score / asked : std::nan("");
  out.ready_percent = 100 * models::wilson_lower(score, asked, z);
  const double rate = in.plan_right_percent / 100, more = static_cast<double>(in.plan_questions);
  out.plan_ready_percent = 100 * models::wilson_lower(score + rate * more, asked + more, z);
  const double share = asked + more > 0 ? (score + rate * more) / (asked + more) : rate;
  out.plan_margin_percent = 100 * share - out.plan_ready_percent;
  const std::int64_t needed = models::questions_to_goal(score, asked, rate, goal, z);
  out.needed_questions = needed < 0 ? std::nan("") : static_cast<double>(needed);
  out.verdict = verdict_of(needed, rate, goal);
  const TopicStanding* weakest = weakest_topic(run->topics);
  out.weakest = weakest ? std::string(weakest->label) : "not known yet";
  // Of the chosen topic, of the weakest one, or what the drills would ask now.
  const Drill* next = nullptr;
  for (const TopicStanding& s : run->topics)
    if (everything ? &s == weakest : s.topic == in.topic) next = s.next;
  if (!next) next = choose_drill(c.drills, in.history, {.now_s = in.now_s, .scope = &scope}).drill;
  out.next = next ? next->title : std::string();
  const RecallMemories cards = recall_memories(in.recall);
  count_rooms(in, cards, z, out);
  run->due = due_list(in, out.cards_due);
  run->calendar = calendar_of(in);
  plan_days(in, cards, out, *run);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::interview::readiness
