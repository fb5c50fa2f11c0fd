#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "chapters/interview/readiness/lab.h"
#include "chapters/mechanism/catalog.h"
#include "widgets/number/number.h"

namespace chapters::interview::readiness {
namespace {

using models::StudyBlock, models::StudyKind;

constexpr std::array<std::string_view, models::study_kinds> names{"reviews", "open questions", "practice", "boards",
                                                                  "pitches"};
std::string_view name_of(StudyKind kind) { return names[static_cast<std::size_t>(kind)]; }

/// Minutes that an answer takes: the median of one's own once there are enough of them.
double minutes_a_question(const Inputs& in) {
  constexpr std::size_t enough = 20;
  constexpr double clock_minutes = 2;
  std::vector<double> seconds;
  for (const DrillRecord& r : in.history)
    if (r.seconds > 0) seconds.push_back(r.seconds);
  if (seconds.size() < enough) return clock_minutes;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return std::clamp(*middle / 60, 0.25, 10.0);
}

/// Every drill that was answered, with the days until it is due.
std::vector<models::StudyReview> reviews_of(const Inputs& in, const std::vector<TopicStanding>& topics) {
  std::vector<models::StudyReview> out;
  constexpr double day_s = 86400;
  for (const auto& [id, memory] : memories(in.history)) {
    const Drill* drill = find_drill(catalog().drills, id);
    if (!drill) continue;
    const auto topic =
        std::find_if(topics.begin(), topics.end(), [&](const TopicStanding& s) { return s.topic == drill->topic; });
    out.push_back({.due_days = in.now_s > 0 ? (memory.due_s() - in.now_s) / day_s : 0,
                   .streak = memory.streak,
                   .topic = topic == topics.end() ? -1 : topic - topics.begin()});
  }
  // A map has no order of its own, and the plan must be the same each time.
  std::sort(out.begin(), out.end(), [](const models::StudyReview& a, const models::StudyReview& b) {
    return std::tie(a.due_days, a.topic, a.streak) < std::tie(b.due_days, b.topic, b.streak);
  });
  return out;
}

/// Days until each card that was graded is due.
std::vector<double> card_due_days(const Inputs& in, const RecallMemories& cards) {
  std::vector<double> out;
  for (const auto& [id, card] : cards) {
    const double after = models::fsrs_next_interval_days(card.memory.stability_days, recall_retention);
    out.push_back(in.now_s > 0 ? after - recall_days_since(card, in.now_s) : 0);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Cards that were never graded.
std::int64_t unseen_cards(const RecallMemories& known) {
  const RecallDeck& deck = recall_deck();
  return std::count_if(deck.cards.begin(), deck.cards.end(),
                       [&](const RecallCard& card) { return !known.contains(card.id); });
}

std::string count_text(std::int64_t n, const char* one, const char* many) {
  return std::to_string(n) + (n == 1 ? one : many);
}

Task task_of(const StudyBlock& b, const Run& run) {
  Task task{.minutes = widgets::format_text(b.minutes * 60, "s", 2), .kind = b.kind};
  switch (b.kind) {
    case StudyKind::review:
      task.words = count_text(b.count, " question that is due", " questions that are due");
      task.link = "interview/drills?drill=any";
      break;
    case StudyKind::recall:
      task.words = count_text(b.count, " open question", " open questions");
      task.link = "interview/recall";
      break;
    case StudyKind::practice: {
      const TopicStanding& s = run.planned[static_cast<std::size_t>(b.topic)];
      task.words = std::string(s.label) + ", " + count_text(b.count, " question", " questions");
      task.link = "interview/drills?topic=" + std::string(s.topic) + "&questions=" + std::to_string(b.count);
      break;
    }
    case StudyKind::scenario:
      task.words = "a board of symptoms";
      task.link = "interview/scenarios";
      break;
    case StudyKind::talk:
      task.words = "a pitch against the clock";
      task.link = "interview/scenarios?kind=pitch";
      break;
  }
  return task;
}

}  // namespace

void plan_days(const Inputs& in, const RecallMemories& cards, Outputs& out, Run& run) {
  const Catalog& c = catalog();
  const double z = z_of(in.confidence);
  // An interview asks of every chapter, opened or not.
  run.planned = standings(c.drills, c.drill_topics, in.history, scope_of(c.drills, {}, in.now_s), in.now_s, z);
  std::stable_sort(run.planned.begin(), run.planned.end(), [](const TopicStanding& a, const TopicStanding& b) {
    return teaching_place(a).second < teaching_place(b).second;
  });
  std::vector<models::StudyTopic> topics;
  for (const TopicStanding& s : run.planned) topics.push_back({s.score, s.asked});
  out.minutes_a_question = minutes_a_question(in);
  run.plan = models::plan_study(topics, reviews_of(in, run.planned), card_due_days(in, cards),
                                {.days = in.interview_in_days,
                                 .minutes_a_day = in.minutes_a_day,
                                 .drill_minutes = out.minutes_a_question,
                                 .unseen_cards = unseen_cards(cards),
                                 .rate = in.plan_right_percent / 100,
                                 .goal = in.goal_percent / 100,
                                 .z = z});
  for (const StudyBlock& b : run.plan.blocks) {
    out.plan.push_back({b.day + 1, std::string(name_of(b.kind)),
                        b.topic >= 0 ? std::string(run.planned[static_cast<std::size_t>(b.topic)].label) : "", b.count,
                        b.minutes});
    if (b.day == 0) out.today_minutes += b.minutes;
  }
  out.planned_minutes = run.plan.minutes;
  out.planned_topics = run.plan.topics_asked;
  out.planned_topics_ready = run.plan.topics_ready;
  out.planned_left_due = run.plan.left_due;
}

PlanPicture arrange_plan(const Inputs& in, const Outputs& out, const Run& run) {
  PlanPicture p;
  const auto days = static_cast<std::size_t>(in.interview_in_days);
  std::array<std::vector<double>, models::study_kinds> by_kind;
  for (const StudyBlock& b : run.plan.blocks) {
    auto& minutes = by_kind[static_cast<std::size_t>(b.kind)];
    minutes.resize(days, 0);
    minutes[static_cast<std::size_t>(b.day)] += b.minutes;
    if (b.day == 0) p.today.push_back(task_of(b, run));
  }
  for (std::size_t i = 0; i < days; ++i) p.days.push_back(static_cast<double>(i + 1));
  for (std::size_t k = 0; k < by_kind.size(); ++k) {
    if (by_kind[k].empty()) continue;
    p.kinds.push_back(static_cast<StudyKind>(k));
    p.names.push_back(names[k]);
    p.minutes.insert(p.minutes.end(), by_kind[k].begin(), by_kind[k].end());
  }
  p.most_minutes = in.minutes_a_day;
  p.last_day = static_cast<double>(in.interview_in_days);
  p.heading = p.today.empty() ? "Today: nothing; all that the plan wants is shown"
                              : "Today, " + widgets::format_text(out.today_minutes * 60, "s", 2);
  return p;
}

}  // namespace chapters::interview::readiness
