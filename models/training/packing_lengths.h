#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// How long documents are, in tokens.
namespace models {

enum class LengthSource : std::uint8_t {
  wikipedia,  ///< BERT pre-training on Wikipedia, at most 512: the whole histogram of 16,279,552 sequences
  sharegpt,   ///< ShareGPT turns, prompt and answer, at most 8,192: 64 quantiles of 20,000
  arxiv,      ///< papers and their summaries, at most 4,096: 64 quantiles of 20,000
  lognormal   ///< a median and a spread
};
inline constexpr int length_source_count = 4;

/// Documents of 1, 2, ... 512 tokens. Source: Graphcore, packedBERT/histograms.py (Krell et al. 2021, arXiv
/// 2107.02027).
std::span<const std::uint64_t> wikipedia_length_counts();

/// `n` lengths by the source's distribution, at most `longest` tokens each: what is longer is cut. `median` and `sigma`
/// (standard deviation of the logarithm) are of lognormal alone.
std::vector<std::uint32_t> draw_lengths(LengthSource source, std::size_t n, std::uint32_t longest, double median,
                                        double sigma, std::int64_t seed);

inline constexpr std::size_t max_listed_lengths = 4096;

/// Reads "120, 35 512" with commas, blanks or line ends between whole numbers from 1 to `longest`. Fails with one
/// sentence.
Result<std::vector<std::uint32_t>> parse_lengths(std::string_view text, std::uint32_t longest);

}  // namespace models
