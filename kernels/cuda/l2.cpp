// The ladder of L2: the first so many bytes of an array are read again and again, until a run has read its size. Each
// working set is a file of rungs/, l2_MEBIBYTES.cu. A run goes over its working set many times, so what the caches hold
// when it begins hardly counts.
//
// cuda-l2:
//   mib_4    4 MiB: stays in any L2
//   mib_16   16 MiB
//   mib_24   24 MiB
//   mib_32   32 MiB
//   mib_48   48 MiB
//   mib_64   64 MiB
//   mib_96   96 MiB
//   mib_128  128 MiB
//   mib_256  256 MiB: more than any L2
//
//   ridgeline kernels run cuda-l2
#include <algorithm>
#include <array>
#include <charconv>

#include "kernels/cuda/sums.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

constexpr std::int64_t chunk_bytes = 256 << 10, max_held_bytes = 256 << 20;

std::int64_t sweep_blocks(std::int64_t bytes) { return bytes / chunk_bytes; }
std::int64_t sweep_words(std::int64_t bytes) { return std::min(bytes, max_held_bytes) / 4; }
std::int64_t sweep_output_bytes(std::int64_t bytes) { return sweep_blocks(bytes) * 256 * 4; }

models::OpCost sweep_cost(std::int64_t bytes) {
  return {0, static_cast<double>(bytes), static_cast<double>(sweep_output_bytes(bytes))};
}

std::vector<Launch> sweep_launches(std::string_view, std::int64_t bytes, int) {
  return {{
      .grid_x = static_cast<unsigned>(sweep_blocks(bytes)),
      .block_x = 256,
      .n = static_cast<unsigned>(sweep_words(bytes)),
  }};
}

Deviation sweep_compare(const Outcome& outcome) {
  std::int64_t mebibytes = 1;
  std::string_view rung = outcome.rung;
  rung.remove_prefix(rung.find('_') + 1);
  std::from_chars(rung.data(), rung.data() + rung.size(), mebibytes);
  return compare_sums(outcome, {.chunks = (mebibytes << 20) / chunk_bytes});
}

const Ladder& sweep_ladder() {
  static const std::array rungs{
      Rung{"mib_4", "4 MiB", "After the first pass every word comes from L2: this is its rate.",
           embedded_source("cuda/rungs/l2_4.cu"), "l2_4", "gpu_l2_read"},
      Rung{"mib_16", "16 MiB", "Four times as much, and still less than the L2 of a data-centre GPU.",
           embedded_source("cuda/rungs/l2_16.cu"), "l2_16", "gpu_l2_read"},
      Rung{"mib_24", "24 MiB", "An L2 in two halves may hold a line in both: then half of its size is what counts.",
           embedded_source("cuda/rungs/l2_24.cu"), "l2_24", "gpu_l2_read"},
      Rung{"mib_32", "32 MiB", "Beyond half of a 50 MiB L2.", embedded_source("cuda/rungs/l2_32.cu"), "l2_32",
           "gpu_l2_read"},
      Rung{"mib_48", "48 MiB", "Just below 50 MiB, and above the 40 MiB of an A100.",
           embedded_source("cuda/rungs/l2_48.cu"), "l2_48", "gpu_l2_read"},
      Rung{"mib_64", "64 MiB", "More than 50 MiB: a part of each pass must come from memory.",
           embedded_source("cuda/rungs/l2_64.cu"), "l2_64", "gpu_l2_read"},
      Rung{"mib_96", "96 MiB", "Twice 48 MiB: what is read last pushes out what is read next.",
           embedded_source("cuda/rungs/l2_96.cu"), "l2_96", "gpu_l2_read"},
      Rung{"mib_128", "128 MiB", "More than the L2 of all but the largest GPUs.",
           embedded_source("cuda/rungs/l2_128.cu"), "l2_128", "gpu_l2_read"},
      Rung{"mib_256", "256 MiB", "Four passes and more, and next to nothing is met again: memory's own rate.",
           embedded_source("cuda/rungs/l2_256.cu"), "l2_256", "gpu_l2_read"},
  };
  static const Ladder ladder{"cuda-l2",    "GPU L2 residency",
                             Device::cuda, Measure::bytes_per_s,
                             "Bytes read", "B",
                             1ll << 20,    1ll << 32,
                             1ll << 35,    rungs,
                             sweep_cost};
  return ladder;
}

}  // namespace

const Operation& l2_operation() {
  static const Operation operation{
      .ladder = &sweep_ladder(),
      .granule = chunk_bytes,
      .edge_size = 19 * chunk_bytes,  // past the smallest working set
      .inputs = {{.element = Element::u32, .count = sweep_words, .below = word_limit}},
      .output_bytes = sweep_output_bytes,
      .launches = sweep_launches,
      .compare = sweep_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
