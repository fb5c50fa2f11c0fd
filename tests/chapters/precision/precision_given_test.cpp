#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string_view>

#include "app/shell/predict/predict.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/shell_driver.h"

// What a question gives stays on the veil of these labs, and what it asks for does not.

using namespace support;

namespace {

/// The shell with the first question of a lab open.
struct Asked {
  explicit Asked(const char* lab) {
    d.shell.drawer_open = false;
    if (!d.workspace.open(lab)) throw std::runtime_error(lab);
    d.settle();
    app::ask_question(d.shell, 0);
    d.ui.frames(3);
  }
  bool says(std::string_view text) { return d.ui.text_present(text); }
  ShellDriver d{bundled_content(), nowhere(), {1280, 800}};
};

}  // namespace

TEST_CASE("given: bits leave the format, its empty tiles and the number, and none of its bits") {
  use_bundled_catalog();
  Asked o("precision/bits");  // what does E4M3 store for 0.1?
  CHECK(o.says("E4M3FN"));
  CHECK(o.says("mantissa"));
  CHECK(o.says("0.1 is stored as ?"));
  CHECK_FALSE(o.says("0x1D"));
  CHECK_FALSE(o.says("0.1015625"));
}

TEST_CASE("given: the number line leaves the numbers and the formats' names, and not what becomes of them") {
  use_bundled_catalog();
  Asked o("precision/number-line");
  CHECK(o.says("BF16"));
  CHECK(o.says("gradients: log-normal, median 3.81e-6, standard deviation 4 octaves"));
  CHECK_FALSE(o.says("what they become"));
  CHECK_FALSE(o.says("underflow 4.01 %"));
}

TEST_CASE("given: accumulation leaves place values and the window of the first sum") {
  use_bundled_catalog();
  Asked sum("precision/accumulation");
  CHECK(sum.says("BF16 holds 8 bits in a row: they slide left as the sum grows"));
  CHECK_FALSE(sum.says("+1 = 256"));
}

TEST_CASE("given: block formats leave the numbers and their blocks, and none that became 0") {
  use_bundled_catalog();
  Asked o("precision/block-formats");
  CHECK(o.says("scale"));
  CHECK_FALSE(o.says("became 0"));
}
