#include "chapters/interview/recall/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::interview::recall {
namespace {

const Choices recall_clock_choices = choices_in_order<Clock::five_minutes>(
    {{"none", "none", "Take your time."},
     {"one_minute", "one minute", "A short answer, as in a first call."},
     {"two_minutes", "two minutes", "What an interviewer waits for an explanation."},
     {"five_minutes", "five minutes", "The answer with its reasons and its limits."}});
const Choices memory_choices = choices_in_order<Memory::example>(
    {{"yours", "yours", "The answers that you gave."},
     {"example", "an example", "Answers that you set here; they are not kept, and the deck stays yours."}});

constexpr std::string_view fsrs = "FSRS-6 with its published parameters";
constexpr double recall_day_s = 86400;

void describe_example(Fields& f, Inputs& in) {
  f.choice("memory", in.memory, memory_choices, "Answers of this card", "Whose answers make the curve of this card.");
  f.reals("example_grades", in.example_grades, "Grades", "The answers of the example: 1 again, 2 hard, 3 good, 4 easy.",
          {.range = {1, 4, Scale::step}, .when = {"memory", "example"}, .max_items = 30});
  f.reals("example_gaps_s", in.example_gaps_s, {"Gaps", "s"}, "The time between those answers: one fewer than grades.",
          {.range = {0, 1000 * recall_day_s}, .when = {"memory", "example"}, .max_items = 30});
  f.real("example_since_s", in.example_since_s, {"Since the last", "s"}, "From its last answer to today.",
         {.range = {0, 1000 * recall_day_s}, .typical = {0, 100 * recall_day_s}, .when = {"memory", "example"}});
}

}  // namespace

double limit_of(Clock clock) {
  constexpr std::array<double, 4> limits{0, 60, 120, 300};
  return limits[static_cast<std::size_t>(clock)];
}

void describe(Fields& f, Inputs& in) {
  const RecallDeck& deck = recall_deck();
  f.group("What is asked");
  f.choice("topic", in.topic, deck.topics, "Topic", "All of them, or one alone.", {.headline = true});
  f.choice("card", in.card, deck.card_choices, "Card", "The next one, or one that you choose on the wall.");
  f.choice("clock", in.clock, recall_clock_choices, "Clock", "How long you may speak before the ring is empty.");
  f.group("Memory");
  f.real("wait_s", in.wait_s, {"Asked in", "s"},
         "The day of asking, from today on. A card that you never answered is taken as answered good today.",
         {.range = {0, 730 * recall_day_s}, .typical = {0, 120 * recall_day_s}, .headline = true});
  f.real("retention", in.retention, {"Keep", "%"}, "A card comes back when the chance that you know it falls to this.",
         {.range = {70, 98}, .headline = true});
  describe_example(f, in);
  f.group("The plan");
  f.integer("horizon_days", in.horizon_days, "Days until the interview", "How long the plan is followed.",
            {.range = {2, 365, Scale::log}, .typical = {2, 90}});
  f.integer("new_per_day", in.new_per_day, "New cards a day", "Cards that you have never answered.",
            {.range = {0, 60}, .typical = {0, 30}});
  f.real("first_known", in.first_known, {"New cards that you know", "%"},
         "How many of the new ones you can answer at first sight.", {.range = {0, 100}});
  f.real("seconds_per_answer_s", in.seconds_per_answer_s, {"One answer takes", "s"},
         "Speaking, uncovering and grading.", {.range = {5, 600, Scale::log}});
  f.integer("seed", in.seed, "Seed", "Other luck in the plan.", {.range = {0, 1e6}, .typical = {0, 30}});
  shared::history(f, "history", in.history, recall_table, max_recall_records,
                  {.label = "Your answers", .help = "Every card you graded; kept between sessions."});
  shared::clock(f, "now_s", in.now_s);
}

void describe(Fields& f, Outputs& o) {
  f.group("This card");
  f.text("question", o.question, "Question");
  f.text("topic_now", o.topic_now, "Topic");
  f.text("why_now", o.why_now, "Why this one");
  f.integer("points", o.points, "Points of its answer", "What a full answer says.");
  f.real("retrievability", o.retrievability, {"You know it with", "%"}, "The chance on the day of asking.",
         {.absent = "You have never answered this card.", .formula = "(1 + f t / S)^-w", .source = fsrs});
  f.real("interval_good_s", o.interval_good_s, {"Back after good", "s"}, "From the day of asking, in whole days.",
         {.headline = true, .source = fsrs});
  f.real("interval_again_s", o.interval_again_s, {"Back after again", "s"}, "Where you did not know it.",
         {.source = fsrs});
  f.real("interval_hard_s", o.interval_hard_s, {"Back after hard", "s"}, "Where you knew it with effort.",
         {.source = fsrs});
  f.real("interval_easy_s", o.interval_easy_s, {"Back after easy", "s"}, "Where you knew it at once.",
         {.source = fsrs});
  f.real("expected_interval_s", o.expected_interval_s, {"Back after, on average", "s"},
         "Good where you know it and again where you do not, weighed by the chance of both.",
         {.absent = "You have never answered this card.", .source = fsrs});
  f.real("stability_s", o.stability_s, {"Stability", "s"}, "The time in which the chance falls from 100 to 90 %.",
         {.absent = "You have never answered this card.", .source = fsrs});
  f.real("difficulty", o.difficulty, "Difficulty", "From 1 to 10: how slowly this card grows stable.",
         {.absent = "You have never answered this card.", .source = fsrs});
  f.group("Today");
  f.integer("due_today", o.due_today, "Due today", "Cards whose day has come, and the new ones that the day has left.",
            {.headline = true});
  f.integer("due_again", o.due_again, "Come back today", "Cards that you have answered and whose day has come.",
            {.source = fsrs});
  f.integer("answered_today", o.answered_today, "Answered today", "Answers of this day, in UTC.");
  f.integer("cards", o.cards, "Cards", "In the deck.");
  f.integer("seen", o.seen, "Cards seen", "Answered at least once.");
  f.real("known_today", o.known_today, "Cards that you know today", {.formula = "sum of the chances"});
  f.real("retention_today", o.retention_today, {"Known of those seen", "%"}, "The mean of their chances today.",
         {.absent = "You have answered no card yet."});
  f.group("On the day of the interview");
  f.real("retention_expected", o.retention_expected, {"Known of the deck", "%"},
         "At the end of the plan, of all cards; those never seen count as not known.",
         {.headline = true, .source = "FSRS-6, every card followed day by day"});
  f.real("reviews_per_day", o.reviews_per_day, "Answers a day", "The mean over the plan.",
         {.headline = true, .source = "FSRS-6, every card followed day by day"});
  f.real("most_per_day", o.most_per_day, "Answers on the fullest day", {.source = "the same plan"});
  f.real("minutes_per_day", o.minutes_per_day, "Minutes a day", {.formula = "answers a day x time of one / 60"});
  f.real("seen_then", o.seen_then, "Cards seen by then", {.source = "the same plan"});
  f.real("known_then", o.known_then, "Cards known by then", {.formula = "sum of the chances"});
  f.group("How sure and how right");
  f.integer("answered", o.answered, "Answers", "All that are kept.");
  f.integer("right", o.right, "Known", "Graded hard, good or easy.");
  f.real("calibration", o.calibration, {"Surer than right by", "%"},
         "Percentage points between how sure you said you were and how often you knew it.",
         {.absent = "You have answered no card yet.", .formula = "mean sure - share known"});
  f.integer("sure_and_wrong", o.sure_and_wrong, "Sure and wrong", "Said 75 % or more, and not known.");
}

void describe(Fields& f, View& v) {
  f.integer("uncovered", v.uncovered, "Points uncovered", {.range = {0, 6}});
  f.integer("said_mask", v.said_mask, "Points said", "One bit per point.", {.range = {0, 63}});
  f.real("sure_percent", v.sure_percent, {"How sure", "%"}, "Below 0: not said yet.", {.range = {-1, 100}});
  f.text("open_link", v.requests.open_link, "Lab to open");
  f.toggle("ticking", v.requests.awake, "The clock runs");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"interview/recall",
       "Recall",
       "What will you still know on the day, and when is a card best asked again?",
       {.job = true}},  // a plan of a year follows every card day by day, at many retentions
      compute, arrange, draw);
}

}  // namespace chapters::interview::recall
