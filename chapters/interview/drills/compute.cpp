#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "chapters/interview/drills/lab.h"
#include "chapters/interview/shared/words.h"
#include "chapters/mechanism/catalog.h"
#include "models/learning/practice.h"

namespace chapters::interview::drills {
namespace {

/// NaN of none.
double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Counts what was right, near and how long it took: of all answers, of this round and of the last whole one.
void count_answers(const Inputs& in, Outputs& out) {
  const auto n = static_cast<std::int64_t>(in.history.size());
  std::vector<double> times;
  std::int64_t streak = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const DrillRecord& r = in.history[static_cast<std::size_t>(i)];
    if (r.seconds > 0) times.push_back(r.seconds);
    out.right += r.right;
    out.near += r.near;
    streak = r.right ? streak + 1 : 0;
    out.best_streak = std::max(out.best_streak, streak);
    const std::int64_t whole_rounds = n - n % in.questions;
    if (i >= whole_rounds) {
      out.right_in_round += r.right;
      out.near_in_round += r.near;
    } else if (i >= whole_rounds - in.questions) {
      out.right_in_last_round += r.right;
      out.near_in_last_round += r.near;
    }
  }
  out.median_s = median(std::move(times));
}

/// The latest answer with its question made anew; null where there is none, or its template is not known any more.
std::shared_ptr<const LastAnswer> last_answer(const Inputs& in, DrillLabs& labs) {
  if (in.history.empty()) return nullptr;
  const Catalog& c = catalog();
  const DrillRecord& record = in.history.back();
  const Drill* drill = find_drill(c.drills, record.drill);
  if (!drill) return nullptr;
  auto question = make_question(*drill, c.drills, static_cast<std::uint64_t>(record.seed), labs, DrillWords::alone);
  if (!question) question = make_question(*drill, c.drills, static_cast<std::uint64_t>(record.seed), labs);
  if (!question) return nullptr;
  return std::make_shared<const LastAnswer>(LastAnswer{std::move(*question), record.said, record.right});
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  const Catalog& c = catalog();
  const auto n = static_cast<std::int64_t>(in.history.size());
  DrillLabs labs;
  const DrillScope scope = scope_of(c.drills, in.opened, in.now_s);
  auto dealt = deal_drill(c.drills, in.history,
                          {
                              .topic = in.topic == "weak" ? std::string_view() : in.topic,
                              .drill = in.drill == "any" ? std::string_view() : in.drill,
                              .level = static_cast<int>(in.level),
                              .seed = static_cast<std::uint64_t>(in.seed),
                              .now_s = in.now_s,
                              .in_round = static_cast<std::size_t>(n % in.questions),
                              .scope = &scope,
                          },
                          labs);
  if (!dealt) return {.facts = {.reason = dealt.error}};
  const DrillChoice& pick = dealt->choice;
  DrillQuestion& asked = dealt->question;
  Outputs out;
  out.question = asked.text;
  out.unit_hint = asked.unit_label;
  out.hint = in.hints ? asked.hint : std::string();
  out.why = pick.why;
  out.level_now = pick.drill->level;
  out.answer = in.reveal ? asked.answer : std::numeric_limits<double>::quiet_NaN();
  out.limit_s = limit_of(in.clock);
  for (const Choice& topic : c.drill_topics)
    if (topic.id == pick.drill->topic) out.topic_now = topic.label;

  out.answered = n;
  out.question_of_round = n % in.questions + 1;
  count_answers(in, out);
  out.due = due_count(in.history, in.now_s);
  auto topics = standings(c.drills, c.drill_topics, in.history, scope, in.now_s, models::confidence_z(95));
  const TopicStanding* weakest = weakest_topic(topics);
  out.weakest = weakest ? std::string(weakest->label) : "not known yet";
  out.daily_done = daily_done(in.history, in.now_s);
  out.daily_streak = daily_streak(in.history, in.now_s);
  out.is_daily = in.drill == today_drill && !out.daily_done;
  if (progress.facts_alone) return {std::move(out)};
  auto last = last_answer(in, labs);
  return {std::move(out), std::make_shared<const Run>(Run{std::move(asked), std::move(topics), std::move(last)})};
}

}  // namespace chapters::interview::drills
