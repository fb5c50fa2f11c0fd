#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "app/shell/inspector.h"
#include "app/shell/stage_area.h"
#include "chapters/mechanism/registry.h"
#include "tests/app/shell/shell_fixture.h"
#include "widgets/number/number.h"

using Catch::Approx;

// Predict first, by real input: a curve drawn with the pointer and by keyboard, choices, and nothing that leaks.

namespace {

/// The roofline's curve question is asked: decode intensity over the batch.
struct Curve : Opened {
  Curve() : Opened("roofline/roofline") {
    w.lab().inputs().find("batch")->set_number(7);  // the learner's own
    ui.frames(3);
    const auto& questions = w.content.of("roofline/roofline").predictions;
    std::size_t index = 0;
    while (index < questions.size() && !questions[index].curve) ++index;
    REQUIRE(index < questions.size());
    app::ask_question(d.shell, index);
    ui.frames(3);
    REQUIRE(app::question_open(d.shell));
  }
  const app::PredictState& state() { return d.shell.predict; }
  const widgets::Box& plot() { return state().layout.frame.area; }
  ImVec2 at(float x, float y) { return {plot().min.x + x * plot().width(), plot().max.y - y * plot().height()}; }
  /// The pointer goes through these shares of the plot with the button down.
  void draw(std::initializer_list<ImVec2> shares) {
    bool down = false;
    for (const ImVec2 share : shares) {
      ui.move_to(at(share.x, share.y));
      if (!down) ui.press();
      down = true;
      ui.frames(2);
    }
    ui.release();
    ui.frames(2);
  }
};

/// What one veiled panel draws in a window of its own.
template <class Draw>
widgets::Record veiled_panel(Draw draw, std::span<const widgets::GivenAxis> given = {}) {
  widgets::Record record{};
  ImGui::NewFrame();
  ImGui::SetNextWindowSize({700, 500});
  ImGui::Begin("alone");
  {
    const widgets::Recording recording(record);
    widgets::StageView view;
    widgets::Stage stage(view, {{0, 0}, {640, 460}}, {}, widgets::Cover::veiled);
    stage.give(given);
    stage.run([&] { stage.panel("plot", {.title = "Plot"}, draw); });
  }
  ImGui::End();
  ImGui::EndFrame();
  return record;
}

std::multiset<std::string> texts_of(const widgets::Record& record) {
  std::multiset<std::string> texts;
  for (const auto& s : record.strokes)
    if (s.kind == widgets::Stroke::Kind::text) texts.insert(s.text);
  return texts;
}

}  // namespace

TEST_CASE("a curve drawn with the pointer wakes Commit at its end; the reveal scores it, keeps it and counts it") {
  Curve c;
  c.draw({{0.0f, 0.1f}, {0.5f, 0.4f}});
  CHECK_FALSE(c.state().line.whole());
  CHECK(c.state().line.reach() > c.state().places.size() / 3);
  c.ui.key(ImGuiKey_Enter);  // asleep: nothing is committed
  c.ui.frames(2);
  CHECK(app::question_open(c.d.shell));
  c.draw({{0.5f, 0.4f}, {1.0f, 0.9f}});
  REQUIRE(c.state().line.whole());
  c.ui.click("Commit  Enter");
  REQUIRE(c.d.settle());
  CHECK(c.state().answered);
  CHECK_FALSE(app::question_open(c.d.shell));
  CHECK(c.state().score.score > 0);
  CHECK(c.state().score.score < 100);
  CHECK(c.ui.text_present("of 100"));
  CHECK(c.ui.text_present("yours"));
  CHECK(c.ui.text_present("computed"));
  const auto* kept = c.w.progress.latest("roofline/roofline", "roofline-draw-decode");
  REQUIRE(kept);
  CHECK(kept->committed == Approx(c.state().score.score));
  CHECK(kept->answer == 100);
  CHECK(c.w.kept.tables.contains("prediction.curves"));
  const auto guesses = app::guesses(c.d.shell, "roofline/roofline");
  REQUIRE(guesses.size() == 1);
  CHECK(guesses[0].over == "batch");
  CHECK(guesses[0].xs.size() == guesses[0].ys.size());
  CHECK(guesses[0].here);
  app::Workspace again(Opened::content(), c.paths);
  REQUIRE(again.open("interview/readiness"));
  again.current().finish();
  CHECK(again.lab().outputs().find("predicted")->number() == 1);
}

TEST_CASE("by keyboard: the arrows draw and bend the line, R starts again, Enter commits") {
  Curve c;
  for (int i = 0; i < 40 && !c.state().line.whole(); ++i) {
    c.ui.key(ImGuiKey_RightArrow);
    c.ui.key(ImGuiKey_UpArrow);
  }
  REQUIRE(c.state().line.whole());
  CHECK(c.state().line.values().back() > c.state().line.values().front());
  c.ui.key(ImGuiKey_R);
  c.ui.frames(2);
  CHECK(c.state().line.reach() == 0);
  for (int i = 0; i < 40 && !c.state().line.whole(); ++i) c.ui.key(ImGuiKey_RightArrow);
  REQUIRE(c.state().line.whole());
  c.ui.key(ImGuiKey_Enter);
  REQUIRE(c.d.settle());
  CHECK(c.state().answered);
}

TEST_CASE("a question sets its own scenario, and the learner's inputs come back with one press") {
  Curve c;
  CHECK(c.chosen("operation") == "decode");
  CHECK(c.in("batch") != 7);
  c.ui.key(ImGuiKey_Escape);  // show me without a guess
  REQUIRE(c.d.settle());
  CHECK(c.state().answered);
  CHECK(c.w.progress.latest("roofline/roofline", "roofline-draw-decode") == nullptr);
  CHECK(app::guesses(c.d.shell, "roofline/roofline").empty());
  CHECK(c.ui.text_present("Nothing is counted"));
  c.ui.click("Back to my inputs");
  c.ui.frames(3);
  CHECK(c.in("batch") == 7);
  CHECK_FALSE(app::question_shown(c.d.shell));
}

TEST_CASE("Escape shows an open question's answer, and leaves the presentation only when pressed again") {
  Curve c;
  c.d.shell.presentation = true;
  c.ui.frames(2);
  c.ui.key(ImGuiKey_Escape);
  REQUIRE(c.d.settle());
  CHECK(c.state().answered);
  CHECK(c.d.shell.presentation);
  c.ui.key(ImGuiKey_Escape);
  CHECK_FALSE(c.d.shell.presentation);
}

TEST_CASE("nothing leaks while a question is open: outputs, prose, claims, explore, presentation, exports") {
  Curve c;
  const std::string answer = "111.6";  // where the intensity ends, among the lab's outputs
  const auto veiled = [&](const char* where) {
    INFO(where);
    const std::string all = c.ui.all_text();
    CHECK(all.find(answer) == std::string::npos);
    CHECK(all.find("memory-bound") == std::string::npos);
    CHECK(c.d.shell.prediction_hides_outputs);
  };
  for (const char* tab : {"Design", "Concept", "Explore"}) {
    c.ui.click(tab);
    c.ui.frames(3);
    veiled(tab);
  }
  CHECK(c.ui.text_present("Veiled until you commit"));
  c.d.shell.drawer = app::Drawer::claims;
  c.ui.frames(2);
  veiled("claims");
  CHECK(c.ui.text_present("Veiled until you commit"));
  c.d.shell.presentation = true;
  c.ui.frames(4);
  veiled("presentation");
  const auto record = c.ui.record();
  CHECK(record.tables.empty());
  c.d.shell.presentation = false;
  c.ui.frames(2);
  // The learner goes elsewhere and comes back: it is as it was.
  REQUIRE(c.w.open("precision/bits"));
  c.ui.frames(3);
  CHECK_FALSE(app::question_open(c.d.shell));
  REQUIRE(c.w.open("roofline/roofline"));
  c.ui.frames(3);
  CHECK(app::question_open(c.d.shell));
}

TEST_CASE("a question is put away when its scenario is changed under it") {
  Curve c;
  c.w.lab().inputs().find("context")->set_number(2048);
  c.ui.frames(4);
  CHECK_FALSE(app::question_shown(c.d.shell));
  CHECK(c.d.was_said("The question is put away"));
}

TEST_CASE("what was guessed stands beside what was computed, whether or not it is a headline figure") {
  Opened o("roofline/tiling-waves");
  auto& questions = o.w.content.labs["roofline/tiling-waves"].predictions;
  questions = {{"test-waves", "How many waves?", R"({"n": 4097})", "waves", "Count the tiles.", 0.1}};
  REQUIRE_FALSE(o.w.lab().outputs().find("waves")->spec.headline);
  CHECK_FALSE(o.ui.text_present("you: "));
  o.ui.click("Predict");
  o.ui.frames(2);
  o.ui.click("##answer");
  o.ui.key(ImGuiKey_A, ImGuiMod_Ctrl);
  o.ui.type("3");
  o.ui.click("Commit");
  o.ui.frames(3);
  CHECK(o.ui.text_present("you: 3"));
  REQUIRE(app::guess_of(o.d.shell, "waves") != nullptr);
  o.w.lab().inputs().find("n")->set_number(4096);  // another scenario than the question's
  o.ui.frames(3);
  CHECK_FALSE(o.ui.text_present("you: 3"));
}

TEST_CASE("a choice is committed with one press and is right or wrong; a veiled plate stands for the picture") {
  Opened o("roofline/iron-law");
  const auto& questions = o.w.content.of("roofline/iron-law").predictions;
  std::size_t index = 0;
  while (index < questions.size() && questions[index].id != "iron-law-after-4bit") ++index;
  REQUIRE(index < questions.size());
  app::ask_question(o.d.shell, index);
  o.ui.frames(3);
  CHECK(o.ui.text_present("veiled until you commit"));
  REQUIRE(o.d.shell.predict.choices.size() == 3);
  o.ui.click(o.d.shell.predict.choices[0]);  // memory: it was the longest before
  o.ui.frames(3);
  CHECK(o.d.shell.predict.answered);
  CHECK(o.ui.text_present("Not quite"));
  CHECK_FALSE(o.ui.text_present("veiled until you commit"));
  o.ui.click("Try again");
  o.ui.frames(3);
  o.ui.click("canvas/" + o.d.shell.predict.choices[2]);  // the prose has the term, too
  o.ui.frames(3);
  CHECK(o.ui.text_present("Right: "));
  CHECK(o.ui.text_present("2.64 ms"));  // the explanation's live value
}

TEST_CASE("a number is asked over the plot's axes and what the question gives; what is computed is not there") {
  Opened o("roofline/roofline");
  o.d.shell.drawer_open = false;
  o.ui.frames(4);
  const auto before = o.ui.record();
  CHECK(o.ui.text_present("ridge 295"));
  CHECK_FALSE(before.tables.empty());
  app::ask_question(o.d.shell, 0);
  o.ui.frames(3);
  REQUIRE(o.d.shell.predict.kind == app::QuestionKind::number);
  CHECK(o.ui.text_present("attainable (TFLOP/s)"));
  CHECK(o.ui.text_present("arithmetic intensity (FLOP/B)"));
  CHECK(o.ui.text_present("veiled until you commit"));
  CHECK(o.ui.text_present("Every operation"));  // the panels keep their names
  const auto veiled = o.ui.record();
  CHECK(veiled.tables.empty());
  const widgets::Rect panel = app::stage_view(o.d.shell).placed.at(0).at;
  for (const auto& s : veiled.strokes) {
    if (s.kind != widgets::Stroke::Kind::text || !panel.contains(s.points[0])) continue;
    INFO(s.text);
    // Axes with their ticks and the two ceilings that the question states; nothing says where they meet.
    const bool tick = s.text.find_first_not_of("0123456789.,") == std::string::npos && s.text != "1,169";
    CHECK((tick || s.text == "attainable (TFLOP/s)" || s.text == "arithmetic intensity (FLOP/B)" ||
           s.text == "HBM3e 7.7 TB/s" || s.text == "FP4 9 PFLOP/s" || s.text == "veiled until you commit"));
  }
  // Nothing under the veil is met: neither by the pointer nor by the keyboard.
  const double bytes = o.in("bytes");
  const widgets::Rect area{o.d.shell.canvas_min, o.d.shell.canvas_max};
  const ImVec2 mid{(area.min.x + area.max.x) / 2, (area.min.y + area.max.y) / 2};
  o.ui.move_to(mid);
  o.ui.press();
  o.ui.move_to({mid.x + 80, mid.y});
  o.ui.frames(2);
  o.ui.release();
  o.ui.frames(2);
  CHECK(o.in("bytes") == bytes);
  CHECK_FALSE(o.ui.text_present("FLOP/B at"));
  o.ui.click("Show me without a guess  Esc");
  o.ui.frames(3);
  CHECK_FALSE(o.ui.text_present("veiled until you commit"));
  CHECK_FALSE(o.ui.record().tables.empty());
}

TEST_CASE("an axis over an input has the range that the input offers, and the question's value as a mark") {
  Opened o("roofline/roofline");
  const std::vector<widgets::GivenAxis> given{{"Batch", "", {1, 512}, 64}};
  const auto frame = [&](double most) {
    return texts_of(veiled_panel(
        [&](ImVec2 size) {
          static widgets::PlotView plot_view;
          const double xs[] = {1, 64}, ys[] = {1, most};
          widgets::Plot plot("plot", plot_view,
                             {.x = {.kind = widgets::AxisKind::log2, .label = "batch"},
                              .y = {.label = "tokens", .unit = "tokens/s"},
                              .size = size});
          plot.line("answer", xs, ys);
        },
        given));
  };
  const auto texts = frame(77);
  CHECK(texts.contains("given: 64"));
  CHECK(texts.contains("512"));
  CHECK(texts.contains("tokens (tokens/s)"));
  CHECK_FALSE(texts.contains("answer"));
  CHECK(texts == frame(123456));  // whatever the answer is
}

TEST_CASE("points that are given stay under the veil, on axes that run over them, and what is computed does not") {
  Opened o("roofline/roofline");
  widgets::Record record;
  const auto frame = [&](double answer) {
    record = veiled_panel([&](ImVec2 size) {
      static widgets::PlotView plot_view;
      const double xs[] = {1, 2, 4}, ys[] = {100, std::nan(""), 300}, answers[] = {1, answer, answer};
      widgets::Plot plot("plot", plot_view, {.x = {.label = "place"}, .y = {.label = "value"}, .size = size});
      plot.scatter("exact", xs, ys, {.given = true});
      plot.scatter("stored", xs, answers);
    });
    return texts_of(record);
  };
  const auto texts = frame(77);
  const auto dots = std::count_if(record.strokes.begin(), record.strokes.end(),
                                  [](const auto& s) { return s.kind == widgets::Stroke::Kind::circle; });
  CHECK(dots == 2);  // what is no number is not drawn
  CHECK(texts.contains("200"));
  CHECK(texts == frame(123456));  // whatever the answer is
}

TEST_CASE("under the veil of every lab the canvas says no answer and leaves no data") {
  Opened o("roofline/roofline");
  o.d.shell.drawer_open = false;
  for (const auto& entry : chapters::all_labs()) {
    REQUIRE(o.w.open(entry.id));
    if (o.w.lab().info().job) continue;
    o.ui.frames(2);
    const auto& questions = o.w.content.of(entry.id).predictions;
    const auto at = std::find_if(questions.begin(), questions.end(), [](const auto& q) { return !q.curve; });
    if (at == questions.end()) continue;
    INFO(entry.id << ": " << at->question);
    app::ask_question(o.d.shell, static_cast<std::size_t>(at - questions.begin()));
    o.ui.frames(3);
    if (!app::question_open(o.d.shell)) continue;
    const auto* output = o.d.shell.predict.asked->outputs().find(at->output);
    const auto record = o.ui.record();
    for (const auto& table : record.tables) {
      INFO(table.name);
      CHECK(table.name.empty());
    }
    std::string canvas;
    for (const auto& s : record.strokes)
      if (s.kind == widgets::Stroke::Kind::text && !s.points.empty() && s.points[0].x >= o.d.shell.canvas_min.x &&
          s.points[0].x < o.d.shell.canvas_max.x && s.points[0].y >= o.d.shell.canvas_min.y + 130 &&
          s.points[0].y < o.d.shell.canvas_max.y)
        canvas += s.text + "\n";
    CHECK(canvas.find("veiled until you commit") != std::string::npos);
    if (o.d.shell.predict.kind != app::QuestionKind::number) continue;
    const std::string answer = widgets::format_text(o.d.shell.predict.found->number, output->spec.unit, 3);
    if (answer.size() >= 4) CHECK(canvas.find(answer) == std::string::npos);
  }
}

TEST_CASE("under a revealed curve stands what explains it, on the same axis, with its reason in words") {
  Curve c;
  c.draw({{0.0f, 0.1f}, {0.5f, 0.9f}, {1.0f, 0.9f}});
  c.ui.click("Commit  Enter");
  REQUIRE(c.d.settle());
  c.ui.frames(3);
  const widgets::PlotFrame &above = c.state().layout.frame, &below = c.state().below_frame;
  REQUIRE(c.state().found->below.size() == c.state().found->curve.size());
  CHECK(below.area.min.x == above.area.min.x);
  CHECK(below.area.max.x == above.area.max.x);
  CHECK(below.area.min.y > above.area.max.y);
  CHECK(below.x.pixel(64) == Approx(above.x.pixel(64)));
  CHECK(c.ui.text_present("Decode step (ms)"));
  CHECK(c.ui.text_present("Each sequence adds its own cache"));
  // The axis is named once, under the lower of the two, and the place of the gap stands on it.
  const auto record = c.ui.record();
  const auto named = std::count_if(record.strokes.begin(), record.strokes.end(), [&](const auto& s) {
    return s.text == "Batch" && s.kind == widgets::Stroke::Kind::text && s.points[0].x >= below.area.min.x &&
           s.points[0].x < below.area.max.x;
  });
  CHECK(named == 1);
}
