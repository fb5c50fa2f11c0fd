#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/parallel/collectives/collective_curve.h"

/// Straight lines through a measured collective, and where it leaves them.
namespace models::parallel {

/// t(S) = alpha + f S / B, f the bus factor of the curve.
struct CollectiveLine {
  double alpha_s = 0, bus_bytes_per_s = 0;  ///< B infinite: flat
  double seconds(double factor, double bytes) const { return alpha_s + factor * bytes / bus_bytes_per_s; }
};

struct CollectivePiece {
  double from_bytes = 0, to_bytes = 0;  ///< smallest and largest size that the line was fitted to
  CollectiveLine line;
};

struct CollectiveFit {
  std::vector<CollectivePiece> pieces;  ///< by size; they need not join
  double rms_error = 0;                 ///< root mean square of (line - measured) / measured
  double worst_error = 0, worst_at_bytes = 0;
  /// The sizes span fewer than four doublings, so that alpha is an extrapolation and not to be shown.
  bool alpha_is_extrapolated = false;
  double factor = 1;
  double knee_bytes() const { return pieces[0].line.alpha_s * pieces[0].line.bus_bytes_per_s / factor; }
  /// The line of the piece that a size belongs to: the last one that starts at or below it.
  double seconds(double bytes) const;
};

inline constexpr std::size_t max_collective_sizes = 256;

/// The least sum of squared relative errors over the out-of-place times, spikes left out, alpha and 1/B not below 0, in
/// closed form with weights 1/t^2; `pieces` of 1 to 3 contiguous parts of three sizes or more each, the best split of
/// all. Fails with a sentence where there are too few sizes: 2 for one line, 7 for two, 10 for three.
Result<CollectiveFit> fit_collective(const CollectiveCurve& curve, std::size_t pieces);

enum class CrossingKind : std::uint8_t {
  dent,  ///< over 2.04 times the time for twice the bytes: the bus bandwidth falls
  step,  ///< over 1.30 times the time where the line says under 1.12
  jump,  ///< under 1.12 times the time where the line says over 1.5
  flat,  ///< under 1.05 times the time where the line says over 1.12, right after it grew by over a fifth
};
inline constexpr std::size_t crossing_kind_count = 4;
std::string_view crossing_name(CrossingKind kind);  ///< "dent"

enum class SecondColumn : std::uint8_t { missing, agrees, differs };

/// Where a curve changes its slope between two neighbouring doublings: a change of protocol or algorithm, or noise
/// where the in-place column differs.
struct CollectiveCrossing {
  double from_bytes = 0, to_bytes = 0, time_ratio = 0, line_ratio = 0;
  CrossingKind kind = CrossingKind::dent;
  SecondColumn in_place = SecondColumn::missing;
};
/// By size. Pairs with a spike are passed over. `line` is the one-line fit of the curve.
std::vector<CollectiveCrossing> find_crossings(const CollectiveCurve& curve, const CollectiveFit& line);

}  // namespace models::parallel
