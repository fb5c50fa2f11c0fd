#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The collectives that ranks do together, and how their bandwidth is printed.
namespace models::parallel {

enum class Primitive : std::uint8_t {
  all_reduce,      ///< every rank ends with the sum of all buffers
  reduce_scatter,  ///< every rank ends with its share of the sum
  all_gather,      ///< every rank ends with the shares of all
  all_to_all,      ///< every rank sends each other rank its own part
  broadcast,       ///< the root's buffer ends on every rank
  reduce,          ///< the sum ends on the root alone
  scatter,         ///< the root sends each rank its part
  gather,          ///< the root collects the part of each rank
};
inline constexpr std::size_t primitive_count = 8;
/// "all_reduce".
std::string_view primitive_id(Primitive primitive);

/// Bus bandwidth over algorithm bandwidth: 2 (N - 1) / N for an all-reduce, (N - 1) / N where every rank keeps its own
/// share of `bytes` in all (reduce-scatter, all-gather, all-to-all, scatter, gather), else 1. 0 for a single rank,
/// whose call moves nothing. Source: doc/PERFORMANCE.md of nccl-tests.
double bus_factor(Primitive primitive, std::int64_t ranks);

}  // namespace models::parallel
