#include "models/training/packing.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "models/base/counter_random.h"
#include "models/trace/text/bytes.h"
#include "models/training/packing_lengths.h"
#include "tests/models/trace/files.h"
#include "tests/support/base/near.h"

using namespace models;

namespace {

std::size_t rows_of(std::vector<std::uint32_t> lengths, std::uint32_t row, PackingPolicy policy) {
  return pack_documents(lengths, row, policy, 4).row_room.size();
}

}  // namespace

TEST_CASE("packing: six documents by hand") {
  const std::vector<std::uint32_t> lengths{4, 8, 1, 4, 2, 1};  // 20 tokens, rows of 10
  CHECK(rows_of(lengths, 10, PackingPolicy::padding) == 6);
  CHECK(rows_of(lengths, 10, PackingPolicy::next_fit) == 3);              // 4 | 8 1 | 4 2 1
  CHECK(rows_of(lengths, 10, PackingPolicy::greedy) == 2);                // 4 1 4 1 | 8 2
  CHECK(rows_of(lengths, 10, PackingPolicy::first_fit_decreasing) == 2);  // 8 2 | 4 4 1 1
  CHECK(rows_of(lengths, 10, PackingPolicy::best_fit) == 2);
  CHECK(rows_of(lengths, 10, PackingPolicy::split) == 2);
  CHECK(fewest_rows(lengths, 10) == 2);
  // Batches of four in the order of arrival: 4 rows of 8 and 2 rows of 2. Sorted: 4 rows of 8, then 1 and 1.
  CHECK(pack_documents(lengths, 10, PackingPolicy::longest, 4).room() == 36);
  CHECK(pack_documents(lengths, 10, PackingPolicy::bucketing, 4).room() == 34);
}

TEST_CASE("packing: a limit of documents closes a row that has room left") {
  const std::vector<std::uint32_t> lengths{4, 8, 1, 4, 2, 1};  // 20 tokens, rows of 10
  const auto rows = [&](PackingPolicy policy, std::uint32_t most) {
    const Packing p = pack_documents(lengths, 10, policy, 4, most);
    std::vector<std::uint32_t> in_row(p.row_room.size(), 0);
    for (const PackedPiece& piece : p.pieces) ++in_row[piece.row];
    for (const std::uint32_t n : in_row) CHECK((most == 0 || n <= most));
    return p.row_room.size();
  };
  CHECK(rows(PackingPolicy::greedy, 2) == 3);                // 4 1 | 8 2 | 4 1
  CHECK(rows(PackingPolicy::first_fit_decreasing, 2) == 3);  // 8 2 | 4 4 | 1 1
  CHECK(rows(PackingPolicy::best_fit, 2) == 3);
  CHECK(rows(PackingPolicy::next_fit, 2) == 4);  // 4 | 8 1 | 4 2 | 1
  for (const PackingPolicy policy :
       {PackingPolicy::next_fit, PackingPolicy::greedy, PackingPolicy::first_fit_decreasing, PackingPolicy::best_fit})
    CHECK(rows(policy, 1) == 6);
}

TEST_CASE("packing: no rule of thumb finds the best packing of every list, and the search does") {
  const std::vector<std::uint32_t> hard{43, 34, 28, 25, 18, 9, 8, 8, 7};  // 180 on 60: 43 9 8, 34 18 8, 28 25 7
  CHECK(rows_of(hard, 60, PackingPolicy::first_fit_decreasing) == 4);
  CHECK(rows_of(hard, 60, PackingPolicy::best_fit) == 4);
  CHECK(fewest_rows(hard, 60) == 3);
  CHECK(!fewest_rows(draw_lengths(LengthSource::lognormal, 200, 512, 150, 0.6, 3), 512, 10));
}

TEST_CASE("packing: every policy places every token once, inside its row and without overlap") {
  for (int p = 0; p < packing_policy_count; ++p)
    for (const auto source : {LengthSource::wikipedia, LengthSource::lognormal}) {
      const auto lengths = draw_lengths(source, 300, 512, 120, 0.9, 7);
      const Packing packing = pack_documents(lengths, 512, static_cast<PackingPolicy>(p), 16);
      INFO(p);
      std::vector<std::uint32_t> placed(lengths.size(), 0), used(packing.row_room.size(), 0);
      std::set<std::pair<std::uint32_t, std::uint32_t>> starts;
      for (const PackedPiece& piece : packing.pieces) {
        placed[piece.document] += piece.length;
        CHECK(piece.offset == used[piece.row]);
        used[piece.row] += piece.length;
        CHECK(used[piece.row] <= packing.row_room[piece.row]);
      }
      CHECK(placed == lengths);
      CHECK(packing.row_room.size() >= least_rows(packing.tokens, 512));
    }
}

TEST_CASE("packing: best fit of a histogram is best fit of its documents, with and without a limit") {
  for (std::int64_t seed = 1; seed <= 20; ++seed) {
    const auto lengths = draw_lengths(LengthSource::lognormal, 400, 64, 9, 0.9, seed);
    std::vector<std::uint64_t> counts(64, 0);
    for (const std::uint32_t l : lengths) ++counts[l - 1];
    CHECK(best_fit_rows(counts, 64) == rows_of(lengths, 64, PackingPolicy::best_fit));
    CHECK(best_fit_rows(counts, 64, 1) == lengths.size());
    CHECK(best_fit_rows(counts, 64, 3) >= best_fit_rows(counts, 64));
  }
}

TEST_CASE("packing: Wikipedia for BERT, whole, as published") {
  const auto counts = wikipedia_length_counts();
  std::uint64_t documents = 0, tokens = 0;
  double squares = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    documents += counts[i];
    tokens += counts[i] * (i + 1);
    squares += static_cast<double>(counts[i]) * static_cast<double>((i + 1) * (i + 1));
  }
  CHECK(documents == 16'279'552);
  CHECK(tokens == 4'164'796'173);
  CHECK(counts[511] == 3'815'044);
  CHECK(squares == 1'608'843'187'973.0);
  CHECK(least_rows(tokens, 512) == 8'134'368);
  CHECK(best_fit_rows(counts, 512) == 8'138'483);
  // Longest-pack-first histogram packing with at most 12 a row: 99.8129 % and 1.99758 (Graphcore, packedBERT README).
  const auto rows = static_cast<double>(best_fit_rows(counts, 512, 12));
  CHECK(support::near(100 * static_cast<double>(tokens) / (rows * 512), 99.8129, 1e-6));
  CHECK(support::near(static_cast<double>(documents) / rows, 1.99758, 3e-6));
}

TEST_CASE("packing: quantiles give the means of the real lengths") {
  const auto mean = [](LengthSource source, std::uint32_t longest) {
    const auto lengths = draw_lengths(source, 20000, longest, 0, 0, 1);
    return std::accumulate(lengths.begin(), lengths.end(), 0.0) / 20000;
  };
  CHECK(support::near(mean(LengthSource::sharegpt, 8192), 2780.3187, 0.02));
  CHECK(support::near(mean(LengthSource::arxiv, 4096), 2877.50595, 0.02));
  CHECK(support::near(mean(LengthSource::wikipedia, 512), 255.8299008, 0.02));
}

TEST_CASE("packing: pairs of attention, and lists that cannot be read") {
  const Packing p = pack_documents(std::vector<std::uint32_t>{3, 2}, 8, PackingPolicy::greedy, 1);
  CHECK(attention_pairs(p, true) == 6 + 3);
  CHECK(attention_pairs(p, false) == 36);
  CHECK(parse_lengths("3, 2\n8", 8)->size() == 3);
  CHECK(parse_lengths("3 x", 8).error ==
        "Number 2 of the list is no whole number from 1 to 8: write lengths such as 120, 35, 512.");
  CHECK(parse_lengths("9", 8).error.starts_with("Number 1 of the list"));
  CHECK(parse_lengths("3.5", 8).error.starts_with("Number 1 of the list"));
  CHECK(parse_lengths(" ", 8).error == "The list is empty: write lengths such as 120, 35, 512.");
}

// Recorded lengths of 20,000 conversations, no part of the project.
TEST_CASE("packing: ShareGPT in the order of its file", "[real]") {
  const auto traces = trace_test::real_traces();
  if (traces.empty()) SKIP("real data is not here");
  const auto bytes =
      trace::in_memory(support::read_text(traces.parent_path() / "workloads" / "lengths_sharegpt8k_first20000.csv.gz"));
  trace::Inflater inflater(bytes);
  std::string text(1 << 21, '\0');
  text.resize(inflater.read(text.data(), text.size()));
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  std::vector<std::uint32_t> lengths;
  while (std::getline(lines, line))
    lengths.push_back(static_cast<std::uint32_t>(std::stoul(line) + std::stoul(line.substr(line.rfind(',') + 1))));
  REQUIRE(lengths.size() == 20000);
  const Packing best = pack_documents(lengths, 8192, PackingPolicy::best_fit, 1);
  CHECK(best.tokens == 55'606'374);
  CHECK(least_rows(best.tokens, 8192) == 6788);
  CHECK(best.row_room.size() == 6789);
  CHECK(next_fit_rows(lengths, 8192) == 8712);
  CHECK(pack_documents(lengths, 8192, PackingPolicy::next_fit, 1).row_room.size() == 8712);
  double squares = 0;
  for (const double l : lengths) squares += l * l;
  CHECK(squares == 245'051'078'230.0);
  CHECK(support::near(20000.0 * 8192 * 8192 / squares, 5.477132726, 1e-9));
}
