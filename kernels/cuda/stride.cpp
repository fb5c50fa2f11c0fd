// The ladder of strides: one array is read in steps, and the less of each sector is used, the lower the useful rate.
// Each version is a file of rungs/, stride_STEP.cu.
//
// cuda-stride:
//   every_1   every word: four sectors a warp, all of them used
//   every_2   every second word: eight sectors, half used
//   every_4   every fourth word: sixteen sectors, a quarter used
//   every_8   every eighth word: a sector for each lane, an eighth used
//   every_32  one word of each 128 bytes: as many sectors a load, a quarter of them in all
//
//   ridgeline kernels run cuda-stride --size 1GiB
#include <array>

#include "kernels/cuda/sums.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

constexpr std::int64_t stride_block_words = 65536;

std::int64_t stride_blocks(std::int64_t bytes) { return bytes / 4 / stride_block_words; }
std::int64_t stride_words(std::int64_t bytes) { return bytes / 4; }
std::int64_t stride_output_bytes(std::int64_t bytes) { return stride_blocks(bytes) * 256 * 4; }

/// The words that are used, and a sum a thread.
template <int step>
models::OpCost stride_cost(std::int64_t bytes) {
  return {0, static_cast<double>(bytes) / step, static_cast<double>(stride_output_bytes(bytes))};
}

std::int64_t step_of(std::string_view rung) {
  return rung == "every_2" ? 2 : rung == "every_4" ? 4 : rung == "every_8" ? 8 : rung == "every_32" ? 32 : 1;
}

std::vector<Launch> stride_launches(std::string_view, std::int64_t bytes, int) {
  return {{
      .grid_x = static_cast<unsigned>(stride_blocks(bytes)),
      .block_x = 256,
      .n = static_cast<unsigned>(bytes / 4),
  }};
}

Deviation stride_compare(const Outcome& outcome) {
  const std::int64_t step = step_of(outcome.rung);
  return compare_sums(outcome, {.apart = step, .terms = 256 / step, .term_apart = 256 * step});
}

const Ladder& stride_ladder() {
  static const std::array rungs{
      Rung{"every_1", "every word", "A warp's 32 words are 128 bytes: four sectors, and all of each is used.",
           embedded_source("cuda/rungs/stride_1.cu"), "stride_1", "gpu_read", stride_cost<1>},
      Rung{"every_2", "every second word",
           "The same warps touch eight sectors for 128 useful bytes: half of what crosses the wire is thrown away.",
           embedded_source("cuda/rungs/stride_2.cu"), "stride_2", "gpu_read", stride_cost<2>},
      Rung{"every_4", "every fourth word", "Sixteen sectors a load: a quarter of each is used.",
           embedded_source("cuda/rungs/stride_4.cu"), "stride_4", "gpu_read", stride_cost<4>},
      Rung{"every_8", "every eighth word", "A sector of its own for every lane: 4 bytes of 32 are used.",
           embedded_source("cuda/rungs/stride_8.cu"), "stride_8", "gpu_read", stride_cost<8>},
      Rung{
          "every_32", "one word a line",
          "Still 32 sectors a load: by the sector model no worse than the rung before, and a quarter of the sectors in "
          "all. What is lost beyond that is memory that fetches more than it was asked for.",
          embedded_source("cuda/rungs/stride_32.cu"), "stride_32", "gpu_read", stride_cost<32>},
  };
  static const Ladder ladder{
      "cuda-stride", "GPU strided reads", Device::cuda, Measure::bytes_per_s, "Array", "B", 1 << 20,
      1 << 30,       1ll << 32,           rungs,        stride_cost<1>};
  return ladder;
}

}  // namespace

const Operation& stride_operation() {
  static const Operation operation{
      .ladder = &stride_ladder(),
      .granule = 4 * stride_block_words,
      .edge_size = 4 * stride_block_words * 7,
      .inputs = {{.element = Element::u32, .count = stride_words, .below = word_limit}},
      .output_bytes = stride_output_bytes,
      .launches = stride_launches,
      .compare = stride_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
