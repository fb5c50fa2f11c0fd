#include <algorithm>
#include <cmath>

#include "chapters/interview/shared/paper.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/practice/drill_history.h"
#include "chapters/practice/prediction_history.h"
#include "models/learning/practice.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"

/// What the answers given so far support, topic by topic, and what to do next.
namespace chapters::interview::readiness {
namespace {

using widgets::theme;

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

  struct Line {
    std::string_view label;
    std::string detail, link, next;
    double share = 0;
    bool known = false, chosen = false;
    const char* act = "practise";
  };
  std::vector<Line> lines;
  double goal = 0.8;
};

struct View {
  Requests requests;
};

const Choices confidence_choices{{"80", "80 %", ""}, {"90", "90 %", ""}, {"95", "95 %", ""}, {"99", "99 %", ""}};
constexpr double confidences[] = {80, 90, 95, 99};

void describe(Fields& f, Inputs& in) {
  f.choice("topic", in.topic, catalog().drill_topics,
           {.label = "Topic", .help = "What the figures speak of: one topic, or all of them together."});
  f.real("goal_percent", in.goal_percent,
         {
             .label = "Ready means",
             .unit = "%",
             .help = "The share of right answers that you want to be sure of.",
             .lo = 50,
             .hi = 95,
         });
  f.choice("confidence", in.confidence, confidence_choices,
           {.label = "How sure", .help = "Two-sided confidence of the interval whose lower end counts."});
  f.integer("plan_questions", in.plan_questions,
            {
                .label = "Suppose you answer",
                .help = "So many questions more.",
                .lo = 0,
                .hi = 200,
            });
  f.real("plan_right_percent", in.plan_right_percent,
         {
             .label = "Of them right",
             .unit = "%",
             .help = "The share of those that you get right.",
             .lo = 0,
             .hi = 100,
         });
  shared::history(f, "history", in.history, "drill.history", most_drill_records,
                  {.label = "Your answers", .help = "Everything you answered in the drills; kept between sessions."});
  shared::history(
      f, "predictions", in.predictions, predictions_table, most_prediction_records,
      {.label = "Your predictions", .help = "What you committed to before a lab showed it; kept between sessions."});
  shared::clock(f, "now_s", in.now_s, "When you came here, in seconds since 1970; what is due depends on it.");
}

void describe(Fields& f, Row& r) {
  f.text("topic", r.topic, {.label = "Topic"});
  f.integer("asked", r.asked, {.label = "Asked"});
  f.integer("right", r.right, {.label = "Right"});
  f.real("ready_percent", r.ready_percent, {.label = "Ready", .unit = "%"});
  f.integer("level", r.level, {.label = "Level"});
  f.integer("due", r.due, {.label = "Due"});
  f.text("next", r.next, {.label = "Next"});
}

void describe(Fields& f, Outputs& o) {
  constexpr std::string_view wilson = "Wilson 1927, score interval";
  f.real("ready_percent", o.ready_percent,
         {
             .label = "Ready",
             .unit = "%",
             .help = "The share of right answers that your answers support; not the share itself.",
             .formula = "(p + z^2/2n - z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)",
             .source = wilson,
         });
  f.real("success_percent", o.success_percent, {.label = "Right so far", .unit = "%", .formula = "right / asked"});
  f.real("plan_ready_percent", o.plan_ready_percent,
         {
             .label = "Ready, if so",
             .unit = "%",
             .help = "With the questions that you suppose.",
             .source = wilson,
         });
  f.integer("needed_questions", o.needed_questions,
            {.label = "Questions to the goal",
             .help = "At the supposed share; 0 when you are there, or when that share never shows it."});
  f.integer("topics_ready", o.topics_ready, {.label = "Topics ready", .help = "Topics whose figure reaches the goal."});
  f.integer("level_reached", o.level_reached,
            {.label = "Level reached", .help = "Highest level answered right: 1 recall to 6 design."});
  f.integer("due", o.due,
            {.label = "Due for review",
             .help = "Kinds of question, of every topic, whose time to come back has come.",
             .source = "intervals of SM-2, Wozniak 1990"});
  f.integer("asked", o.asked, {.label = "Asked", .help = "Questions answered."});
  f.integer("right", o.right, {.label = "Right", .help = "Of them right and in time."});
  f.integer("predicted", o.predicted,
            {.label = "Predictions",
             .help = "Questions that labs asked before they showed the answer; the first answer to each counts."});
  f.integer("predicted_close", o.predicted_close,
            {.label = "Of them close", .help = "Within what the question allows."});
  f.real("predictions_ready_percent", o.predictions_ready_percent,
         {
             .label = "Predictions support",
             .unit = "%",
             .help = "The share of close predictions that these support.",
             .source = wilson,
         });
  f.text("weakest", o.weakest, {.label = "Weakest topic"});
  f.text("next", o.next, {.label = "Do next"});
  f.text("verdict", o.verdict, {.label = "To the goal"});
  f.table("topics", o.topics, {.label = "By topic", .help = "How every topic stands."});
}

void describe(Fields& f, View& v) { f.text("open_link", v.requests.open_link, {.label = "Lab to open"}); }

std::string percent(double share) { return std::string(widgets::format(std::round(share * 1000) / 10, "%", 3)); }
std::string whole(double v) { return std::string(widgets::format(v, "", 9)); }

/// The line under the topics: how often the first answer was close, and where to look again.
void add_predictions(const Inputs& in, double z, Outputs& out) {
  const PredictionStanding s = standing(in.predictions);
  out.predicted = static_cast<std::int64_t>(s.asked);
  out.predicted_close = static_cast<std::int64_t>(s.close);
  const double supported = models::wilson_lower(s.close, s.asked, z);
  out.predictions_ready_percent = 100 * supported;
  const LabPtr missed = make_lab_by_id(s.missed_lab);
  const std::string_view lab = missed ? missed->info().id : std::string_view("roofline/roofline");
  out.lines.push_back(
      {"Predictions",
       s.asked > 0 ? whole(s.close) + " of " + whole(s.asked) + " close at the first try" : "none committed yet",
       std::string(lab),
       missed ? "missed last in: " + std::string(missed->info().title) : "next: any lab's Predict tab", supported,
       s.asked > 0, false, missed ? "look again" : "predict"});
}

Outputs compute(const Inputs& in) {
  Outputs out;
  const Catalog& c = catalog();
  if (c.drills.empty()) {
    out.reason = "No drills were found: assets/drills holds them.";
    return out;
  }
  const double z = models::confidence_z(confidences[static_cast<std::size_t>(in.confidence)]);
  out.goal = in.goal_percent / 100;
  const auto all = standings(c.drills, c.drill_topics, in.history, in.now_s, z);
  const bool everything = in.topic == "weak";
  double asked = 0, right = 0;
  const TopicStanding* weakest = nullptr;
  for (const TopicStanding& s : all) {
    if (everything || s.topic == in.topic) {
      asked += s.asked;
      right += s.right;
      out.level_reached = std::max<std::int64_t>(out.level_reached, s.best);
    }
    out.topics_ready += s.ready >= out.goal;
    if (!weakest || s.ready < weakest->ready) weakest = &s;
    const std::string next = s.next ? s.next->title : std::string();
    out.topics.push_back({std::string(s.label), next, static_cast<std::int64_t>(s.asked),
                          static_cast<std::int64_t>(s.right), s.best, s.due, s.ready * 100});
    out.lines.push_back(
        {s.label,
         s.asked > 0 ? whole(s.right) + " of " + whole(s.asked) + " right, level " + whole(s.best) + " of 6" +
                           (s.due > 0 ? ", " + whole(static_cast<double>(s.due)) + " due" : "")
                     : "not asked yet",
         "interview/drills?topic=" + std::string(s.topic), "next: " + next, s.ready, s.asked > 0, s.topic == in.topic});
  }
  add_predictions(in, z, out);
  out.due = due_count(in.history, in.now_s);
  // A kind of question that the templates no longer have still counts as an answer given.
  out.asked = everything ? static_cast<std::int64_t>(in.history.size()) : static_cast<std::int64_t>(asked);
  out.right = static_cast<std::int64_t>(right);
  out.success_percent = asked > 0 ? 100 * right / asked : 0;
  out.ready_percent = 100 * models::wilson_lower(right, asked, z);
  const double rate = in.plan_right_percent / 100, more = static_cast<double>(in.plan_questions);
  out.plan_ready_percent = 100 * models::wilson_lower(right + rate * more, asked + more, z);
  const std::int64_t needed = models::questions_to_goal(right, asked, rate, out.goal, z);
  out.needed_questions = std::max<std::int64_t>(needed, 0);
  out.verdict = needed == 0 ? "You are there: your answers support " + percent(out.goal) + "."
                : needed > 0
                    ? whole(static_cast<double>(needed)) + " more questions with " + percent(rate) + " right show it."
                    : percent(rate) + " right never shows " + percent(out.goal) + ".";
  out.weakest = weakest ? std::string(weakest->label) : std::string();
  out.next = weakest && weakest->next ? weakest->next->title : std::string();
  return out;
}

void draw_figures(const widgets::Painter& p, ImVec2 at, float width, const Outputs& out) {
  const auto& t = theme();
  struct Figure {
    std::string_view label;
    widgets::NumberText value;
    ImU32 colour;
  };
  const bool known = out.asked > 0;
  const Figure figures[] = {
      {"supported now",
       known ? widgets::format(std::round(out.ready_percent), "%", 3) : widgets::format(std::nan(""), ""),
       known ? share_colour(out.ready_percent / 100, out.goal) : t.muted},
      {"right so far",
       known ? widgets::format(std::round(out.success_percent), "%", 3) : widgets::format(std::nan(""), ""), t.text},
      {"supported, if so", widgets::format(std::round(out.plan_ready_percent), "%", 3),
       share_colour(out.plan_ready_percent / 100, out.goal)},
      {"topics ready", widgets::format(static_cast<double>(out.topics_ready), ""), t.text},
      {"level reached", widgets::format(static_cast<double>(out.level_reached), ""), t.text}};
  const float cell = width / static_cast<float>(std::size(figures));
  for (std::size_t i = 0; i < std::size(figures); ++i) {
    const float x = at.x + cell * static_cast<float>(i);
    p.text({x, at.y}, figures[i].value, figures[i].colour, widgets::Type::title, widgets::Font::mono);
    p.text_fit({x, at.y + t.px(30)}, figures[i].label, cell - t.px(8), t.muted, widgets::Type::small);
  }
}

void draw(Inputs& in, const Outputs& out, View& view) {
  if (!out.reason.empty()) return;
  const auto& t = theme();
  const widgets::Painter p = widgets::Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x, width = std::min(room, t.px(860)), pad = t.px(22);
  const float row = t.px(54);
  const std::size_t rows = out.lines.size();
  const float height = t.px(124) + row * static_cast<float>(rows) + pad;
  p.rect(corner, {corner.x + width, corner.y + height}, t.panel, t.px(12));
  p.frame(corner, {corner.x + width, corner.y + height}, t.line, 1, t.px(12));
  const float x = corner.x + pad, inner = width - 2 * pad;
  draw_figures(p, {x, corner.y + pad}, inner, out);
  p.text_fit({x, corner.y + pad + t.px(62)}, out.verdict, inner, t.accent, widgets::Type::body, widgets::Font::bold);
  float y = corner.y + t.px(120);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto& line = out.lines[i];
    if (line.chosen)
      p.rect({corner.x + t.px(6), y - t.px(8)}, {corner.x + width - t.px(6), y + row - t.px(9)}, t.card, t.px(6));
    p.line({x, y - t.px(8)}, {x + inner, y - t.px(8)}, t.grid);
    const char* const practise = line.act;
    const float link = widgets::text_size("look again", widgets::Type::small).x,
                bar = (inner - link - t.px(40)) * 0.55f;
    share_bar(p, {x, y}, bar, line.label, line.share, out.goal, line.known);
    const float middle = x + bar + t.px(20), text = inner - bar - link - t.px(36);
    p.text_fit({middle, y}, line.detail, text, t.text, widgets::Type::small);
    p.text_fit({middle, y + t.px(20)}, line.next, text, t.muted, widgets::Type::small);
    ImGui::SetCursorScreenPos({x + inner - link, y});
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton(practise, {link, t.px(22)}, ImGuiButtonFlags_EnableNav))
      view.requests.open_link = line.link;
    ImGui::PopID();
    p.text({x + inner, y}, practise, t.accent, widgets::Type::small, widgets::Font::sans, widgets::Align::right);
    y += row;
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({width, height});
  const float note = corner.y + height + t.px(12);
  const float noted =
      widgets::wrapped_text(p, {x, note},
                            "Each bar is what your answers support, not your score: the lower end of the interval "
                            "around the share that was right. The line across it is the goal.",
                            inner, t.muted);
  ImGui::SetCursorScreenPos({corner.x, note});
  ImGui::Dummy({width, noted});
  if (widgets::Record* record = p.record()) {
    widgets::DataTable topics{
        "Readiness by topic", {"topic", "asked", "right", "ready_percent", "level", "due", "next"}, {}};
    for (const Row& r : out.topics)
      topics.rows.push_back({r.topic, std::to_string(r.asked), std::to_string(r.right), widgets::exact(r.ready_percent),
                             std::to_string(r.level), std::to_string(r.due), r.next});
    widgets::DataTable answers{"Answers", {"drill", "seed", "said", "right", "seconds", "time_unix_s"}, {}};
    for (const DrillRecord& r : in.history)
      answers.rows.push_back({r.drill, std::to_string(r.seed), widgets::exact(r.said), r.right ? "1" : "0",
                              widgets::exact(r.seconds), widgets::exact(r.time_s)});
    record->tables.push_back(std::move(topics));
    record->tables.push_back(std::move(answers));
  }
}

}  // namespace

LabPtr make() {
  return make_lab<Inputs, Outputs, View>(
      {.id = "interview/readiness",
       .title = "Readiness",
       .question = "How much of what you know have your answers shown, and what should you do next?"},
      compute, draw);
}

}  // namespace chapters::interview::readiness
