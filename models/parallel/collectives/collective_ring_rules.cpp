#include "models/parallel/collectives/collective_writer.h"

namespace models::parallel {
namespace {

std::int64_t modulo(std::int64_t a, std::int64_t n) { return ((a % n) + n) % n; }

/// A chain from the last rank to the root, or back, through which pieces follow each other.
void write_chain(CollectiveSchedule& to) {
  const std::int64_t n = to.spec.ranks;
  to.chunks = to.spec.pieces;
  CollectiveWriter w(to);
  for (std::int64_t piece = 0; piece < to.chunks; ++piece)
    for (std::int64_t hop = 0; hop + 1 < n; ++hop) {
      if (to.spec.primitive == Primitive::broadcast)
        w.add(hop + piece, hop, hop + 1, piece, ChunkAction::copy);
      else
        w.add(hop + piece, n - 1 - hop, n - 2 - hop, piece, ChunkAction::reduce);
    }
}

}  // namespace

void write_ring(CollectiveSchedule& to) {
  const std::int64_t n = to.spec.ranks;
  if (to.spec.primitive == Primitive::broadcast || to.spec.primitive == Primitive::reduce) {
    write_chain(to);
    return;
  }
  to.chunks = n;
  CollectiveWriter w(to);
  const std::int64_t start = to.spec.nccl_start ? -1 : 0;
  std::int64_t step = 0, owner = 0;  // rank r owns chunk r + owner when the all-gather begins
  if (to.spec.primitive != Primitive::all_gather) {
    for (std::int64_t s = 0; s + 1 < n; ++s, ++step)
      for (std::int64_t r = 0; r < n; ++r)
        w.add(step, r, modulo(r + 1, n), modulo(r + start - s, n), ChunkAction::reduce);
    owner = start + 1;
  }
  if (to.spec.primitive == Primitive::reduce_scatter) return;
  for (std::int64_t s = 0; s + 1 < n; ++s, ++step)
    for (std::int64_t r = 0; r < n; ++r) w.add(step, r, modulo(r + 1, n), modulo(r + owner - s, n), ChunkAction::copy);
}

void write_scatter_all_gather(CollectiveSchedule& to) {
  const std::int64_t n = to.spec.ranks, levels = ceil_log2(n);
  to.chunks = n;
  CollectiveWriter w(to);
  std::int64_t step = 0;
  for (std::int64_t level = levels - 1; level >= 0; --level, ++step) {
    const std::int64_t distance = std::int64_t{1} << level;
    for (std::int64_t r = 0; r + distance < n; r += 2 * distance)
      w.add_range(step, r, r + distance, r + distance, std::min(r + 2 * distance, n), ChunkAction::copy);
  }
  for (std::int64_t s = 0; s + 1 < n; ++s, ++step)
    for (std::int64_t r = 0; r < n; ++r) w.add(step, r, modulo(r + 1, n), modulo(r - s, n), ChunkAction::copy);
}

void write_hierarchical(CollectiveSchedule& to) {
  const std::int64_t n = to.spec.ranks, g = to.spec.node_ranks, nodes = n / g;
  to.chunks = n;
  CollectiveWriter w(to);
  std::int64_t step = 0;
  const bool reduces = to.spec.primitive != Primitive::all_gather;
  const bool gathers = to.spec.primitive != Primitive::reduce_scatter;
  // A share is what one rank of each node holds in the middle: every g-th chunk.
  const auto inside = [&](std::int64_t offset, ChunkAction action) {
    for (std::int64_t s = 0; s + 1 < g; ++s, ++step)
      for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t node = r / g, local = r % g, share = modulo(local + offset - s, g);
        for (std::int64_t k = 0; k < nodes; ++k) w.add(step, r, node * g + modulo(local + 1, g), k * g + share, action);
      }
  };
  const auto across = [&](std::int64_t offset, ChunkAction action) {
    for (std::int64_t s = 0; s + 1 < nodes; ++s, ++step)
      for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t node = r / g, local = r % g;
        w.add(step, r, modulo(r + g, n), modulo(node + offset - s, nodes) * g + local, action);
      }
  };
  if (reduces) {
    inside(-1, ChunkAction::reduce);
    across(-1, ChunkAction::reduce);
  }
  if (gathers) {
    across(0, ChunkAction::copy);
    inside(0, ChunkAction::copy);
  }
}

}  // namespace models::parallel
