#include "models/inference/attention_patterns_reach.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/base/integer_math.h"

namespace models::inference {
namespace {

/// Tokens of a sequence, 64 to a word.
class TokenSet {
 public:
  explicit TokenSet(std::int64_t n) : n_(n), words_(static_cast<std::size_t>((n + 63) / 64), 0) {}

  void add(std::int64_t i) { word(i) |= bit(i); }
  bool has(std::int64_t i) const { return (words_[static_cast<std::size_t>(i / 64)] & bit(i)) != 0; }
  /// lo up to, not including, hi.
  void add_range(std::int64_t lo, std::int64_t hi) {
    for (; lo < hi && lo % 64 != 0; ++lo) add(lo);
    for (; lo + 64 <= hi; lo += 64) word(lo) = ~std::uint64_t{0};
    for (; lo < hi; ++lo) add(lo);
  }
  /// Adds to each token those up to `times` steps of `step` before it.
  void widen(std::int64_t step, std::int64_t times) {
    for (std::int64_t done = 0; done < times;) {
      const std::int64_t now = std::min(done + 1, times - done);
      if (now * step >= n_) return;  // as wide as the sequence already
      shift_in(now * step);
      done += now;
    }
  }
  std::int64_t count() const {
    std::int64_t sum = 0;
    for (const std::uint64_t w : words_) sum += std::popcount(w);
    return sum;
  }
  std::int64_t lowest() const {
    for (std::size_t k = 0; k < words_.size(); ++k)
      if (words_[k] != 0) return static_cast<std::int64_t>(k * 64) + std::countr_zero(words_[k]);
    return n_;
  }
  /// The highest below `hi`; -1 where there is none.
  std::int64_t highest_below(std::int64_t hi) const {
    for (std::int64_t k = (hi - 1) / 64; hi > 0 && k >= 0; --k) {
      const std::int64_t used = std::min<std::int64_t>(64, hi - 64 * k);
      const std::uint64_t w = words_[static_cast<std::size_t>(k)] & low_bits(used);
      if (w != 0) return 64 * k + 63 - std::countl_zero(w);
    }
    return -1;
  }
  /// The highest token below `hi` that is not in the set; -1 where all are.
  std::int64_t highest_gap_below(std::int64_t hi) const {
    for (std::int64_t k = (hi - 1) / 64; hi > 0 && k >= 0; --k) {
      const std::int64_t used = std::min<std::int64_t>(64, hi - 64 * k);
      const std::uint64_t w = ~words_[static_cast<std::size_t>(k)] & low_bits(used);
      if (w != 0) return 64 * k + 63 - std::countl_zero(w);
    }
    return -1;
  }
  bool operator==(const TokenSet&) const = default;

 private:
  static std::uint64_t low_bits(std::int64_t n) { return n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }
  static std::uint64_t bit(std::int64_t i) { return std::uint64_t{1} << (i % 64); }
  std::uint64_t& word(std::int64_t i) { return words_[static_cast<std::size_t>(i / 64)]; }
  void shift_in(std::int64_t by) {
    const auto whole = static_cast<std::size_t>(by / 64);
    const int part = static_cast<int>(by % 64);
    for (std::size_t k = 0; k + whole < words_.size(); ++k) {
      std::uint64_t w = words_[k + whole] >> part;
      if (part > 0 && k + whole + 1 < words_.size()) w |= words_[k + whole + 1] << (64 - part);
      words_[k] |= w;
    }
  }
  std::int64_t n_;
  std::vector<std::uint64_t> words_;
};

/// One layer of blocks: a block with a token in the set lets in its own earlier tokens and the blocks that it sees.
void reach_blocks(const AttentionMask& m, TokenSet& in) {
  const PatternShape& s = m.shape();
  const TokenSet before = in;
  std::int64_t front = 0;
  for (std::int64_t top = before.highest_below(s.sequence); top >= 0;) {
    const std::int64_t b = top / s.window, near = std::max<std::int64_t>(0, b - s.blocks_back);
    in.add_range(near * s.window, top + 1);
    front = std::max(front, std::min(s.blocks_first, near));
    for (const std::int64_t k : m.random_blocks(b)) in.add_range(k * s.window, (k + 1) * s.window);
    top = before.highest_below(b * s.window);
  }
  in.add_range(0, front * s.window);
}

void reach_layer(const AttentionMask& m, bool full, TokenSet& in) {
  const PatternShape& s = m.shape();
  const std::int64_t n = s.sequence;
  if (full || s.pattern == AttentionPattern::causal) {
    in.add_range(0, in.highest_below(n) + 1);
    return;
  }
  switch (s.pattern) {
    case AttentionPattern::causal:
      break;
    case AttentionPattern::window:
      in.widen(1, s.window - 1);
      break;
    case AttentionPattern::dilated:
      in.widen(s.dilation, s.window - 1);
      break;
    case AttentionPattern::sinks: {
      const std::int64_t top = in.highest_below(n);
      in.widen(1, s.window - 1);
      in.add_range(0, std::min(s.sinks, top + 1));
      break;
    }
    case AttentionPattern::global: {
      const std::int64_t top = in.highest_below(n);
      std::int64_t newest = top / s.global_every * s.global_every;
      while (newest >= 0 && !in.has(newest)) newest -= s.global_every;
      in.widen(1, s.window - 1);
      for (std::int64_t k = 0; k <= top; k += s.global_every) in.add(k);
      in.add_range(0, newest + 1);
      break;
    }
    case AttentionPattern::block:
      reach_blocks(m, in);
      break;
    case AttentionPattern::document: {
      const auto& starts = m.document_starts();
      for (std::int64_t top = in.highest_below(n); top >= 0;) {
        const std::int64_t start = *std::prev(std::upper_bound(starts.begin(), starts.end(), top));
        in.add_range(start, top + 1);
        top = in.highest_below(start);
      }
      break;
    }
  }
}

ReachRow reach_row(const TokenSet& in, const PatternShape& s) {
  const std::int64_t n = s.sequence, back = n - in.lowest();
  const std::int64_t edge = s.pattern == AttentionPattern::dilated ? back : n - 1 - in.highest_gap_below(n);
  return {as_double(in.count()), as_double(back), as_double(edge)};
}

using Rest = ReachRest;

/// Layers until a window has come from the newest token to `oldest`; none where they are the same.
Rest rest_of_window(const PatternShape& s, std::int64_t oldest) {
  const std::int64_t far = s.sequence - 1 - oldest;
  if (far <= 0) return {0, true};
  return s.window > 1 ? Rest{as_double(ceil_div(far, s.window - 1)), true} : Rest{0, false};
}

Rest rest_of_global(const PatternShape& s) {
  const std::int64_t n = s.sequence, newest = (n - 1) / s.global_every * s.global_every;
  if (newest == n - 1) return {n > 1 ? 1.0 : 0.0, true};
  // All see the newest global token, and it sees everything before it: two layers, one where the window is enough.
  const double old = newest == 0 || n - 2 <= s.window - 1 ? 1 : 2;
  const Rest behind = rest_of_window(s, newest + 1);
  return {std::max(old, behind.layers), behind.everything};
}

/// Blocks without random ones: neighbours come nearer block by block.
Rest rest_of_blocks(const AttentionMask& m) {
  const PatternShape& s = m.shape();
  if (s.sequence == 1) return {0, true};
  const std::int64_t far = m.block_count() - 1 - s.blocks_first;
  if (far <= 0) return {1, true};
  const std::int64_t own = s.sequence - (m.block_count() - 1) * s.window;
  if (s.blocks_back == 0) return {own > 1 || s.blocks_first > 0 ? 1.0 : 0.0, false};
  return {as_double(ceil_div(far, s.blocks_back)), true};
}

}  // namespace

ReachRest rest_of_mask(const AttentionMask& m) {
  const PatternShape& s = m.shape();
  const std::int64_t n = s.sequence;
  switch (s.pattern) {
    case AttentionPattern::causal:
      return {n > 1 ? 1.0 : 0.0, true};
    case AttentionPattern::window:
      return rest_of_window(s, 0);
    case AttentionPattern::dilated: {
      if (n == 1) return {0, true};
      const std::int64_t steps = (n - 1) / s.dilation;
      return {s.window > 1 ? as_double(ceil_div(steps, s.window - 1)) : 0, s.dilation == 1 && s.window > 1};
    }
    case AttentionPattern::sinks: {
      // The sinks come in at once; the window has to come as far as the first token behind them.
      const Rest window = rest_of_window(s, std::min(s.sinks, n - 1));
      return {std::max(s.sinks > 0 && n > 1 ? 1.0 : 0.0, window.layers), window.everything};
    }
    case AttentionPattern::global:
      return rest_of_global(s);
    case AttentionPattern::document: {
      const std::int64_t last = m.document_starts()[m.document_starts().size() - 2];
      return {last < n - 1 ? 1.0 : 0.0, last == 0};
    }
    case AttentionPattern::block:
      break;
  }
  if (s.blocks_random == 0) return rest_of_blocks(m);
  Rest rest;
  TokenSet in(n);
  in.add(n - 1);
  for (TokenSet before = in; rest.layers < 4096; before = in, ++rest.layers) {
    reach_layer(m, false, in);
    if (in == before) break;
  }
  rest.everything = in.count() == n;
  return rest;
}

std::optional<double> layers_to_everything(const PatternStack& stack) {
  if (stack.mask.sequence() == 1) return 0;
  const Rest rest = rest_of_mask(stack.mask);
  const auto top = std::find(stack.full.rbegin(), stack.full.rend(), true);
  if (top == stack.full.rend()) return rest.everything ? std::optional(rest.layers) : std::nullopt;
  const double full = as_double(top - stack.full.rbegin() + 1);
  return rest.everything ? std::min(rest.layers, full) : full;
}

std::vector<ReachRow> reach_of(const PatternStack& stack) {
  const PatternShape& s = stack.mask.shape();
  std::vector<ReachRow> rows;
  TokenSet in(s.sequence);
  in.add(s.sequence - 1);
  rows.push_back(reach_row(in, s));
  bool rests = false;  // the mask lets nothing more in
  for (std::size_t l = stack.full.size(); l-- > 0;) {
    if ((rests && !stack.full[l]) || rows.back().tokens == as_double(s.sequence)) {
      rows.push_back(rows.back());
      continue;
    }
    reach_layer(stack.mask, stack.full[l], in);
    rows.push_back(reach_row(in, s));
    rests = !stack.full[l] && rows.back().tokens == rows[rows.size() - 2].tokens;
  }
  return rows;
}

}  // namespace models::inference
