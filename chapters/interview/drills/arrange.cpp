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

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (out.answered == 0)
    return out.limit_s > 0 ? "No answer yet: press Start, and you have " +
                                 widgets::figure(whole(static_cast<std::int64_t>(out.limit_s))) +
                                 " seconds for a number with its unit."
                           : "No answer yet: say a number with its unit; there is no clock.";
  const auto right = std::count_if(in.history.begin(), in.history.end(), [](const auto& r) { return r.right; });
  const auto near = std::count_if(in.history.begin(), in.history.end(), [](const auto& r) { return r.near; });
  if (out.answered == 1 && near == 1) return "Your one answer was near, which counts half.";
  if (out.answered == 1)
    return right == 1 ? "Your one answer was right and in time." : "Your one answer was wrong or late.";
  std::string text =
      widgets::figure(whole(right)) + " of " + widgets::figure(whole(out.answered)) + " answers were right and in time";
  if (near > 0) text += ", " + widgets::figure(whole(near)) + " near (each counts half)";
  if (std::isfinite(out.median_s)) text += ", half of them within " + widgets::figure(out.median_s, "s");
  return text + ".";
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
  picture.answer = answer_of(in, out);
  picture.card = card_text(run.asked);
  picture.daily = daily_line(out);
  picture.round_end = round_end_of(in, out);
  picture.heading = (out.is_daily ? "Question of the day \xC2\xB7 " : "") + out.topic_now + " \xC2\xB7 level " +
                    whole(out.level_now) + " \xC2\xB7 question " + whole(out.question_of_round) + " of " +
                    whole(in.questions);
  add_standings(run.topics, picture);
  return picture;
}

}  // namespace chapters::interview::drills
