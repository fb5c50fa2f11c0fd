#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string_view>

#include "app/shell/predict/predict.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/shell_driver.h"

// What a question gives stays on the veil of these labs, and what was guessed stays in their pictures.

using namespace support;

namespace {

/// The shell with a question of a lab open.
struct AskedRoof {
  AskedRoof(const char* lab, std::size_t question) {
    use_bundled_catalog();
    d.shell.drawer_open = false;
    if (!d.workspace.open(lab)) throw std::runtime_error(lab);
    d.settle();
    app::ask_question(d.shell, question);
    d.settle();
    d.ui.frames(3);
  }
  void answer(const char* words) {
    if (!app::answer_question(d.shell, words)) throw std::runtime_error(words);
    d.settle();
    d.ui.frames(4);
  }
  /// Whether this is on screen.
  bool says(std::string_view text) { return d.ui.text_present(text); }
  /// Whether the picture says this, and not only a figure's card.
  bool pictures(std::string_view text) {
    const auto record = d.ui.record();
    return std::any_of(record.strokes.begin(), record.strokes.end(), [&](const auto& s) {
      return s.kind == widgets::Stroke::Kind::text && s.text == text && !s.points.empty() &&
             s.points[0].x < d.shell.canvas_max.x && s.points[0].y < d.shell.canvas_max.y;
    });
  }
  std::size_t panels() { return app::stage_view(d.shell).specs.size(); }
  ShellDriver d{bundled_content(), nowhere(), {1280, 800}};
};

}  // namespace

TEST_CASE("given: the roofline leaves both ceilings, and not where they meet; the guess stands on the axis") {
  AskedRoof o("roofline/roofline", 0);  // the ridge of a B200 in FP4
  CHECK(o.says("HBM3e 7.7 TB/s"));
  CHECK(o.says("FP4 9 PFLOP/s"));
  CHECK(o.says("1,000"));
  CHECK_FALSE(o.says("ridge 1,169"));
  o.answer("300");
  CHECK(o.pictures("you: 300 FLOP/B"));
}

TEST_CASE("every ceiling of the chip that is drawn has its name") {
  use_bundled_catalog();
  ShellDriver d{bundled_content(), nowhere(), {1280, 800}, true};
  d.shell.drawer_open = false;
  REQUIRE(d.workspace.open("roofline/roofline"));
  REQUIRE(d.input("show").kind == chapters::Kind::choices);
  d.input("show").chosen() = {"shared", "l2", "link", "pcie", "operations"};
  REQUIRE(d.settle());
  d.ui.frames(3);
  for (const char* name : {"Shared memory 33.5 TB/s", "L2 9.15 TB/s", "NVLink 4 450 GB/s", "PCIe 5 x16 63.0 GB/s"}) {
    INFO(name);
    CHECK(d.ui.text_present(name));
  }
}

TEST_CASE("given: a hierarchy has four panels, and a guessed time stands at its depth") {
  AskedRoof o("roofline/hierarchy", 2);  // a pointer chase
  CHECK(o.panels() == 4);
  CHECK(o.says("HBM2e"));
  o.answer("1 ms");
  CHECK(o.pictures("you: 1 ms"));
}

TEST_CASE("given: the iron law leaves the work in words; the guess crosses the last bar") {
  AskedRoof o("roofline/iron-law", 0);
  CHECK(o.says("17.5 GB moved, 17.4 GFLOP, 2.64 ms of latency"));
  o.answer("3.5");
  CHECK(o.pictures("you: 3.5\xC3\x97"));
}

TEST_CASE("given: tiles and waves leave C with one tile to scale, and four panels; guessed waves stay at the chip") {
  AskedRoof o("roofline/tiling-waves", 0);
  CHECK(o.panels() == 4);
  CHECK(o.says("one tile"));
  CHECK_FALSE(o.says("wave 5 of 5"));
  // No slot of the chip is above the panel: their grid begins under two lines of words.
  const auto record = o.d.ui.record();
  for (const auto& s : record.strokes)
    if (s.kind == widgets::Stroke::Kind::text && s.text == "one tile")
      CHECK(s.points[0].y > o.d.shell.canvas_min.y + 200);
  o.answer("7");
  CHECK(o.pictures("you: 7"));
}

TEST_CASE("given: a transformer layer leaves what the chip computes and moves at most, in four panels") {
  AskedRoof o("roofline/transformer-layer", 0);
  CHECK(o.panels() == 4);
  CHECK(o.says("989"));
  CHECK(o.says("3.35"));
  o.answer("80 ms");
  CHECK(o.pictures("you: 80 ms"));
}
