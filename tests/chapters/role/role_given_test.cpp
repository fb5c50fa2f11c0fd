#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string_view>

#include "app/shell/predict/predict.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/shell_driver.h"

// What a question gives stays on the veil of these labs, what was guessed stays in their pictures, and what is said in
// the picture is about what is drawn.

using namespace support;

namespace {

/// The shell with a question of a lab open.
struct AskedRole {
  AskedRole(const char* lab, std::size_t question) {
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
  ShellDriver d{bundled_content(), nowhere(), {1280, 800}};
};

}  // namespace

TEST_CASE("given: scaling leaves the diagonal and the GPUs that are set, on the axes of the picture to come") {
  AskedRole o("role/scaling", 0);
  CHECK(app::stage_view(o.d.shell).specs.size() == 4);
  CHECK(o.says("yours"));
  CHECK(o.says("4,000"));
  CHECK_FALSE(o.says("1,000,000"));  // the whole range of the input
  CHECK_FALSE(o.says("one step on 1,024"));
}

TEST_CASE("guess: what was said of the bytes that a GPU sends stands under the picture of scaling") {
  AskedRole o("role/scaling", 0);
  o.answer("14.64 GB");
  CHECK(o.pictures("Sent by each GPU, you: 14.6 GB"));
}

TEST_CASE("guess: compounding marks what was said of the speed-up in the row of the end") {
  AskedRole o("role/compounding", 0);
  CHECK_FALSE(o.pictures("you: 7\xC3\x97"));
  o.answer("7");
  CHECK(o.pictures("you: 7\xC3\x97"));
}

TEST_CASE("given: platform map leaves the axis of GPUs and the handle; the guess crosses the river") {
  AskedRole o("role/platform-map", 0);
  CHECK(app::stage_view(o.d.shell).specs.size() == 4);
  CHECK(o.says("512 GPUs"));
  CHECK(o.says("64"));
  CHECK_FALSE(o.says("dollars paid"));
  o.answer("4 h");
  CHECK(o.pictures("you: 4 h"));
}
