#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

/// A small task for a mixture of experts: words in texts of a few topics, some far more frequent than others, and a
/// linear map of each topic and word that experts can learn.
namespace models::parallel {

inline constexpr std::size_t moe_inputs = 8, moe_outputs = 4;  ///< Numbers of a token; the last input is 1.
inline constexpr std::size_t moe_words = 32;
inline constexpr std::int64_t moe_max_topics = 6;

struct MoeTaskSetting {
  std::int64_t topics = 6;       ///< 1 to moe_max_topics
  double skew = 1;               ///< topic i (from 0) has a popularity in proportion to (i + 1)^-skew
  double word_difference = 0.5;  ///< weight of a word's map beside its topic's: 0, all words of a topic have one map
  std::int64_t seed = 1;
  bool operator==(const MoeTaskSetting&) const = default;
};

/// Tokens in the order in which they arrive.
struct MoeTokens {
  std::vector<float> x;              ///< [tokens][moe_inputs]: embedding, 1
  std::vector<float> y;              ///< [tokens][moe_outputs]: what the layer should give; mean square 1 over a pool
  std::vector<std::uint16_t> words;  ///< below moe_words; every topic uses all of them
  std::vector<std::uint8_t> topics;
  std::size_t size() const { return words.size(); }
};

/// Share of each topic among the tokens, summing to 1.
std::vector<double> moe_topic_shares(const MoeTaskSetting& setting);

/// `tokens` tokens of the stream `use` of the setting's seed: 0 to train, another to test. The i-th word has a
/// popularity in proportion to (i + 1)^-1/2. A token's embedding is its topic's centre, its word's offset and noise;
/// its target is (A of the topic + difference x D of the word) x, scaled so that all pairs of topic and word together
/// have mean square 1. The same arguments give the same tokens.
MoeTokens draw_moe_tokens(const MoeTaskSetting& setting, std::size_t tokens, std::uint64_t use);

}  // namespace models::parallel
