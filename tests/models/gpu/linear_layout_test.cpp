#include "models/gpu/layout/linear_layout.h"

#include <catch2/catch_test_macros.hpp>
#include <sstream>
#include <string>

#include "models/gpu/access/swizzle.h"
#include "models/gpu/fragments.h"
#include "models/trace/text/bytes.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

// tests/data/linear_layouts.txt.gz: shape, encoding, bases of each input, whether every element is reached, as Triton's
// own unit tests print them (LinearLayoutConversionsTest, August 2026).

using namespace models::gpu;

namespace {

std::string bases_text(const LinearLayout& layout) {
  std::string out;
  for (std::size_t input = 0; input < layout.inputs.size(); ++input) {
    out += (input > 0 ? ";" : "") + layout.inputs[input] + "=";
    for (std::size_t bit = 0; bit < layout.bases[input].size(); ++bit) {
      const auto& one = layout.bases[input][bit];
      for (std::size_t dim = 0; dim < one.size(); ++dim) {
        out += (dim > 0 ? "," : bit > 0 ? " " : "") + std::to_string(one[dim]);
      }
    }
  }
  return out;
}

}  // namespace

TEST_CASE("linear layouts: the bases that Triton's tests print, 153 of 154, and the other is refused") {
  const auto bytes = models::trace::in_memory(support::read_text(support::data_file("linear_layouts.txt.gz")));
  models::trace::Inflater inflater(bytes);
  std::string text, part(1 << 18, '\0');
  for (std::size_t n = 0; (n = inflater.read(part.data(), part.size())) > 0;) text.append(part, 0, n);
  std::istringstream lines(text);
  int exact = 0, refused = 0;
  for (std::string shape_text, encoding, bases, covers; std::getline(lines, shape_text, '\t');) {
    REQUIRE(std::getline(lines, encoding, '\t'));
    REQUIRE(std::getline(lines, bases, '\t'));
    REQUIRE(std::getline(lines, covers));
    CAPTURE(shape_text, encoding);
    std::vector<std::int64_t> shape;
    std::istringstream extents(shape_text);
    std::int64_t elements = 1;
    for (std::string extent; std::getline(extents, extent, ',');) shape.push_back(std::stoll(extent));
    for (const auto extent : shape) elements *= extent;
    const auto layout = triton_layout(encoding, shape);
    if (!layout) {
      // A transposed TMA tile of three dimensions: its rows are folded in an order that is not modelled.
      CHECK(encoding == "nvmmaShared(64,true,32,{1,1,1},{1,1,1},{2,1,0},{2,1,0})");
      ++refused;
      continue;
    }
    CHECK(bases_text(*layout) == bases);
    CHECK((layout->reached() == elements) == (covers == "1"));
    ++exact;
  }
  CHECK(exact == 153);
  CHECK(refused == 1);
}

TEST_CASE("linear layouts: the swizzled TMA tiles are Swizzle<1,4,3>, <2,4,3>, <3,4,3> on bytes") {
  for (const int bits : {1, 2, 3}) {
    const std::int64_t row_bytes = 16 << bits;
    for (const std::int64_t element_bits : {16, 32}) {
      const std::int64_t columns = row_bytes * 8 / element_bits;
      const auto tile = triton_layout("nvmmaShared(" + std::to_string(row_bytes) + ",false," +
                                          std::to_string(element_bits) + ",{1,1},{1,1},{1,0},{1,0})",
                                      {8, columns});
      REQUIRE(tile);
      const Swizzle swizzle{bits, 4, 3};
      for (std::int64_t offset = 0; offset < 8 * columns; ++offset) {
        const auto at = (*tile)({offset});
        // The offset of an element by rows, swizzled, is where the tile has it.
        CHECK(swizzle((at[0] * columns + at[1]) * element_bits / 8) == offset * element_bits / 8);
      }
    }
  }
}

TEST_CASE("linear layouts: mma version 2 is two accumulators of m16n8 side by side") {
  const auto mma = triton_layout("mma(2,0,{16,8},{1,1},{1,1},{1,1},{0,1})", {16, 16});
  const auto* c = find_fragment("mma.sync.m16n8k16.f16/bf16", "C/D");
  REQUIRE(mma);
  REQUIRE(c);
  for (int lane = 0; lane < 32; ++lane) {
    for (int value = 0; value < 8; ++value) {
      const auto one = fragment_element(*c, lane, value % 4);
      CHECK((*mma)({value, lane}) == std::vector<std::int64_t>{one.row, one.col + 8 * (value / 4)});
    }
  }
}

TEST_CASE("linear layouts: an encoding that does not read, or is another, is refused") {
  CHECK(triton_layout("blocked({1", {8}).error.find("does not read at character") != std::string::npos);
  CHECK(triton_layout("padded({1})", {8, 8}).error.find("not known") != std::string::npos);
  CHECK(triton_layout("blocked({1},{4},{4},{1},{1},{3},{0})", {16}).error.find("blocked") != std::string::npos);
  CHECK(triton_layout("mma(2,0,{16,8},{1,1})", {0, 8}).error.find("1 to 1,048,576") != std::string::npos);
  const std::string whole = "dot(mma(2,0,{16,8},{1,1}),0,8)";
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(triton_layout(whole.substr(0, n), {16, 64}));
}
