#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

/// How fast the multiply-adds of a kernel can run whose threads each hold a tile of sums in registers and read their
/// operands from shared memory: once for what shared memory delivers, once for what can be issued, and once each for
/// the two latencies that warps must cover.
namespace models::gpu {

/// The arithmetic of one SM. FP32 lanes: CUDA C++ programming guide, "Throughput of native arithmetic instructions".
/// Shared memory: 32 banks of a word a clock (the same guide, "Shared memory"); Turing moves half of that, 64 bytes
/// (NVIDIA, Ampere GA102 whitepaper, table of the SM).
struct FmaUnits {
  std::int64_t lanes = 128;  ///< FP32 multiply-adds a clock
  std::int64_t shared_words_per_clock = 32;
};
inline constexpr std::int64_t sm_schedulers =
    4;  ///< every SM has so many since Volta; each issues an instruction a clock

/// The units of a compute capability that sm_limits knows.
FmaUnits fma_units(int capability);

/// One step along K of a thread: it reads rows + columns values and makes rows x columns multiply-adds.
struct TileStep {
  std::int64_t rows = 8, columns = 8;
  bool from_shared = true;          ///< else the values stay in registers, and nothing is loaded
  std::int64_t words_per_load = 4;  ///< 4-byte words that one load instruction brings to a thread: 1, 2 or 4
  bool prefetch = false;            ///< the values of the next step are on their way while this one is computed
  double fma_latency_cycles = 4, load_latency_cycles = 33;

  std::int64_t multiply_adds() const { return rows * columns; }
  std::int64_t values() const { return rows + columns; }
  double multiply_adds_per_value() const;
  /// Load instructions: each side is read on its own. 0 where nothing is loaded.
  std::int64_t loads() const;
};

enum class FeedLimit : std::uint8_t { none, shared_memory, issue_slots, fma_latency, load_latency };
inline constexpr int feed_limit_count = 5;

/// Shares of the rate of the FMA pipes, 0 to 1; the least of them is the most that the kernel reaches.
struct TileFeed {
  double shared_memory = 0, issue_slots = 0, fma_latency = 0, load_latency = 0;
  double rate = 0;
  FeedLimit limit = FeedLimit::none;  ///< none: the pipes are full
  double in_flight_needed = 0;        ///< multiply-adds of a scheduler, by Little's law: latency times rate
};
/// With so many warps on the SM, dealt to its schedulers in turn.
///  - Shared memory: lanes need one value a lane for `multiply_adds_per_value` multiply-adds, and it delivers 32 words
///    a clock. Every lane's word counts; where lanes of a warp read the same word, hardware may join wide loads.
///  - Issue slots: a scheduler issues one instruction a clock, multiply-add or load. On SMs of 64 lanes a multiply-add
///    keeps its pipe busy for two clocks, in which loads find room.
///  - Latency of a multiply-add: `latency x rate` of them must be in flight, from warps or from independent sums of
///  one.
///  - Latency of a load: a warp waits for its values before it multiplies, unless they were asked for a step ahead.
/// Addresses, loop ends, barriers and global memory are left out: the share is a bound.
TileFeed tile_feed(const FmaUnits& units, const TileStep& step, std::int64_t warps);
/// The fewest warps of an SM that cover both latencies; they may be more than an SM holds.
std::int64_t warps_to_cover_latency(const FmaUnits& units, const TileStep& step);

/// The same SGEMM kernel with square tiles, as ptxas of CUDA 13.0 compiled it: blocks of 256 threads, K in steps of 8,
/// __launch_bounds__ with 8, 6, 4, 2 and 1 blocks an SM, which a capability that holds fewer threads ignores.
struct CompiledTile {
  int side = 1;
  int capability = 0;  ///< for which it was compiled
  std::int64_t registers = 0, spill_store_bytes = 0;
  std::int64_t shared_bytes = 0;  ///< static
};
inline constexpr std::size_t compiled_tile_count = 5;
inline constexpr std::int64_t compiled_block_threads = 256;
/// Sides 1, 2, 4, 8 and 16. CUDA 13.0 compiles no 7.0 and no 7.2: these get what 7.5 got, and `capability` says so.
std::array<CompiledTile, compiled_tile_count> compiled_tiles(int capability);

}  // namespace models::gpu
