#pragma once
#include <algorithm>

#include "models/parallel/collectives/collective_schedule.h"

/// What the rules of the collectives write their transfers with.
namespace models::parallel {

class CollectiveWriter {
 public:
  explicit CollectiveWriter(CollectiveSchedule& to) : to_(to) {}

  void add(std::int64_t step, std::int64_t source, std::int64_t target, std::int64_t chunk, ChunkAction action,
           std::int64_t origin = -1) {
    to_.transfers.push_back({static_cast<std::int32_t>(step), static_cast<std::int32_t>(source),
                             static_cast<std::int32_t>(target), static_cast<std::int32_t>(chunk), action,
                             static_cast<std::int32_t>(origin)});
    to_.steps = std::max(to_.steps, step + 1);
  }
  /// Chunks [first, last).
  void add_range(std::int64_t step, std::int64_t source, std::int64_t target, std::int64_t first, std::int64_t last,
                 ChunkAction action) {
    for (std::int64_t chunk = first; chunk < last; ++chunk) add(step, source, target, chunk, action);
  }

 private:
  CollectiveSchedule& to_;
};

void write_ring(CollectiveSchedule& to);
void write_hierarchical(CollectiveSchedule& to);
void write_binomial(CollectiveSchedule& to);
void write_double_binary_tree(CollectiveSchedule& to);
void write_halving_doubling(CollectiveSchedule& to);
void write_recursive_doubling(CollectiveSchedule& to);
void write_pairwise(CollectiveSchedule& to);
void write_bruck(CollectiveSchedule& to);
void write_in_network(CollectiveSchedule& to);
void write_scatter_all_gather(CollectiveSchedule& to);

}  // namespace models::parallel
