#include "models/debugging/secded.h"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <set>
#include "models/base/counter_random.h"

using namespace models::debugging;

// Hsiao 1970 builds the (72, 64) code of all 56 columns of weight three and eight of weight five: 216 ones, 27 a row.
TEST_CASE("SEC-DED: 72 distinct columns of odd weight with 216 ones, 27 in every row, as Hsiao 1970 builds it") {
  std::set<int> distinct;
  int ones = 0;
  for (const std::uint8_t c : secded_columns()) {
    distinct.insert(c);
    ones += std::popcount(c);
    CHECK(std::popcount(c) % 2 == 1);
  }
  CHECK(distinct.size() == 72);
  CHECK(ones == 216);
  for (int row = 0; row < 8; ++row) {
    int in_row = 0;
    for (const std::uint8_t c : secded_columns()) in_row += (c >> row) & 1;
    CHECK(in_row == 27);
  }
}

TEST_CASE("SEC-DED: every single flip of a word is corrected and every pair is detected, whatever the word holds") {
  for (const std::uint64_t data : {std::uint64_t{0}, ~std::uint64_t{0}, models::counter_hash(7, 1)}) {
    const SecdedWord word = secded_encode(data);
    CHECK(secded_decode(word).verdict == SecdedVerdict::clean);
    int wrong = 0;
    for (int a = 0; a < secded_bits; ++a) {
      const SecdedRead one = secded_decode(secded_flip(word, a));
      wrong += one.verdict != SecdedVerdict::corrected || one.data != data || one.bit != a;
      for (int b = a + 1; b < secded_bits; ++b)
        wrong += secded_decode(secded_flip(secded_flip(word, a), b)).verdict != SecdedVerdict::detected;
    }
    CHECK(wrong == 0);
  }
}

// A triple is miscorrected where a fourth column completes it to a codeword of weight four, so there are four such
// triples for each of those codewords, and these are the quadruples that nobody sees.
TEST_CASE("SEC-DED: of 59,640 triples 56.28 % are miscorrected, four for each quadruple that is not seen") {
  const SecdedCounts &one = secded_counts(1), &two = secded_counts(2), &three = secded_counts(3),
                     &four = secded_counts(4);
  CHECK((one.patterns == 72 && one.corrected == 72));
  CHECK((two.patterns == 2556 && two.detected == 2556));
  CHECK(three.patterns == 59640);
  CHECK(three.miscorrected == 33568);
  CHECK(three.detected == 59640 - 33568);
  CHECK((three.unseen == 0 && three.corrected == 0));
  CHECK(four.patterns == 1028790);
  CHECK(four.unseen * 4 == three.miscorrected);
  CHECK((four.miscorrected == 0 && four.corrected == 0));
}

TEST_CASE("SEC-DED: the counts of triples are what decoding them one by one gives") {
  const SecdedWord word = secded_encode(models::counter_hash(3, 5));
  SecdedCounts counted;
  for (int a = 0; a < secded_bits; ++a)
    for (int b = a + 1; b < secded_bits; ++b)
      for (int c = b + 1; c < secded_bits; ++c) {
        const SecdedRead read = secded_decode(secded_flip(secded_flip(secded_flip(word, a), b), c));
        ++counted.patterns;
        counted.detected += read.verdict == SecdedVerdict::detected;
        counted.miscorrected += read.verdict == SecdedVerdict::corrected;
      }
  CHECK(counted.patterns == secded_counts(3).patterns);
  CHECK(counted.detected == secded_counts(3).detected);
  CHECK(counted.miscorrected == secded_counts(3).miscorrected);
}
