#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

/// Boards on which each thing of one column belongs to one of the next.
namespace models {

/// In how many ways every row can be given a column of its own, when row r may take the columns of bit mask
/// `allowed[r]`. Columns may be left over.
std::int64_t count_assignments(const std::vector<std::uint32_t>& allowed);

/// Mean of right threads when somebody draws them by chance, each thing used once: from `cases` symptoms to causes, of
/// which there is one more, from the causes chosen to as many evidences, and from those to as many fixes.
double threads_by_luck(std::int64_t cases);

/// Positions 0 to n - 1 in an order that `seed` makes.
std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed);

}  // namespace models
