#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "app/content/own_question.h"
#include "app/shell/program_export.h"
#include "app/shell/stage_area.h"
#include "tests/app/shell/shell_fixture.h"
#include "widgets/number/number.h"

// What a lecturer asks about his own scenario, and the lessons that ask.

namespace {

/// The roofline lab with a batch of the lecturer's own.
struct Lecture : Opened {
  Lecture() {
    w.lab().inputs().find("operation")->set_choice_id("decode");
    w.lab().inputs().find("batch")->set_number(7);
    ui.frames(4);
  }
  const app::PredictState& state() { return d.shell.predict; }
  std::string label(const char* output) { return std::string(d.output(output).spec.label); }
  /// Presses the key, types the label of the output, and of the input where there is one.
  void ask(std::string_view output, std::string_view over = {}) {
    ui.key(ImGuiKey_F7, over.empty() ? ImGuiMod_None : ImGuiMod_Shift);
    ui.frames(2);
    for (const std::string_view words : {output, over}) {
      if (words.empty()) continue;
      ui.type(words);
      ui.frames(2);
      ui.key(ImGuiKey_Enter);
      ui.frames(3);
    }
  }
  std::string intensity(int digits) { return widgets::format_text(out("intensity"), "FLOP/B", digits); }
};

}  // namespace

TEST_CASE(
    "F7 veils an output of the scenario on screen until it is predicted, in presentation too; nothing is counted") {
  Lecture o;
  o.d.shell.presentation = true;
  o.ui.frames(3);
  o.ask(o.label("intensity"));
  REQUIRE(app::question_open(o.d.shell));
  CHECK(o.in("batch") == 7);  // his own scenario, and no other
  CHECK(o.ui.text_present("With these inputs, how much is \"" + o.label("intensity")));
  const std::string figure = o.intensity(3);
  const auto leaks = [&] { return o.ui.all_text().find(figure.substr(0, figure.find(' '))) != std::string::npos; };
  CHECK_FALSE(leaks());
  CHECK(o.ui.record().tables.empty());
  o.d.shell.presentation = false;
  o.ui.frames(3);
  CHECK_FALSE(leaks());
  CHECK(o.d.shell.prediction_hides_outputs);
  REQUIRE(app::answer_question(o.d.shell, "1000").error == "");
  o.ui.frames(3);
  CHECK(o.state().answered);
  CHECK(o.state().computed == Catch::Approx(o.out("intensity")));
  CHECK(o.state().verdict.find("it is " + o.intensity(4)) != std::string::npos);
  CHECK(o.w.learner.answered_questions("roofline/roofline") == 0);
  CHECK(app::guesses(o.d.shell, "roofline/roofline").empty());
  o.ui.click("Done");
  o.ui.frames(2);
  CHECK_FALSE(app::question_shown(o.d.shell));
  CHECK(o.in("batch") == 7);
}

TEST_CASE(
    "a question about the scenario follows the inputs under its veil, and is answered for what is set at the end") {
  Lecture o;
  o.ask(o.label("intensity"));
  REQUIRE(app::question_open(o.d.shell));
  const double before = o.state().found->number;
  o.w.lab().inputs().find("batch")->set_number(70);
  o.ui.frames(4);
  REQUIRE(app::question_open(o.d.shell));
  CHECK_FALSE(o.d.was_said("put away"));
  o.ui.key(ImGuiKey_Escape);  // shown without a guess
  o.ui.frames(3);
  REQUIRE(o.state().answered);
  CHECK(o.state().computed > 2 * before);
  CHECK(o.state().computed == Catch::Approx(o.out("intensity")));
}

TEST_CASE("Shift+F7 lets the class draw an output over one input of the scenario, from the point that is shown") {
  Lecture o;
  o.ask(o.label("intensity"), std::string(o.d.input("batch").spec.label));
  REQUIRE(app::question_open(o.d.shell));
  REQUIRE(o.d.settle());
  REQUIRE_FALSE(o.state().preparing);
  REQUIRE(o.state().given.size() == 1);
  CHECK(o.state().given[0].at == 7);
  CHECK(o.state().given[0].value == Catch::Approx(o.out("intensity")));
  CHECK_FALSE(o.ui.text_present("computed"));
  REQUIRE(app::answer_question(o.d.shell, "1,10,100").error == "");
  REQUIRE(o.d.settle());
  CHECK(o.state().answered);
  CHECK(o.state().score.compared > 10);
  CHECK(o.ui.text_present("of 100"));
  o.ui.click("Draw again");
}

TEST_CASE("the palette has both questions; where a scenario has no answer there is none to ask for, and it says so") {
  Lecture o;
  o.d.command("ask this output");
  CHECK(o.d.shell.ask_picker.open);
  CHECK_FALSE(o.d.shell.ask_picker.draws);
  o.ui.key(ImGuiKey_Escape);
  o.ui.frames(2);
  CHECK_FALSE(o.d.shell.ask_picker.open);
  o.d.command("draw this output");
  CHECK(o.d.shell.ask_picker.draws);
  o.ui.key(ImGuiKey_Escape);
  o.ui.frames(2);
  o.ui.key(ImGuiKey_F1);
  o.ui.frames(2);
  CHECK(o.ui.text_present("Ask this output"));
  CHECK(o.ui.text_present("Shift+F7"));
}

TEST_CASE("a step that asks is not passed: its question opens, and Next waits for the answer") {
  Opened o;
  o.w.content.lessons = {
      {"asks",
       "Asks",
       {{.lab = "roofline/roofline", .say = "Look.", .inputs = R"({"batch": 3})", .view = "{}"},
        {.lab = "roofline/roofline", .say = "Guess.", .inputs = R"({"batch": 9})", .view = "{}", .ask = "intensity"},
        {.lab = "roofline/roofline",
         .say = "Draw.",
         .inputs = "{}",
         .view = "{}",
         .question = "roofline-draw-decode"}}}};
  o.d.command("asks");
  REQUIRE(o.d.shell.lesson.playing);
  CHECK_FALSE(app::question_shown(o.d.shell));
  o.ui.key(ImGuiKey_PageDown);
  o.ui.frames(3);
  REQUIRE(app::question_open(o.d.shell));
  CHECK(o.in("batch") == 9);
  o.ui.key(ImGuiKey_PageDown);
  o.ui.click("Next");
  o.d.shell.presentation = true;
  for (int i = 0; i < 6; ++i) o.ui.key(ImGuiKey_PageDown);
  o.d.shell.presentation = false;
  o.ui.frames(2);
  CHECK(o.d.shell.lesson.step == 1);
  CHECK(o.d.was_said("This step asks"));
  // Back is always free, and takes the question with it.
  o.ui.key(ImGuiKey_PageUp);
  o.ui.frames(3);
  CHECK(o.d.shell.lesson.step == 0);
  CHECK_FALSE(app::question_shown(o.d.shell));
  CHECK(o.in("batch") == 3);
  o.ui.key(ImGuiKey_PageDown);
  o.ui.frames(3);
  o.ui.key(ImGuiKey_Escape);
  o.ui.frames(3);
  REQUIRE(o.d.shell.predict.answered);
  CHECK(o.d.shell.lesson.playing);
  o.ui.key(ImGuiKey_PageDown);
  o.ui.frames(3);
  CHECK(o.d.shell.lesson.step == 2);
  REQUIRE(app::question_open(o.d.shell));
  CHECK_FALSE(o.d.shell.predict.own);
  CHECK(o.d.shell.predict.kind == app::QuestionKind::curve);
}

TEST_CASE("a step recorded under an open question asks it when the lesson plays") {
  Lecture o;
  o.w.content.lessons.clear();
  o.ask(o.label("intensity"));
  REQUIRE(app::question_open(o.d.shell));
  o.ui.key(ImGuiKey_F9);
  o.ui.frames(2);
  REQUIRE(o.d.shell.lesson.draft.steps.size() == 1);
  CHECK(o.d.shell.lesson.draft.steps[0].ask == "intensity");
  CHECK(o.d.shell.lesson.draft.steps[0].over.empty());
}

TEST_CASE("home lists one's own lessons, and a press plays one") {
  Opened o;
  for (auto& lesson : o.w.content.lessons) lesson.own = false;
  o.ui.key(ImGuiKey_H, ImGuiMod_Ctrl);
  o.ui.frames(3);
  CHECK_FALSE(o.ui.text_present("Your lessons"));
  o.w.content.lessons.push_back({"mine", "Bytes on Monday", {{"roofline/iron-law", "One", "Look.", "{}", "{}"}}});
  o.ui.frames(3);
  CHECK(o.ui.text_present("Your lessons"));
  o.ui.click("Bytes on Monday");
  o.ui.frames(3);
  CHECK(o.d.shell.lesson.playing);
  CHECK(o.d.open_lab() == "roofline/iron-law");
}

TEST_CASE(
    "the bar of a lesson is one line where its words fit, and the notes of whoever teaches stay out of presentation") {
  support::ShellDriver d(Opened::content(), support::nowhere(), {1280, 800}, true);
  d.workspace.content.lessons = {{"bar",
                                  "Bar",
                                  {{"roofline/roofline", "One", "Look at the dot.", "{}", "{}"},
                                   {"roofline/roofline", "Two", std::string(300, 'm'), "{}", "{}"}}}};
  auto& steps = d.workspace.content.lessons[0].steps;
  for (std::size_t i = 0; i < 160; i += 6) steps[1].say[i] = ' ';
  app::lesson_go(d.shell, 0, 0);
  d.ui.frames(3);
  const float one = app::lesson_bar_height(d.shell, 1080);
  CHECK(one <= 48);
  steps[0].teach = "Ask whose dot it is.";
  CHECK(app::lesson_bar_height(d.shell, 1080) > one);
  d.ui.frames(3);
  CHECK(d.ui.text_present("Ask whose dot it is."));
  d.shell.presentation = true;
  d.ui.frames(3);
  CHECK_FALSE(d.ui.text_present("Ask whose dot it is."));
  CHECK(d.ui.text_present("Look at the dot."));
  d.shell.presentation = false;
  app::lesson_go(d.shell, 0, 1);
  d.ui.frames(3);
  CHECK(app::lesson_bar_height(d.shell, 1080) > one);
}

TEST_CASE("in presentation at 1280 x 720 no bundled step's words take the strip of inputs from the picture") {
  support::ShellDriver d(Opened::content(), support::nowhere(), {1280, 720}, true);
  d.shell.presentation = true;
  d.shell.lesson.playing = true;
  d.ui.frames(3);
  auto& state = d.shell.lesson;
  std::size_t beside = 0, all = 0;
  for (state.lesson = 0; state.lesson < d.workspace.content.lessons.size(); ++state.lesson)
    for (state.step = 0; state.step < d.workspace.content.lessons[state.lesson].steps.size(); ++state.step) {
      const app::LessonStep& step = d.workspace.content.lessons[state.lesson].steps[state.step];
      d.workspace.open(step.lab);
      INFO(step.say);
      const float height = app::lesson_bar_height(d.shell, 1280);
      CHECK(height <= 108);  // 612 px are left, in which strip, footer and 420 px of the stage have room
      beside += height <= 84;
      ++all;
    }
  CHECK(beside > all * 3 / 4);
}

TEST_CASE("what a second process draws is offered where there is one, and not while a question veils it") {
  Lecture o;
  const auto offers = [&] {
    std::size_t n = 0;
    for (const auto& command : app::all_commands(o.d.shell))
      n += command.label.starts_with("Export picture alone") || command.label.starts_with("Export handout");
    return n;
  };
  CHECK(offers() == 0);
  o.d.shell.host.program = "/bin/false";
  CHECK(offers() == 3);
  o.ask(o.label("intensity"));
  app::export_beside(o.d.shell, app::ExportKind::picture_light, (o.folder / "x.png").string());
  CHECK(o.d.was_said("veiled until you commit"));
  CHECK_FALSE(o.d.shell.document_job);
  o.ui.key(ImGuiKey_Escape);
  o.ui.frames(3);
  // A process that fails is said.
  app::export_beside(o.d.shell, app::ExportKind::picture_light, (o.folder / "x.png").string());
  REQUIRE(o.d.settle());
  CHECK_FALSE(o.d.was_said("Saved "));
  CHECK_FALSE(o.d.shell.document_job);
  o.d.shell.host.program = "/bin/true";
  app::export_beside(o.d.shell, app::ExportKind::handout, (o.folder / "x.html").string());
  REQUIRE(o.d.settle());
  CHECK(o.d.was_said("Saved "));
}

TEST_CASE(
    "inputs that are set under the veil and have no answer are said when it is to be shown, and the question stays") {
  Opened o("serving/batching");
  REQUIRE(o.d.settle());
  const bool draws = GENERATE(false, true);
  const auto& lab = o.w.lab();
  const std::string output(std::find_if(lab.outputs().begin(), lab.outputs().end(), [](const chapters::Field& f) {
                             return f.spec.headline && f.kind == chapters::Kind::real;
                           })->key);
  REQUIRE(
      app::ask_about_scenario(o.d.shell, draws ? app::ask_curve(lab, output, "chips") : app::ask_output(lab, output))
          .error == "");
  REQUIRE(o.d.input("model").set_choice_id("deepseek-v3"));
  o.d.input("chips").set_number(1);
  REQUIRE(o.d.settle());
  REQUIRE(app::question_open(o.d.shell));
  o.ui.key(ImGuiKey_Escape);
  REQUIRE(o.d.settle());
  CHECK(app::question_open(o.d.shell));
  CHECK(o.d.shell.predict.error == o.w.lab().reason());
  CHECK_FALSE(o.w.lab().reason().empty());
  o.ui.click("Not now");
  o.ui.frames(2);
  CHECK_FALSE(app::question_shown(o.d.shell));
}
