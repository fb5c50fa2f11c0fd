#include "chapters/interview/drills/lab.h"

#include <algorithm>
#include <limits>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"
#include "models/learning/practice.h"
#include "widgets/number/number.h"

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

/// NaN of none.
double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string whole(double v) { return std::string(widgets::format(v, "", 6)); }

}  // namespace

void describe(Fields& f, DrillInputs& in) {
  const Catalog& c = catalog();
  f.choice("topic", in.topic, c.drill_topics, {.label = "Topics", .help = "Weak ones first, or one topic alone."});
  f.choice(
      "drill", in.drill, c.drill_choices,
      {.label = "Drill",
       .help =
           "Chosen for you by what you answered, the question of the day, or one kind of question again and again."});
  f.choice("level", in.level, level_choices, {.label = "Level", .help = "Follows your answers, or stays."});
  f.choice("clock", in.clock, clock_choices, {.label = "Clock", .help = "A right answer counts while there is time."});
  f.integer("questions", in.questions,
            {
                .label = "Questions a round",
                .help = "After that many the count of right answers begins anew.",
                .lo = 1,
                .hi = 50,
            });
  f.integer(
      "seed", in.seed,
      {
          .label = "Seed",
          .help = "The same seed and the same history ask the same questions; 0 begins with a source's own numbers.",
          .lo = 0,
          .hi = 1e6,
      });
  f.toggle("hints", in.hints, {.label = "Show hints", .help = "The formula, before you answer."});
  f.toggle("reveal", in.reveal,
           {.label = "Reveal the answer", .help = "Shows the worked solution without an answer of yours."});
  shared::history(f, "history", in.history, "drill.history", most_drill_records,
                  {.label = "Your answers", .help = "Everything you answered; kept between sessions."});
  shared::clock(f, "now_s", in.now_s, "When you came here, in seconds since 1970; what is due depends on it.");
}

void describe(Fields& f, DrillOutputs& o) {
  f.integer("right_in_round", o.right_in_round, {.label = "Right so far", .help = "In this round."});
  f.integer("question_of_round", o.question_of_round, {.label = "Question of the round", .help = "Counts from one."});
  f.real("median_s", o.median_s,
         {
             .label = "Median time",
             .unit = "s",
             .help = "Over all your answers; nothing before the first.",
             .may_be_missing = true,
         });
  f.integer("best_streak", o.best_streak, {.label = "Best streak", .help = "Right answers in a row."});
  f.integer("due", o.due,
            {.label = "Due for review",
             .help = "Kinds of question whose time to come back has come.",
             .source = "intervals of SM-2, Wozniak 1990"});
  f.toggle("daily_done", o.daily_done,
           {.label = "Today's question answered", .help = "One a day, the same for everybody, new at midnight UTC."});
  f.integer("daily_streak", o.daily_streak,
            {.label = "Days in a row", .help = "On which you answered the question of the day, right or wrong."});
  f.integer("answered", o.answered, {.label = "Answered", .help = "All your answers that are kept."});
  f.text("weakest", o.weakest, {.label = "Weakest topic"});
  f.text("topic_now", o.topic_now, {.label = "Topic"});
  f.integer("level_now", o.level_now, {.label = "Level of the question", .help = "1 recall to 6 design."});
  f.real("limit_s", o.limit_s, {.label = "Time to answer", .unit = "s", .help = "0 without a clock."});
  f.text("question", o.question, {.label = "Question"});
  f.text("unit_hint", o.unit_hint, {.label = "Counts as right"});
  f.text("hint", o.hint, {.label = "Hint"});
  f.text("why", o.why, {.label = "Why this one"});
  f.real("answer", o.answer, {.label = "Answer", .help = "In the SI unit of the question; 0 until it is revealed."});
}

void describe(Fields& f, DrillView& v) {
  f.text("said", v.said, {.label = "An answer shown graded"});
  f.text("open_link", v.requests.open_link, {.label = "Lab to open"});
  f.toggle("ticking", v.requests.awake, {.label = "The clock runs"});
}

double limit_of(Clock clock) { return clock == Clock::none ? 0 : clock == Clock::two_minutes ? 120 : 60; }

DrillOutputs compute_drills(const DrillInputs& in) {
  DrillOutputs out;
  const Catalog& c = catalog();
  const auto pick = choose_drill(c.drills, in.history,
                                 {
                                     .topic = in.topic == "weak" ? std::string_view() : in.topic,
                                     .drill = in.drill == "any" ? std::string_view() : in.drill,
                                     .level = static_cast<int>(in.level),
                                     .seed = static_cast<std::uint64_t>(in.seed),
                                     .now_s = in.now_s,
                                 });
  if (!pick.drill) {
    out.reason = "No drills were found: assets/drills holds them.";
    return out;
  }
  DrillLabs labs;
  out.asked = make_question(*pick.drill, c.drills, pick.seed, labs);
  if (!out.asked.error.empty()) {
    out.reason = out.asked.error;
    return out;
  }
  out.question = out.asked.text;
  out.unit_hint = out.asked.unit_label;
  out.hint = in.hints ? out.asked.hint : std::string();
  out.why = pick.why;
  out.level_now = pick.drill->level;
  out.answer = in.reveal ? out.asked.answer : 0;
  out.limit_s = limit_of(in.clock);
  for (const Choice& topic : c.drill_topics)
    if (topic.id == pick.drill->topic) out.topic_now = topic.label;

  const auto n = static_cast<std::int64_t>(in.history.size());
  out.answered = n;
  out.question_of_round = n % in.questions + 1;
  std::vector<double> times;
  std::int64_t streak = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const DrillRecord& r = in.history[static_cast<std::size_t>(i)];
    if (r.seconds > 0) times.push_back(r.seconds);
    streak = r.right ? streak + 1 : 0;
    out.best_streak = std::max(out.best_streak, streak);
    if (i >= n - n % in.questions) out.right_in_round += r.right;
  }
  out.median_s = median(std::move(times));
  out.due = due_count(in.history, in.now_s);
  out.topics = standings(c.drills, c.drill_topics, in.history, in.now_s, models::confidence_z(95));
  const auto worst = std::min_element(out.topics.begin(), out.topics.end(), [](const auto& a, const auto& b) {
    return (a.asked > 0 ? a.ready : 2) < (b.asked > 0 ? b.ready : 2);
  });
  out.weakest = worst == out.topics.end() || worst->asked == 0 ? "not known yet" : std::string(worst->label);
  out.daily_done = daily_done(in.history, in.now_s);
  out.daily_streak = daily_streak(in.history, in.now_s);
  out.is_daily = in.drill == today_drill && !out.daily_done;
  const std::string days = out.daily_streak > 0 ? ", " + whole(static_cast<double>(out.daily_streak)) +
                                                      (out.daily_streak == 1 ? " day" : " days") + " in a row"
                                                : "";
  out.daily = out.daily_done ? "Today's question answered" + days
              : out.is_daily ? "This is it" + days
                             : "Question of the day" + days;
  out.heading = (out.is_daily ? "Question of the day \xC2\xB7 " : "") + out.topic_now + " \xC2\xB7 level " +
                whole(pick.drill->level) + " \xC2\xB7 question " + whole(static_cast<double>(out.question_of_round)) +
                " of " + whole(static_cast<double>(in.questions));
  return out;
}

LabPtr make() {
  return make_lab<DrillInputs, DrillOutputs, DrillView>(
      {.id = "interview/drills",
       .title = "Drills",
       .question = "Can you say the number, with its unit, before the clock runs out?"},
      compute_drills, draw_drills);
}

}  // namespace chapters::interview::drills
