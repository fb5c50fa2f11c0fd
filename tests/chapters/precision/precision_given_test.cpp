#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string_view>

#include "app/shell/predict/predict.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/shell_driver.h"

// What a question gives stays on the veil of these labs, and what it asks for does not.

using namespace support;

namespace {

/// The shell with a question of a lab open, the first unless told.
struct Asked {
  explicit Asked(const char* lab, std::size_t question = 0) {
    d.shell.drawer_open = false;
    if (!d.workspace.open(lab)) throw std::runtime_error(lab);
    d.settle();
    app::ask_question(d.shell, question);
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
  // The weight's plot runs over its exact line, and takes neither axis for an input of another meaning.
  Asked weight("precision/accumulation", 2);
  CHECK(weight.says("updates so far"));
  CHECK_FALSE(weight.says("given: 0.001"));
}

TEST_CASE("given: loss scaling leaves one skip in fifty and the first scale, or the gradients where nothing adapts") {
  use_bundled_catalog();
  Asked none("precision/loss-scaling");
  CHECK(none.says("|g| \xC3\x97 scale"));
  CHECK(none.says("40,000"));  // the axis has ticks: the band of the gradients is on it
  CHECK_FALSE(none.says("zero below"));
  Asked rate("precision/loss-scaling", 1);
  CHECK(rate.says("1 in 50"));
  CHECK(rate.says("first scale"));
  CHECK_FALSE(rate.says("normal at most"));
}

TEST_CASE("given: mixed precision leaves the recipe to compare with and the states by name, and no gain") {
  use_bundled_catalog();
  Asked o("precision/mixed");
  CHECK(o.says("AMP BF16"));
  CHECK(o.says("491 ms"));
  CHECK(o.says("copies"));  // a state of the FP8 recipe, by its name alone
  CHECK_FALSE(o.says("143 ms saved"));
  CHECK_FALSE(o.says("19.7 B"));
}

TEST_CASE("given: block formats leave the numbers and their blocks, and none that became 0") {
  use_bundled_catalog();
  Asked o("precision/block-formats");
  CHECK(o.says("scale"));
  CHECK_FALSE(o.says("became 0"));
}
