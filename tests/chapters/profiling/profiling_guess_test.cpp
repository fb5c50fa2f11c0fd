#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"
#include "widgets/base/guess.h"

using namespace support;

namespace {

/// Is the guess of an output written in the lab's picture?
bool profiling_guess_stays(const char* lab_id, const char* inputs, std::string_view output, std::string_view unit,
                           double value, std::string_view words) {
  const LabPtr lab = open_lab(lab_id, inputs);
  lab->compute();
  const widgets::ShownGuess guess{.output = output, .label = "", .unit = unit, .value = value};
  const widgets::ShowGuess shown(&guess);
  Canvas canvas(*lab, {1100, 760});
  canvas.ui.frames(3);
  return canvas.ui.text_present(std::string(words));
}

}  // namespace

TEST_CASE("the profiling labs keep a guess in the picture that it is about") {
  CHECK(profiling_guess_stays("profiling/step-trace", "{}", "step_s", "s", 0.68, "you: 680 ms"));
  CHECK(profiling_guess_stays("profiling/step-trace", "{}", "idle_s", "s", 0.112, "you: 112 ms"));
  CHECK(profiling_guess_stays("profiling/utilization", "{}", "mfu", "%", 47, "you: 47 %"));
  CHECK(profiling_guess_stays("profiling/utilization", "{}", "busy", "%", 33, "you: 33 %"));
  CHECK(profiling_guess_stays("profiling/trace-viewer", "{}", "idle_share", "%", 30, "you: 30 %"));
  CHECK_FALSE(profiling_guess_stays("profiling/utilization", "{}", "needed", "%", 12, "you: 12 %"));
}
