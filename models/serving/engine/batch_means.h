#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

/// Confidence intervals of one long run whose values depend on each other, as the waits of requests in one queue do.
///
/// Batch means (Schmeiser 1982; Law, Simulation Modeling and Analysis, section 9.5): the run is cut into 20 batches of
/// equal length, so long that their means are nearly independent, and Student's t with 19 degrees of freedom speaks of
/// their mean.
namespace models {

inline constexpr std::size_t interval_batches = 20;
/// Fewer values than these make batches too short to be independent.
inline constexpr std::size_t least_for_interval = 1000;

/// Half of the interval that holds the long-run mean with 95 % confidence; `values` in the order of time, and what is
/// left over behind the last whole batch is not used. NaN for fewer than `least_for_interval` values.
double mean_half_width(std::span<const double> values);

/// The same of `batches`: means of stretches of equal length. NaN for fewer than two.
double half_width_of_batches(std::span<const double> batches);

/// The same of a quantile by sectioning (Asmussen and Glynn 2007, section III.5): how far each batch's quantile lies
/// from `whole`, that of all values. NaN where a batch has no value beyond the quantile, or for too few values.
double quantile_half_width(std::span<const double> values, double share, double whole);

/// Nearest rank: the smallest value that at least this share (0 to 1) of all do not exceed. Reorders; 0 of nothing.
double take_quantile(std::span<double> values, double share);

/// Does a run of this many values say anything of this quantile: are ten or more expected beyond it?
inline bool speaks_of_quantile(std::size_t values, double share) {
  return static_cast<double>(values) * (1 - share) >= 10 - 1e-9;
}

/// The value that Student's t with this many degrees of freedom does not exceed in 97.5 % of all cases. Cornish-Fisher
/// expansion, Abramowitz and Stegun 26.7.5: within 0.1 % from 4 degrees on.
double student_t_975(std::int64_t degrees);

}  // namespace models
