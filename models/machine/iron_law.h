#pragma once
#include "models/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// The iron law of one piece of work: T = bytes / bandwidth + operations / (rate x efficiency) + latency.
/// After Hennessy and Patterson's iron law of processor performance, with the roofline's max() where loads overlap
/// arithmetic (Williams, Waterman, Patterson 2009).
namespace models {

/// The six quantities of the law, in its order.
enum class IronTerm : std::uint8_t { bytes, bandwidth, operations, rate, efficiency, latency };
inline constexpr std::size_t iron_term_count = 6;
std::string_view iron_term_label(IronTerm term);  ///< "bytes moved", ...

/// added: loads, arithmetic and overhead take turns. overlapped: the longer of loads and arithmetic, then the overhead.
enum class Combine : std::uint8_t { added, overlapped };

struct IronLaw {
  double bytes = 0;
  double bandwidth_bytes_per_s = 1;
  double operations = 0;  ///< flop
  double rate_flops_per_s = 1;
  double efficiency = 1;  ///< 0 to 1: the part of the rate that the implementation reaches
  double latency_s = 0;   ///< launches, synchronisation, everything that is neither
  Combine combine = Combine::added;
  double weight_share =
      0.5;  ///< 0 to 1: of the bytes, what is weights; the rest is intermediates, operands read again, caches
  bool operator==(const IronLaw&) const = default;
};
double iron_value(const IronLaw& law, IronTerm term);

struct IronTime {
  double memory_s = 0, compute_s = 0, latency_s = 0;
  double time_s = 0;
  enum class Dominant : std::uint8_t { memory, compute, latency } dominant = Dominant::memory;
};
/// Infeasible: a negative or non-finite quantity, a bandwidth or rate of 0, an efficiency outside 0 to 1 (0 excluded),
/// a share outside 0 to 1.
Result<IronTime> iron_time(const IronLaw& law);

/// Which bytes a technique touches. Quantizing weights leaves activations alone; fusing kernels leaves the weights.
enum class Reach : std::uint8_t { all_bytes, weights, other_bytes };

/// A technique as data: the factor by which it multiplies each quantity. 1 leaves it alone.
struct Technique {
  std::string_view id, label;
  std::array<double, iron_term_count> factor;  ///< in the order of IronTerm
  Reach reach;                                 ///< The bytes that the factor on bytes multiplies.
  bool overlaps;                               ///< turns added into overlapped
  std::string_view why;  ///< where the factors come from: a formula, a measurement, or a stated assumption
};
/// All techniques, in teaching order. Factors are typical cases; the learner may scale them.
std::span<const Technique> techniques();
const Technique* find_technique(std::string_view id);
bool moves(const Technique& technique, IronTerm term);

/// The law after one technique. Efficiency stays at most 1. `strength` 0 leaves the law as it is, 1 applies the factors
/// in full, in between geometrically (factor to the power of strength).
IronLaw apply(const IronLaw& law, const Technique& technique, double strength = 1);
/// The law after all of them; order does not matter, except that efficiency is cut at 1.
IronLaw apply_all(IronLaw law, std::span<const Technique* const> chosen, double strength = 1);

}  // namespace models
