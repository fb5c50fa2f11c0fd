#pragma once
#include <cstdint>

#include "models/base/result.h"

/// Attention as a square that is written, and as tiles that never are: bytes, operations and times by counting what
/// each schedule loads, computes and stores.
namespace models::inference {

/// Who walks over what. FA-1 (Dao et al. 2022): a block of threads per head; the outer loop is over tiles of keys, so
/// that queries and results come and go with each. FA-2 (Dao 2023): a block per tile of queries, which stays while keys
/// pass. FA-3 (Shah et al. 2024): the tiles of FA-2, walked by warps that take turns.
enum class FlashSchedule : std::uint8_t { fa1, fa2, fa3 };
inline constexpr int flash_schedule_count = 3;
enum class FlashPass : std::uint8_t { forward, backward, both };
inline constexpr int flash_pass_count = 3;

inline constexpr std::int64_t max_flash_tokens = std::int64_t{1} << 24, max_flash_side = 4096;

/// Self-attention of equal sequences, with a key head for each query head.
struct FlashShape {
  std::int64_t sequence = 8192, head_dim = 128, heads = 32, batch = 1;  ///< each at least 1
  bool causal = false;
  bool operator==(const FlashShape&) const = default;
};

struct FlashTile {
  std::int64_t rows = 128, columns = 128;  ///< queries and keys of a tile
  std::int64_t stages = 2;                 ///< tiles of keys and of values that shared memory holds at once
  bool operator==(const FlashTile&) const = default;
};

/// The chip as far as it counts here. Rates of all its multiprocessors together.
struct FlashChip {
  double matmul_flops_per_s = 0;  ///< 16-bit operands, dense
  double exponentials_per_s = 0;  ///< 0: not known, then they cost no time
  double memory_bytes_per_s = 0;  ///< main memory
  double l2_bytes_per_s = 0;      ///< 0: nobody states it, then loads from L2 cost no time
  double l2_bytes = 0;            ///< capacity; 0: there is none
  std::int64_t multiprocessors = 1;
  double block_shared_bytes = 0;  ///< the most that one block of threads can have
  double shared_bytes = 0;        ///< A multiprocessor has so much.
  double reserved_bytes = 0;      ///< taken of each block
  double register_bytes = 0;      ///< register file of a multiprocessor
};

inline constexpr double flash_element_bytes = 2;      ///< Q, K, V, O and their gradients: 16 bits
inline constexpr double flash_accumulator_bytes = 4;  ///< FP32

/// Shared memory of one block in B. Forward: a tile of queries, and `stages` tiles of keys and of values; in FA-1 a
/// tile of keys and of values, and `stages` tiles of queries. Backward: a tile of keys and of values, `stages` tiles of
/// queries and of the result's gradients, and the scores' gradients in 16 bits. Both: the larger.
double flash_shared_bytes(const FlashShape& shape, const FlashTile& tile, FlashSchedule schedule, FlashPass pass);
/// Registers that hold sums in FP32, B. Forward: scores and result of the tile. Backward: scores, their gradients, dK,
/// dV.
double flash_register_bytes(const FlashShape& shape, const FlashTile& tile, FlashPass pass);
/// Blocks that one multiprocessor holds by shared memory and registers; 0: not even one.
std::int64_t flash_blocks_per_multiprocessor(const FlashShape& shape, const FlashTile& tile, FlashSchedule schedule,
                                             FlashPass pass, const FlashChip& chip);

/// What one pass of one layer moves and computes, over all heads and sequences.
struct FlashWork {
  double matmul_flops = 0;  ///< multiply-adds count as two
  double other_flops = 0;   ///< softmax, its gradient, rescaling: an exponential counts as one
  double exponentials = 0;
  double hbm_bytes = 0;    ///< read from and written to main memory
  double l2_bytes = 0;     ///< read and written through L2 by blocks of threads, of main memory or not
  double state_bytes = 0;  ///< what lies in main memory between the passes beyond Q, K, V and O

  double flops() const { return matmul_flops + other_flops; }
  FlashWork& operator+=(const FlashWork& o);
};

/// How the tiles of a head are walked.
struct FlashWalk {
  double tiles = 0;          ///< Those of one head that are computed.
  double skipped_tiles = 0;  ///< Those of one head in which every key comes later than every query.
  double pairs = 0;          ///< queries times keys of the visited tiles of one head
  double waves = 1;          ///< rounds of blocks over the chip
  double fetches = 1;        ///< how often the average head's keys and values come from main memory (FA-1: queries)
  double rereads = 1;        ///< how often they come into shared memory
  double kept_bytes = 0;     ///< what L2 must hold so that they come from main memory once
  double kept_share = 1;     ///< the part of it that L2 holds, 0 to 1
};

/// Tile by tile, by arithmetic over the rows of tiles. Blocks run in waves over the chip, a head after the other.
/// Blocks that share a head go through its keys together, so that each tile comes from main memory once a wave. L2
/// keeps as much as it holds of what the heads of a wave need, and that part comes once at all: no cache could do with
/// less. Softmax counts five operations a score: scale, compare, subtract, exponential, add. Algorithms 1 and 4 of Dao
/// et al. 2022, 1 and 2 of Dao 2023.
struct FlashCount {
  FlashWork work;
  FlashWalk walk;
};
/// Fails with a sentence where a size is out of range, or where a tile does not fit into shared memory or registers.
Result<FlashCount> count_flash(const FlashShape& shape, const FlashTile& tile, FlashSchedule schedule, FlashPass pass,
                               const FlashChip& chip);

/// The square in one kernel a step, as a library without fusion would: forward S = QK^T, P = softmax(S), O = PV;
/// backward dV, dP, dS, dQ, dK with P kept. Scores have 16 bits. A mask saves it nothing: the whole square is computed.
FlashWork count_square(const FlashShape& shape, FlashPass pass);

/// Least times in s, each limit alone, by the rates of the chip.
struct FlashTimes {
  double matmul_s = 0, exponential_s = 0, hbm_s = 0, l2_s = 0;
  double all_s() const;  ///< the longest: everything overlaps perfectly
  /// Softmax waits for matmuls and they for it: no overlap between the two.
  double in_turn_s() const;
};
FlashTimes flash_times(const FlashWork& work, const FlashChip& chip);
/// The square's kernels one after the other, each at its own longest limit, s.
double square_time_s(const FlashShape& shape, FlashPass pass, const FlashChip& chip);

/// Operations as papers count them: 4 x sequence^2 x head_dim a head forward, 2.5 times that backward, half under a
/// causal mask.
double flash_counted_flops(const FlashShape& shape, FlashPass pass);
/// FLOP per byte of S = QK^T alone, with S written.
double scores_intensity(const FlashShape& shape);

}  // namespace models::inference
