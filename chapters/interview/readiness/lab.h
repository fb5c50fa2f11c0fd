#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "chapters/practice/drill_history.h"
#include "chapters/practice/prediction_history.h"
#include "chapters/practice/recall_history.h"
#include "chapters/practice/scenario_history.h"
#include "models/learning/study_plan.h"
#include "widgets/charts/interval_bar.h"
#include "widgets/plot/plot.h"

/// What the answers given so far support, topic by topic, and what to do next.
namespace chapters::interview::readiness {

enum class Confidence : std::uint8_t { eighty, ninety, ninety_five, ninety_nine };

struct Inputs {
  std::string topic = "weak";
  double goal_percent = 80, plan_right_percent = 90;
  Confidence confidence = Confidence::ninety_five;
  std::int64_t plan_questions = 20, interview_in_days = 14;
  double minutes_a_day = 30;
  std::vector<DrillRecord> history;
  std::vector<OpenedLab> opened;
  std::vector<PredictionRecord> predictions;
  std::vector<RecallRecord> recall;
  std::vector<ScenarioRecord> cases;
  double now_s = 0;
  bool operator==(const Inputs&) const = default;
};

struct Row {
  std::string topic, next;
  std::int64_t asked = 0, right = 0, near = 0, level = 0, due = 0;
  double ready_percent = 0;
};

/// A piece of the plan to the interview.
struct PlanRow {
  std::int64_t day = 1;  ///< 1: today
  std::string what, topic;
  std::int64_t count = 0;
  double minutes = 0;
};

struct Outputs {
  double needed_questions = 0;  ///< NaN: the supposed share never shows the goal
  double ready_percent = 0, success_percent = 0, plan_ready_percent = 0, plan_margin_percent = 0,
         predictions_ready_percent = 0;
  std::int64_t asked = 0, right = 0, near = 0, topics_ready = 0, due = 0, level_reached = 0, predicted = 0,
               predicted_close = 0, planned_topics = 0, planned_topics_ready = 0, planned_left_due = 0, recalled = 0,
               recalled_right = 0, cards_due = 0, cases = 0;
  double recall_ready_percent = 0, cases_score = 0, cases_ready_percent = 0;
  double today_minutes = 0, planned_minutes = 0, minutes_a_question = 0;
  std::string weakest, next, verdict;
  std::vector<Row> topics;
  std::vector<PlanRow> plan;
  std::string reason;
};

/// A kind of question whose time to come back has come.
struct Due {
  std::string title, when, link;
};

/// Answers a day over the last weeks.
struct Calendar {
  std::vector<std::int64_t> days;  ///< the last one today; empty where today is not known
  std::int64_t most_a_day = 0, days_with = 0;
};

struct Run {
  std::vector<TopicStanding> topics;  ///< in the order of Outputs::topics
  double asked = 0, score = 0;        ///< what the shares of the answer count
  std::vector<Due> due;               ///< the longest overdue first
  Calendar calendar;
  PredictionStanding predictions;
  models::StudyPlan plan;  ///< its topics are those of `planned`
  std::vector<TopicStanding> planned;
  std::size_t topics_ahead = 0;  ///< not asked yet, in chapters that were not opened
};

/// What a row of the page leads to: a topic of the drills, or the predictions.
struct Line {
  std::string label, detail, link;
  const char* act = "practise";  ///< null: the row leads nowhere
};

/// A first question of sixty seconds.
struct Start {
  std::string label, link;
};

/// A piece of today's part of the plan, and where it is done.
struct Task {
  std::string words, minutes, link;
  models::StudyKind kind{};
};

/// The days to the interview as columns of minutes, and what today holds.
struct PlanPicture {
  std::vector<models::StudyKind> kinds;  ///< those that the plan has
  std::vector<std::string_view> names;   ///< what these are called
  std::vector<double> days, minutes;     ///< 1 for today; so many minutes a day for each kind in turn
  std::vector<Task> today;
  std::string heading;
  double most_minutes = 0, last_day = 0;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<Line> lines;
  std::vector<widgets::IntervalRow> rows;  ///< one a line of `lines`, whose texts they point to
  std::size_t known = 0;                   ///< so many rows have an answer or are supposed; the others are folded
  std::string folded, folded_link;         ///< "26 topics not asked", and where the first of them is asked
  std::string ladder;                      ///< what the rows above the fold are
  std::string ladder_key;                  ///< what dot, bar and tick of a row are
  std::vector<Start> starts;               ///< where nothing was answered yet
  std::int64_t chosen = -1;                ///< row of the topic that the figures speak of
  std::vector<Due> due;                    ///< the longest overdue first
  PlanPicture plan;
  Calendar calendar;
};

struct View {
  Requests requests;
  bool unfolded = false;  ///< topics without an answer are shown too
  widgets::IntervalBarView topics;
  widgets::PlotView plan;
};

/// Normal quantile of the confidence chosen.
double z_of(Confidence confidence);
chapters::Computed<Outputs, Run> compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// Kinds of question to come back to now, the longest overdue first: as many as due_count says. Cards of open questions
/// that are due stand before them as one.
std::vector<Due> due_list(const Inputs& in, std::int64_t cards_due);
/// The share of what the forgetting curve of a card falls to before it is asked again: recall's own default.
inline constexpr double recall_retention = 0.9;

/// The level of a topic's first question, and where its lab stands in the order of teaching.
std::pair<int, std::ptrdiff_t> teaching_place(const TopicStanding& s);
/// Plans the days to the interview from what is remembered of each card: facts into `out`, the plan into `run`.
void plan_days(const Inputs& in, const RecallMemories& cards, Outputs& out, Run& run);
PlanPicture arrange_plan(const Inputs& in, const Outputs& out, const Run& run);
void draw_plan(Inputs& in, const Picture& picture, View& view, ImVec2 size);
/// A word that leads somewhere, its right end at `end`; true when pressed.
bool draw_link(const widgets::Painter& p, int id, const char* word, ImVec2 end);

}  // namespace chapters::interview::readiness
