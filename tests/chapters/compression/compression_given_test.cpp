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
    app::ask_question(d.shell, question);
    d.settle();
    d.ui.frames(3);
  }
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

TEST_CASE("given: sparsity leaves the weights and the inputs, but not which of them meet") {
  use_bundled_catalog();
  AskedLab asked("compression/sparsity", 0);
  CHECK(asked.d.ui.text_present("four weights"));
  CHECK(asked.d.ui.text_present("x3"));
  CHECK_FALSE(asked.d.ui.text_present("2 of 4 multiplications"));
  CHECK_FALSE(asked.d.ui.text_present("36 of 64 bits"));
}

TEST_CASE("given: distillation leaves what labels say, but not what the teacher says or came of it") {
  use_bundled_catalog();
  AskedLab asked("compression/distillation", 0);
  CHECK(asked.d.ui.text_present("labels say, in %"));
  CHECK(asked.d.ui.text_present("taught by labels alone, a student reads"));
  CHECK(asked.d.ui.text_present("the teacher says at T = 4, in %"));
  CHECK_FALSE(asked.d.ui.text_present("outlined: a 6 looks"));
  CHECK_FALSE(asked.d.ui.text_present("taught by the teacher too"));
}

TEST_CASE("given: the quantizer leaves the weights and how many levels there are, but not where they fall") {
  use_bundled_catalog();
  AskedLab asked("compression/quantizer", 1);
  CHECK(asked.d.ui.text_present("weights of one group, and 16 levels to share out"));
  CHECK_FALSE(asked.d.ui.text_present("error of the row"));
}

TEST_CASE("given: the playground leaves the network before it is compressed, and what guessing reads") {
  use_bundled_catalog();
  AskedLab asked("compression/playground", 0);
  CHECK(asked.d.ui.text_present("float32"));
  CHECK(asked.d.ui.text_present("guessing"));
  CHECK_FALSE(asked.d.ui.text_present("229 B"));
}

TEST_CASE("given: deploy leaves the questions of the tree, but not the way through it") {
  use_bundled_catalog();
  AskedLab asked("compression/deploy", 0);
  CHECK(asked.d.ui.text_present("Memory-bound?"));
  CHECK_FALSE(asked.d.ui.text_present("50.2 GB, 1 chip"));
}

TEST_CASE("a guess stays in the pictures of compression") {
  use_bundled_catalog();
  CHECK(picture_says("compression/quantizer", "{}", {.output = "bits_per_weight", .value = 5}, "you: 5"));
  CHECK(picture_says("compression/methods", "{}", {.output = "rtn_error", .unit = "%", .value = 1.5},
                     "you: 1.5 %, off this scale"));
  CHECK(picture_says("compression/playground", "{}",
                     {.output = "size_bytes", .label = "Size", .unit = "B", .value = 2410}, "you: 2.41 kB"));
  CHECK(picture_says("compression/distillation", R"({"train": "none"})", {.output = "gradient_ratio", .value = 5},
                     "you: 5"));
  CHECK(picture_says("compression/sparsity", "{}", {.output = "speedup", .value = 1.8}, "you: 1.8"));
  CHECK(
      picture_says("compression/deploy", "{}", {.output = "weights_bytes", .unit = "B", .value = 35e9}, "you: 35 GB"));
}
