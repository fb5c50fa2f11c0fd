#include "models/serving/engine/paged_kv_slots.h"

#include <algorithm>
#include <bit>

namespace models {

SlotRuns::SlotRuns(std::int64_t slots, SlotFit fit) : fit_(fit) {
  if (fit == SlotFit::first_fit) {
    holes_.push_back({0, slots});
    return;
  }
  // Powers of two from the largest down: each begins at a multiple of its size.
  std::int64_t start = 0;
  for (auto left = static_cast<std::uint64_t>(slots); left > 0;) {
    const std::uint64_t part = std::bit_floor(left);
    holes_.push_back({start, static_cast<std::int64_t>(part)});
    start += static_cast<std::int64_t>(part);
    left -= part;
  }
}

std::int64_t SlotRuns::occupied(std::int64_t slots) const {
  return fit_ == SlotFit::buddy ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(slots))) : slots;
}

std::optional<std::int64_t> SlotRuns::take(std::int64_t asked) {
  const std::int64_t slots = occupied(asked);
  // Buddies take the smallest hole, so that large ones stay whole; the first one of equal ones.
  auto best = holes_.end();
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    if (hole->slots < slots) continue;
    if (best == holes_.end() || (fit_ == SlotFit::buddy && hole->slots < best->slots)) best = hole;
    if (fit_ == SlotFit::first_fit) break;
  }
  if (best == holes_.end()) return std::nullopt;
  const std::int64_t start = best->start;
  if (fit_ == SlotFit::first_fit) {
    best->start += slots;
    best->slots -= slots;
    if (best->slots == 0) holes_.erase(best);
    return start;
  }
  // The upper halves stay: ascending by start they go behind the part that is taken.
  std::int64_t size = best->slots;
  auto at = holes_.erase(best);
  while (size > slots) {
    size /= 2;
    at = holes_.insert(at, {start + size, size});
  }
  return start;
}

void SlotRuns::give_back(std::int64_t start, std::int64_t asked) {
  Hole hole{start, occupied(asked)};
  auto at = std::lower_bound(holes_.begin(), holes_.end(), start,
                             [](const Hole& h, std::int64_t where) { return h.start < where; });
  const auto joins = [&](const Hole& lower, const Hole& upper) {
    if (lower.start + lower.slots != upper.start) return false;
    return fit_ == SlotFit::first_fit || (lower.slots == upper.slots && lower.start % (2 * lower.slots) == 0);
  };
  for (bool joined = true; joined;) {
    joined = false;
    if (at != holes_.end() && joins(hole, *at)) {
      hole.slots += at->slots;
      at = holes_.erase(at);
      joined = true;
    }
    if (at != holes_.begin() && joins(*(at - 1), hole)) {
      hole = {(at - 1)->start, (at - 1)->slots + hole.slots};
      at = holes_.erase(at - 1);
      joined = true;
    }
  }
  holes_.insert(at, hole);
}

std::int64_t SlotRuns::free_slots() const {
  std::int64_t out = 0;
  for (const Hole& hole : holes_) out += hole.slots;
  return out;
}

std::int64_t SlotRuns::longest_hole() const {
  std::int64_t out = 0;
  for (const Hole& hole : holes_) out = std::max(out, hole.slots);
  return out;
}

}  // namespace models
