#pragma once
#include <cstdint>
#include <vector>

#include "models/base/result.h"
#include "models/inference/flash_attention.h"

/// How the warps of one multiprocessor share a tile, forward, and what its tensor cores do meanwhile.
namespace models::inference {

/// Rates of one multiprocessor, a clock.
struct MultiprocessorRates {
  double matmul_flops = 4096;  ///< Tensor cores, 16-bit operands.
  double exponentials = 16;    ///< Special function units.
  double shared_bytes = 128;   ///< read from or written to shared memory
};

enum class FlashUnit : std::uint8_t { tensor_core, exponential, shared_memory };
inline constexpr int flash_unit_count = 3;

struct FlashSpan {
  std::int64_t worker = 0, tile = 0;
  FlashUnit unit = FlashUnit::tensor_core;
  double start = 0, end = 0;  ///< clocks
};

/// A schedule's warps over `tiles` tiles of keys. Workers take their steps in turn: scores on the tensor cores,
/// exponentials, the result on the tensor cores; each unit serves one at a time, who comes first.
struct FlashWarps {
  std::int64_t workers = 1, warps_per_worker = 4;
  std::vector<FlashSpan> spans;  ///< in order of their start
  double end = 0;                ///< clocks
  double tensor_busy = 0;        ///< share of the clocks between the first and the last tile's end, steady part
  double exchange_bytes = 0;     ///< through shared memory, a tile: partial results of warps that share rows
  double matmul_clocks = 0, exponential_clocks = 0, exchange_clocks = 0;  ///< A worker takes so many a tile.
};

/// FA-1: four warps share all rows and split the keys; each has a partial result of every row, which is written to
/// shared memory, read and added. FA-2: four warps split the rows and share nothing. FA-3: two groups of four warps,
/// each with half of the rows, take turns at the tensor cores, while a further warp loads. Several blocks on the
/// multiprocessor are as many workers more. Infeasible: no tile, a rate that is not positive.
Result<FlashWarps> run_flash_warps(const FlashShape& shape, const FlashTile& tile, FlashSchedule schedule,
                                   std::int64_t blocks, const MultiprocessorRates& rates, std::int64_t tiles);

}  // namespace models::inference
