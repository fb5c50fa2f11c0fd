#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"
#include "widgets/base/guess.h"

using namespace support;

namespace {

/// Is the guess of an output written in the lab's picture?
bool framework_guess_stays(const char* lab_id, const char* inputs, std::string_view output, std::string_view unit,
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

TEST_CASE("the framework labs keep a guess in the picture that it is about") {
  CHECK(framework_guess_stays("framework/memory-timeline", "{}", "peak_bytes", "B", 90e9, "you: 90 GB"));
  CHECK(framework_guess_stays("framework/memory-timeline", "{}", "layers_needed", "", 5, "you: 5"));
  CHECK(framework_guess_stays("framework/allocator", "{}", "reserved_bytes", "B", 40 * 1073741824.0, "you: 40 GiB"));
  CHECK(framework_guess_stays("framework/allocator", "{}", "emptiable_bytes", "B", 2 * 1073741824.0, "you: 2 GiB"));
  CHECK(framework_guess_stays("framework/fusion", "{}", "saved_bytes", "B", 33.6e6, "you: 33.6 MB"));
  CHECK(framework_guess_stays("framework/launch", "{}", "twice", "\xC3\x97", 2, "you: 2\xC3\x97"));
  CHECK(framework_guess_stays("framework/launch", "{}", "step_s", "s", 12e-3, "you: 12 ms"));
  CHECK(framework_guess_stays("framework/launch", "{}", "speedup", "\xC3\x97", 3, "you: 3\xC3\x97"));
  // A guess of something else says nothing there.
  CHECK_FALSE(framework_guess_stays("framework/launch", "{}", "idle", "%", 12, "you: 12 %"));
}
