#include <imgui_internal.h>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/app/shell/shell_fixture.h"

using Catch::Approx;

namespace {

/// Roofline with a question of this test's own: at 1e12 FLOP and 2 GB the intensity is 500 FLOP/B.
struct Asked : Opened {
  Asked() : Opened("roofline/roofline") {
    auto& questions = w.content.labs["roofline/roofline"].predictions;
    questions = {{"test-intensity", "What is the intensity of 1 TFLOP over 2 GB?",
                  R"({"operation": "custom", "flops": 1e12, "bytes": 2e9})", "intensity", "1e12 over 2e9.", 0.1},
                 {"test-second", "And over 4 GB?", R"({"operation": "custom", "flops": 1e12, "bytes": 4e9})",
                  "intensity", "Half of it.", 0.1}};
    ui.click("Predict");
    ui.frames(2);
  }
  void answer(const char* text) {
    ui.click("##answer");
    ui.key(ImGuiKey_A, ImGuiMod_Ctrl);
    ui.type(text);
    ui.click("Commit");
    ui.frames(2);
  }
};

}  // namespace

TEST_CASE("the drawer's tabs show the five angles; pressing the open one folds the drawer") {
  Opened o("roofline/iron-law");
  for (const char* tab : {"Design", "Concept", "Code", "Debug", "Frontier"}) {  // Concept is open at first
    o.ui.click(tab);
    o.ui.frames(3);
    INFO(tab);
    const std::string& prose = o.w.content.of("roofline/iron-law").prose[static_cast<std::size_t>(o.d.shell.drawer)];
    REQUIRE(prose.size() > 40);
    CHECK(o.d.shell.drawer_open);
    CHECK_FALSE(o.ui.text_present("Nothing is written here yet"));
  }
  CHECK(o.d.shell.drawer == app::Drawer::frontier);
  o.ui.click("Frontier");
  CHECK_FALSE(o.d.shell.drawer_open);
  o.ui.key(ImGuiKey_J, ImGuiMod_Ctrl);
  CHECK(o.d.shell.drawer_open);
}

TEST_CASE("prose shows the live value of what it names, and its links open labs") {
  Opened o;
  o.w.content.labs["roofline/roofline"].prose[0] =
      "The ridge is {ridge}.\n\n[Iron](lab:roofline/iron-law?chip=b200_sxm)\n\n[Broken](lab:roofline/iron-law?chop=1)";
  o.ui.click("Concept");  // folds
  o.ui.click("Concept");
  o.ui.frames(3);
  CHECK(o.ui.text_present("295"));  // FLOP/B of H100 in BF16
  REQUIRE(o.d.input("chip").set_choice_id("a100_80_sxm"));
  o.ui.frames(3);
  CHECK_FALSE(o.ui.text_present("295 FLOP/B."));
  o.ui.click("Broken");
  o.ui.frames(2);
  CHECK(o.d.open_lab() == "roofline/roofline");
  CHECK(o.d.was_said("roofline/iron-law has no input \"chop\""));
  o.ui.click("Iron");
  CHECK(o.d.open_lab() == "roofline/iron-law");
  CHECK(o.chosen("chip") == "b200_sxm");
}

TEST_CASE("claims show what is claimed, what is computed, and whether it holds; the button sets the lab to it") {
  Opened o("roofline/iron-law");
  const auto claims = o.w.content.claims_of("roofline/iron-law");
  REQUIRE(claims.size() >= 3);
  o.ui.click("Claims " + std::to_string(claims.size()));
  REQUIRE(o.d.settle());
  CHECK(o.ui.text_present("claimed"));
  CHECK(o.ui.text_present("computed"));
  CHECK(o.ui.text_present(claims[0]->source));
  o.ui.click("See it in the lab");
  const app::Json set = app::Json::parse(claims[0]->set);
  for (const auto& [key, value] : set.items()) {
    INFO(key);
    CHECK(app::field_to_json(o.d.input(key.c_str())) == value);
  }
}

TEST_CASE("a prediction hides the outputs until a number is committed, then shows answer and gap, and remembers both") {
  Asked o;
  CHECK(o.d.shell.prediction_hides_outputs);
  CHECK(o.ui.text_present("?"));
  CHECK_FALSE(o.ui.text_present("you said"));
  o.answer("450");
  CHECK(o.ui.text_present("Close: you said 450 FLOP/B, it is 500 FLOP/B"));  // 10 % off at a tolerance of 10 %
  CHECK(o.ui.text_present("(10 % too low)"));
  CHECK(o.ui.text_present("1e12 over 2e9."));
  CHECK_FALSE(o.d.shell.prediction_hides_outputs);
  CHECK(o.out("intensity") == Approx(500));
  const auto* kept = o.w.progress.latest("roofline/roofline", "test-intensity");
  REQUIRE(kept);
  CHECK(kept->committed == 450);
  CHECK(kept->answer == Approx(500));
  CHECK(o.w.learner.quarters("roofline/roofline").predicted ==
        (o.w.content.of("roofline/roofline").predictions.size() == 1));
  // Written to disk at once: a new workspace of the same person knows it.
  app::Workspace again(o.content(), o.paths);
  REQUIRE(again.progress.latest("roofline/roofline", "test-intensity"));
  // And readiness counts it.
  REQUIRE(again.open("interview/readiness"));
  again.current().finish();
  CHECK(again.lab().outputs().find("predicted")->number() == 1);
  CHECK(again.lab().outputs().find("predicted_close")->number() == 1);
}

TEST_CASE(
    "a prediction that is no number is refused with a sentence; a wrong one says by how much; then the next is asked") {
  Asked o;
  o.answer("many");
  CHECK_FALSE(o.d.shell.predict.answered);
  CHECK(o.ui.text_present("\"many\""));
  CHECK(o.w.progress.latest("roofline/roofline", "test-intensity") == nullptr);
  o.answer("50000");
  CHECK(o.ui.text_present("Not quite"));
  CHECK(o.ui.text_present("(100\xC3\x97"));
  o.press_each({"Next question"});
  CHECK(o.ui.text_present("And over 4 GB?"));
  CHECK(o.d.shell.prediction_hides_outputs);
  o.answer("250 FLOP/B");
  CHECK(o.ui.text_present("Right: 250 FLOP/B"));
  // After the last one: how it went, and one button to the next thing.
  o.press_each({"Finish"});
  CHECK(o.ui.text_present("Answered in this sitting: 2 of 2 questions. Right: 1."));
  CHECK(o.ui.text_present("Furthest off: "));
  CHECK_FALSE(app::question_shown(o.d.shell));
  CHECK(o.d.shell.closing.go_label.starts_with("Next lab: "));
  o.ui.click("closing/Stay here");
  o.ui.frames(2);
  CHECK_FALSE(o.d.shell.closing.open);
  app::ask_question(o.d.shell, 0);
  o.ui.frames(2);
  CHECK(o.ui.text_present("last time you said"));
}

TEST_CASE("Enter commits a prediction too") {
  Asked o;
  o.ui.click("##answer");
  o.ui.type("500");
  o.ui.key(ImGuiKey_Enter);
  o.ui.frames(2);
  CHECK(o.d.shell.predict.answered);
  CHECK(o.d.shell.predict.committed == 500);
}

TEST_CASE("Explore sweeps as soon as it opens, follows the lab, and takes another input, range and output") {
  Opened o;
  o.ui.click("Explore");
  REQUIRE(o.d.settle());
  auto& e = o.d.shell.explore;
  CHECK(e.error == "");
  REQUIRE(e.sweep.values.size() > 10);
  CHECK(e.sweep.output != "intensity");  // which is a straight line over work and over traffic
  CHECK(o.d.output(e.sweep.output.c_str()).spec.headline);
  CHECK(e.sweep.x.log);  // as the input's own scale
  o.press_each({"drawer/Input", "Traffic"});
  REQUIRE(o.d.settle());
  CHECK(e.sweep.x.key == "bytes");
  o.press_each({"drawer/Output", "Ridge point"});
  REQUIRE(o.d.settle());
  CHECK(e.sweep.output == "ridge");
  const double ridge = e.sweep.values[0];
  REQUIRE(o.d.input("chip").set_choice_id("b200_sxm"));
  REQUIRE(o.d.settle());
  CHECK(e.sweep.values[0] == Approx(o.out("ridge")));
  CHECK(e.sweep.values[0] != ridge);
}

TEST_CASE("a sweep over options is bars, over two inputs a heat map") {
  Opened o;
  o.ui.click("Explore");
  REQUIRE(o.d.settle());
  o.press_each({"drawer/Input", "Chip"});
  REQUIRE(o.d.settle());
  auto& e = o.d.shell.explore;
  CHECK(e.sweep.x.labels.size() == o.d.input("chip").options->size());
  o.press_each({"Second input", "Count KV reads"});
  REQUIRE(o.d.settle());
  CHECK(e.sweep.y.key == "kv_reads");
  CHECK(e.sweep.values.size() == 2 * e.sweep.x.values.size());
  CHECK(e.row_texts.size() == 2);
}

TEST_CASE("sensitivity names the inputs by rank, solve finds a value that can be set in the lab") {
  Opened o;
  o.d.type_value("inputs/Work", "1 TFLOP");
  o.ui.click("Explore");
  REQUIRE(o.d.settle());
  auto& e = o.d.shell.explore;
  e.output = "intensity";
  o.press_each({"Sensitivity", "Run"});
  REQUIRE(o.d.settle());
  REQUIRE(e.sensitivity.rows.size() > 3);
  CHECK((e.sensitivity.rows[0].key == "flops" || e.sensitivity.rows[0].key == "bytes" ||
         e.sensitivity.rows[0].key == "operation"));
  CHECK(o.ui.text_present("move nothing here"));
  o.press_each({"Solve", "drawer/Input", "Traffic"});
  // From, To and Target are text boxes from left to right.
  const widgets::ProbedItem* target = nullptr;
  for (const auto& item : o.ui.probe().all())
    if (item.label == "##typed" && (!target || item.min.x > target->min.x)) target = &item;
  REQUIRE(target);
  o.ui.click_at(target->centre());
  o.ui.type("500");
  o.ui.click("Run");
  REQUIRE(o.d.settle());
  CHECK(e.error == "");
  REQUIRE(e.solve.found);
  CHECK(e.solve.input == Approx(2e9).epsilon(1e-6));
  o.ui.click("Set it in the lab");
  o.ui.frames(2);
  CHECK(o.in("bytes") == Approx(2e9).epsilon(1e-6));
  CHECK(o.out("intensity") == Approx(500).epsilon(1e-6));
}

TEST_CASE("compare sets A aside and says which inputs differ and what each moved; swap goes back to A") {
  Opened o;
  o.press_each({"Explore", "Compare", "Set aside as A"});
  CHECK(o.ui.text_present("A and B are the same so far"));
  const double before = o.in("bytes");
  o.d.type_value("inputs/Traffic", "7 GB");
  CHECK(o.ui.text_present("Traffic: "));  // from what to what
  auto& e = o.d.shell.explore;
  REQUIRE(e.compare.steps.size() == 1);
  CHECK(e.compare.steps[0].key == "bytes");
  CHECK(o.ui.text_present("Arithmetic intensity"));
  // A stays on the canvas as a ghost, and the cards say what each figure was there.
  o.ui.frames(4);
  CHECK_FALSE(e.picture_a.plots.empty());
  CHECK(e.picture_a.clashes == 0);
  CHECK(app::compared_with(o.d.shell) == e.scenario_a.get());
  CHECK(o.ui.text_present(" A: "));
  const auto a_on_canvas = [&] {
    const widgets::Record drawn = o.ui.record();
    return std::count_if(drawn.strokes.begin(), drawn.strokes.end(), [](const auto& s) { return s.text == "A"; });
  };
  CHECK(a_on_canvas() == 1);
  o.ui.click("Concept");  // another tab of the drawer: A stays
  o.ui.frames(3);
  CHECK(a_on_canvas() == 1);
  o.ui.click("Explore");
  o.ui.frames(3);
  o.ui.click("Swap A and B");
  o.ui.frames(3);
  CHECK(o.in("bytes") == before);
  REQUIRE(e.compare.steps.size() == 1);
  CHECK(e.compare.steps[0].from == "7 GB");
  o.ui.frames(4);
  CHECK(a_on_canvas() == 1);
  o.ui.click("Forget A");
  o.ui.frames(3);
  CHECK(a_on_canvas() == 0);
}

TEST_CASE("notes are kept for the lab they were written on, in this run and the next") {
  Opened o;
  o.ui.click("Notes");
  o.ui.frames(2);
  o.ui.click("##notes");
  o.ui.type("bytes are the wall");
  o.ui.click("Concept");  // leaving the text saves it
  CHECK(o.w.notes.of("roofline/roofline") == "bytes are the wall");
  o.ui.click("roofline/iron-law");
  o.ui.click("Notes");
  o.ui.frames(2);
  CHECK(std::string(o.d.shell.note) == "");
  o.ui.click("roofline/roofline");
  o.ui.frames(2);
  CHECK(std::string(o.d.shell.note) == "bytes are the wall");
  app::Workspace again(o.content(), o.paths);
  CHECK(again.notes.of("roofline/roofline") == "bytes are the wall");
}

TEST_CASE("keys typed into notes are text, not commands") {
  Opened o;
  o.ui.click("Notes");
  o.ui.frames(2);
  const double before = o.in("bytes");
  o.d.type_value("inputs/Traffic", "7 GB");
  o.ui.click("##notes");
  o.ui.type("abc");
  o.ui.key(ImGuiKey_Z, ImGuiMod_Ctrl);
  CHECK(o.in("bytes") == 7e9);
  CHECK(before != 7e9);
  CHECK(std::string(o.d.shell.note).size() < 3);  // the text box's own undo
}

TEST_CASE("measured lists what was published beside the model; a chosen row gives its source and sets the lab to it") {
  Opened o;
  const auto rows = chapters::catalog().published_of("roofline/roofline");
  REQUIRE(rows.size() >= 100);
  o.ui.click("Measured " + std::to_string(rows.size()));
  REQUIRE(o.d.settle());  // a job works out the model's figures
  CHECK(o.ui.text_present("residual"));
  CHECK_FALSE(o.ui.text_present(rows[0].url));
  o.ui.click(rows[0].name);
  o.ui.frames(2);
  CHECK(o.ui.text_present(rows[0].url));
  o.ui.click("See it in the lab");
  o.ui.frames(3);
  CHECK(o.in("m") == rows[0].number("m", 0));
}

TEST_CASE("a lab without published measurements has no tab for them") {
  Opened o("roofline/hierarchy");
  CHECK_FALSE(o.ui.text_present("Measured 0"));
}

TEST_CASE("each tab of the drawer, and each lab, keeps its own place in the text") {
  Opened o;
  o.d.shell.drawer_open = false;
  o.ui.frames(2);
  o.ui.click("Concept");
  o.ui.frames(3);
  const auto body = [] {
    ImGuiWindow* found = nullptr;
    for (ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
      if (w->WasActive && std::string_view(w->Name).find("drawer body") != std::string_view::npos) found = w;
    return found;
  };
  REQUIRE(body());
  REQUIRE(body()->ScrollMax.y > 20);
  const ImRect at = body()->InnerRect;
  o.ui.wheel_at(at.GetCenter(), -1);
  o.ui.frames(3);
  const float read = body()->Scroll.y;
  REQUIRE(read > 0);
  o.ui.click("Design");
  o.ui.frames(3);
  CHECK(body()->Scroll.y == 0);
  o.ui.click("Concept");
  o.ui.frames(3);
  CHECK(body()->Scroll.y == read);
  REQUIRE(o.w.open("precision/bits"));
  o.ui.frames(3);
  CHECK(body()->Scroll.y == 0);
}
