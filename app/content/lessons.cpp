#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "app/content/content.h"
#include "app/content/content_parts.h"
#include "app/content/own_question.h"
#include "app/platform/file.h"
#include "app/platform/json.h"
#include "app/platform/quoted_text.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

/// Lessons: how they are read, checked and written.
namespace app {
namespace {

constexpr std::array<std::string_view, 11> step_keys = {"lab",   "title",    "say",      "inputs", "view", "controls",
                                                        "teach", "point_at", "question", "ask",    "over"};

/// A key that no step has is most often a typing mistake, and what it says would be lost in silence.
void check_key_names(const Json& item, Reader& step) {
  if (!item.is_object()) return;
  for (const auto& [key, value] : item.items())
    if (std::find(step_keys.begin(), step_keys.end(), key) == step_keys.end()) {
      const std::vector<std::string> known(step_keys.begin(), step_keys.end());
      const std::string guess = did_you_mean(key, known);
      return step.fail("a step has no key \"" + excerpt(key) + "\"" + (guess.empty() ? ". " : ": " + guess + " ") +
                       "It may have " + sentence_list(known) + ".");
    }
}

void check_question(const LessonStep& s, const chapters::Lab& lab, Reader& step) {
  if (!s.question.empty() && !s.ask.empty())
    return step.fail("question and ask are two questions: leave one of them out");
  if (s.ask.empty()) {
    if (!s.over.empty()) step.fail("over needs ask, the output whose curve is drawn over that input");
    return;
  }
  const auto asked = s.over.empty() ? ask_output(lab, s.ask) : ask_curve(lab, s.ask, s.over);
  if (!asked) step.fail(asked.error);
}

/// What a step shows first, points at and asks for must be inputs and outputs of its lab.
void check_step_keys(const LessonStep& s, const Json& item, Reader& step) {
  check_key_names(item, step);
  if (!chapters::has_lab(s.lab)) return step.fail(unknown_lab(s.lab));
  if (s.controls.empty() && s.point_at.empty() && !s.asks() && s.over.empty()) return;
  const auto lab = chapters::make_lab_by_id(s.lab);
  for (const std::string& key : s.controls)
    if (!lab->inputs().find(key)) step.fail(unknown_key(s.lab, "input", key, lab->inputs()));
  if (!s.point_at.empty() && !lab->inputs().find(s.point_at))
    step.fail(unknown_key(s.lab, "input", s.point_at, lab->inputs()));
  check_question(s, *lab, step);
}

}  // namespace

models::Result<Lesson> parse_lesson(std::string_view text, std::string_view origin) {
  using Parsed = models::Result<Lesson>;
  const auto doc = parse_json(text);
  if (!doc)
    return Parsed::fail(std::string(origin) +
                        " is not valid JSON: a lesson reads {\"id\", \"title\", \"steps\": [...]}.");
  Reader r(*doc, std::string(origin));
  Lesson lesson{r.text("id"), r.text("title"), {}};
  std::string error = r.error();
  each(*doc, "steps", std::string(origin), [&](Reader step, const Json& item) {
    LessonStep s{.lab = step.text("lab"),
                 .title = step.text("title", false),
                 .say = step.text("say", false),
                 .inputs = step.object("inputs"),
                 .view = step.object("view"),
                 .controls = step.texts("controls"),
                 .point_at = step.text("point_at", false),
                 .teach = step.text("teach", false),
                 .question = step.text("question", false),
                 .ask = step.text("ask", false),
                 .over = step.text("over", false)};
    if (step.error().empty()) check_step_keys(s, item, step);
    if (error.empty()) error = step.error();
    lesson.steps.push_back(std::move(s));
  });
  if (error.empty() && lesson.steps.empty())
    error = std::string(origin) + " has no steps: a lesson needs at least one.";
  return error.empty() ? Parsed::ok(std::move(lesson)) : Parsed::fail(std::move(error));
}

std::string lesson_to_text(const Lesson& lesson) {
  Json doc = {{"id", lesson.id}, {"title", lesson.title}, {"steps", Json::array()}};
  for (const auto& s : lesson.steps) {
    Json step = {{"lab", s.lab},
                 {"title", s.title},
                 {"say", s.say},
                 {"inputs", parse_own_json(s.inputs)},
                 {"view", parse_own_json(s.view)}};
    if (!s.controls.empty()) step["controls"] = s.controls;
    for (const auto& [key, value] :
         {std::pair("point_at", &s.point_at), std::pair("teach", &s.teach), std::pair("question", &s.question),
          std::pair("ask", &s.ask), std::pair("over", &s.over)})
      if (!value->empty()) step[key] = *value;
    doc["steps"].push_back(std::move(step));
  }
  return to_text(doc, 2) + "\n";
}

models::Status check_lesson(const Lesson& lesson, const Content& content, std::string_view origin) {
  using models::Status;
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const LessonStep& s = lesson.steps[i];
    const auto fail = [&](const std::string& why) {
      return Status::fail(std::string(origin) + ", steps " + std::to_string(i + 1) + ": " + why);
    };
    std::vector<std::string> ids;
    for (const Prediction& p : content.of(s.lab).predictions) ids.push_back(p.id);
    if (!s.question.empty() && std::find(ids.begin(), ids.end(), s.question) == ids.end())
      return fail("question is \"" + excerpt(s.question) + "\": " + s.lab +
                  (ids.empty() ? " asks none." : " asks " + sentence_list(ids) + "."));
    if (!lesson.own) continue;  // the bundled ones are played through by the tests
    const auto lab = chapters::make_lab_by_id(s.lab);
    const Json inputs = parse_own_json(s.inputs);
    for (const auto& [key, value] : inputs.items())
      if (lab && !lab->inputs().find(key)) return fail(unknown_key(s.lab, "input", key, lab->inputs()));
  }
  return Status::ok();
}

void load_lessons(const std::filesystem::path& folder, Content& content, bool own) {
  for (const auto& path : files_in(folder, ".json"))
    or_no_memory(content.errors, path_text(path.filename()), [&] {
      const std::string name = path_text(path.filename());
      const auto text = read_text_file(path.string());
      if (!text) return content.errors.push_back(text.error);
      auto lesson = parse_lesson(*text, name);
      if (!lesson) return content.errors.push_back(std::move(lesson.error));
      lesson->own = own;
      if (auto checked = check_lesson(*lesson, content, name); !checked)
        return content.errors.push_back(std::move(checked.error));
      content.lessons.push_back(std::move(*lesson));
    });
}
}  // namespace app
