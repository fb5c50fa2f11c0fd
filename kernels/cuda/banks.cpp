// The ladder of bank conflicts: every warp reads shared memory over and over, its lanes so many words apart. Each
// version is a file of rungs/, banks_STRIDE.cu.
//
// cuda-banks:
//   stride_1   32 lanes, 32 banks: one wavefront a load
//   stride_2   two words in a bank: two wavefronts
//   stride_4   four
//   stride_8   eight
//   stride_16  sixteen
//   stride_32  a column of 32 words a row lies in one bank: 32 wavefronts
//   stride_33  one unused word a row: one wavefront again
//
//   ridgeline kernels run cuda-banks
#include <array>
#include <charconv>

#include "kernels/cuda/sums.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

constexpr std::int64_t tile_words = 1088, loads_of_thread = 512, loads_of_block = 256 * loads_of_thread;

std::int64_t banks_blocks(std::int64_t bytes) { return bytes / 4 / loads_of_block; }
std::int64_t banks_words(std::int64_t) { return tile_words; }
std::int64_t banks_output_bytes(std::int64_t bytes) { return banks_blocks(bytes) * 256 * 4; }

/// Bytes that lanes ask shared memory for.
models::OpCost banks_cost(std::int64_t bytes) { return {0, static_cast<double>(bytes), 0}; }

std::vector<Launch> banks_launches(std::string_view, std::int64_t bytes, int) {
  return {{
      .grid_x = static_cast<unsigned>(banks_blocks(bytes)),
      .block_x = 256,
      .n = static_cast<unsigned>(tile_words),
  }};
}

std::int64_t bank_stride_of(std::string_view rung) {
  std::int64_t stride = 1;
  rung.remove_prefix(rung.find('_') + 1);
  std::from_chars(rung.data(), rung.data() + rung.size(), stride);
  return stride;
}

/// All warps read the same 32 columns of the same tile, sixteen times: 32 sums, made once.
Deviation banks_compare(const Outcome& outcome) {
  const std::int64_t stride = bank_stride_of(outcome.rung);
  std::array<std::uint32_t, 32> expected{};
  for (std::size_t lane = 0; lane < expected.size(); ++lane) {
    double sum = 0;
    for (std::int64_t i = 0; i < 32; ++i)
      sum += input_value(outcome.operation, outcome.seed, 0, static_cast<std::int64_t>(lane) * stride + i);
    expected[lane] = static_cast<std::uint32_t>(sum) * static_cast<std::uint32_t>(loads_of_thread / 32);
  }
  return compare_words(outcome, expected);
}

const Ladder& banks_ladder() {
  static const std::array rungs{
      Rung{"stride_1", "neighbours", "32 lanes read 32 banks: one wavefront serves the whole load.",
           embedded_source("cuda/rungs/banks_1.cu"), "banks_1", "gpu_shared"},
      Rung{"stride_2", "every second word", "Lanes 0 and 16 want two words of one bank: two wavefronts a load.",
           embedded_source("cuda/rungs/banks_2.cu"), "banks_2", "gpu_shared"},
      Rung{"stride_4", "every fourth word", "Four words in each of eight banks: four wavefronts.",
           embedded_source("cuda/rungs/banks_4.cu"), "banks_4", "gpu_shared"},
      Rung{"stride_8", "every eighth word", "Eight words in each of four banks: eight wavefronts.",
           embedded_source("cuda/rungs/banks_8.cu"), "banks_8", "gpu_shared"},
      Rung{"stride_16", "every sixteenth word", "Sixteen words in each of two banks: sixteen wavefronts.",
           embedded_source("cuda/rungs/banks_16.cu"), "banks_16", "gpu_shared"},
      Rung{"stride_32", "a column of a tile", "32 words of one bank: the lanes are served one after the other.",
           embedded_source("cuda/rungs/banks_32.cu"), "banks_32", "gpu_shared"},
      Rung{"stride_33", "the same column, padded",
           "One unused word a row moves each row a bank on: the column lies in 32 banks, and one wavefront serves it.",
           embedded_source("cuda/rungs/banks_33.cu"), "banks_33", "gpu_shared"},
  };
  static const Ladder ladder{"cuda-banks",
                             "GPU bank conflicts",
                             Device::cuda,
                             Measure::bytes_per_s,
                             "Read from shared memory",
                             "B",
                             1 << 20,
                             1ll << 32,
                             1ll << 36,
                             rungs,
                             banks_cost};
  return ladder;
}

}  // namespace

const Operation& banks_operation() {
  static const Operation operation{
      .ladder = &banks_ladder(),
      .granule = 4 * loads_of_block,
      .edge_size = 4 * loads_of_block * 3,
      .inputs = {{.element = Element::u32, .count = banks_words, .below = word_limit}},
      .output_bytes = banks_output_bytes,
      .launches = banks_launches,
      .compare = banks_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
