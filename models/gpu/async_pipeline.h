#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/gpu/occupancy.h"

/// A kernel's main loop as a ring of buffers in shared memory: tiles are copied in while earlier ones are computed.
/// Every time is a whole number of clock cycles.
namespace models::gpu {

enum class PipelineKind : std::uint8_t {
  sync,              ///< One buffer: copy, wait, compute, and only then the next copy.
  multistage,        ///< One instruction stream copies ahead and computes (cp.async).
  warp_specialized,  ///< A producer warp copies, consumer warps compute; barriers say full and empty (TMA, mbarrier).
};
inline constexpr int pipeline_kind_count = 3;

/// The rules. A copy takes the one load channel for `load_time`, and its data is there `latency` after that; copies
/// complete in order.
/// sync: the copy of a tile is issued when the computation before it ends.
/// multistage: `stages` - 1 copies are issued at the start. Before tile i is computed, the stream waits for its data,
/// synchronizes, and issues the copy of tile i + stages - 1 into the buffer that tile i - 1 has left.
/// warp_specialized: the producer issues the copy of tile i as soon as the computation of tile i - stages has ended and
/// its buffer is released; the consumer computes a tile once it is there and the one before is done.
struct PipelineSetup {
  PipelineKind kind = PipelineKind::warp_specialized;
  std::int64_t tiles = 14, stages = 3;
  std::int64_t latency = 571, load_time = 462, compute_time = 512;
  std::int64_t sync_overhead = 0;       ///< before each tile's computation
  std::int64_t barrier_release = 0;     ///< warp_specialized: from the end of a computation until its buffer is free
  std::int64_t issue_time = 0;          ///< what issuing a copy costs the stream that does it
  std::vector<std::int64_t> latencies;  ///< one for each tile, in turn; empty: `latency`
};

/// When what happens to one tile.
struct PipelineTile {
  std::int64_t issue = 0, transfer = 0, ready = 0, compute_start = 0, compute_end = 0;
};

struct PipelineRun {
  std::vector<PipelineTile> tiles;  ///< block by block
  std::int64_t blocks = 1, tiles_per_block = 0;
  std::int64_t total = 0;                ///< until the last computation ends
  std::int64_t stall_cycles = 0;         ///< in which nothing is computed
  std::int64_t first_compute_start = 0;  ///< when the first block computes first
  std::int64_t max_tiles_in_flight = 0;  ///< the first block has issued so many that are not there yet
  const PipelineTile& at(std::int64_t block, std::int64_t tile) const;
};

/// What is refused: a number out of 1 to 4,096 tiles or 1 to 64 stages, one buffer in a multistage loop, a negative
/// time, or nothing to do at all.
Status check_pipeline(const PipelineSetup& setup);

/// `blocks` of the same kernel start together on one SM and share its load channel and its tensor pipe. The channel
/// serves copies in the order of issue, the pipe tiles in the order in which they are asked for, and at equal times the
/// block with the lower number goes first. With one block these are the rules above. `setup` must pass the check.
PipelineRun run_pipeline(const PipelineSetup& setup, std::int64_t blocks = 1);

/// Cycles per tile of the whole SM in the long run: the mean over a stretch in the middle of a longer run.
double sm_period(const PipelineSetup& setup, std::int64_t blocks);
/// The same of one block with the latencies that are given, over all tiles but the first; NaN for a single tile.
double mean_period(const PipelineRun& run);

enum class PipelineBound : std::uint8_t { compute, load, issue, latency };
inline constexpr int pipeline_bound_count = 4;

/// The long run in closed form, for a constant latency.
struct PipelineRate {
  double period = 0;       ///< cycles per tile
  double full_period = 0;  ///< what more buffers cannot pass
  PipelineBound bound = PipelineBound::compute;
  double stages_exact = 0;                ///< buffers at which waiting ends, before rounding up
  std::int64_t stages_for_full_rate = 1;  ///< sync: what a multistage loop of these times would need
};
PipelineRate pipeline_rate(const PipelineSetup& setup);

/// Two groups of consumers that take output tiles in turn: while one is in its main loop, which has the tensor pipe to
/// itself, the other does its epilogue. Cooperative consumers do both one after the other.
struct PingPong {
  std::int64_t total = 0, cooperative_total = 0;
  double steady_per_tile = 0;  ///< cycles per output tile in the long run
};
PingPong ping_pong(std::int64_t output_tiles, std::int64_t mainloop, std::int64_t epilogue);

/// Each buffer has two barriers of 8 bytes.
inline constexpr std::int64_t stage_barrier_bytes = 16;
std::int64_t ring_bytes(std::int64_t stages, std::int64_t stage_bytes, std::int64_t epilogue_bytes);
/// Buffers that a block can have: floor((capacity - epilogue) / (stage + 16)).
std::int64_t max_stages(std::int64_t capacity_bytes, std::int64_t stage_bytes, std::int64_t epilogue_bytes);
/// Blocks with such a ring that one SM holds; 0: it cannot be launched.
std::int64_t resident_blocks(const SmLimits& sm, std::int64_t threads, std::int64_t registers, std::int64_t bytes);

/// A latency that somebody measured with a pointer chase or with single TMA copies.
struct MeasuredLatency {
  std::string_view id, label, note;
  std::int64_t cycles = 0;
};
/// gpu-benches and HPMLL's Hopper benchmark, rounded to whole cycles.
std::span<const MeasuredLatency> measured_latencies();

/// `count` latencies within `jitter` of the mean, evenly spread and the same for the same seed; none is negative.
std::vector<std::int64_t> spread_latencies(std::int64_t mean, std::int64_t jitter, std::uint64_t seed,
                                           std::int64_t count);

}  // namespace models::gpu
