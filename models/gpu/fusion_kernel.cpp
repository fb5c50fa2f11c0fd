#include "models/gpu/fusion_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/machine/tiling.h"

namespace models::gpu {
namespace {

constexpr std::int64_t block_threads = 256, vector_values = 8, stages = 3, depth_step = 64, wide_piece = 256,
                       narrow_piece = 128, streaming_registers = 14, product_registers = 40, max_accumulators = 512;
constexpr double spill_passes = 3, accumulator_bytes = 4;

const FusionTensor& tensor(const FusionChain& c, int t) { return c.tensors[static_cast<std::size_t>(t)]; }
const FusionOp& operation(const FusionChain& c, int i) { return c.operations[static_cast<std::size_t>(i)]; }

bool reads(const FusionOp& op, int t) { return std::find(op.inputs.begin(), op.inputs.end(), t) != op.inputs.end(); }
bool read_within(const FusionChain& c, int t, int first, int last) {
  for (int i = first; i <= last; ++i)
    if (reads(operation(c, i), t)) return true;
  return false;
}

/// What the operations of a run ask for, whatever its tiles.
struct RunNeeds {
  std::vector<int> products;
  std::int64_t temporaries = 0;
  bool row_after = false;    ///< a norm or softmax behind the last product
  bool row_between = false;  ///< a norm between two products
  bool row_before = false;   ///< a norm before the first product
  bool row_anywhere = false;
  double instructions_before = 0, instructions_after = 0;
  double widest_row = 0;
};

RunNeeds needs_of(const FusionChain& c, int first, int last) {
  RunNeeds n;
  for (int i = first; i <= last; ++i)
    if (operation(c, i).kind == FusionOpKind::product) n.products.push_back(i);
  for (int i = first; i <= last; ++i) {
    const FusionOp& op = operation(c, i);
    if (op.kind == FusionOpKind::product) continue;
    n.temporaries = std::max(n.temporaries, op.temporaries);
    const bool before = !n.products.empty() && i < n.products.front(),
               after = !n.products.empty() && i > n.products.back();
    (before ? n.instructions_before : n.instructions_after) += c.batches * c.rows * op.columns * op.instructions;
    if (op.kind == FusionOpKind::elementwise) continue;
    n.row_anywhere = true;
    n.widest_row = std::max(n.widest_row, op.columns);
    n.row_before = n.row_before || before;
    n.row_after = n.row_after || after;
    n.row_between = n.row_between || (!before && !after && op.kind == FusionOpKind::row_norm);
  }
  return n;
}

/// Tensors with rows that a thread holds at once.
std::int64_t most_alive(const FusionChain& c, int first, int last) {
  std::int64_t most = 1;
  for (int i = first; i < last; ++i) {
    std::int64_t alive = 0;
    for (int t = 0; t < static_cast<int>(c.tensors.size()); ++t)
      if (tensor(c, t).row_columns > 0 && read_within(c, t, i + 1, last) &&
          (read_within(c, t, first, i) || (tensor(c, t).producer >= first && tensor(c, t).producer <= i)))
        ++alive;
    most = std::max(most, alive);
  }
  return most;
}

Result<SmOccupancy> resident(const FusionMachine& m, std::int64_t threads, std::int64_t registers,
                             std::int64_t shared) {
  return occupancy(*m.sm, {.threads = threads,
                           .registers = registers,
                           .dynamic_shared_bytes = shared,
                           .max_dynamic_shared_bytes = m.sm->block_shared_bytes});
}

/// Bytes in flight over what latency and bandwidth need (Little's law), at most 1.
double reach(const FusionMachine& m, const SmOccupancy& o, double blocks, double block_bytes) {
  const double at_once = std::min(blocks, static_cast<double>(m.sms * o.blocks));
  return std::min(1.0, at_once * block_bytes / (m.latency_s * m.bandwidth_bytes_per_s));
}

void finish(const FusionMachine& m, FusedKernel& k, double used_bandwidth) {
  k.memory_s = k.bytes() / used_bandwidth;
  k.vector_s = k.instructions / m.vector_per_s;
  const double arithmetic = k.occupancy.blocks >= 2 ? std::max(k.matrix_s, k.vector_s) : k.matrix_s + k.vector_s;
  const double latency_s = 2 * m.latency_s;
  k.time_s = std::max({k.memory_s, k.l2_s, arithmetic, latency_s});
  if (k.time_s <= latency_s)
    k.bound = KernelBound::latency;
  else if (k.time_s <= k.memory_s)
    k.bound = KernelBound::memory;
  else if (k.time_s <= k.l2_s)
    k.bound = KernelBound::l2;
  else
    k.bound = k.matrix_s >= k.vector_s ? KernelBound::matrix : KernelBound::vector;
}

/// Element-wise operations and norms, streamed.
Result<FusedKernel> stream(const FusionChain& c, const FusionMachine& m, const RunNeeds& n, FusedKernel k,
                           double l2_read) {
  FusedKernel best;
  const std::int64_t alive = most_alive(c, k.first, k.last);
  double columns = 0;
  for (int i = k.first; i <= k.last; ++i) columns = std::max(columns, operation(c, i).columns);
  for (const std::int64_t threads : {256, 512, 1024}) {
    FusedKernel t = k;
    const std::int64_t most = std::min<std::int64_t>(SmLimits::thread_registers, SmLimits::registers / threads / 8 * 8);
    std::int64_t values = vector_values;
    if (n.row_anywhere)
      values = ceil_div(ceil_div(static_cast<std::int64_t>(n.widest_row), threads), vector_values) * vector_values;
    std::int64_t registers = streaming_registers + alive * values + n.temporaries;
    const bool twice = n.row_anywhere && registers > most;
    if (twice) {
      values = vector_values;
      registers = streaming_registers + alive * values + n.temporaries;
      t.read_bytes += k.read_bytes;
    }
    t.threads = threads;
    t.spilled = std::max<std::int64_t>(0, registers - most);
    t.registers = registers - t.spilled;
    const auto o = resident(m, threads, t.registers, 0);
    if (!o || o->blocks == 0) continue;
    t.occupancy = *o;
    // A block takes as many short rows as it has room for.
    const auto block_values = static_cast<double>(values * threads);
    const double in_block =
        n.row_anywhere ? n.widest_row * std::max(1.0, std::floor(block_values / n.widest_row)) : block_values;
    t.blocks = static_cast<std::int64_t>(std::ceil(c.rows * c.batches * columns / in_block));
    t.tile_rows = static_cast<std::int64_t>(std::max(1.0, std::floor(block_values / columns)));
    t.tile_columns = static_cast<std::int64_t>(std::min(columns, n.row_anywhere ? n.widest_row : block_values));
    t.instructions = n.instructions_after;
    const double share =
        reach(m, *o, static_cast<double>(t.blocks), c.element_bytes * std::min(in_block, block_values));
    t.l2_bytes = l2_read * (twice ? 2 : 1);
    t.l2_s = t.l2_bytes / m.l2_bytes_per_s;
    finish(m, t, m.bandwidth_bytes_per_s * share);
    if (best.time_s == 0 || t.time_s < best.time_s) best = t;
  }
  if (best.time_s == 0) return Result<FusedKernel>::fail("No block of these operations fits an SM.");
  return Result<FusedKernel>::ok(best);
}

struct Tile {
  std::int64_t rows = 0, columns = 0;
};

/// A run with one product or two, cut into tiles; no value where an SM does not take the block.
struct ProductPricer {
  const FusionChain& c;
  const FusionMachine& m;
  const RunNeeds& n;
  FusedKernel run;  ///< traffic and ends
  double l2_read;   ///< Bytes of what the kernel before left in L2 that this one reads there.

  /// Bytes of a row of all that the first product's left operand is made of.
  double left_row_bytes() const {
    double bytes = 0;
    const int product = n.products.front();
    for (int t = 0; t < static_cast<int>(c.tensors.size()); ++t) {
      const FusionTensor& x = tensor(c, t);
      if (x.row_columns > 0 && x.producer < run.first && read_within(c, t, run.first, product))
        bytes += x.row_columns * c.element_bytes;
    }
    return bytes;
  }
  double product_seconds(const FusionOp& op, const Tile& tile, std::int64_t tile_columns, const SmOccupancy& o) const {
    const auto t = tile_matmul({.m = std::max<std::int64_t>(1, std::llround(c.rows * c.batches)),
                                .n = std::max<std::int64_t>(1, std::llround(op.columns)),
                                .k = std::max<std::int64_t>(1, std::llround(op.depth)),
                                .tile_m = tile.rows,
                                .tile_n = tile_columns,
                                .tile_k = depth_step,
                                .sm_count = m.sms,
                                .tiles_per_sm = o.blocks,
                                .element_bytes = c.element_bytes,
                                .peak_flops_per_s = m.matrix_flops_per_s,
                                .bandwidth_bytes_per_s = m.bandwidth_bytes_per_s});
    return t ? t->compute_s : 0;
  }
  double weight_bytes() const {
    double bytes = 0;
    for (const int i : n.products)
      for (const int t : operation(c, i).inputs)
        if (tensor(c, t).weight) bytes += tensor(c, t).bytes;
    return bytes;
  }

  /// Sets what the block of a tile has in shared memory, and how many blocks an SM takes: nothing where it takes none.
  /// The left operand's rows stay in shared memory where pieces of columns follow one another and there is room; gives
  /// whether they do.
  std::optional<bool> hold(const Tile& tile, std::int64_t piece, std::int64_t pieces, FusedKernel& k) const {
    const FusionOp& one = operation(c, n.products.front());
    const double e = c.element_bytes;
    const auto bytes = [&](double x) { return static_cast<std::int64_t>(std::ceil(x)); };
    const std::int64_t held = bytes(static_cast<double>(tile.rows) * one.depth * e);
    const std::int64_t between = n.row_between ? bytes(static_cast<double>(tile.rows) * one.columns * e) : 0;
    const std::int64_t streamed = bytes(static_cast<double>(stages * (tile.rows + piece) * depth_step) * e);
    bool holds = pieces > 1;
    k.shared_bytes =
        holds ? held + bytes(static_cast<double>(stages * piece * depth_step) * e) + between : streamed + between;
    auto o = resident(m, block_threads, k.registers, k.shared_bytes);
    if (holds && o && o->blocks == 0) {
      holds = false;
      k.shared_bytes = streamed + between;
      o = resident(m, block_threads, k.registers, k.shared_bytes);
    }
    if (!o || o->blocks == 0) return {};
    k.occupancy = *o;
    return holds;
  }

  std::optional<FusedKernel> price(Tile tile) const {
    FusedKernel k = run;
    const bool two = n.products.size() == 2;
    const FusionOp &one = operation(c, n.products.front()), &end = operation(c, n.products.back());
    const bool row = n.row_after && !two;
    const std::int64_t cluster = row ? m.cluster : 1;
    const auto columns = static_cast<std::int64_t>(end.columns);
    if (row || two) tile.columns = ceil_div(columns, cluster);
    const std::int64_t piece = two ? narrow_piece : std::min(tile.columns, wide_piece);
    const std::int64_t accumulators = ceil_div(tile.rows * (tile.columns + (two ? narrow_piece : 0)), block_threads);
    if (accumulators > max_accumulators) return {};
    const std::int64_t needed = accumulators + product_registers + n.temporaries;
    k.registers = std::min(needed, SmLimits::thread_registers);
    k.spilled = needed - k.registers;
    k.tile_rows = tile.rows;
    k.tile_columns = tile.columns;

    const std::int64_t pieces = ceil_div(two ? std::llround(one.columns) : tile.columns, piece);
    const std::optional<bool> held = hold(tile, piece, pieces, k);
    if (!held) return {};
    const bool holds = *held;
    const double row_tiles = std::ceil(c.rows / static_cast<double>(tile.rows)),
                 column_tiles = std::ceil(static_cast<double>(columns) / static_cast<double>(tile.columns));
    k.blocks = static_cast<std::int64_t>(row_tiles * column_tiles * c.batches);
    const double pair = m.sm->capability >= 90 ? 2 : 1;
    k.weight_reads = std::max(1.0, row_tiles / pair);
    // Blocks of a cluster that share a row share its left operand too.
    const double left_reads = (column_tiles / static_cast<double>(cluster)) *
                              (holds || pieces == 1 ? 1.0 : static_cast<double>(pieces)) *
                              (n.row_before && !holds ? 2.0 : 1.0);
    k.repeats = two || run.first == n.products.front() ? 1 : column_tiles;
    const double rows = c.rows * c.batches;
    k.l2_bytes = l2_read + weight_bytes() * k.weight_reads + rows * left_row_bytes() * left_reads +
                 static_cast<double>(k.spilled) * accumulator_bytes * spill_passes *
                     static_cast<double>(block_threads * k.blocks);
    const double busy = std::min(1.0, static_cast<double>(k.blocks) / static_cast<double>(m.sms));
    k.l2_s = k.l2_bytes / (m.l2_bytes_per_s * busy);
    for (const int i : n.products) {
      const FusionOp& op = operation(c, i);
      k.flops += 2 * rows * op.columns * op.depth;
      k.matrix_s += product_seconds(op, tile, two ? std::max<std::int64_t>(1, std::llround(op.columns)) : tile.columns,
                                    k.occupancy);
    }
    k.instructions = n.instructions_before * k.repeats + n.instructions_after;
    finish(m, k, m.bandwidth_bytes_per_s);
    return k;
  }
};

}  // namespace

bool read_from_l2(const FusionChain& c, int t, int first, const FusionMachine& m) {
  const FusionTensor& x = tensor(c, t);
  return m.l2_keeps && x.producer >= 0 && x.producer == first - 1 && x.bytes <= m.l2_bytes / 2;
}

RunTraffic run_traffic(const FusionChain& c, int first, int last, const FusionMachine& m) {
  RunTraffic out;
  for (int t = 0; t < static_cast<int>(c.tensors.size()); ++t) {
    const FusionTensor& x = tensor(c, t);
    const bool made = x.producer >= first && x.producer <= last;
    if (!made && read_within(c, t, first, last)) {
      const bool kept = read_from_l2(c, t, first, m);
      (kept ? out.l2_read_bytes : out.read_bytes) += x.bytes;
      out.trips += x.row_columns > 0 && !kept;
    }
    if (made && (x.result || (m.backward && x.saved) || read_within(c, t, last + 1, c.count() - 1))) {
      out.write_bytes += x.bytes;
      out.trips += x.row_columns > 0;
    }
  }
  return out;
}

Result<FusedKernel> fuse_run(const FusionChain& c, int first, int last, const FusionMachine& m) {
  using Out = Result<FusedKernel>;
  if (first < 0 || last >= c.count() || first > last || !m.sm)
    return Out::fail("There is no such run of operations, or no such machine.");
  const RunNeeds n = needs_of(c, first, last);
  const RunTraffic traffic = run_traffic(c, first, last, m);
  FusedKernel k;
  k.first = first;
  k.last = last;
  k.read_bytes = traffic.read_bytes;
  k.write_bytes = traffic.write_bytes;
  k.trips = traffic.trips;
  if (n.products.empty()) return stream(c, m, n, k, traffic.l2_read_bytes);
  if (n.products.size() > 2) return Out::fail("Three products in one kernel are not modelled.");
  const ProductPricer pricer{c, m, n, k, traffic.l2_read_bytes};
  std::optional<FusedKernel> best;
  for (const std::int64_t rows : {8, 16, 32, 64, 128, 256})
    for (const std::int64_t columns : {32, 64, 128, 256}) {
      const auto tried = pricer.price({rows, columns});
      if (tried && (!best || tried->time_s < best->time_s)) best = tried;
      if (n.row_after || n.products.size() == 2) break;  // the tile has the whole row's columns
    }
  if (!best)
    return Out::fail(
        "A block cannot hold whole rows of the result, 8 of which already take more registers than an SM has: end the "
        "run "
        "elsewhere or take narrower rows.");
  return Out::ok(*best);
}

}  // namespace models::gpu
