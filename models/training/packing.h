#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/result.h"

/// Documents of different lengths in rows of one length. All lengths are in tokens.
namespace models {

/// How documents are put into rows.
enum class PackingPolicy : std::uint8_t {
  padding,               ///< a row for each document, all rows as long as the row may be
  longest,               ///< a row for each document, padded to the longest of its batch, in the order of arrival
  bucketing,             ///< the same with documents sorted by length before they are batched
  next_fit,              ///< one open row: the next document or a new row
  greedy,                ///< in the order of arrival, into the first row with room (first fit)
  first_fit_decreasing,  ///< longest first, into the first row with room
  best_fit,              ///< longest first, into the fullest row with room (best-fit decreasing)
  split                  ///< end to end, documents cut where the row ends
};
inline constexpr int packing_policy_count = 8;

/// Where a piece of a document lies.
struct PackedPiece {
  std::uint32_t document = 0, row = 0, offset = 0, length = 0;
};

struct Packing {
  std::vector<PackedPiece> pieces;      ///< in the order in which they were placed
  std::vector<std::uint32_t> row_room;  ///< by row: tokens that are computed, padding included
  std::uint64_t tokens = 0;             ///< tokens of all documents
  std::uint64_t room() const {
    std::uint64_t sum = 0;
    for (const std::uint32_t r : row_room) sum += r;
    return sum;
  }
};

/// Puts `lengths`, each from 1 to `row`, into rows of `row` tokens. `batch`: documents of a batch, of `longest` and
/// `bucketing` alone. `most`: documents (of `split`: pieces) in a row; 0: no limit.
Packing pack_documents(std::span<const std::uint32_t> lengths, std::uint32_t row, PackingPolicy policy,
                       std::uint32_t batch, std::uint32_t most = 0);

/// The fewest rows that whole documents can be packed in without a limit of documents, by branch and bound; nothing
/// where more than `max_nodes` placements would have to be tried.
std::optional<std::uint32_t> fewest_rows(std::span<const std::uint32_t> lengths, std::uint32_t row,
                                         std::uint64_t max_nodes = 200'000);

/// ceil(tokens / row): no packing of whole or cut documents needs fewer.
std::uint64_t least_rows(std::uint64_t tokens, std::uint32_t row);

/// Best-fit decreasing of a whole data set, by how often each length occurs: `counts[i]` documents of i + 1 tokens.
/// The rows are those that placing one document after the other would give. `most`: documents a row; 0: no limit.
std::uint64_t best_fit_rows(std::span<const std::uint64_t> counts, std::uint32_t row, std::uint32_t most = 0);

/// Rows of next fit in the order given.
std::uint64_t next_fit_rows(std::span<const std::uint32_t> lengths, std::uint32_t row);

/// Pairs of positions that causal attention computes: with `documents` each piece attends to itself alone, a triangle
/// each; otherwise a row is one triangle, padding included.
double attention_pairs(const Packing& packing, bool documents);

}  // namespace models
