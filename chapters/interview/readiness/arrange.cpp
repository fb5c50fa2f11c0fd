#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

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

using widgets::figure;

/// A share short of the goal is never rounded up to it.
std::string shown_share(double percent, double goal) {
  const bool rounds_up = percent < goal && std::round(percent * 10) / 10 >= goal;
  return figure(percent, "%", rounds_up ? 4 : 3);
}
std::string answers_text(std::int64_t n, const char* one, const char* many) {
  return figure(whole(static_cast<double>(n))) + (n == 1 ? one : many);
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string goal = figure(in.goal_percent, "%");
  if (out.asked > 0) {
    const bool reached = out.ready_percent >= in.goal_percent;
    return "Your " + answers_text(out.asked, " answer shows", " answers show") + " that you know at least " +
           shown_share(out.ready_percent, in.goal_percent) +
           (reached ? ", which reaches the goal of " + goal + "." : "; the goal is " + goal + ".");
  }
  if (in.plan_questions == 0) return "Nothing is shown yet: you have answered no question, and none is planned.";
  return "Nothing is shown yet; " + answers_text(in.plan_questions, " answer, ", " answers, ") +
         figure(in.plan_right_percent, "%") + " right, would show at least " +
         shown_share(out.plan_ready_percent, in.goal_percent) + ".";
}

/// How far the goal is, and what to do next.
std::string next_of(const Inputs& in, const Outputs& out, const PlanPicture& plan, std::size_t topics) {
  std::string text;
  if (out.asked > 0 && out.ready_percent >= in.goal_percent)
    text = in.topic != "weak" ? std::string("You are there.")
                              : answers_text(out.topics_ready, " topic is", " topics are") + " shown, of " +
                                    figure(whole(static_cast<double>(topics))) + ".";
  else if (out.needed_questions > 0)
    text = "The goal takes " + answers_text(std::llround(out.needed_questions), " more answer", " more answers") +
           " at " + figure(in.plan_right_percent, "%") + " right.";
  else
    text = figure(in.plan_right_percent, "%") + " right never shows the goal of " + figure(in.goal_percent, "%") + ".";
  return text + (plan.today.empty() ? std::string() : " Today first: " + plan.today.front().words + ".");
}

}  // namespace

namespace {

/// Puts rows one after the other, each with its line.
class RowWriter {
 public:
  RowWriter(const Inputs& in, Picture& picture) : goal_(in.goal_percent), z_(z_of(in.confidence)), picture_(picture) {}
  void add(Line line, double score, double asked) {
    const Line& kept = picture_.lines.emplace_back(std::move(line));
    picture_.rows.push_back(row_of(kept.label, score, asked, goal_, z_, kept.detail));
  }
  void add_topic(const TopicStanding& s, std::string_view chosen) {
    if (s.topic == chosen) picture_.chosen = static_cast<std::int64_t>(picture_.rows.size());
    add({.label = std::string(s.label),
         .detail = standing_text(s),
         .link = "interview/drills?topic=" + std::string(s.topic)},
        s.score, s.asked);
  }

 private:
  double goal_, z_;
  Picture& picture_;
};

/// Open questions and cases: those with an answer where `begun`, else those without.
void add_rooms(const Outputs& out, bool begun, RowWriter& rows) {
  const auto n = [](std::int64_t v) { return whole(static_cast<double>(v)); };
  if ((out.recalled > 0) == begun)
    rows.add({.label = "Open questions",
              .detail = begun ? n(out.recalled_right) + " of " + n(out.recalled) + " answers known, " +
                                    n(out.cards_due) + " due"
                              : "none graded yet: a card asks, and you say how well you knew it",
              .link = "interview/recall"},
             static_cast<double>(out.recalled_right), static_cast<double>(out.recalled));
  if ((out.cases > 0) == begun)
    rows.add({.label = "Cases",
              .detail = begun ? widgets::format_text(out.cases_score, "", 3) + " points in " + n(out.cases) +
                                    (out.cases == 1 ? " case" : " cases")
                              : "none ended yet: boards of symptoms, branching cases, designs, pitches",
              .link = "interview/scenarios"},
             out.cases_score, static_cast<double>(out.cases));
}

/// What so many more answers would show.
void add_supposed(const Inputs& in, const Run& run, std::int64_t more, std::string label, RowWriter& rows) {
  const auto n = static_cast<double>(more);
  rows.add({.label = std::move(label),
            .detail = "supposed: " + whole(n) + (more == 1 ? " more answer, " : " more answers, ") +
                      percent(in.plan_right_percent, "") + " of them right",
            .act = nullptr},
           run.score + n * in.plan_right_percent / 100, run.asked + n);
}

/// Before the first answer: three questions of sixty seconds, and how intervals will shrink.
void add_beginning(const Inputs& in, const Outputs& out, const Run& run, const std::vector<const TopicStanding*>& order,
                   RowWriter& rows, Picture& picture) {
  std::vector<const TopicStanding*> easiest(order);
  std::stable_sort(easiest.begin(), easiest.end(), [](const TopicStanding* a, const TopicStanding* b) {
    return teaching_place(*a) < teaching_place(*b);
  });
  for (const TopicStanding* s : easiest)
    if (picture.starts.size() < 3)
      picture.starts.push_back({"60 s: " + std::string(s->label),
                                "interview/drills?topic=" + std::string(s->topic) + "&clock=sixty_seconds"});
  picture.ladder = "What your answers will look like, supposing " + percent(in.plan_right_percent, "") + " right";
  std::set<std::int64_t> after{5};
  for (const std::int64_t n : std::initializer_list<std::int64_t>{
           in.plan_questions, out.needed_questions > 0 ? std::llround(out.needed_questions) : 0})
    if (n > 0) after.insert(n);
  for (const std::int64_t n : after)
    add_supposed(in, run, n, "After " + whole(static_cast<double>(n)) + (n == 1 ? " answer" : " answers"), rows);
}

}  // namespace

std::pair<int, std::ptrdiff_t> teaching_place(const TopicStanding& s) {
  if (!s.next) return {drill_levels + 1, 0};
  const auto labs = all_labs();
  const auto at = std::find_if(labs.begin(), labs.end(), [&](const LabEntry& lab) { return lab.id == s.next->lab; });
  return {s.next->level, at - labs.begin()};
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  if (!out.reason.empty()) return picture;
  picture.plan = arrange_plan(in, out, run);
  picture.answer = verdict_of(in, out) + "\n" + next_of(in, out, picture.plan, run.topics.size());
  const auto order = weak_first(run.topics, in.topic == "weak");
  picture.lines.reserve(order.size() + 8);  // rows point into the lines
  RowWriter rows(in, picture);
  picture.ladder = "Topics that you were asked, against the goal";
  std::int64_t folded = 0;
  for (const TopicStanding* s : order) {
    if (s->asked > 0) {
      rows.add_topic(*s, in.topic);
      continue;
    }
    ++folded;
    if (picture.folded_link.empty()) picture.folded_link = "interview/drills?topic=" + std::string(s->topic);
  }
  picture.ladder_key =
      "dot: share right; bar: what the answers support; tick: the goal of " + percent(in.goal_percent, "");
  if (folded > 0)
    picture.folded = whole(static_cast<double>(folded)) + (folded == 1 ? " topic" : " topics") + " not asked yet";
  if (run.predictions.asked > 0)
    rows.add(predictions_line(run.predictions), run.predictions.close, run.predictions.asked);
  add_rooms(out, true, rows);
  if (picture.rows.empty())
    add_beginning(in, out, run, order, rows, picture);
  else if (in.plan_questions > 0)
    add_supposed(in, run, in.plan_questions, "If you go on so", rows);
  picture.known = picture.rows.size();
  for (const TopicStanding* s : order)
    if (!(s->asked > 0)) rows.add_topic(*s, in.topic);
  if (!(run.predictions.asked > 0)) rows.add(predictions_line(run.predictions), 0, 0);
  add_rooms(out, false, rows);
  if (run.topics_ahead > 0)
    rows.add({.label = "Not opened yet",
              .detail = whole(static_cast<double>(run.topics_ahead)) +
                        (run.topics_ahead == 1 ? " topic is in a chapter" : " topics are in chapters") +
                        " of which no lab was opened",
              .act = nullptr},
             0, 0);
  picture.due = run.due;
  picture.calendar = run.calendar;
  return picture;
}

}  // namespace chapters::interview::readiness
