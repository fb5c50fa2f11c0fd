#include "chapters/interview/readiness/lab.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"
#include "models/learning/practice.h"

namespace chapters::interview::readiness {
namespace {

const Choices confidence_choices{{"80", "80 %", ""}, {"90", "90 %", ""}, {"95", "95 %", ""}, {"99", "99 %", ""}};
constexpr double confidences[] = {80, 90, 95, 99};

static_assert(std::size(confidences) == static_cast<std::size_t>(Confidence::ninety_nine) + 1);

}  // namespace

double z_of(Confidence confidence) { return models::confidence_z(confidences[static_cast<std::size_t>(confidence)]); }

void describe(Fields& f, Inputs& in) {
  f.group("What counts");
  f.choice("topic", in.topic, catalog().drill_topics, "Topic",
           "What the figures speak of: one topic, or all of them together.");
  f.real("goal_percent", in.goal_percent, {"Ready means", "%"},
         "The share of right answers that you want to be sure of.", {.range = {50, 95}});
  f.choice("confidence", in.confidence, confidence_choices, "How sure",
           "Two-sided confidence of the interval whose lower end counts.");
  f.group("Suppose you go on");
  f.integer("plan_questions", in.plan_questions, "Suppose you answer", "So many questions more.",
            {.range = {0, 200}, .headline = true});
  f.real("plan_right_percent", in.plan_right_percent, {"Right in the plan", "%"},
         "The share of those that you get right.", {.range = {0, 100}, .headline = true});
  f.group("Your interview");
  f.integer("interview_in_days", in.interview_in_days, "Interview in",
            "Days from today; the plan fills those before it.", {.range = {1, 60}});
  f.real("minutes_a_day", in.minutes_a_day, {"Time per day", "min"}, "How long you practise on each of these days.",
         {.range = {5, 240}, .typical = {10, 120}});
  shared::history(f, "history", in.history, "drill.history", max_drill_records,
                  {.label = "Your answers", .help = "Everything you answered in the drills; kept between sessions."});
  shared::history(
      f, "predictions", in.predictions, predictions_table, max_prediction_records,
      {.label = "Your predictions", .help = "What you committed to before a lab showed it; kept between sessions."});
  shared::history(f, "recall", in.recall, recall_table, max_recall_records,
                  {.label = "Your open questions", .help = "Every card that you graded; kept between sessions."});
  shared::history(f, "cases", in.cases, scenarios_table, max_scenario_records,
                  {.label = "Your cases",
                   .help = "Boards, cases, designs, pitches and sealed recordings that you ended; "
                           "kept between sessions."});
  shared::history(
      f, "opened", in.opened, opened_table, max_opened_labs,
      {.label = "Labs opened",
       .help = "Topics of these labs' chapters count, and those that you were asked; without a row all do."});
  shared::clock(f, "now_s", in.now_s);
}

void describe(Fields& f, Row& r) {
  f.text("topic", r.topic, "Topic");
  f.integer("asked", r.asked, "Asked");
  f.integer("right", r.right, "Right");
  f.integer("near", r.near, "Near");
  f.real("ready_percent", r.ready_percent, {"Ready", "%"});
  f.integer("level", r.level, "Level");
  f.integer("due", r.due, "Due");
  f.text("next", r.next, "Next");
}

void describe(Fields& f, PlanRow& r) {
  f.integer("day", r.day, "Day", "1 is today.");
  f.text("what", r.what, "What");
  f.text("topic", r.topic, "Topic");
  f.integer("count", r.count, "How many");
  f.real("minutes", r.minutes, {"Time", "min"});
}

void describe(Fields& f, Outputs& o) {
  constexpr std::string_view wilson = "Wilson 1927, score interval";
  f.group("What your answers show");
  f.real("ready_percent", o.ready_percent, {"Ready", "%"},
         "The share of right answers that your answers support; not the share itself. A near answer is half of a right "
         "one in p; answers of 0, a half and 1 spread less than right and wrong ones, so the bound errs low.",
         {.headline = true, .formula = "(p + z^2/2n - z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)", .source = wilson});
  f.real("success_percent", o.success_percent, {"Right so far", "%"},
         {.headline = true, .absent = "Nothing was asked yet.", .formula = "(right + near / 2) / asked"});
  f.real("plan_ready_percent", o.plan_ready_percent, {"Ready by then", "%"}, "With the questions that you suppose.",
         {.headline = true, .source = wilson});
  f.integer("topics_ready", o.topics_ready, "Topics ready", "Topics whose figure reaches the goal.");
  f.integer("level_reached", o.level_reached, "Level reached", "Highest level answered right: 1 recall to 6 design.");
  f.real("plan_margin_percent", o.plan_margin_percent, {"Taken off for chance", "%"},
         "Points between the share that would be right then and what so many answers support.",
         {.formula = "share right - ready by then", .source = wilson});
  f.real("needed_questions", o.needed_questions, "Questions to the goal",
         "At the supposed share; 0 when you are there.", {.absent = "The supposed share never shows the goal."});
  f.group("Counts");
  f.integer("due", o.due, "Due for review", "Kinds of question, of every topic, whose time to come back has come.",
            {.source = "intervals of SM-2, Wozniak 1990"});
  f.integer("asked", o.asked, "Asked", "Questions answered; one that comes back counts each time.");
  f.integer("right", o.right, "Right", "Answers that were right and in time.");
  f.integer("near", o.near, "Near", "Answers that were within 15 % and in time: each counts half.");
  f.group("Predictions");
  f.integer("predicted", o.predicted, "Predictions",
            "Questions that labs asked before they showed the answer; the first answer to each counts.");
  f.integer("predicted_close", o.predicted_close, "Close predictions", "Within what the question allows.");
  f.real("predictions_ready_percent", o.predictions_ready_percent, {"Predictions support", "%"},
         "The share of close predictions that these support.", {.source = wilson});
  f.group("Open questions and cases");
  f.integer("recalled", o.recalled, "Cards graded",
            "Answers to open questions; a card that comes back counts each time.");
  f.integer("recalled_right", o.recalled_right, "Cards known", "Answers that were hard, good or easy.");
  f.real("recall_ready_percent", o.recall_ready_percent, {"Cards support", "%"},
         "The share of known answers that these support.", {.source = wilson});
  f.integer("cards_due", o.cards_due, "Cards due", "Open questions whose day has come.",
            {.source = "FSRS-6, to be known with 90 %"});
  f.integer("cases_ended", o.cases, "Cases",
            "Boards, cases, designs, pitches and sealed recordings that you ended; one done again counts again.");
  f.real("cases_score", o.cases_score, {"Points in cases", ""},
         "One a case at most: the share that was right, less half a share for each wrong step.");
  f.real("cases_ready_percent", o.cases_ready_percent, {"Cases support", "%"},
         "The share of points that these support.", {.source = wilson});
  f.group("The plan to the interview");
  f.real("today_minutes", o.today_minutes, {"Today", "min"}, "What the plan holds for today.");
  f.real("planned_minutes", o.planned_minutes, {"In all", "min"}, "What the plan holds on all days.");
  f.integer("planned_topics", o.planned_topics, "Topics asked by then",
            "Topics with an answer on the day of the interview.");
  f.integer("planned_topics_ready", o.planned_topics_ready, "Topics ready by then",
            "Topics whose answers will support the goal, where the plan's share of answers is right.",
            {.source = wilson});
  f.integer("planned_left_due", o.planned_left_due, "Left out",
            "What is due before the interview and has no room in the plan.");
  f.real("minutes_a_question", o.minutes_a_question, {"Time per question", "min"},
         "The median of your own answers from twenty of them on; two minutes, the longer clock, before that.");
  f.table("plan", o.plan, "Plan", "What to do on which day.");
  f.group("What to do next");
  f.text("next", o.next, "Do next");
  f.text("weakest", o.weakest, "Weakest of those asked",
         "Whose answers support the least, of those asked three times or more.");
  f.text("verdict", o.verdict, "To the goal");
  f.table("topics", o.topics, "By topic", "How every topic stands.");
}

void describe(Fields& f, View& v) {
  f.text("open_link", v.requests.open_link, "Lab to open");
  f.toggle("unfolded", v.unfolded, "All topics shown");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"interview/readiness", "Readiness",
       "How much of what you know have your answers shown, and what should you do next?"},
      compute, arrange, draw);
}

}  // namespace chapters::interview::readiness
