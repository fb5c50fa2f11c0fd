#pragma once
#include <cstdint>
#include <vector>

/// A product and the collective beside it, cut into blocks that go round a ring: which block is computed and which one
/// travels, step by step.
namespace models::parallel {

enum class RingKind : std::uint8_t {
  gather,  ///< a rank multiplies the rows that it holds while it sends them on: all-gather, then product
  scatter  ///< a rank makes one block of its part of the sum while another sum arrives: product, then reduce-scatter
};

struct RingSpan {
  std::int64_t step = 0, block = 0;  ///< block: whose rows
  bool transfer = false;
  double start_s = 0, end_s = 0;
};

/// What rank 0 does; all ranks do the same at the same time.
struct RingRun {
  std::vector<RingSpan> spans;
  double total_s = 0;
  double whole_s = 0;    ///< the product in one piece, with the collective in front or behind it
  double exposed_s = 0;  ///< total beyond the product in one piece
  double closed_form_s = 0;
};

/// `block_s` and `transfer_s` are of one of `ranks` blocks, `product_s` of the product in one piece. A step ends when
/// both have ended. Gather: the first block is at hand, so that transfers fill the first ranks - 1 steps. Scatter: a
/// sum can travel once its first block is made, so that they fill the last ranks - 1. Either way the closed form is
/// block + (ranks - 1) max(block, transfer).
RingRun run_ring_overlap(RingKind kind, std::int64_t ranks, double product_s, double block_s, double transfer_s);

}  // namespace models::parallel
