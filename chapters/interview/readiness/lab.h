#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "chapters/practice/drill_history.h"
#include "chapters/practice/prediction_history.h"

/// What the answers given so far support, topic by topic, and what to do next.
namespace chapters::interview::readiness {

enum class Confidence : std::uint8_t { eighty, ninety, ninety_five, ninety_nine };

struct Inputs {
  std::string topic = "weak";
  double goal_percent = 80, plan_right_percent = 90;
  Confidence confidence = Confidence::ninety_five;
  std::int64_t plan_questions = 20;
  std::vector<DrillRecord> history;
  std::vector<PredictionRecord> predictions;
  double now_s = 0;
  bool operator==(const Inputs&) const = default;
};

struct Row {
  std::string topic, next;
  std::int64_t asked = 0, right = 0, level = 0, due = 0;
  double ready_percent = 0;
};

struct Outputs {
  double ready_percent = 0, success_percent = 0, plan_ready_percent = 0, predictions_ready_percent = 0;
  std::int64_t asked = 0, right = 0, needed_questions = 0, topics_ready = 0, due = 0, level_reached = 0, predicted = 0,
               predicted_close = 0;
  std::string weakest, next, verdict;
  std::vector<Row> topics;
  std::string reason;

  std::vector<TopicStanding> standings;  ///< in the order of `topics`
  PredictionStanding predictions;
};

/// A row of the page: a topic of the drills, or the predictions.
struct Line {
  std::string_view label;
  std::string detail, link, next;
  double share = 0;
  bool known = false, chosen = false;
  const char* act = "practise";
};

struct Picture {
  std::uint64_t version = 0;
  std::vector<Line> lines;
  double goal = 0.8;  ///< share of right answers
};

struct View {
  Requests requests;
};

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Row& r);
void describe(Fields& f, Outputs& o);
void describe(Fields& f, View& v);
/// Normal quantile of the confidence chosen.
double z_of(Confidence confidence);
Outputs compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out);
void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::interview::readiness
