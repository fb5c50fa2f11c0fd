#include "app/content/questions.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "app/content/load_catalog.h"
#include "app/content/slips.h"
#include "app/scenario/scenario.h"
#include "tests/support/base/paths.h"

using Catch::Approx;

namespace {

constexpr const char* curve =
    R"({"id": "q", "ask": "How does it grow?", "set": {"operation": "decode", "context": 4096},
  "draw": {"over": "batch", "lo": 1, "hi": 512, "scale": "log", "output": "decode_intensity"}, "range": [0.5, 1000],
  "given": [{"label": "the ridge", "value": 295}], "why": "Caches are not shared.",
  "explain": {"too high": "Too high.", "too low": "Too low.", "wrong bend": "It bends."}})";

/// The question, after a change to its JSON.
template <class Change>
models::Result<app::Prediction> changed(Change change) {
  app::Json doc = app::Json::parse(curve);
  change(doc);
  app::Reader r(doc, "f");
  auto parsed = app::parse_question(r, doc);
  return r.error().empty() ? models::Result<app::Prediction>::ok(std::move(parsed))
                           : models::Result<app::Prediction>::fail(r.error());
}
models::Result<app::Prediction> as_it_is() {
  return changed([](app::Json&) {});
}
template <class Change>
std::string fault(Change change) {
  const auto q = changed(change);
  return q ? app::check_question(*q, "roofline/roofline").error : q.error;
}
void with_catalog() {
  if (chapters::catalog().chips.empty())
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
}

}  // namespace

TEST_CASE("a question for a curve is read whole") {
  with_catalog();
  const auto q = as_it_is();
  REQUIRE(q.error == "");
  REQUIRE(q->curve);
  CHECK(q->question == "How does it grow?");
  CHECK(q->explain == "Caches are not shared.");
  CHECK(q->output == "decode_intensity");
  CHECK(q->curve->over == "batch");
  CHECK(q->curve->scale == app::CurveScale::log);
  CHECK(q->curve->least == 0.5);
  CHECK(q->curve->most == 1000);
  REQUIRE(q->curve->given.size() == 1);
  CHECK(q->curve->given[0].value == 295);
  CHECK(q->curve->wrong_bend == "It bends.");
  CHECK(app::check_question(*q, "roofline/roofline").error == "");
  const auto lab = app::asked_lab(*q, "roofline/roofline");
  const auto axis = app::curve_axis(*lab, *q->curve);
  REQUIRE(axis);
  CHECK(axis->values.front() == 1);
  CHECK(axis->values.back() == 512);
  for (std::size_t i = 1; i < axis->values.size(); ++i) CHECK(axis->values[i] > axis->values[i - 1]);
  CHECK(app::curve_on_log(*q->curve, *lab->outputs().find("decode_intensity")));  // a range of more than a hundredfold
}

TEST_CASE("each fault of a curve question is one clear sentence") {
  with_catalog();
  using Doc = app::Json;
  CHECK(fault([](Doc& d) { d.erase("ask"); }) == "f: the key \"ask\" is missing.");
  CHECK(fault([](Doc& d) { d["ask"] = "{ridge} is the ridge. And beyond?"; }) ==
        "f: ask holds a live value in braces: write the figure itself.");
  CHECK(fault([](Doc& d) { d["draw"]["scale"] = "cubic"; }) ==
        "f: draw: scale is \"cubic\": linear, log or step is allowed.");
  CHECK(fault([](Doc& d) { d["draw"]["lo"] = 600; }) == "f: draw: lo and hi must be numbers, lo below hi.");
  CHECK(fault([](Doc& d) { d["draw"]["lo"] = 0; }) == "f: draw: a log scale needs lo above 0.");
  CHECK(fault([](Doc& d) { d.erase("range"); }) == "f: range must be two numbers, the ends of the plot's y axis.");
  CHECK(fault([](Doc& d) { d["range"] = {2, 1}; }) == "f: range must begin below its end.");
  CHECK(fault([](Doc& d) { d["explain"] = "So."; }) ==
        "f: explain must be an object with \"too high\", \"too low\" and \"wrong bend\".");
  CHECK(fault([](Doc& d) { d["explain"].erase("too low"); }) == "f: explain: the key \"too low\" is missing.");
  CHECK(fault([](Doc& d) { d["given"][0].erase("value"); }) == "f: given: the key \"value\" is missing.");
  CHECK(fault([](Doc& d) { d["draw"]["over"] = "batsh"; }).find("did you mean \"batch\"?") != std::string::npos);
  CHECK(fault([](Doc& d) { d["draw"]["output"] = "no_such"; }).find("has no output \"no_such\"") != std::string::npos);
  CHECK(fault([](Doc& d) { d["draw"]["hi"] = 1e9; }).find("the question leaves that") != std::string::npos);
  CHECK(fault([](Doc& d) { d["range"] = {0.5, 50}; }).find("which the range given does not hold") != std::string::npos);
  CHECK(fault([](Doc& d) { d["range"] = {0, 100000}; }).find("moves by less than a tenth") != std::string::npos);
  CHECK(fault([](Doc& d) { d["given"][0]["at"] = 1e9; }).find("lies outside of the range") != std::string::npos);
  CHECK(fault([](Doc& d) { d["given"][0]["value"] = 5000; }).find("lies outside of the range") != std::string::npos);
  CHECK(fault([](Doc& d) { d["set"]["batch"] = -1; }).find("Question q: batch is -1") == 0);
}

TEST_CASE(
    "a question over an output that is a choice offers its options; numbers to choose from are part of the data") {
  with_catalog();
  const auto asks = [](const char* text) {
    const auto doc = app::Json::parse(text);
    app::Reader r(doc, "f");
    auto q = app::parse_question(r, doc);
    CHECK(r.error() == "");
    return q;
  };
  const auto regime = asks(R"({"id": "r", "question": "Which?", "set": {}, "output": "regime", "explain": "So."})");
  const auto lab = app::asked_lab(regime, "roofline/roofline");
  const auto& output = *lab->outputs().find("regime");
  CHECK(app::kind_of(regime, output) == app::QuestionKind::choice);
  CHECK(app::choices_of(regime, output).size() == output.options->size());
  CHECK(app::right_choice(regime, 1) == 1);
  const auto ridge = asks(R"({"id": "n", "question": "How much?", "set": {"chip": "h100_sxm"}, "output": "ridge",
    "options": [30, 295, 3000], "explain": "So."})");
  CHECK(app::check_question(ridge, "roofline/roofline").error == "");
  CHECK(app::choices_of(ridge, *lab->outputs().find("ridge"))[1] == "295 FLOP/B");
  CHECK(app::right_choice(ridge, 295.3) == 1);
  const auto vague = asks(R"({"id": "v", "question": "How much?", "set": {"chip": "h100_sxm"}, "output": "ridge",
    "options": [290, 300], "explain": "So."})");
  CHECK(app::check_question(vague, "roofline/roofline").error ==
        "Question v: exactly one of its options must be within the tolerance of what is computed.");
}

TEST_CASE("a verdict says how far a number is off in percent, as a multiple from twice on, and of no gap nothing") {
  CHECK(app::gap_text(64, 128.5) == "2.0\xC3\x97 too low");
  CHECK(app::gap_text(20, 31.29) == "36 % too low");
  CHECK(app::gap_text(110, 100) == "10 % too high");
  CHECK(app::gap_text(5, 5).empty());
  CHECK(app::gap_text(5, 0).empty());
  CHECK(app::gap_text(-5, 5).empty());
  CHECK(app::verdict_text(false, "20 %", "31.3 %", "36 % too low") ==
        "Not quite: you said 20 %, it is 31.3 % (36 % too low).");
  CHECK(app::verdict_text(true, "yes", "yes", "") == "\xE2\x9C\x93 Right: yes.");
}

TEST_CASE("a wrong number that many say has its sentence, and a wrong choice its reason") {
  with_catalog();
  const auto asks = [](const char* text) {
    const auto doc = app::Json::parse(text);
    app::Reader r(doc, "f");
    auto q = app::parse_question(r, doc);
    INFO(r.error());
    CHECK(r.error().empty());
    return q;
  };
  const auto number = asks(R"({"id": "n", "question": "How much?", "set": {"chip": "h100_sxm"}, "output": "ridge",
    "explain": "So.", "slips": [{"times": 0.5, "says": "That counts one operation for two."},
                                {"value": 590, "says": "That is the peak with sparsity."}]})");
  CHECK(app::check_question(number, "roofline/roofline").error == "");
  const auto kind = app::QuestionKind::number;
  CHECK(app::slip_of(number, kind, 148, 295.3) == "That counts one operation for two.");
  CHECK(app::slip_of(number, kind, 600, 295.3) == "That is the peak with sparsity.");
  CHECK(app::slip_of(number, kind, 290, 295.3).empty());  // it is right
  CHECK(app::slip_of(number, kind, 20, 295.3).empty());
  const auto choice = asks(R"({"id": "c", "question": "How much?", "set": {"chip": "h100_sxm"}, "output": "ridge",
    "options": [30, 295, 3000], "because": ["Too low.", "", "Too high."], "explain": "So."})");
  CHECK(app::check_question(choice, "roofline/roofline").error == "");
  CHECK(app::slip_of(choice, app::QuestionKind::choice, 0, 1) == "Too low.");
  CHECK(app::slip_of(choice, app::QuestionKind::choice, 1, 1).empty());
  const auto fault = [&](const char* text) { return app::check_question(asks(text), "roofline/roofline").error; };
  CHECK(fault(R"({"id": "q", "question": "How much?", "set": {"chip": "h100_sxm"}, "output": "ridge", "explain": "So.",
    "options": [30, 295, 3000], "because": ["Too low.", "Right.", "Too high."]})") ==
        "Question q: because must be empty for the right choice, and for no other.");
  CHECK(fault(R"({"id": "q", "question": "How much?", "set": {"chip": "h100_sxm"}, "output": "ridge", "explain": "So.",
    "options": [30, 295, 3000], "because": ["Too low."]})") ==
        "Question q: because must have one sentence a choice, empty for the right one.");
  CHECK(fault(R"({"id": "q", "question": "How much?", "set": {"chip": "h100_sxm"}, "output": "ridge", "explain": "So.",
    "slips": [{"times": 1.02, "says": "Near."}]})") ==
        "Question q: a slip lies within the tolerance of what is computed.");
  CHECK(fault(R"({"id": "q", "question": "How much?", "set": {"chip": "h100_sxm"}, "output": "ridge", "explain": "So.",
    "slips": [{"times": 2, "says": "Twice."}, {"value": 591, "says": "Twice too."}]})") ==
        "Question q: two slips lie within a twentieth of each other, so that the answer does not tell which it was.");
}
