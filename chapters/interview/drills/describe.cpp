#include "chapters/interview/drills/lab.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"

/// Questions with fresh numbers out of every lab, against a clock, graded by the lab's own model.
namespace chapters::interview::drills {
namespace {

const Choices clock_choices{{"none", "none", "Take your time."},
                            {"two_minutes", "two minutes", "What an interviewer waits for a computed figure."},
                            {"sixty_seconds", "sixty seconds", "Mental arithmetic."}};
const Choices level_choices{
    {"adaptive", "adaptive", "One up after a right answer, one down after a wrong one, topic by topic."},
    {"1", "1 recall", "A figure to know."},
    {"2", "2 one step", "One division."},
    {"3", "3 two steps", "Two quantities to combine."},
    {"4", "4 whole formula", "All terms of a model."},
    {"5", "5 compare", "Two cases against each other."},
    {"6", "6 design", "Which value makes it work?"}};

}  // namespace

void describe(Fields& f, Inputs& in) {
  const Catalog& c = catalog();
  f.group("What is asked");
  f.choice("topic", in.topic, c.drill_topics, "Topics", "Weak ones first, or one topic alone.", {.headline = true});
  f.choice("drill", in.drill, c.drill_choices, "Drill",
           "Chosen for you by what you answered, the question of the day, or one kind of question again and again.");
  f.choice("level", in.level, level_choices, "Level", "Follows your answers, or stays.");
  f.group("Rules");
  f.choice("clock", in.clock, clock_choices, "Clock", "A right answer counts while there is time.", {.headline = true});
  f.integer("questions", in.questions, "Questions per round",
            "After that many the count of right answers starts from 0.", {.range = {1, 50}});
  f.integer("seed", in.seed, "Seed",
            "The same seed and the same history ask the same questions; 0 begins with a source's own numbers.",
            {.range = {0, 1e6}});
  f.toggle("hints", in.hints, "Show hints", "The formula, before you answer.");
  f.toggle("reveal", in.reveal, "Reveal the answer", "Shows the worked solution without an answer of yours.");
  shared::history(f, "history", in.history, "drill.history", max_drill_records,
                  {.label = "Your answers", .help = "Everything you answered; kept between sessions."});
  shared::history(
      f, "opened", in.opened, opened_table, max_opened_labs,
      {.label = "Labs opened",
       .help = "Where no topic is chosen, questions come from the chapters of these labs, in the first week "
               "of use the easiest of them; without a row from every chapter."});
  shared::clock(f, "now_s", in.now_s);
}

void describe(Fields& f, Outputs& o) {
  f.group("Your answers");
  f.integer("right_in_round", o.right_in_round, "Right in this round", "Right answers among its questions so far.",
            {.headline = true});
  f.integer("near_in_round", o.near_in_round, "Near in this round",
            "Within 15 % where that is no exact figure, and in time: each counts half.");
  f.integer("right_in_last_round", o.right_in_last_round, "Right in the last whole round",
            "Right answers among its questions; 0 before a round is whole.");
  f.integer("near_in_last_round", o.near_in_last_round, "Near in the last whole round",
            "Near answers among its questions; 0 before a round is whole.");
  f.integer("answered", o.answered, "Answered", "All your answers that are kept.");
  f.integer("right", o.right, "Right", "Answers that were right and in time.");
  f.integer("near", o.near, "Near", "Answers that were near and in time: each counts half.");
  f.integer("question_of_round", o.question_of_round, "Question of the round", "Counts from one.");
  f.real("median_s", o.median_s, {"Median time", "s"},
         "Over all your answers, from the start press on; nothing before the first.",
         {.headline = true, .absent = "No clock ran yet."});
  f.integer("best_streak", o.best_streak, "Best streak", "Right answers in a row.", {.headline = true});
  f.integer("due", o.due, "Due for review", "Kinds of question whose time to come back has come.",
            {.source = "intervals of SM-2, Wozniak 1990"});
  f.group("Question of the day");
  f.toggle("daily_done", o.daily_done, "Today's question answered",
           "One a day, from chapters that were opened before it, new at midnight UTC.");
  f.toggle("is_daily", o.is_daily, "It is on the card", "The question that is asked now is the one of the day.");
  f.integer("daily_streak", o.daily_streak, "Days in a row",
            "On which you answered the question of the day, right or wrong.");
  f.group("Topics");
  f.text("weakest", o.weakest, "Weakest topic", "Whose answers support the least, of those asked three times or more.");
  f.group("The question");
  f.text("topic_now", o.topic_now, "Topic");
  f.integer("level_now", o.level_now, "Level of the question", "1 recall to 6 design.");
  f.real("limit_s", o.limit_s, {"Time to answer", "s"}, "0 without a clock.");
  // Its words stand on the card; here they would show the next question before its clock runs.
  f.text("question", o.question, "Question", {.when = {"reveal", "true"}});
  f.text("unit_hint", o.unit_hint, "Counts as right", {.when = {"reveal", "true"}});
  f.text("hint", o.hint, "Hint", {.when = {"reveal", "true"}});
  f.text("why", o.why, "Why this one");
  f.real("answer", o.answer, "Answer", "In the SI unit of the question.",
         {.absent = "It is shown once you have answered or revealed it."});
}

void describe(Fields& f, View& v) {
  f.text("said", v.said, "An answer shown graded");
  f.text("open_link", v.requests.open_link, "Lab to open");
  f.toggle("ticking", v.requests.awake, "The clock runs");
}

double limit_of(Clock clock) { return clock == Clock::none ? 0 : clock == Clock::two_minutes ? 120 : 60; }

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"interview/drills",
       "Drills",
       "Can you say the number, with its unit, before the clock runs out?",
       {.job = true}},  // a question costs what its lab costs, and its slips as much again
      compute, arrange, draw);
}

}  // namespace chapters::interview::drills
