#include <algorithm>
#include <cmath>

#include "chapters/interview/drills/lab.h"
#include "chapters/interview/shared/words.h"
#include "models/learning/practice.h"
#include "widgets/number/number.h"

namespace chapters::interview::drills {
namespace {

std::string whole(std::int64_t v) { return widgets::format_text(static_cast<double>(v), "", 6); }

std::string daily_line(const Outputs& out) {
  std::string days;
  if (out.daily_streak > 0)
    days = ", " + whole(out.daily_streak) + (out.daily_streak == 1 ? " day" : " days") + " in a row";
  if (out.daily_done) return "Today's question answered" + days;
  return (out.is_daily ? "This is it" : "Question of the day") + days;
}

using widgets::figure;

std::string verdict_of(const Outputs& out) {
  if (out.answered == 0)
    return out.limit_s > 0
               ? "No answer yet: press Start, and you have " + figure(out.limit_s, "s") + " for a number with its unit."
               : "No answer yet: take your time for a number with its unit; no clock runs.";
  if (out.answered == 1)
    return out.near == 1    ? "Your one answer was near, which counts half."
           : out.right == 1 ? "Your one answer was right and in time."
                            : "Your one answer was wrong or late.";
  return figure(whole(out.right)) + " of your " + figure(whole(out.answered)) + " answers " +
         (out.right == 1 ? "was" : "were") + " right and in time" +
         (out.near > 0 ? ", " + figure(whole(out.near)) + " near (near counts half)." : std::string("."));
}

/// What comes next, and what the answers took.
std::string next_of(const Inputs& in, const Outputs& out) {
  const std::string now = out.topic_now + ", level " + figure(whole(out.level_now)) + " of 6";
  if (out.answered == 0)
    return "First comes " + now +
           (in.questions == 1 ? std::string("; a round is one question.")
                              : "; " + figure(whole(in.questions)) + " questions make a round.");
  if (out.due > 0)
    return figure(whole(out.due)) + (out.due == 1 ? " kind of question is" : " kinds of question are") +
           " due for review. Next: " + now + ".";
  if (std::isfinite(out.median_s)) return "Half came within " + figure(out.median_s, "s") + ". Next: " + now + ".";
  return "Next: " + now + ".";
}

/// How the topics stand: share right, what the answers support, and how many there were.
void add_standings(const std::vector<TopicStanding>& topics, Picture& picture) {
  const double z = models::confidence_z(95);
  for (const TopicStanding& s : topics) picture.notes.push_back(right_of_asked(s));
  for (std::size_t i = 0; i < topics.size(); ++i) {
    const TopicStanding& s = topics[i];
    widgets::IntervalRow row{.label = s.label, .n = static_cast<std::int64_t>(s.asked), .info = picture.notes[i]};
    if (s.asked > 0) {
      row.value = 100 * s.score / s.asked;
      row.low = 100 * models::wilson_lower(s.score, s.asked, z);
      row.high = 100 - 100 * models::wilson_lower(s.asked - s.score, s.asked, z);
    }
    picture.standings.push_back(row);
  }
}

}  // namespace

CardText card_text(const DrillQuestion& question) {
  CardText card{.question = spoken(question.text),
                .unit_label = question.unit_label,
                .hint = spoken(question.hint),
                .hint_formula = formula_of(question.hint),
                .steps = {}};
  for (const std::string& step : question.steps) card.steps.push_back(spoken(step));
  return card;
}

Ruler ruler_of(const DrillQuestion& question, double said) {
  Ruler ruler;
  ruler.answer = question.answer;
  ruler.said = said;
  if (!(question.answer > 0) || !(said > 0) || !std::isfinite(said)) return ruler;
  const double tolerance = std::clamp(question.drill->tolerance, 0.0, 0.999);
  ruler.from = question.answer * (1 - tolerance);
  ruler.to = question.answer * (1 + tolerance);
  ruler.answer_text = spoken(widgets::format_text(question.answer, question.unit, 4));
  ruler.said_text = spoken(widgets::format_text(said, question.unit, 4));
  double low = std::min(ruler.from, said), high = std::max(ruler.to, said);
  for (const auto& [value, says] : question.slips)
    if (value > 0 && std::isfinite(value) && value > question.answer / 1e4 && value < question.answer * 1e4) {
      ruler.slips.push_back({value, says});
      low = std::min(low, value);
      high = std::max(high, value);
    }
  ruler.lo = low / 1.6;
  ruler.hi = high * 1.6;
  for (double decade = std::pow(10.0, std::floor(std::log10(ruler.lo))); decade <= ruler.hi; decade *= 10)
    for (const double step : {1.0, 2.0, 5.0})
      if (const double v = step * decade; v >= ruler.lo && v <= ruler.hi)
        ruler.ticks.push_back({v, spoken(widgets::format_text(v, question.unit, 1)), step == 1.0});
  ruler.drawn = true;
  return ruler;
}

namespace {

RoundEnd round_end_of(const Inputs& in, const Outputs& out) {
  RoundEnd end{.title = whole(out.right_in_last_round) + " of " + whole(in.questions) + " right" +
                        (out.near_in_last_round > 0 ? ", " + whole(out.near_in_last_round) + " near" : ""),
               .lines = {}};
  if (std::isfinite(out.median_s))
    end.lines.push_back("Median time of all your answers: " + widgets::format_text(out.median_s, "s", 4) + ".");
  end.lines.push_back("Weakest topic: " + out.weakest + ". " +
                      (out.due > 0 ? whole(out.due) + " due for review." : "Nothing is due for review."));
  return end;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  if (!out.reason.empty() || !run.asked.drill) return picture;
  picture.answer = verdict_of(out) + "\n" + next_of(in, out);
  picture.card = card_text(run.asked);
  picture.daily = daily_line(out);
  picture.round_end = round_end_of(in, out);
  picture.heading = out.topic_now + " \xC2\xB7 level " + whole(out.level_now);
  if (out.is_daily)  // there is one of it, whatever round it falls into
    picture.heading = "Question of the day \xC2\xB7 " + picture.heading;
  else
    picture.heading += " \xC2\xB7 question " + whole(out.question_of_round) + " of " + whole(in.questions);
  add_standings(run.topics, picture);
  if (run.last) {
    picture.last = ruler_of(run.last->question, run.last->said);
    picture.last_right = run.last->right;
    picture.promise = "Your last question: " + spoken(run.last->question.text);
  } else {
    picture.promise = "After each answer you see it on a ruler: what counts as right, the answer, and what you said.";
  }
  return picture;
}

}  // namespace chapters::interview::drills
