#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"
#include "widgets/number/number.h"

using namespace support;

namespace {

/// A column of one of the tables that the canvas would export, row by row.
std::vector<double> exported(UiDriver& ui, std::string_view table, std::size_t column) {
  std::vector<double> out;
  const widgets::Record record = ui.record();
  for (const auto& t : record.tables)
    if (t.name == table)
      for (const auto& row : t.rows) out.push_back(std::stod(row[column]));
  return out;
}

std::size_t inked(const std::vector<double>& ink) {
  return static_cast<std::size_t>(std::count(ink.begin(), ink.end(), 1.0));
}

}  // namespace

// Bounds and not figures: the last bits of exp and log differ between C libraries, and a digit near the border may
// change sides.
TEST_CASE("playground: eight bits are free, two are not, and tuning straight through brings most back") {
  const LabPtr lab = open_lab("compression/playground");
  set(*lab, "sparsity", 0);
  set(*lab, "weight_bits", 8);
  lab->compute();
  const double original = out(*lab, "original_accuracy");
  CHECK((original > 90 && original < 97));
  CHECK(std::abs(out(*lab, "accuracy_lost")) <= 1);
  CHECK(out(*lab, "size_bytes") == 2712);  // 2,368 + 4 (42 scales + 42 biases + 2 activation scales)
  CHECK(near(out(*lab, "compression"), 9640.0 / 2712, 1e-12));
  CHECK(near(out(*lab, "bits_per_weight"), 8 * 2712.0 / 2368, 1e-12));
  CHECK(near(out(*lab, "speed_compute"), 2, 1e-3));  // INT8 over BF16 on H100: 1,979 over 989.4 TFLOP/s
  set(*lab, "weight_bits", 2);
  lab->compute();
  const double rounded = out(*lab, "accuracy");
  CHECK(rounded < original - 25);
  lab->inputs().find("fine_tune")->toggle() = true;
  lab->compute();
  CHECK(out(*lab, "accuracy") > rounded + 15);
  CHECK(out(*lab, "original_accuracy") == original);  // the teacher was not trained again
}

TEST_CASE("playground: the goal is found in the sweep, and what beats the sweep says so") {
  const LabPtr lab = open_lab("compression/playground");
  lab->compute();
  const double smallest = out(*lab, "goal_bytes");
  CHECK((smallest > 100 && smallest < 400));
  CHECK(out(*lab, "goal_accuracy") > 70);
  CHECK(near(out(*lab, "goal_compression"), 9640 / smallest, 1e-12));
  const chapters::Field* front = lab->outputs().find("front");
  REQUIRE(front->table_size() >= 8);
  double bytes = 0, accuracy = 0;
  for (std::size_t i = 0; i < front->table_size(); ++i) {
    chapters::Fields row;
    front->table_row(i, row);
    CHECK(row.find("bytes")->number() > bytes);
    CHECK(row.find("accuracy")->number() > accuracy);
    bytes = row.find("bytes")->number();
    accuracy = row.find("accuracy")->number();
  }
  set(*lab, "goal", 95);
  choose(*lab, "difficulty", "hard");
  lab->compute();
  CHECK(std::isnan(out(*lab, "goal_bytes")));
  CHECK_FALSE(lab->outputs().find("goal_met")->toggle());
}

TEST_CASE("playground: the same seed gives the same figures in a lab of its own, another seed others") {
  const LabPtr a = open_lab("compression/playground"), b = open_lab("compression/playground");
  set(*b, "seed", 2);
  b->compute();
  const double other = out(*b, "last_loss");
  set(*b, "seed", 1);
  a->compute();
  b->compute();
  for (const char* key : {"accuracy", "last_loss", "goal_bytes", "size_bytes", "first_loss"})
    CHECK(out(*a, key) == out(*b, key));
  CHECK(out(*a, "last_loss") != other);
  CHECK(out(*a, "last_loss") < out(*a, "first_loss") / 4);
}

TEST_CASE("playground: a run that is stopped says so and keeps nothing half trained") {
  const LabPtr lab = open_lab("compression/playground");
  lab->inputs().find("seed")->set_number(9173);  // a network that no other test has trained
  chapters::Progress stopped;
  stopped.cancelled = true;
  lab->compute(stopped);
  CHECK(lab->reason() == "The training was stopped before its end.");
  lab->compute();
  CHECK(out(*lab, "original_accuracy") > 90);
}

TEST_CASE("playground: a stroke of the mouse is read by both networks, Clear takes it away, keys put ink down") {
  const LabPtr lab = open_lab("compression/playground");
  lab->compute();
  Canvas canvas(*lab, {1700, 1000});
  UiDriver& ui = canvas.ui;
  ui.click("Clear");
  ui.frames(2);
  const std::vector<double> blank = exported(ui, "reading", 1);
  REQUIRE(blank.size() == 10);
  CHECK(inked(exported(ui, "ink", 2)) == 0);
  ui.drag_points(ui.point_in("card to draw on", {0.55f, 0.1f}), ui.point_in("card to draw on", {0.55f, 0.95f}));
  ui.frames(2);
  const std::vector<double> stroke = exported(ui, "ink", 2), says = exported(ui, "reading", 1);
  CHECK(inked(stroke) >= 2);
  CHECK(stroke[0 * 8 + 4] == 1);
  CHECK(stroke[7 * 8 + 4] == 1);
  CHECK(stroke[0] == 0);
  double all = 0;
  for (const double p : says) all += p;
  CHECK(near(all, 100, 1e-9));
  CHECK(says != blank);
  // The pen stands where the mouse left it: to the left, and Space.
  ui.key(ImGuiKey_LeftArrow);
  ui.key(ImGuiKey_LeftArrow);
  ui.key(ImGuiKey_LeftArrow);
  ui.key(ImGuiKey_Space);
  ui.frames(2);
  CHECK(exported(ui, "ink", 2)[7 * 8 + 1] == 1);
  ui.key(ImGuiKey_Space);
  ui.frames(2);
  CHECK(exported(ui, "ink", 2)[7 * 8 + 1] == 0);
}

TEST_CASE("playground: the answer names the learner's network and what the sweep has above the goal") {
  const LabPtr lab = open_lab("compression/playground");
  lab->compute();
  CHECK(std::string(lab->answer()).find("\nThe smallest in the sweep that reads more than `70 %` takes `") !=
        std::string::npos);
  {
    Canvas canvas(*lab, {1200, 800});
    canvas.ui.frames(2);
    CHECK(canvas.ui.text_present(widgets::format_text(out(*lab, "goal_bytes"), "B")));  // at its mark on the front
  }
  set(*lab, "goal", 95);
  choose(*lab, "difficulty", "hard");
  lab->compute();
  CHECK(std::string(lab->answer()).find("No compression in the sweep reads more than `95 %`") != std::string::npos);
}

TEST_CASE("playground: a goal that nothing in the sweep reaches has no smallest network, rather than one of 0 bytes") {
  const LabPtr lab = open_lab("compression/playground", R"({"goal": 95, "difficulty": "hard"})");
  lab->compute();
  for (const char* key : {"goal_bytes", "goal_accuracy", "goal_compression"}) {
    INFO(key);
    CHECK(std::isnan(out(*lab, key)));
  }
  CHECK(lab->outputs().find("goal_bytes")->spec.absent == "Nothing in the sweep is above the goal.");
  CHECK(std::string(lab->answer()).find("No compression in the sweep reads more than `95 %`.") != std::string::npos);
}
