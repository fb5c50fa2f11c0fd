#pragma once
#include "models/machine/hardware.h"
#include "models/machine/tiling.h"

#include <array>

/// What to look at around one tiled matmul: a chip's figures, the saw-tooth, which block makes which tile, waves over
/// time, other schedules.
namespace models {

/// A chip's figures for tile_matmul; sizes and tiles keep their defaults. `units_taken` compute units are left to
/// others (a communication kernel) and take their share of the peak with them. `l2_bytes_per_clock` is what one unit
/// pulls (0: no limit; also where the chip states no clock). Vector rate: the stated FP32 peak, since frameworks ask
/// for FP32 sums (FP64 for fp64_matrix); the peak itself where none is stated and for formats of the vector units,
/// whose rate does not depend on alignment. Infeasible: no peak for the format, no count of units, or none left.
Result<TilingInputs> tiling_on(const Chip& chip, Format format, std::int64_t units_taken, double l2_bytes_per_clock);

/// The steps from the peak to the effective rate, each a factor of 1 or less; their product with the peak is
/// effective_flops_per_s.
struct TilingLosses {
  double edge = 1;   ///< edge tiles compute rows and columns nobody wants
  double depth = 1;  ///< the last step along k reaches beyond it
  double idle = 1;   ///< slots without work
  double alignment = 1;
  double memory = 1;     ///< arithmetic waits for operands
  double reduction = 1;  ///< partial sums are added
};
TilingLosses losses_of(const TilingResult& result);

/// Largest n that computes no longer than this one (same waves; stream-K: same steps on every SM), and the largest that
/// takes a wave (a step) less; 0 where there is none.
struct FreeRange {
  std::int64_t below_n = 0, last_n = 0;
};
FreeRange free_range(const TilingInputs& inputs, const TilingResult& result);

/// One corner of the saw-tooth. Shares are of the peak, 0 to 1.
struct SawPoint {
  std::int64_t n = 0, waves = 0;
  double aligned = 0;    ///< rows of 16 bytes or more
  double preferred = 0;  ///< odd n, Tensor Cores at `misaligned_rate`
  double required = 0;   ///< odd n, no Tensor Cores
};
/// The share of the peak over n from 1 to `last`, exact at every corner (a tile's first and last column) while there
/// are at most `most` columns of tiles; beyond that neighbouring columns are folded, keeping a wave boundary of each
/// fold. Straight lines join the corners.
std::vector<SawPoint> sawtooth(TilingInputs inputs, std::int64_t last, std::size_t most = 1024);

/// The shares of the peak just around n: what padding by a few columns does.
struct Neighbour {
  std::int64_t n = 0, alignment_bytes = 0;
  double preferred = 0, required = 0;
};
std::vector<Neighbour> neighbours(TilingInputs inputs, std::int64_t radius);

/// Who makes the tile at (row, col). Tiles are dealt down the columns of C, so that a wider C adds its tiles at the
/// end.
struct TileWork {
  std::int64_t wave = 0;          ///< in which it is finished
  std::int64_t first_block = 0;   ///< slot of the first thread block that works on it
  std::int64_t blocks = 1;        ///< thread blocks that share it
  double used_m = 1, used_n = 1;  ///< useful part of its rows and columns, 0 to 1
};
TileWork tile_work(const TilingInputs& inputs, const TilingResult& result, std::int64_t row, std::int64_t col);

/// Waves that run one after the other with the same number of busy slots.
struct WaveSpan {
  double start_s = 0, end_s = 0;
  std::int64_t first_wave = 0, waves = 1, busy_slots = 0;
};
/// Busy slots over time, partial sums left out; the last span ends at max(compute, memory). At most `most` spans and a
/// tail.
std::vector<WaveSpan> wave_spans(const TilingInputs& inputs, const TilingResult& result, std::size_t most = 48);

struct ScheduleResult {
  Schedule schedule{};
  std::int64_t split = 1;
  TilingResult result;
};
/// The fastest split of 1 to `most` (the smallest of equals).
Result<ScheduleResult> best_split(TilingInputs inputs, std::int64_t most = 64);
/// Data parallel, split-K at its best split, stream-K.
Result<std::array<ScheduleResult, 3>> compare_schedules(TilingInputs inputs);

}  // namespace models
