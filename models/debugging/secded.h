#pragma once
#include <array>
#include <cstdint>

/// The error-correcting code of memory words: 64 bits of data, 8 of checks. It corrects a single flipped bit and
/// detects any two. Source: Hsiao, "A class of optimal minimum odd-weight-column SEC-DED codes", IBM J. Res. Dev. 14
/// (1970).
namespace models::debugging {

inline constexpr int secded_data_bits = 64, secded_check_bits = 8, secded_bits = 72;

/// The column of the parity-check matrix for each bit, data first: all 56 columns of three ones, eight of five, and the
/// eight of one for the checks. Every row has 27 ones.
const std::array<std::uint8_t, secded_bits>& secded_columns();

struct SecdedWord {
  std::uint64_t data = 0;
  std::uint8_t check = 0;
  bool operator==(const SecdedWord&) const = default;
};
SecdedWord secded_encode(std::uint64_t data);
/// The word with bit 0 to 71 flipped; bits from 64 on are checks.
SecdedWord secded_flip(SecdedWord word, int bit);

/// What the decoder says. It cannot know whether a word that it corrects was a single flip.
enum class SecdedVerdict : std::uint8_t { clean, corrected, detected };
struct SecdedRead {
  std::uint64_t data = 0;
  SecdedVerdict verdict{};
  int bit = -1;  ///< the bit that was corrected
};
SecdedRead secded_decode(SecdedWord word);

/// What becomes of every pattern of so many flipped bits, counted.
struct SecdedCounts {
  std::int64_t patterns = 0;
  std::int64_t corrected = 0;     ///< the word is as it was written
  std::int64_t detected = 0;      ///< reported, and not corrected
  std::int64_t miscorrected = 0;  ///< "corrected" to another word, and reported as a single flip
  std::int64_t unseen = 0;        ///< taken for a clean word
};
/// `flips` 1 to 4: all 72, 2,556, 59,640 or 1,028,790 patterns, counted once and kept.
const SecdedCounts& secded_counts(int flips);

}  // namespace models::debugging
