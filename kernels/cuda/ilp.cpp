// The ladder of occupancy against instruction-level parallelism: what fills the wire is bytes under way, and it does
// not matter whether few threads have many loads under way or many have few. Each number of loads is a file of rungs/,
// ilp_LOADS.cu; the occupancy is set by shared memory that a block asks for and does not use.
//
// cuda-ilp:
//   quarter_1  a quarter of the threads, one load each
//   quarter_2  a quarter of the threads, two loads each
//   quarter_4  a quarter of the threads, four loads each
//   full_1     all threads, one load each: as many bytes under way as the rung before
//   full_2     all threads, two loads each
//   full_4     all threads, four loads each
//
//   ridgeline kernels run cuda-ilp --size 1GiB
#include <algorithm>
#include <array>

#include "kernels/cuda/session.h"
#include "kernels/cuda/sums.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

constexpr std::int64_t ilp_threads = 128, ilp_block_words = 256 * ilp_threads;

std::int64_t ilp_blocks(std::int64_t bytes) { return bytes / 4 / ilp_block_words; }
std::int64_t ilp_words(std::int64_t bytes) { return bytes / 4; }
std::int64_t ilp_output_bytes(std::int64_t bytes) { return ilp_blocks(bytes) * ilp_threads * 4; }

models::OpCost ilp_cost(std::int64_t bytes) {
  return {0, static_cast<double>(bytes), static_cast<double>(ilp_output_bytes(bytes))};
}

std::vector<Launch> ilp_launches(std::string_view, std::int64_t bytes, int) {
  return {{
      .grid_x = static_cast<unsigned>(ilp_blocks(bytes)),
      .block_x = static_cast<unsigned>(ilp_threads),
      .n = static_cast<unsigned>(bytes / 4),
  }};
}

/// A quarter: as much shared memory a block as lets that many threads in and no more. A block's own share of the
/// system, 1 KiB since 8.0, counts too. 48 KiB is what a block may have unasked, and enough everywhere.
std::vector<Launch> ilp_launches_on(std::string_view rung, std::int64_t bytes, const DeviceFacts& device) {
  auto launches = ilp_launches(rung, bytes, device.multiprocessors);
  if (!rung.starts_with("quarter")) return launches;
  const std::int64_t blocks = std::max<std::int64_t>(device.multiprocessor_threads / 4 / ilp_threads, 1);
  const std::int64_t reserved = device.capability >= 80 ? 1024 : 0;
  launches[0].shared_bytes = static_cast<unsigned>(
      std::clamp<std::int64_t>(device.multiprocessor_shared_bytes / blocks / 1024 * 1024 - reserved, 1024, 48 * 1024));
  return launches;
}

Deviation ilp_compare(const Outcome& outcome) {
  return compare_sums(outcome,
                      {.block_threads = ilp_threads, .block_words = ilp_block_words, .term_apart = ilp_threads});
}

const Ladder& ilp_ladder() {
  static const std::array rungs{
      Rung{"quarter_1", "a quarter of the threads, one load each",
           "Each thread waits for its 4 bytes before it asks for more, and few threads wait: the wire is mostly idle.",
           embedded_source("cuda/rungs/ilp_1.cu"), "ilp_1", "gpu_read"},
      Rung{"quarter_2", "a quarter, two loads each", "Two loads before the first sum: twice the bytes under way.",
           embedded_source("cuda/rungs/ilp_2.cu"), "ilp_2", "gpu_read"},
      Rung{"quarter_4", "a quarter, four loads each",
           "Four loads before the first sum: as many bytes under way as four times the threads would have with one.",
           embedded_source("cuda/rungs/ilp_4.cu"), "ilp_4", "gpu_read"},
      Rung{"full_1", "all threads, one load each",
           "Four times the occupancy for a quarter of the parallelism in each thread: the same bytes under way.",
           embedded_source("cuda/rungs/ilp_1.cu"), "ilp_1", "gpu_read"},
      Rung{"full_2", "all threads, two loads each", "Both at once: twice the bytes under way.",
           embedded_source("cuda/rungs/ilp_2.cu"), "ilp_2", "gpu_read"},
      Rung{"full_4", "all threads, four loads each",
           "More under way than the latency asks for: the wire is full, and what is added waits.",
           embedded_source("cuda/rungs/ilp_4.cu"), "ilp_4", "gpu_read"},
  };
  static const Ladder ladder{"cuda-ilp",   "GPU occupancy against ILP",
                             Device::cuda, Measure::bytes_per_s,
                             "Array",      "B",
                             1 << 20,      1 << 30,
                             1ll << 32,    rungs,
                             ilp_cost};
  return ladder;
}

}  // namespace

const Operation& ilp_operation() {
  static const Operation operation{
      .ladder = &ilp_ladder(),
      .granule = 4 * ilp_block_words,
      .edge_size = 4 * ilp_block_words * 11,
      .inputs = {{.element = Element::u32, .count = ilp_words, .below = word_limit}},
      .output_bytes = ilp_output_bytes,
      .launches = ilp_launches,
      .launches_on = ilp_launches_on,
      .compare = ilp_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
