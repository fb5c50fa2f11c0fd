#include "models/gpu/layout/bank_cost.h"

#include <catch2/catch_test_macros.hpp>

#include "models/gpu/layout/layout_operation.h"

using namespace models::gpu;

namespace {

/// A column of a layout of cells, read by one lane a row.
int column_wavefronts(const char* text, const Swizzle& swizzle, int column, int lanes, int cell_bytes) {
  const auto layout = parse_layout(text);
  if (!layout) return -1;
  const auto rows = layout->mode(0).size();
  std::vector<std::int64_t> addresses;
  for (int lane = 0; lane < lanes; ++lane) {
    addresses.push_back(swizzle((*layout)(lane + rows * column)) * cell_bytes);
  }
  return bank_cost(addresses, cell_bytes).wavefronts;
}

}  // namespace

// Eight rows of 128 bytes in cells of 16: what ldmatrix asks for in one phase.
TEST_CASE("banks: a column of 8 cells of 16 bytes costs 8, 4, 1 wavefronts by rows, in tiles, swizzled") {
  CHECK(column_wavefronts("(8,8):(8,1)", {0, 0, 3}, 2, 8, 16) == 8);
  CHECK(column_wavefronts("((4,2),(4,2)):((4,16),(1,32))", {0, 0, 3}, 2, 8, 16) == 4);
  CHECK(column_wavefronts("((4,2),(4,2)):((4,16),(1,32))", {3, 0, 3}, 2, 8, 16) == 1);
  CHECK(column_wavefronts("((4,2),(4,2)):((4,32),(1,16))", {3, 0, 3}, 2, 8, 16) == 2);
  CHECK(column_wavefronts("(8,8):(9,1)", {0, 0, 3}, 2, 8, 16) == 1);
  for (int column = 0; column < 8; ++column) {
    CHECK(column_wavefronts("(8,8):(8,1)", {3, 0, 3}, column, 8, 16) == 1);
    CHECK(column_wavefronts("(8,8):(8,1)", {2, 0, 3}, column, 8, 16) == 2);
    CHECK(column_wavefronts("(8,8):(8,1)", {1, 0, 3}, column, 8, 16) == 4);
  }
}

// ldmatrix on rows of 64 and of 128 bytes: 4 and 8 wavefronts a phase of 8 lanes, so 16 and 32 for an x4.
TEST_CASE("banks: ldmatrix on unpadded rows, a transposed tile of 33 words, and halves that share a word") {
  CHECK(column_wavefronts("(32,4):(4,1)", {0, 0, 3}, 0, 32, 16) == 16);
  CHECK(column_wavefronts("(32,8):(8,1)", {0, 0, 3}, 0, 32, 16) == 32);
  CHECK(column_wavefronts("(32,32):(32,1)", {0, 0, 3}, 5, 32, 4) == 32);
  CHECK(column_wavefronts("(32,32):(33,1)", {0, 0, 3}, 5, 32, 4) == 1);
  CHECK(column_wavefronts("(32,32):(33,1)", {0, 0, 3}, 0, 32, 2) == 1);
  CHECK(column_wavefronts("(32,32):(33,1)", {0, 0, 3}, 1, 32, 2) == 2);
  CHECK(column_wavefronts("(16,16):(16,1)", {0, 0, 3}, 0, 16, 2) == 4);
  CHECK(column_wavefronts("(16,16):(16,1)", {3, 0, 4}, 0, 16, 2) == 2);
  const std::vector<std::int64_t> same(32, 64), halves{0, 2, 128, 130};
  CHECK(bank_cost(same, 4).wavefronts == 1);
  CHECK(bank_cost(halves, 2).wavefronts == 2);
  CHECK(bank_cost(halves, 2).wavefront == std::vector<int>{0, 0, 1, 1});
  // Places farther apart than any shared memory are still words of one bank.
  const std::vector<std::int64_t> far{0, std::int64_t{1} << 50, std::int64_t{1} << 51, std::int64_t{3} << 50};
  CHECK(bank_cost(far, 4).wavefronts == 4);
}
