#include <array>

#include "models/parallel/collectives/collective_writer.h"

namespace models::parallel {
namespace {

/// Towards rank 0; the distance doubles. Where each rank has a part of its own, a subtree's parts go together.
std::int64_t write_binomial_up(CollectiveSchedule& to, std::int64_t step, ChunkAction action) {
  const std::int64_t n = to.spec.ranks, levels = ceil_log2(n);
  const bool parts = to.spec.primitive == Primitive::gather;
  CollectiveWriter w(to);
  for (std::int64_t level = 0; level < levels; ++level, ++step) {
    const std::int64_t distance = std::int64_t{1} << level;
    for (std::int64_t r = distance; r < n; r += 2 * distance)
      w.add_range(step, r, r - distance, parts ? r : 0, parts ? std::min(r + distance, n) : 1, action);
  }
  return step;
}
/// Away from rank 0; the distance halves.
void write_binomial_down(CollectiveSchedule& to, std::int64_t step) {
  const std::int64_t n = to.spec.ranks;
  const bool parts = to.spec.primitive == Primitive::scatter;
  CollectiveWriter w(to);
  for (std::int64_t level = ceil_log2(n) - 1; level >= 0; --level, ++step) {
    const std::int64_t distance = std::int64_t{1} << level;
    for (std::int64_t r = 0; r + distance < n; r += 2 * distance)
      w.add_range(step, r, r + distance, parts ? r + distance : 0, parts ? std::min(r + 2 * distance, n) : 1,
                  ChunkAction::copy);
  }
}

/// The first tree's parent of a rank: its lowest set bit is cleared and the next one set, or only cleared where that is
/// no rank.
std::int64_t first_tree_parent(std::int64_t rank, std::int64_t ranks) {
  if (rank == 0) return -1;
  const std::int64_t bit = rank & -rank, up = (rank ^ bit) | (bit << 1);
  return up < ranks ? up : rank ^ bit;
}

struct TreeSteps {
  std::vector<std::int64_t> up;    ///< step in which a rank has the sum of its subtree and sends it
  std::vector<std::int64_t> down;  ///< steps after the root has the sum until a rank has it
  std::int64_t depth = 0;
};
TreeSteps steps_of(const std::vector<std::int64_t>& parents) {
  TreeSteps out{std::vector<std::int64_t>(parents.size(), 0), std::vector<std::int64_t>(parents.size(), 0), 0};
  for (std::size_t r = 0; r < parents.size(); ++r) {
    std::int64_t height = 0;
    for (std::int64_t at = static_cast<std::int64_t>(r); at >= 0;
         at = parents[static_cast<std::size_t>(at)], ++height) {
      std::int64_t& up = out.up[static_cast<std::size_t>(at)];
      up = std::max(up, height);
    }
    out.down[r] = height - 1;
    out.depth = std::max(out.depth, height - 1);
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> binary_tree_parents(std::int64_t ranks, bool second) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(ranks), -1);
  const bool mirrored = ranks % 2 == 0;
  for (std::int64_t r = 0; r < ranks; ++r) {
    if (!second) {
      out[static_cast<std::size_t>(r)] = first_tree_parent(r, ranks);
      continue;
    }
    const std::int64_t twin = mirrored ? ranks - 1 - r : (r + ranks - 1) % ranks;
    const std::int64_t parent = first_tree_parent(twin, ranks);
    if (parent >= 0) out[static_cast<std::size_t>(r)] = mirrored ? ranks - 1 - parent : (parent + 1) % ranks;
  }
  return out;
}

void write_binomial(CollectiveSchedule& to) {
  const Primitive what = to.spec.primitive;
  to.chunks = what == Primitive::scatter || what == Primitive::gather ? to.spec.ranks : 1;
  std::int64_t step = 0;
  if (what == Primitive::all_reduce || what == Primitive::reduce)
    step = write_binomial_up(to, step, ChunkAction::reduce);
  else if (what == Primitive::gather)
    step = write_binomial_up(to, step, ChunkAction::copy);
  if (what == Primitive::all_reduce || what == Primitive::broadcast || what == Primitive::scatter)
    write_binomial_down(to, step);
}

void write_double_binary_tree(CollectiveSchedule& to) {
  const std::int64_t n = to.spec.ranks, pieces = to.spec.pieces;
  to.chunks = 2 * pieces;
  CollectiveWriter w(to);
  for (const bool second : {false, true}) {
    const std::vector<std::int64_t> parents = binary_tree_parents(n, second);
    const TreeSteps steps = steps_of(parents);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const std::int64_t chunk = (second ? pieces : 0) + piece;
      for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t parent = parents[static_cast<std::size_t>(r)];
        if (parent < 0) continue;
        w.add(piece + steps.up[static_cast<std::size_t>(r)], r, parent, chunk, ChunkAction::reduce);
        w.add(piece + steps.depth + steps.down[static_cast<std::size_t>(r)] - 1, parent, r, chunk, ChunkAction::copy);
      }
    }
  }
}

void write_in_network(CollectiveSchedule& to) {
  const std::int64_t n = to.spec.ranks, hub = n;
  to.switch_rank = hub;
  const Primitive what = to.spec.primitive;
  const bool shares =
      what == Primitive::all_reduce || what == Primitive::reduce_scatter || what == Primitive::all_gather;
  to.chunks = shares ? n : 1;
  CollectiveWriter w(to);
  std::int64_t step = 0;
  if (what == Primitive::all_reduce || what == Primitive::reduce_scatter || what == Primitive::reduce) {
    for (std::int64_t r = 0; r < n; ++r) w.add_range(step, r, hub, 0, to.chunks, ChunkAction::reduce);
    ++step;
    for (std::int64_t c = 0; c < to.chunks; ++c) w.add(step, hub, c, c, ChunkAction::copy);
    ++step;
  }
  if (what == Primitive::reduce_scatter || what == Primitive::reduce) return;
  for (std::int64_t c = 0; c < to.chunks; ++c) w.add(step, c, hub, c, ChunkAction::copy);
  ++step;
  // A multicast reaches its sender too.
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < to.chunks; ++c) w.add(step, hub, r, c, ChunkAction::copy);
}

}  // namespace models::parallel
