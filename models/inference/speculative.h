#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

/// Speculative decoding: a draft guesses several tokens, the target checks them in one pass and keeps those that it
/// would have written. Source of the formulas: Leviathan, Kalman, Matias, "Fast Inference from Transformers via
/// Speculative Decoding", ICML 2023 (arXiv:2211.17192).
namespace models::inference {

/// Tokens that a round yields on average: (1 - a^(g + 1)) / (1 - a), from 1 to g + 1. `acceptance` a, 0 to 1, is the
/// chance that a drafted token is kept; `length` g, 0 and more, how many are drafted. Equation 1.
double expected_tokens(double acceptance, double length);
/// Times as fast as without a draft: expected tokens over the cost of a round, g c + v. `draft_cost` c is one draft
/// token over one pass of the target; `verify_cost` v the pass that checks g + 1 tokens, over a plain one. Theorem 3.8
/// has v = 1.
double speculative_speedup(double acceptance, double length, double draft_cost, double verify_cost = 1);
/// Arithmetic a token takes over that without a draft, where a draft token costs `draft_operations` of the target's.
/// Theorem 3.11.
double speculative_operations(double acceptance, double length, double draft_operations);
/// The length from 0 to 64 with the largest speed-up, the shortest of several. `verify_cost` is the checking pass of a
/// length over a plain one; without it 1.
std::int64_t best_draft_length(double acceptance, double draft_cost,
                               const std::function<double(double length)>& verify_cost = nullptr);
/// The acceptance at which a round of `length` yields `tokens` on average; the end of 0 to 1 where none does.
double acceptance_for(double tokens, std::int64_t length);

/// A toy language of a few words: the next word depends on the one before. The draft is wrong in such a way that the
/// target keeps what it drafts with the asked chance, whatever stood before.
struct ToyLanguage {
  std::size_t words = 0;
  std::vector<double> target, draft;  ///< [before, next], rows sum to 1
  double target_at(std::size_t before, std::size_t next) const { return target[before * words + next]; }
  double draft_at(std::size_t before, std::size_t next) const { return draft[before * words + next]; }
};
/// `words` of at least 3, one of which the target never writes. Sum of min(target, draft) is `acceptance` in every row.
ToyLanguage toy_language(std::size_t words, double acceptance, std::int64_t seed);

/// One round: how many of the drafted words were kept, before the target's own.
struct SpeculativeRound {
  std::int32_t kept = 0;      ///< drafted tokens, from the first on
  bool rejected = false;      ///< the next one was refused; false: all were kept
  double start = 0, end = 0;  ///< in passes of the target
};

struct SpeculativeRun {
  std::vector<SpeculativeRound> rounds;
  double passes = 0;                   ///< time, in plain passes of the target
  std::int64_t tokens = 0;             ///< written
  std::int64_t drafted = 0, kept = 0;  ///< thrown away: what was drafted and not kept
  std::vector<std::int64_t> counts;    ///< [before, next] of the words that were written
  double tokens_a_round() const { return static_cast<double>(tokens) / static_cast<double>(rounds.size()); }
  double speedup() const { return static_cast<double>(tokens) / passes; }
};

struct SpeculativeSetup {
  std::int64_t length = 4;
  double draft_cost = 0.05, verify_cost = 1;
  std::int64_t rounds = 1000, seed = 1;
};
/// Really drafts and checks, word by word: a drafted word is kept with min(1, p / q), and where one is refused the
/// target draws from the rest, max(0, p - q) over its sum; so that the words are the target's. Deterministic by seed.
SpeculativeRun run_speculative(const SpeculativeSetup& setup, const ToyLanguage& language);

/// Pearson's chi-square of what was written against the target, over rows and words that the target writes, and its
/// degrees of freedom. Words that it never writes must not occur: then `value` is infinite.
struct ChiSquare {
  double value = 0, degrees = 0;
  /// By Wilson and Hilferty's cube root: a standard normal where the words are the target's.
  double z() const;
};
ChiSquare chi_square(const SpeculativeRun& run, const ToyLanguage& language);

/// A draft that somebody measured: its tokens a round at a length and what a round cost.
struct KnownDraft {
  std::string_view id, label;
  double acceptance = 0;  ///< as published, or that which gives the published tokens a round
  std::int64_t length = 0;
  double draft_cost = 0;  ///< as published, or the published cost of a round less 1, over the length
  double measured_speedup = 0;
  std::string_view source;
};
std::span<const KnownDraft> known_drafts();
const KnownDraft* find_draft(std::string_view id);

}  // namespace models::inference
