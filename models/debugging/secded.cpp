#include "models/debugging/secded.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace models::debugging {
namespace {

std::array<std::uint8_t, secded_bits> make_columns() {
  std::array<std::uint8_t, secded_bits> columns{};
  std::size_t n = 0;
  for (unsigned c = 1; c < 256; ++c)
    if (std::popcount(c) == 3) columns[n++] = static_cast<std::uint8_t>(c);
  for (int turn = 0; turn < 8; ++turn) columns[n++] = std::rotl(std::uint8_t{0b00011111}, turn);
  for (int check = 0; check < secded_check_bits; ++check) columns[n++] = static_cast<std::uint8_t>(1u << check);
  return columns;
}

/// The bit whose column is the syndrome; -1: none.
std::array<std::int8_t, 256> make_bits() {
  std::array<std::int8_t, 256> bits;
  bits.fill(-1);
  for (std::size_t b = 0; b < secded_bits; ++b) bits[secded_columns()[b]] = static_cast<std::int8_t>(b);
  return bits;
}

const std::array<std::int8_t, 256>& bit_of_syndrome() {
  static const std::array<std::int8_t, 256> bits = make_bits();
  return bits;
}

std::uint8_t check_of(std::uint64_t data) {
  std::uint8_t check = 0;
  for (; data != 0; data &= data - 1) check ^= secded_columns()[static_cast<std::size_t>(std::countr_zero(data))];
  return check;
}

/// Walks all patterns of `flips` bits from `first` on; the syndrome of a pattern is the sum of its columns.
void count_patterns(int flips, std::size_t first, std::uint8_t syndrome, bool single, SecdedCounts& counts) {
  if (flips == 0) {
    ++counts.patterns;
    if (syndrome == 0)
      ++counts.unseen;
    else if (bit_of_syndrome()[syndrome] < 0)
      ++counts.detected;
    else
      ++(single ? counts.corrected : counts.miscorrected);
    return;
  }
  for (std::size_t b = first; b < secded_bits; ++b)
    count_patterns(flips - 1, b + 1, static_cast<std::uint8_t>(syndrome ^ secded_columns()[b]), single, counts);
}

std::array<SecdedCounts, 4> count_all() {
  std::array<SecdedCounts, 4> all;
  for (int flips = 1; flips <= 4; ++flips)
    count_patterns(flips, 0, 0, flips == 1, all[static_cast<std::size_t>(flips - 1)]);
  return all;
}

}  // namespace

const std::array<std::uint8_t, secded_bits>& secded_columns() {
  static const std::array<std::uint8_t, secded_bits> columns = make_columns();
  return columns;
}

SecdedWord secded_encode(std::uint64_t data) { return {data, check_of(data)}; }

SecdedWord secded_flip(SecdedWord word, int bit) {
  if (bit < secded_data_bits)
    word.data ^= std::uint64_t{1} << bit;
  else
    word.check ^= static_cast<std::uint8_t>(1u << (bit - secded_data_bits));
  return word;
}

SecdedRead secded_decode(SecdedWord word) {
  const std::uint8_t syndrome = check_of(word.data) ^ word.check;
  if (syndrome == 0) return {word.data, SecdedVerdict::clean};
  const int bit = bit_of_syndrome()[syndrome];
  if (bit < 0) return {word.data, SecdedVerdict::detected};
  return {secded_flip(word, bit).data, SecdedVerdict::corrected, bit};
}

const SecdedCounts& secded_counts(int flips) {
  static const std::array<SecdedCounts, 4> all = count_all();
  return all[static_cast<std::size_t>(std::clamp(flips, 1, 4) - 1)];
}

}  // namespace models::debugging
