#include "models/inference/flash_attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "models/base/integer_math.h"

namespace models::inference {
namespace {

constexpr double element = flash_element_bytes, accumulator = flash_accumulator_bytes;
constexpr double softmax_flops = 5;      // scale, compare, subtract, exponential, add
constexpr double divide_flops = 1;       // the square divides each score by its row's sum
constexpr double recompute_flops = 3;    // backward: scale, subtract the log-sum-exp, exponential
constexpr double gradient_flops = 3;     // dS = P (dP - D) scale
constexpr double square_back_flops = 5;  // the same with D = sum of P dP over a row: multiply, add

double heads_of(const FlashShape& s) { return as_double(s.heads) * as_double(s.batch); }

/// Sums over the rows of tiles of one head.
struct RowSums {
  double tiles = 0, pairs = 0, all_tiles = 0;
  double columns = 0;  ///< keys that pass, summed over rows of tiles
  double visited = 0;  ///< rows times visited tiles, summed
};

/// Keys that the tiles of a row reach, and how many tiles that is.
struct RowReach {
  std::int64_t tiles = 0, keys = 0;
};
RowReach reach_of(const FlashShape& s, const FlashTile& tile, std::int64_t first, std::int64_t rows) {
  const std::int64_t last_query = first + rows - 1;
  const std::int64_t tiles = s.causal ? last_query / tile.columns + 1 : ceil_div(s.sequence, tile.columns);
  return {tiles, std::min(s.sequence, tiles * tile.columns)};
}

RowSums sum_rows(const FlashShape& s, const FlashTile& tile) {
  RowSums out;
  const double across = as_double(ceil_div(s.sequence, tile.columns));
  for (std::int64_t first = 0; first < s.sequence; first += tile.rows) {
    const std::int64_t rows = std::min(tile.rows, s.sequence - first);
    const RowReach reach = reach_of(s, tile, first, rows);
    out.tiles += as_double(reach.tiles);
    out.all_tiles += across;
    out.columns += as_double(reach.keys);
    out.pairs += as_double(rows) * as_double(reach.keys);
    out.visited += as_double(rows) * as_double(reach.tiles);
  }
  return out;
}

/// Waves of `at_once` blocks over `heads` heads of `blocks` each, and how many of them touch the average head: every
/// wave touches one head, and one more for each border between heads inside of it.
struct Waves {
  double count = 1, touches = 1, heads_at_once = 1;
};
Waves waves_of(std::int64_t blocks, double heads, std::int64_t at_once) {
  const double all = as_double(blocks) * heads;
  Waves w;
  w.count = std::ceil(all / as_double(at_once));
  const std::int64_t period = at_once / std::gcd(blocks, at_once);  // borders that are borders of waves as well
  const double inside = heads - 1 - std::floor((heads - 1) / as_double(period));
  w.touches = (w.count + inside) / heads;
  w.heads_at_once = std::min(heads, std::ceil(as_double(at_once - 1) / as_double(blocks)) + 1);
  return w;
}

/// What passes would come `times` from main memory; the part of it that L2 holds comes once.
void keep_in_l2(const FlashChip& chip, double times, FlashWalk& walk) {
  walk.kept_share = walk.kept_bytes > 0 ? std::min(1.0, chip.l2_bytes / walk.kept_bytes) : 1;
  walk.fetches = 1 + (times - 1) * (1 - walk.kept_share);
}

/// What a head has, B: one tensor of 16 bits, one of FP32, and a number of FP32 a row.
struct HeadBytes {
  double tensor, wide, row;
};
HeadBytes head_bytes(const FlashShape& s) {
  const double n = as_double(s.sequence), d = as_double(s.head_dim);
  return {element * n * d, accumulator * n * d, accumulator * n};
}

FlashCount forward_of_rows(const FlashShape& s, const FlashTile& tile, const FlashChip& chip, std::int64_t at_once) {
  const HeadBytes b = head_bytes(s);
  const RowSums sums = sum_rows(s, tile);
  const double heads = heads_of(s), d = as_double(s.head_dim);
  FlashCount out;
  const Waves w = waves_of(ceil_div(s.sequence, tile.rows), heads, at_once);
  out.walk.waves = w.count;
  out.walk.kept_bytes = w.heads_at_once * 2 * b.tensor;
  keep_in_l2(chip, w.touches, out.walk);
  out.walk.rereads = sums.columns / as_double(s.sequence);
  const double once = 2 * b.tensor + b.row;  // Q, O, the log-sum-exp
  out.work.hbm_bytes = heads * (once + 2 * b.tensor * out.walk.fetches);
  out.work.l2_bytes = heads * (once + 2 * element * d * sums.columns);
  return out;
}

FlashCount forward_of_columns(const FlashShape& s, const FlashTile& tile, const FlashChip& chip, std::int64_t at_once) {
  const HeadBytes b = head_bytes(s);
  const RowSums sums = sum_rows(s, tile);
  const double heads = heads_of(s), d = as_double(s.head_dim), n = as_double(s.sequence);
  FlashCount out;
  out.walk.waves = std::ceil(heads / as_double(at_once));
  out.walk.kept_bytes = std::min(heads, as_double(at_once)) * (b.tensor + b.wide + 2 * b.row);
  out.walk.rereads = sums.visited / n;
  keep_in_l2(chip, out.walk.rereads, out.walk);
  // A row's result is written in FP32 until its last tile, and read where it was written; its maximum and sum too.
  const double again = sums.visited - n;
  const double queries = element * d * sums.visited;
  const double results = accumulator * d * again * 2 + b.tensor;
  const double statistics = 2 * accumulator * (sums.visited + again);
  out.work.l2_bytes = heads * (2 * b.tensor + queries + results + statistics);
  const double once = heads * (4 * b.tensor + 2 * b.row);
  out.work.hbm_bytes = once + (out.work.l2_bytes - once) * (1 - out.walk.kept_share);
  return out;
}

/// Tiles of keys stay and gather dK and dV; queries pass, and dQ is added to in main memory or L2. Three kernels: D =
/// sum of dO O over a row with dQ set to 0, the walk, dQ from FP32 to 16 bits.
FlashCount backward_of(const FlashShape& s, const FlashTile& tile, const FlashChip& chip, std::int64_t at_once,
                       bool block_per_head) {
  const HeadBytes b = head_bytes(s);
  const RowSums sums = sum_rows(s, tile);
  const double heads = heads_of(s), d = as_double(s.head_dim), n = as_double(s.sequence);
  FlashCount out;
  const Waves w = waves_of(block_per_head ? 1 : ceil_div(s.sequence, tile.columns), heads, at_once);
  out.walk.waves = w.count;
  out.walk.rereads = sums.visited / n;
  out.walk.kept_bytes = w.heads_at_once * (2 * b.tensor + b.wide + 2 * b.row);
  keep_in_l2(chip, block_per_head ? out.walk.rereads : w.touches, out.walk);
  const double before = 2 * b.tensor + b.row + b.wide, after = b.wide + b.tensor;
  const double stays = 4 * b.tensor;                            // K, V, dK, dV
  const double passes = 2 * b.tensor + 2 * b.row + 2 * b.wide;  // Q, dO, log-sum-exp, D; dQ comes and goes
  out.work.hbm_bytes = heads * (before + after + stays + passes * out.walk.fetches);
  // Blocks that share a head add to dQ in L2, where one way is enough; a block alone reads and writes it.
  const double per_row = 2 * element * d + 2 * accumulator + (block_per_head ? 2 : 1) * accumulator * d;
  out.work.l2_bytes = heads * (before + after + stays + per_row * sums.visited);
  return out;
}

void add_arithmetic(const FlashShape& s, const FlashTile& tile, bool backward, FlashCount& out) {
  const RowSums sums = sum_rows(s, tile);
  const double heads = heads_of(s), d = as_double(s.head_dim), n = as_double(s.sequence);
  out.walk.tiles = sums.tiles;
  out.walk.skipped_tiles = sums.all_tiles - sums.tiles;
  out.walk.pairs = sums.pairs;
  FlashWork& w = out.work;
  w.matmul_flops = heads * (backward ? 10 : 4) * d * sums.pairs;
  w.state_bytes = heads * accumulator * n;  // the log-sum-exp
  if (backward) {
    w.exponentials = heads * sums.pairs;
    w.other_flops = heads * ((recompute_flops + gradient_flops) * sums.pairs + 2 * n * d);
    return;
  }
  // A row and tile turn the old result and sum: a difference of maxima, its exponential, d + 1 multiplications, and the
  // comparison with the old maximum. Each number of the result is divided once; a logarithm and a sum are kept.
  w.exponentials = heads * (sums.pairs + sums.visited);
  w.other_flops = heads * (softmax_flops * sums.pairs + (d + 4) * sums.visited + n * (d + 2));
}

FlashCount one_pass(const FlashShape& s, const FlashTile& tile, FlashSchedule schedule, bool backward,
                    const FlashChip& chip) {
  const std::int64_t at_once =
      chip.multiprocessors *
      flash_blocks_per_multiprocessor(s, tile, schedule, backward ? FlashPass::backward : FlashPass::forward, chip);
  const bool by_columns = schedule == FlashSchedule::fa1;
  FlashCount out = backward     ? backward_of(s, tile, chip, at_once, by_columns)
                   : by_columns ? forward_of_columns(s, tile, chip, at_once)
                                : forward_of_rows(s, tile, chip, at_once);
  add_arithmetic(s, tile, backward, out);
  return out;
}

/// One kernel of the square.
struct SquareKernel {
  double matmul_flops = 0, other_flops = 0, exponentials = 0, bytes = 0;
};
template <class Take>
void each_square_kernel(const FlashShape& s, bool backward, const Take& take) {
  const double n = as_double(s.sequence), d = as_double(s.head_dim), heads = heads_of(s);
  const double tensor = heads * element * n * d, square = heads * element * n * n, pairs = heads * n * n;
  const double product = 2 * pairs * d;
  if (!backward) {
    take(SquareKernel{.matmul_flops = product, .bytes = 2 * tensor + square});
    take(SquareKernel{
        .other_flops = (softmax_flops + divide_flops) * pairs, .exponentials = pairs, .bytes = 2 * square});
    take(SquareKernel{.matmul_flops = product, .bytes = square + 2 * tensor});
    return;
  }
  take(SquareKernel{.matmul_flops = product, .bytes = square + 2 * tensor});          // dV = P^T dO
  take(SquareKernel{.matmul_flops = product, .bytes = square + 2 * tensor});          // dP = dO V^T
  take(SquareKernel{.other_flops = square_back_flops * pairs, .bytes = 3 * square});  // dS of P and dP
  take(SquareKernel{.matmul_flops = product, .bytes = square + 2 * tensor});          // dQ = dS K
  take(SquareKernel{.matmul_flops = product, .bytes = square + 2 * tensor});          // dK = dS^T Q
}

template <class Take>
void each_square_kernel(const FlashShape& s, FlashPass pass, const Take& take) {
  if (pass != FlashPass::backward) each_square_kernel(s, false, take);
  if (pass != FlashPass::forward) each_square_kernel(s, true, take);
}

double seconds(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

}  // namespace

FlashWork& FlashWork::operator+=(const FlashWork& o) {
  matmul_flops += o.matmul_flops;
  other_flops += o.other_flops;
  exponentials += o.exponentials;
  hbm_bytes += o.hbm_bytes;
  l2_bytes += o.l2_bytes;
  state_bytes = std::max(state_bytes, o.state_bytes);
  return *this;
}

double flash_shared_bytes(const FlashShape& s, const FlashTile& tile, FlashSchedule schedule, FlashPass pass) {
  const double d = as_double(s.head_dim), rows = as_double(tile.rows), columns = as_double(tile.columns);
  const double stages = as_double(tile.stages);
  const double forward =
      element * d * (schedule == FlashSchedule::fa1 ? 2 * columns + stages * rows : rows + 2 * stages * columns);
  const double backward = element * (d * (2 * columns + 2 * stages * rows) + rows * columns);
  return pass == FlashPass::forward ? forward : pass == FlashPass::backward ? backward : std::max(forward, backward);
}

double flash_register_bytes(const FlashShape& s, const FlashTile& tile, FlashPass pass) {
  const double d = as_double(s.head_dim), rows = as_double(tile.rows), columns = as_double(tile.columns);
  const double forward = accumulator * rows * (d + columns);
  const double backward = accumulator * 2 * columns * (d + rows);
  return pass == FlashPass::forward ? forward : pass == FlashPass::backward ? backward : std::max(forward, backward);
}

std::int64_t flash_blocks_per_multiprocessor(const FlashShape& s, const FlashTile& tile, FlashSchedule schedule,
                                             FlashPass pass, const FlashChip& chip) {
  const double shared = flash_shared_bytes(s, tile, schedule, pass);
  if (!(shared <= chip.block_shared_bytes)) return 0;
  const double by_shared = std::floor(chip.shared_bytes / (shared + chip.reserved_bytes));
  const double by_registers = std::floor(chip.register_bytes / flash_register_bytes(s, tile, pass));
  return static_cast<std::int64_t>(std::min({by_shared, by_registers, 32.0}));
}

Result<FlashCount> count_flash(const FlashShape& s, const FlashTile& tile, FlashSchedule schedule, FlashPass pass,
                               const FlashChip& chip) {
  using Out = Result<FlashCount>;
  if (std::min({s.sequence, s.head_dim, s.heads, s.batch, tile.rows, tile.columns, tile.stages}) < 1)
    return Out::fail("Sequence, head size, heads, batch, the sides of the tile and its stages must be at least 1.");
  if (s.sequence > max_flash_tokens || std::max({tile.rows, tile.columns, tile.stages, s.head_dim}) > max_flash_side)
    return Out::fail("A sequence has up to 16,777,216 tokens here, and head size, tile and stages are up to 4,096.");
  if (flash_blocks_per_multiprocessor(s, tile, schedule, pass, chip) < 1) {
    const bool shared = flash_shared_bytes(s, tile, schedule, pass) > chip.block_shared_bytes;
    return Out::fail(std::string("The tile does not fit on the chip: ") +
                     (shared ? "what it holds needs more shared memory than one block may have"
                             : "its sums need more registers than a multiprocessor has") +
                     "; choose fewer rows or columns" + (shared ? ", or fewer stages." : "."));
  }
  if (pass != FlashPass::both) return Out::ok(one_pass(s, tile, schedule, pass == FlashPass::backward, chip));
  FlashCount out = one_pass(s, tile, schedule, false, chip);
  out.work += one_pass(s, tile, schedule, true, chip).work;
  return Out::ok(out);
}

FlashWork count_square(const FlashShape& s, FlashPass pass) {
  FlashWork out;
  each_square_kernel(s, pass, [&](const SquareKernel& k) {
    out.matmul_flops += k.matmul_flops;
    out.other_flops += k.other_flops;
    out.exponentials += k.exponentials;
    out.hbm_bytes += k.bytes;
  });
  out.l2_bytes = out.hbm_bytes;
  const double n = as_double(s.sequence);
  out.state_bytes = heads_of(s) * element * n * n;  // P, which the backward pass reads
  return out;
}

double FlashTimes::all_s() const { return std::max({matmul_s, exponential_s, hbm_s, l2_s}); }
double FlashTimes::in_turn_s() const { return std::max({matmul_s + exponential_s, hbm_s, l2_s}); }

FlashTimes flash_times(const FlashWork& w, const FlashChip& chip) {
  return {seconds(w.matmul_flops, chip.matmul_flops_per_s), seconds(w.exponentials, chip.exponentials_per_s),
          seconds(w.hbm_bytes, chip.memory_bytes_per_s), seconds(w.l2_bytes, chip.l2_bytes_per_s)};
}

double square_time_s(const FlashShape& s, FlashPass pass, const FlashChip& chip) {
  double out = 0;
  each_square_kernel(s, pass, [&](const SquareKernel& k) {
    out += std::max({seconds(k.matmul_flops, chip.matmul_flops_per_s), seconds(k.exponentials, chip.exponentials_per_s),
                     seconds(k.bytes, chip.memory_bytes_per_s)});
  });
  return out;
}

double flash_counted_flops(const FlashShape& s, FlashPass pass) {
  const double n = as_double(s.sequence);
  const double forward = 4 * heads_of(s) * n * n * as_double(s.head_dim) * (s.causal ? 0.5 : 1);
  return pass == FlashPass::forward ? forward : pass == FlashPass::backward ? 2.5 * forward : 3.5 * forward;
}

double scores_intensity(const FlashShape& s) {
  const double n = as_double(s.sequence), d = as_double(s.head_dim);
  return 2 * n * n * d / (element * (2 * n * d + n * n));
}

}  // namespace models::inference
