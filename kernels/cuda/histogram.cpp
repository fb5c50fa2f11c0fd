// The ladder of counters on the GPU: how often each of the 256 exponents occurs in an array of floats. Each version is
// a file of rungs/, histogram_NAME.cu.
//
// cuda-histogram:
//   global      one addition in global memory for each float
//   shared      a block counts in its shared memory and adds its sums at the end
//   aggregated  lanes with the same exponent add once
//   private     a copy of the counters for each lane, each in a bank of its own
//
//   ridgeline kernels run cuda-histogram --size 1GiB
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "kernels/cuda/operation.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

constexpr std::size_t histogram_bins = 256;

/// Every float is read once; counting is no floating-point work.
models::OpCost histogram_cost(std::int64_t bytes) { return {0, static_cast<double>(bytes), 4.0 * histogram_bins}; }

std::vector<Launch> histogram_launches(std::string_view rung, std::int64_t bytes, int multiprocessors) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> clears{{
      {"global", "histogram_global_clear"},
      {"shared", "histogram_shared_clear"},
      {"aggregated", "histogram_aggregated_clear"},
      {"private", "histogram_private_clear"},
  }};
  const auto* clear = std::find_if(clears.begin(), clears.end(), [&](const auto& c) { return c.first == rung; });
  // As many blocks as a multiprocessor holds; 32 KiB of counters a block leave room for six on an H100.
  const std::int64_t blocks =
      std::clamp<std::int64_t>(bytes / 4 / 4096, 1, (rung == "private" ? 6ll : 8ll) * multiprocessors);
  return {{.block_x = histogram_bins, .entry = clear->second, .arguments = {output()}},
          {.grid_x = static_cast<unsigned>(blocks), .block_x = 256, .n = static_cast<unsigned>(bytes / 4)}};
}

/// Counts are exact or wrong. The error is the share of the floats that stand in no or in a wrong counter.
Deviation histogram_compare(const Outcome& outcome) {
  std::array<std::int64_t, histogram_bins> expected{};
  const std::int64_t n = outcome.size / 4;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<float>(input_value(outcome.operation, outcome.seed, 0, i));
    ++expected[std::bit_cast<std::uint32_t>(value) >> 23 & 255u];
  }
  Deviation d;
  const auto counts = words_of(outcome);
  for (std::size_t e = 0; e < histogram_bins; ++e) {
    if (counts[e] == poison_word) ++d.never_written;
    const std::int64_t difference = static_cast<std::int64_t>(counts[e]) - expected[e];
    d.error += static_cast<double>(difference < 0 ? -difference : difference) / static_cast<double>(n);
  }
  return d;
}

const Ladder& histogram_ladder() {
  static const std::array rungs{
      Rung{"global", "global counters",
           "One addition in global memory for each float; half of them go to the same counter and wait for each other.",
           embedded_source("cuda/rungs/histogram_global.cu"), "histogram_global", "gpu_read"},
      Rung{"shared", "counters of a block",
           "Every block counts in shared memory: the threads of a block wait for each other, not all threads.",
           embedded_source("cuda/rungs/histogram_shared.cu"), "histogram_shared", "gpu_read"},
      Rung{"aggregated", "lanes add together",
           "Lanes of a warp with the same exponent find each other, and one of them adds for all.",
           embedded_source("cuda/rungs/histogram_aggregated.cu"), "histogram_aggregated", "gpu_read"},
      Rung{
          "private", "counters of a lane",
          "A copy of the counters for each lane, in a bank of its own: no two lanes of a warp meet. Loads of 16 bytes.",
          embedded_source("cuda/rungs/histogram_private.cu"), "histogram_private", "gpu_read"},
  };
  static const Ladder ladder = array_ladder("cuda-histogram", "GPU histogram", rungs, histogram_cost);
  return ladder;
}

}  // namespace

/// The floats are uniform in [0, 1), so that their exponents are not: half of them share one.
const Operation& histogram_operation() {
  static const Operation operation{
      .ladder = &histogram_ladder(),
      .granule = 16,
      .edge_size = 16ll * 10007,
      .inputs = {{.count = [](std::int64_t bytes) { return bytes / 4; }}},
      .output_bytes = [](std::int64_t) { return static_cast<std::int64_t>(4 * histogram_bins); },
      .launches = histogram_launches,
      .compare = histogram_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
