#pragma once
#include <cstdint>
#include <string>
#include <string_view>

/// Which tokens of a sequence a rank holds under context parallelism, and how many pairs of a query and a key a rank
/// has to compute when it meets another rank's keys.
namespace models::parallel {

enum class ContextOrder : std::uint8_t {
  contiguous,  ///< rank r holds the r-th of n pieces
  zig_zag,     ///< Rank r holds the r-th of 2n pieces from the front and the r-th from the back (Megatron-LM, Llama 3)
  striped      ///< every n-th token, from the r-th on (Brandon et al. 2023, "Striped Attention")
};
inline constexpr std::size_t context_order_count = 3;
std::string_view context_order_name(ContextOrder order);  ///< "zig-zag"

/// The rank that holds token `token` of `sequence`.
std::int64_t token_rank(ContextOrder order, std::int64_t sequence, std::int64_t ranks, std::int64_t token);

/// Whose keys rank `rank` holds in step `step` of the ring: each passes them on to the next rank.
inline std::int64_t key_owner(std::int64_t ranks, std::int64_t rank, std::int64_t step) {
  return ((rank - step) % ranks + ranks) % ranks;
}
/// The rank that holds the keys of `owner` in step `step`.
inline std::int64_t key_holder(std::int64_t ranks, std::int64_t owner, std::int64_t step) {
  return (owner + step) % ranks;
}

/// Pairs of a query of rank `queries` and a key of rank `keys` that is not behind it, exactly; without a mask all
/// pairs. The sequence is one that context_problem takes.
double tile_pairs(ContextOrder order, std::int64_t sequence, std::int64_t ranks, std::int64_t queries,
                  std::int64_t keys, bool causal = true);

/// One sentence where the sequence cannot be dealt evenly: into 2n pieces for zig-zag, n otherwise; or ranks are not 1
/// to 256. Nothing otherwise.
std::string context_problem(ContextOrder order, std::int64_t sequence, std::int64_t ranks);

}  // namespace models::parallel
