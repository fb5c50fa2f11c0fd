#include "models/parallel/tensor/tensor_overlap.h"

#include <algorithm>

namespace models::parallel {

RingRun run_ring_overlap(RingKind kind, std::int64_t ranks, double product_s, double block_s, double transfer_s) {
  RingRun run;
  const auto others = static_cast<double>(ranks - 1);
  run.whole_s = product_s + others * transfer_s;
  run.closed_form_s = block_s + others * std::max(block_s, transfer_s);
  double now_s = 0;
  for (std::int64_t step = 0; step < ranks; ++step) {
    // Rank 0 begins with its own rows; those of the ranks before it come after them. A sum begins with the block that
    // has farthest to go, and each rank's own block is the last that it adds to.
    const std::int64_t block = kind == RingKind::gather ? (ranks - step) % ranks : (ranks - 1 - step + ranks) % ranks;
    run.spans.push_back({.step = step, .block = block, .start_s = now_s, .end_s = now_s + block_s});
    double end_s = now_s + block_s;
    const bool travels = kind == RingKind::gather ? step + 1 < ranks : step > 0;
    if (travels) {
      const std::int64_t moved = kind == RingKind::gather ? (ranks - step - 1) % ranks : (ranks - step) % ranks;
      run.spans.push_back(
          {.step = step, .block = moved, .transfer = true, .start_s = now_s, .end_s = now_s + transfer_s});
      end_s = std::max(end_s, now_s + transfer_s);
    }
    now_s = end_s;
  }
  run.total_s = now_s;
  run.exposed_s = run.total_s - product_s;
  return run;
}

}  // namespace models::parallel
