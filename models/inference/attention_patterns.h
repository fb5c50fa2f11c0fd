#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/result.h"

/// Masks of attention in a decoder: which earlier tokens each token looks at, counted exactly. Rows are queries,
/// columns are keys, and nobody looks at a later token.
namespace models::inference {

/// causal: all tokens before. window: the last `window` tokens, itself among them (Longformer's window in a decoder,
/// Beltagy et al. 2020; Mistral 7B, Jiang et al. 2023). global: a window, and one token in `global_every` that sees all
/// before it and is seen by all after it (Longformer's global tokens). dilated: `window` tokens, `dilation` apart
/// (Longformer). block: whole blocks of `window` tokens (chunks as in Llama 4; with neighbours, first and random blocks
/// as in BigBird, Zaheer et al. 2020, its earlier half). sinks: a window and the first `sinks` tokens (StreamingLLM,
/// Xiao et al. 2023). document: documents packed into one sequence do not see each other.
enum class AttentionPattern : std::uint8_t { causal, window, global, dilated, block, sinks, document };
inline constexpr int attention_pattern_count = 7;

inline constexpr std::int64_t max_pattern_tokens = std::int64_t{1} << 20;
/// Blocks of a sequence that may see random others: as many as a million tokens have in blocks of 64.
inline constexpr std::int64_t max_random_blocks = std::int64_t{1} << 14;

struct PatternShape {
  AttentionPattern pattern = AttentionPattern::window;
  std::int64_t sequence = 131072;
  std::int64_t window = 4096;  ///< keys of a window, or tokens of a block
  std::int64_t global_every = 4096;
  std::int64_t dilation = 8;
  std::int64_t sinks = 4;
  std::int64_t blocks_back = 0, blocks_first = 0, blocks_random = 0;  ///< block: seen beside the own one
  std::int64_t document_tokens = 8192;  ///< mean of drawn lengths; they are exponential, at least 1
  std::vector<std::int64_t> documents;  ///< not empty: these lengths, repeated until the sequence is full
  std::int64_t seed = 1;                ///< draws documents and random blocks
  bool operator==(const PatternShape&) const = default;
};

/// Keys lo, lo + step, ... below `hi`.
struct KeySpan {
  std::int64_t lo = 0, hi = 0, step = 1;
  std::int64_t count() const { return hi > lo ? (hi - lo + step - 1) / step : 0; }
};
/// Tiles from `lo` to below `hi`.
struct TileSpan {
  std::int64_t lo = 0, hi = 0;
};

/// One layer's mask. Token indices are 0-based and below `sequence()`.
class AttentionMask {
 public:
  /// Fails with a sentence where a length is out of range.
  static Result<AttentionMask> make(const PatternShape& shape);
  /// The same sequence with every earlier token seen.
  static AttentionMask causal(std::int64_t sequence);

  const PatternShape& shape() const { return shape_; }
  std::int64_t sequence() const { return shape_.sequence; }
  AttentionPattern pattern() const { return shape_.pattern; }

  /// Does token `query` look at token `key`?
  bool sees(std::int64_t query, std::int64_t key) const;
  /// The keys of a row, disjoint, the one with the token itself first; replaces what `spans` holds.
  void row(std::int64_t query, std::vector<KeySpan>& spans) const;
  double row_entries(std::int64_t query) const;
  /// Pairs of a query and a key that it sees, by closed form (blocks and documents: one after the other).
  double entries() const;
  /// The most tokens whose keys and values must be kept at once while the sequence is written token by token: those
  /// that the newest token or a later one of the sequence still reads.
  double kept_tokens() const;
  /// Tiles of `side` keys of the row of tiles `tile_row` that hold at least one entry, sorted and disjoint. A kernel in
  /// the manner of FlashAttention computes these whole and skips the others.
  void tile_row(std::int64_t tile_row, std::int64_t side, std::vector<TileSpan>& spans) const;
  /// All tiles that hold an entry.
  double tiles(std::int64_t side) const;

  /// Where each document begins, in a document mask, and `sequence` at the end; empty for others.
  const std::vector<std::int64_t>& document_starts() const { return starts_; }
  /// The random blocks that a block sees, in a block mask, sorted; empty for others.
  std::span<const std::int64_t> random_blocks(std::int64_t block) const;
  std::int64_t block_count() const;

 private:
  PatternShape shape_;
  std::vector<std::int64_t> starts_;
  std::vector<std::int64_t> random_;      ///< all blocks' own, one after the other
  std::vector<std::int64_t> random_end_;  ///< by block: where its part of `random_` ends
};

}  // namespace models::inference
