#include <catch2/catch_test_macros.hpp>

#include "app/shell/predict/predict.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"
#include "widgets/base/guess.h"

// What a question gives stays on the veil of these labs and what it asks for does not; what the learner said stays in
// the picture at the reveal.

using namespace support;

namespace {

/// The shell at 1280x800 with this question of the lab open.
struct AskedLab {
  ShellDriver d{bundled_content(), nowhere(), {1280, 800}, true};
  AskedLab(std::string_view lab, std::size_t question) {
    d.shell.drawer_open = false;
    REQUIRE(d.workspace.open(lab));
    d.settle();
    panels = app::stage_view(d.shell).specs.size();
    app::ask_question(d.shell, question);
    d.settle();
    d.ui.frames(3);
  }
  std::size_t panels = 0;
};

/// Does the lab's own picture, without any cards, say this while the guess is shown?
bool picture_says(const char* lab, const char* inputs, widgets::ShownGuess guess, std::string_view words) {
  const LabPtr open = open_lab(lab, inputs);
  compute(*open);
  const widgets::ShowGuess shown(&guess);
  Canvas canvas(*open, {1180, 640});
  canvas.ui.frames(3);
  return canvas.ui.text_present(words);
}

}  // namespace

TEST_CASE("given: checkpointing leaves its layers and the budget, and has four panels") {
  use_bundled_catalog();
  AskedLab asked("training/checkpointing", 2);
  CHECK(asked.panels == 4);
  CHECK(asked.d.ui.text_present("32 layers"));
  CHECK(asked.d.ui.text_present("budget"));
  CHECK_FALSE(asked.d.ui.text_present("14 layers recomputed"));
}

TEST_CASE("given: the dashboard leaves its switches and the chip's memory, and has four panels") {
  use_bundled_catalog();
  AskedLab asked("training/dashboard", 0);
  CHECK(asked.panels == 4);
  CHECK(asked.d.ui.text_present("the chip's memory"));
  CHECK(asked.d.ui.text_present("what each saves"));
  CHECK_FALSE(asked.d.ui.text_present("600 ms per batch"));
}

TEST_CASE("given: the data loader leaves what its parts are made of, but not what they let through") {
  use_bundled_catalog();
  AskedLab asked("training/data-loader", 0);
  CHECK(asked.d.ui.text_present("500 kB each at 500 MB/s"));
  CHECK(asked.d.ui.text_present("256 in 150 ms"));
  CHECK_FALSE(asked.d.ui.text_present("each 125/s"));
  CHECK_FALSE(asked.d.ui.text_present("1,000/s"));
}

TEST_CASE("given: the optimizer leaves the tensors in memory, but not how often they travel") {
  use_bundled_catalog();
  AskedLab asked("training/optimizer", 0);
  CHECK(asked.d.ui.text_present("weight p, gradient g, moments m, v"));
  CHECK_FALSE(asked.d.ui.text_present("1 pass, 28 B per parameter"));
}

TEST_CASE("given: the batch lab leaves the batch as it is cut") {
  use_bundled_catalog();
  AskedLab asked("training/batch", 2);
  CHECK(asked.d.ui.text_present("a batch of 64 in 8 uneven pieces"));
  CHECK_FALSE(asked.d.ui.text_present("18.75"));
}

TEST_CASE("a guess stays in the pictures of training that are neither plots nor vessels") {
  use_bundled_catalog();
  CHECK(picture_says("training/checkpointing", "{}", {.output = "recomputed", .value = 20}, "you: 20 layers"));
  CHECK(picture_says("training/checkpointing", R"({"plan": "every_layer"})",
                     {.output = "again_share", .label = "More time", .unit = "%", .value = 20}, "you: 20 %"));
  CHECK(picture_says("training/dashboard", "{}", {.output = "step_s", .unit = "s", .value = 0.4}, "you: 400 ms"));
  CHECK(picture_says("training/data-loader", "{}", {.output = "samples_per_s", .value = 2000}, "you: 2,000/s"));
  CHECK(picture_says("training/optimizer", "{}", {.output = "traffic_bytes", .unit = "B", .value = 16}, "you: 16 B"));
  CHECK(picture_says("training/packing", "{}", {.output = "rows", .value = 22}, "you: 22"));
  CHECK(
      picture_says("training/batch", "{}", {.output = "steps_over", .unit = "\xC3\x97", .value = 2}, "you: 2\xC3\x97"));
}

TEST_CASE("dashboard: the legend of the bars after each switch names the parts that there are") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("training/dashboard");
  compute(*lab);
  Canvas canvas(*lab, {1400, 1500});
  canvas.ui.frames(3);
  CHECK(canvas.ui.text_present("After each switch"));
  CHECK_FALSE(canvas.ui.text_present("FP8 casts"));
  CHECK_FALSE(canvas.ui.text_present("waits: launches"));
}
