#pragma once
#include <cstdint>

#include "models/machine/hardware.h"

/// The scan of a state-space layer, one token after the other and in blocks (state-space duality, Dao and Gu 2024):
/// what each costs, and both really run.
namespace models::inference {

/// One layer over one sequence.
struct ScanSize {
  double tokens = 4096, heads = 128, width = 64, state = 128, groups = 8;
  double element_bytes = 2;  ///< each number that streams in and out; states are FP32
};

struct ScanCost {
  double flops = 0, bytes = 0;
  double dependent_steps = 0;  ///< that no other may begin before
  double time_s = 0;           ///< the longer of arithmetic and traffic, with both at their peak
  bool memory_bound = false;
};

/// Token by token, the state kept on the chip: 5 FLOP to a number of the state and token on the vector units.
ScanCost sequential_scan(const ScanSize& size, double vector_flops_per_s, double bytes_per_s);
/// In blocks of `block` tokens on the matrix units. In a block: C B^T, its product with x, the block's own state
/// B^T x, and what the state before it gives, C h. Each block's state is written, passed on and read again.
ScanCost blocked_scan(const ScanSize& size, double block, double matrix_flops_per_s, double bytes_per_s);

/// Both ways run in FP32 over one head of `width` x `state` with random inputs, held to the recurrence in FP64; the
/// error is the largest over all outputs, by the largest output. `slowest` and `fastest` are the ends of the decay of
/// a token, -log a, between which it is drawn (log-uniform).
struct ScanRun {
  double sequential_error = 0, blocked_error = 0;
};
ScanRun run_scan(std::int64_t tokens, std::int64_t block, std::int64_t width, std::int64_t state, double slowest,
                 double fastest, std::int64_t seed);

}  // namespace models::inference
