#include "models/parallel/collectives/collective_writer.h"

namespace models::parallel {
namespace {

/// The largest power of two that is no more than `n`.
std::int64_t floor_power_of_two(std::int64_t n) {
  std::int64_t power = 1;
  while (2 * power <= n) power *= 2;
  return power;
}

/// Ranks beyond a power of two hand their buffers to a neighbour first and get the sum back last.
struct Fold {
  std::int64_t ranks, active, extra;
  explicit Fold(std::int64_t n) : ranks(n), active(floor_power_of_two(n)), extra(n - active) {}
  /// The rank that takes part as number i of `active`.
  std::int64_t rank_of(std::int64_t i) const { return i < extra ? 2 * i + 1 : i + extra; }
  std::int64_t write_in(CollectiveWriter& w, std::int64_t chunks) const {
    for (std::int64_t i = 0; i < extra; ++i) w.add_range(0, 2 * i, 2 * i + 1, 0, chunks, ChunkAction::reduce);
    return extra > 0 ? 1 : 0;
  }
  void write_out(CollectiveWriter& w, std::int64_t step, std::int64_t chunks) const {
    for (std::int64_t i = 0; i < extra; ++i) w.add_range(step, 2 * i + 1, 2 * i, 0, chunks, ChunkAction::copy);
  }
};

}  // namespace

void write_halving_doubling(CollectiveSchedule& to) {
  const Primitive what = to.spec.primitive;
  const Fold fold(to.spec.ranks);
  const std::int64_t p = fold.active;
  to.chunks = p;
  CollectiveWriter w(to);
  std::int64_t step = fold.write_in(w, to.chunks);
  if (what != Primitive::all_gather)
    for (std::int64_t distance = p / 2; distance >= 1; distance /= 2, ++step)
      for (std::int64_t i = 0; i < p; ++i) {
        const std::int64_t partner = i ^ distance, first = partner & ~(distance - 1);
        w.add_range(step, fold.rank_of(i), fold.rank_of(partner), first, first + distance, ChunkAction::reduce);
      }
  if (what == Primitive::reduce_scatter) return;
  for (std::int64_t distance = 1; distance < p; distance *= 2, ++step)
    for (std::int64_t i = 0; i < p; ++i) {
      // A reduce gathers to the root alone: only the upper of two partners sends, and only ranks that still have to.
      if (what == Primitive::reduce && i % (2 * distance) != distance) continue;
      const std::int64_t first = i & ~(distance - 1);
      w.add_range(step, fold.rank_of(i), fold.rank_of(i ^ distance), first, first + distance, ChunkAction::copy);
    }
  fold.write_out(w, step, to.chunks);
}

void write_recursive_doubling(CollectiveSchedule& to) {
  const Fold fold(to.spec.ranks);
  to.chunks = 1;
  CollectiveWriter w(to);
  std::int64_t step = fold.write_in(w, 1);
  for (std::int64_t distance = 1; distance < fold.active; distance *= 2, ++step)
    for (std::int64_t i = 0; i < fold.active; ++i)
      w.add(step, fold.rank_of(i), fold.rank_of(i ^ distance), 0, ChunkAction::reduce);
  fold.write_out(w, step, 1);
}

void write_pairwise(CollectiveSchedule& to) {
  const std::int64_t n = to.spec.ranks;
  to.chunks = n;
  CollectiveWriter w(to);
  for (std::int64_t distance = 1; distance < n; ++distance) {
    const std::int64_t step = distance - 1;
    switch (to.spec.primitive) {
      case Primitive::scatter:
        w.add(step, 0, distance, distance, ChunkAction::copy);
        break;
      case Primitive::gather:
        w.add(step, distance, 0, distance, ChunkAction::copy);
        break;
      default:
        for (std::int64_t r = 0; r < n; ++r) {
          const std::int64_t target = (r + distance) % n;
          if (to.spec.primitive == Primitive::all_to_all)
            w.add(step, r, target, target, ChunkAction::move, r);
          else
            w.add(step, r, target, target, ChunkAction::reduce);
        }
    }
  }
}

void write_bruck(CollectiveSchedule& to) {
  const std::int64_t n = to.spec.ranks;
  to.chunks = n;
  CollectiveWriter w(to);
  std::int64_t step = 0;
  for (std::int64_t distance = 1; distance < n; distance *= 2, ++step)
    for (std::int64_t r = 0; r < n; ++r) {
      if (to.spec.primitive == Primitive::all_gather) {
        // Rank r holds the parts of r, r + 1, ...; those that the receiver lacks go there.
        for (std::int64_t k = 0; k < std::min(distance, n - distance); ++k)
          w.add(step, r, (r + n - distance) % n, (r + k) % n, ChunkAction::copy);
        continue;
      }
      // A block of rank r has as far to go as its binary digits say, and goes one of them in each step.
      for (std::int64_t way = 1; way < n; ++way)
        if (way & distance) {
          const std::int64_t holder = (r + (way & (distance - 1))) % n;
          w.add(step, holder, (holder + distance) % n, (r + way) % n, ChunkAction::move, r);
        }
    }
}

}  // namespace models::parallel
