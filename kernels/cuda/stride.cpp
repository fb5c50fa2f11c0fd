// The ladder of strides: all words of one array are added, in steps of so many words. A step of n takes n passes over
// the array, each for one word of n, and a pass is so long that no cache holds its beginning when the next one begins:
// what of a sector is not used at once is fetched again. Each version is a file of rungs/, stride_STEP.cu.
//
// cuda-stride:
//   every_1   neighbours: four sectors a warp, all of them used
//   every_2   two words apart: eight sectors, half used
//   every_4   four apart: sixteen sectors, a quarter used
//   every_8   eight apart: a sector for each lane, an eighth used
//   every_32  32 apart: a sector for each lane again, each in a line of its own
//
//   ridgeline kernels run cuda-stride --size 512MiB
#include <algorithm>
#include <array>

#include "kernels/cuda/sums.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

constexpr std::int64_t chunk_words = 65536, largest_step = 32;

std::int64_t stride_chunks(std::int64_t bytes) { return bytes / 4 / chunk_words; }
std::int64_t stride_words(std::int64_t bytes) { return bytes / 4; }
/// Room for the sums of the largest step; smaller ones have fewer threads, with more words each.
std::int64_t stride_output_bytes(std::int64_t bytes) { return stride_chunks(bytes) * largest_step * 256 * 4; }

/// Each word is used once.
models::OpCost stride_cost(std::int64_t bytes) { return {0, static_cast<double>(bytes), 0}; }

std::int64_t step_of(std::string_view rung) {
  return rung == "every_2" ? 2 : rung == "every_4" ? 4 : rung == "every_8" ? 8 : rung == "every_32" ? 32 : 1;
}

std::vector<Launch> stride_launches(std::string_view rung, std::int64_t bytes, int) {
  return {{
      .grid_x = static_cast<unsigned>(stride_chunks(bytes) * step_of(rung)),
      .block_x = 256,
      .n = static_cast<unsigned>(bytes / 4),
  }};
}

/// Pass after pass, each a chunk after the other: an output of its own for compare_sums.
Deviation stride_compare(const Outcome& outcome) {
  const std::int64_t step = step_of(outcome.rung), chunks = stride_chunks(outcome.size);
  Deviation worst;
  for (std::int64_t pass = 0; pass < step; ++pass) {
    const std::size_t from = static_cast<std::size_t>(pass * chunks * 256 * 4),
                      bytes = static_cast<std::size_t>(chunks * 256 * 4);
    const Deviation d = compare_sums(
        {outcome.operation, outcome.rung, outcome.size, outcome.out.subspan(from, bytes), outcome.seed,
         outcome.expected},
        {.block_words = chunk_words, .first = pass, .apart = step, .terms = 256 / step, .term_apart = 256 * step});
    worst.error = std::max(worst.error, d.error);
    worst.never_written += d.never_written;
  }
  return worst;
}

const Ladder& stride_ladder() {
  static const std::array rungs{
      Rung{"every_1", "neighbours", "A warp's 32 words are 128 bytes: four sectors, and all of each is used.",
           embedded_source("cuda/rungs/stride_1.cu"), "stride_1", "gpu_read"},
      Rung{"every_2", "two words apart",
           "A load touches eight sectors for 128 useful bytes: half of what crosses the wire is thrown away.",
           embedded_source("cuda/rungs/stride_2.cu"), "stride_2", "gpu_read"},
      Rung{"every_4", "four apart", "Sixteen sectors a load, and a quarter of each is used.",
           embedded_source("cuda/rungs/stride_4.cu"), "stride_4", "gpu_read"},
      Rung{"every_8", "eight apart", "A sector of its own for every lane: 4 bytes of 32 are used.",
           embedded_source("cuda/rungs/stride_8.cu"), "stride_8", "gpu_read"},
      Rung{"every_32", "32 apart, a line each",
           "Still one sector a lane, so by the sector model nothing is lost; a memory that fetches more than a sector "
           "at a time loses more.",
           embedded_source("cuda/rungs/stride_32.cu"), "stride_32", "gpu_read"},
  };
  static const Ladder ladder{
      "cuda-stride", "GPU strided reads", Device::cuda, Measure::bytes_per_s, "Array", "B", 1 << 28,
      1 << 29,       1ll << 32,           rungs,        stride_cost};
  return ladder;
}

}  // namespace

const Operation& stride_operation() {
  static const Operation operation{
      .ladder = &stride_ladder(),
      .granule = 4 * chunk_words,
      .edge_size = 4 * chunk_words * 7,
      .inputs = {{.element = Element::u32, .count = stride_words, .below = word_limit}},
      .output_bytes = stride_output_bytes,
      .launches = stride_launches,
      .compare = stride_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
