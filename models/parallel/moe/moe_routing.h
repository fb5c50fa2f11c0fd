#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/base/result.h"

/// Which experts a token goes to, and what happens where an expert is full.
namespace models::parallel {

enum class MoeRule : std::uint8_t {
  top_k,          ///< each token takes its k best experts (Shazeer 2017; GShard, k = 2; Switch, k = 1)
  expert_choice,  ///< each expert takes its best tokens, as many as its capacity (Zhou et al. 2022)
  hash,           ///< a fixed table from words to experts (Hash Layers, Roller et al. 2021)
  dealt           ///< experts are dealt to tokens like cards: even by force, as in benchmarks of communication
};
inline constexpr std::size_t moe_rule_count = 4;

struct MoeRouting {
  MoeRule rule = MoeRule::top_k;
  std::int64_t experts = 16, top_k = 2;
  double capacity_factor = 1.25;  ///< an expert takes at most ceil(factor x tokens x k / experts); 0: any number
  std::int64_t groups = 1;        ///< nodes: experts lie on them in equal runs
  std::int64_t group_limit = 0;   ///< groups that a token may go to (DeepSeek-V3: 4 of 8); 0: any. Top-k and dealt.
  std::int64_t seed = 1;          ///< The seed of the hash and of the dealing.
  bool operator==(const MoeRouting&) const = default;
};
/// Experts rounded up to whole lanes: the length of a row of scores.
std::size_t moe_score_stride(std::int64_t experts);

/// One token at one expert.
struct MoeCopy {
  std::uint32_t token = 0;
  std::uint16_t expert = 0;
  bool kept = true;  ///< false: the expert was full and the copy is dropped
  float weight = 0;  ///< The weight of the expert's output in the token's sum.
};

struct MoeRouted {
  std::vector<MoeCopy> copies;      ///< as they arrive: all first choices in the order of tokens, then all second ones
  std::vector<std::int64_t> asked;  ///< by expert, before capacity
  std::vector<std::int64_t> kept;   ///< by expert
  std::int64_t capacity = 0;        ///< 0: none
  std::int64_t dropped = 0;         ///< copies
  std::int64_t tokens_without = 0;  ///< tokens that no expert works on: they pass by the layer unchanged
};

/// Refuses with a sentence: more choices than experts, groups that do not divide the experts, a limit that leaves fewer
/// experts than choices.
Status check_moe_routing(const MoeRouting& routing);

/// Capacity of one expert for `tokens` tokens, 0 without a limit. Expert choice has one always: at factor 0 it takes 1.
/// Source: Fedus et al. 2021, eq. 3, with k choices a token.
std::int64_t moe_capacity(const MoeRouting& routing, std::size_t tokens);

/// Routes tokens. `scores` [tokens][stride] are the gate's probabilities (not read by hash and dealt); `bias`, one an
/// expert or empty, is added to a score for the choice alone and never to a weight (DeepSeek-V3). Weights: the score
/// itself where k is 1 (Switch) and for expert choice; over the sum of the chosen scores where k is more (GShard,
/// Mixtral); 1 / k for hash and dealt. A group limit keeps the groups with the largest sums of their best k / limit
/// scores (DeepSeek-V3). `words` are read by hash alone.
void route_tokens(const MoeRouting& routing, std::size_t tokens, const std::vector<float>& scores,
                  const std::vector<float>& bias, const std::uint16_t* words, MoeRouted& out);

/// Largest over mean of a load; 1 where nothing is loaded.
double max_over_mean(const std::vector<double>& load);
/// Entropy of the shares over its largest value ln(number): 1 is even, 0 all on one.
double load_entropy(const std::vector<double>& load);
/// Standard deviation over mean; 0 where nothing is loaded.
double load_deviation(const std::vector<double>& load);

}  // namespace models::parallel
