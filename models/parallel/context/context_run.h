#pragma once
#include <cstdint>
#include <vector>

#include "models/base/linear_algebra.h"
#include "models/base/result.h"
#include "models/parallel/context/context_order.h"

/// A small attention that is really computed by ranks that hold parts of the sequence, against the whole one.
namespace models::parallel {

struct ContextRunSetup {
  ContextOrder order = ContextOrder::zig_zag;
  std::int64_t ranks = 4, sequence = 16, heads = 4;  ///< 1 to 16 ranks, sequence up to 256, heads up to 32
  bool causal = true;
  std::int64_t seed = 1;
  bool operator==(const ContextRunSetup&) const = default;
};

/// What one query knows after a step: the largest score, the sum of the exponentials below it, its result so far.
struct SoftmaxState {
  double largest = 0, sum = 0, result = 0;  ///< The state of head 0; the first of the result's numbers.
  bool any = false;                         ///< it has met a key that it may see
};

struct ContextRun {
  Matrix whole;           ///< [sequence, heads x 4]: attention in one piece
  Matrix ring;            ///< the same by online softmax over the blocks that come round
  Matrix all_to_all;      ///< the same by heads that are dealt to ranks
  double ring_error = 0;  ///< largest difference over the largest number of the whole
  double all_to_all_error = 0;
  double forgotten_error = 0;  ///< The error when blocks' results are averaged instead of weighed by their sums.
  std::vector<std::vector<double>> pairs;  ///< Pairs by [step][rank], counted as they are computed.
  /// What the query of the last token of the sequence knows after each step.
  std::vector<SoftmaxState> last_query;
};

/// Online softmax: with m the largest score so far and l the sum of exp(score - m), a new block's largest m' turns both
/// and the result by exp(m - max(m, m')). Source: Milakov, Gimelshein 2018; Rabe, Staats 2021. Fails with a sentence
/// for sizes out of range, a sequence that cannot be dealt, heads that do not divide over the ranks.
Result<ContextRun> run_context_attention(const ContextRunSetup& setup);

}  // namespace models::parallel
