#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/parallel/context/context_order.h"

/// What attention over a shared sequence takes: keys that travel round a ring, keys that are gathered, or heads that
/// are dealt out by two all-to-alls.
namespace models::parallel {

enum class ContextMethod : std::uint8_t {
  ring,       ///< keys and values go round while tiles are computed (Liu, Zaharia, Abbeel 2023, "Ring Attention")
  gather,     ///< keys and values are gathered, then every rank computes its rows (Llama 3, section 3.3.2)
  all_to_all  ///< tokens become heads and back again (Jacobs et al. 2023, "DeepSpeed-Ulysses")
};
inline constexpr std::size_t context_method_count = 3;
std::string_view context_method_name(ContextMethod method);  ///< "ring"

struct ContextSetup {
  ContextOrder order = ContextOrder::zig_zag;
  std::int64_t ranks = 4, sequence = 131072, batch = 1;
  bool causal = true, backward = false;
  /// Heads of one rank, tensor parallelism already taken off.
  std::int64_t heads = 8, kv_heads = 1, head_dim = 128;
  double element_bytes = 2;
  double flops_per_s = 600e12;  ///< as attention reaches it
  double link_bytes_per_s = 47e9, message_s = 10e-6;

  double rank_tokens() const { return static_cast<double>(batch) * static_cast<double>(sequence / ranks); }
  /// Forward two products a pair, backward five: the scores once more, and the gradients of values, of the softmax's
  /// result, of queries and of keys.
  double flops_per_pair() const {
    return (backward ? 10.0 : 4.0) * static_cast<double>(heads) * static_cast<double>(head_dim) *
           static_cast<double>(batch);
  }
  /// Bytes of one rank's keys and values; backward their gradients travel with them.
  double block_bytes() const {
    return (backward ? 4 : 2) * rank_tokens() * static_cast<double>(kv_heads * head_dim) * element_bytes;
  }
};

struct ContextStep {
  double slowest_pairs = 0, mean_pairs = 0;  ///< Pairs of the slowest rank; the mean of all ranks.
  double compute_s = 0, transfer_s = 0;      ///< Time of the slowest rank; of the block that travels meanwhile.
  double time_s() const { return compute_s > transfer_s ? compute_s : transfer_s; }
};

/// The ring in lock-step: no rank begins a step before every rank has its next keys.
struct ContextRing {
  std::vector<ContextStep> steps;
  double time_s = 0, compute_s = 0;  ///< compute: all steps' slowest ranks
  double waiting_s = 0;              ///< beyond what a rank computes, on average
  double exposed_s = 0;              ///< The part of waiting_s that is transfers which no compute covers.
  double busy_share = 0;             ///< 0 to 1
  double pairs = 0;                  ///< Pairs of all ranks together.
  double sent_bytes = 0;             ///< by each rank
};
/// Infeasible: context_problem's sentences; rates or counts not above 0.
Result<ContextRing> run_context_ring(const ContextSetup& setup);

/// The closed form of a causal ring whose transfers hide, over the work of a rank whose share is even: contiguous
/// (2n - 1) / n as the sequence grows, else 1.
double ring_slowdown(ContextOrder order, std::int64_t ranks, bool causal);

/// Tokens a rank of one sequence from which a step's slowest tile takes as long as its transfer: the flops of a tile
/// grow with the square of the tokens, its bytes with the tokens, and a message has its latency.
double hiding_tokens(const ContextSetup& setup);

struct ContextCost {
  double time_s = std::numeric_limits<double>::quiet_NaN();
  double exposed_s = std::numeric_limits<double>::quiet_NaN();  ///< transfers that no compute covers
  double before_s = 0;  ///< The part of exposed_s that must arrive before the first product; a ring has none.
  double sent_bytes = std::numeric_limits<double>::quiet_NaN();  ///< by each rank
  double held_bytes = std::numeric_limits<double>::quiet_NaN();  ///< keys and values that lie on a rank at once
  std::string why_not;                                           ///< not empty: it cannot be done so
};
/// One layer's attention by each method, on the same order of tokens. Ring: two blocks lie on a rank, the one in use
/// and the one that arrives. Gather: all of them; backward they are gathered again and their gradients scattered.
/// All-to-all: queries, keys and values of a rank's tokens become all tokens of its share of the heads, results come
/// back; heads must divide, and key heads that are fewer than ranks are sent to several.
ContextCost context_cost(ContextMethod method, const ContextSetup& setup);

}  // namespace models::parallel
