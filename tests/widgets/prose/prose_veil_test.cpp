#include "widgets/prose/prose_veil.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace {

/// Which blocks of the text could answer.
std::string veiled_blocks(std::string_view markdown, const widgets::AskedOutput& asked) {
  const widgets::ProseDoc doc = widgets::parse_prose(markdown);
  std::string out;
  for (const widgets::ProseBlock& block : doc.blocks) out += widgets::answers_question(doc, block, asked) ? 'x' : '.';
  return out;
}

}  // namespace

TEST_CASE("prose veil: a block is hidden where it has the output's live value, its figure, or its name with a number") {
  const widgets::AskedOutput asked{.key = "hbm_s", .label = "Time at DRAM", .figure = "441 µs"};
  CHECK(veiled_blocks("It takes {hbm_s} here.\n\nNothing of it.\n\n- one\n- and {hbm_s.bin}", asked) == "x..x");
  CHECK(veiled_blocks("It takes {hbm_seconds}.", asked) == ".");
  CHECK(veiled_blocks("A kernel took 441 µs.\n\nAnother 1441 µs.", asked) == "x.");
  CHECK(veiled_blocks("The *time* at DRAM is 5 of 7.\n\nThe time at DRAM is long.", asked) == "x.");
  CHECK(veiled_blocks("# Time at DRAM: 3\n\n| a | b |\n|---|---|\n| 1 | {hbm_s} |", asked) == ".x");
}

TEST_CASE("prose veil: for a choice a block is hidden that names the output and one of its options") {
  const std::vector<std::string> options{"L2", "shared memory"};
  const widgets::AskedOutput asked{.key = "gate", .label = "Slowest gate", .options = options};
  CHECK(veiled_blocks("The slowest gate is L2.\n\nThe slowest gate has 3 levels.\n\nL2 is large.", asked) == "x..");
  CHECK(widgets::prose_asked() == nullptr);
  {
    const widgets::VeilProse veil(asked);
    CHECK(widgets::prose_asked() == &asked);
  }
  CHECK(widgets::prose_asked() == nullptr);
}
