#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// A compiled function's cache of graphs: each call's shape is held against the guards of the graphs that there are,
/// and a shape that none takes is compiled, or runs eager where the limit is reached.
namespace models::inference {

/// What happens to a length before and at the guards.
enum class ShapePolicy : std::uint8_t {
  exact,       ///< a graph for each length (dynamic=False)
  automatic,   ///< the first length exact; as soon as another comes, one graph for any length (torch.compile's default)
  dynamic,     ///< one graph for any length from the beginning (dynamic=True, or mark_dynamic)
  powers,      ///< padded to a power of two from the smallest bucket on, a graph a bucket
  multiples,   ///< padded to a multiple of the bucket, a graph a bucket
  longest,     ///< everything padded to the longest length: one graph
  any_padded,  ///< padded to a multiple of the bucket, and one graph for all of them, as serving engines do
  divisible    ///< Triton's own rule: one, multiples of 16, and any other length are compiled apart
};
/// Policies that a person chooses from; `divisible` belongs to kernels written by hand.
inline constexpr std::size_t chosen_policy_count = 7;

struct GuardRules {
  ShapePolicy policy = ShapePolicy::automatic;
  std::int64_t bucket = 128;
  std::int64_t longest = 2048;
  std::int64_t max_graphs = 8;  ///< torch._dynamo.config.recompile_limit; 0: there is no limit
  bool hashed = false;     ///< the graph is looked up by its shape (XLA, TensorRT): one check, however many there are
  bool splits_one = true;  ///< a length of 1 is never part of a dynamic graph (PyTorch's 0/1 specialization)
};

/// The length that is run: padded where the policy pads.
std::int64_t padded_length(const GuardRules& rules, std::int64_t length);

struct GuardedCall {
  std::uint32_t length = 0, ran = 0;  ///< as it came; as it was run
  std::int32_t graph = -1;            ///< index into GuardRun::graphs; -1: it ran eager
  std::int32_t walked = 0;            ///< graphs whose guards were checked
  bool compiled = false;              ///< this call compiled its graph
};

struct CachedGraph {
  std::uint32_t length = 0;  ///< the only length that it takes; 0: any, or any of its kind (`multiple_of`)
  std::uint32_t multiple_of = 1;
  std::int64_t first_call = 0;  ///< from 0
  std::int64_t calls = 0;
  bool dynamic() const { return length == 0; }
};

struct GuardRun {
  std::vector<GuardedCall> calls;
  std::vector<CachedGraph> graphs;    ///< in the order in which they were compiled
  std::int64_t eager_calls = 0;       ///< after the limit
  std::int64_t distinct_lengths = 0;  ///< as they came
  double tokens = 0, ran_tokens = 0;  ///< sums of both lengths; eager calls are not padded
  double walked = 0;
};

/// The calls in their order. Guards are checked from the graph that was hit last; a graph that is compiled goes to the
/// front (torch/csrc/dynamo/extra_state.cpp). Once `max_graphs` are there, a length that none of them takes runs eager
/// and unpadded, and the others still hit.
GuardRun run_guards(std::span<const std::uint32_t> lengths, const GuardRules& rules);

}  // namespace models::inference
