#include "models/parallel/collectives/collective_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace models::parallel {
namespace {

constexpr double flat_rate = std::numeric_limits<double>::infinity();

/// Weighted sums over the sizes of a piece, from which its line follows in closed form.
struct LineSums {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0, n = 0;
  void add(double bus_bytes, double seconds) {
    const double weight = 1 / (seconds * seconds);
    w += weight;
    wx += weight * bus_bytes;
    wxx += weight * bus_bytes * bus_bytes;
    wy += weight * seconds;
    wxy += weight * bus_bytes * seconds;
    ++n;
  }
};

struct SlopeLine {
  double alpha = 0, slope = 0;  ///< seconds, and seconds a byte on the bus
  /// Sum of squared relative errors.
  double squares(const LineSums& s) const {
    return std::max(0.0, alpha * alpha * s.w + slope * slope * s.wxx + s.n + 2 * alpha * slope * s.wx -
                             2 * alpha * s.wy - 2 * slope * s.wxy);
  }
};

SlopeLine best_line(const LineSums& s) {
  const double determinant = s.w * s.wxx - s.wx * s.wx;
  const SlopeLine flat{s.wy / s.w, 0}, through_zero{0, s.wxy / s.wxx};
  if (!(determinant > 0)) return flat;
  const double slope = (s.w * s.wxy - s.wx * s.wy) / determinant;
  const double alpha = (s.wy - slope * s.wx) / s.w;
  if (alpha < 0) return through_zero;
  return slope > 0 ? SlopeLine{alpha, slope} : flat;
}

struct FitPoint {
  double bytes, bus_bytes, seconds;
};

std::vector<FitPoint> fitted_points(const CollectiveCurve& curve) {
  const std::vector<bool> spikes = one_off_spikes(curve);
  std::vector<FitPoint> out;
  for (std::size_t i = 0; i < curve.samples.size(); ++i)
    if (!spikes[i])
      out.push_back({curve.samples[i].bytes, curve.factor() * curve.samples[i].bytes, curve.samples[i].seconds});
  return out;
}

/// Where the pieces of the best split start; the first is 0.
std::vector<std::size_t> best_starts(std::span<const FitPoint> points, std::size_t pieces) {
  constexpr std::size_t least = 3;
  const std::size_t n = points.size();
  // squares[first * (n + 1) + end]: of one line through the points from `first` up to but without `end`.
  std::vector<double> squares(n * (n + 1), flat_rate);
  for (std::size_t first = 0; first < n; ++first) {
    LineSums sums;
    for (std::size_t end = first + 1; end <= n; ++end) {
      sums.add(points[end - 1].bus_bytes, points[end - 1].seconds);
      if (end - first >= least) squares[first * (n + 1) + end] = best_line(sums).squares(sums);
    }
  }
  // best[k][end]: the least sum of k + 1 pieces that end there; from[k][end]: where the last of them starts.
  std::vector<std::vector<double>> best(pieces, std::vector<double>(n + 1, flat_rate));
  std::vector<std::vector<std::size_t>> from(pieces, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t end = least; end <= n; ++end) best[0][end] = squares[end];
  for (std::size_t k = 1; k < pieces; ++k)
    for (std::size_t end = least; end <= n; ++end)
      for (std::size_t cut = least; cut + least <= end; ++cut)
        if (const double sum = best[k - 1][cut] + squares[cut * (n + 1) + end]; sum < best[k][end]) {
          best[k][end] = sum;
          from[k][end] = cut;
        }
  std::vector<std::size_t> starts(pieces, 0);
  for (std::size_t k = pieces - 1, end = n; k > 0; --k) end = starts[k] = from[k][end];
  return starts;
}

}  // namespace

double CollectiveFit::seconds(double bytes) const {
  const CollectivePiece* piece = pieces.data();
  for (const CollectivePiece& p : pieces)
    if (p.from_bytes <= bytes) piece = &p;
  return piece->line.seconds(factor, bytes);
}

Result<CollectiveFit> fit_collective(const CollectiveCurve& curve, std::size_t pieces) {
  constexpr std::array<std::size_t, 3> least{2, 7, 10};
  const std::vector<FitPoint> points = fitted_points(curve);
  pieces = std::clamp<std::size_t>(pieces, 1, least.size());
  if (points.size() < least[pieces - 1])
    return Result<CollectiveFit>::fail("A fit of " + std::to_string(pieces) + (pieces == 1 ? " line" : " lines") +
                                       " takes " + std::to_string(least[pieces - 1]) + " sizes or more and has " +
                                       std::to_string(points.size()) + ".");
  if (points.size() > max_collective_sizes)
    return Result<CollectiveFit>::fail("A fit takes at most " + std::to_string(max_collective_sizes) + " sizes.");
  CollectiveFit fit;
  fit.factor = curve.factor();
  fit.alpha_is_extrapolated = points.back().bytes < 16 * points.front().bytes;
  const std::vector<std::size_t> starts = pieces == 1 ? std::vector<std::size_t>{0} : best_starts(points, pieces);
  double squares = 0;
  for (std::size_t k = 0; k < pieces; ++k) {
    const std::size_t end = k + 1 < pieces ? starts[k + 1] : points.size();
    LineSums sums;
    for (std::size_t i = starts[k]; i < end; ++i) sums.add(points[i].bus_bytes, points[i].seconds);
    const SlopeLine line = best_line(sums);
    fit.pieces.push_back(
        {points[starts[k]].bytes, points[end - 1].bytes, {line.alpha, line.slope > 0 ? 1 / line.slope : flat_rate}});
    for (std::size_t i = starts[k]; i < end; ++i) {
      const double error = (line.alpha + line.slope * points[i].bus_bytes) / points[i].seconds - 1;
      squares += error * error;
      if (std::abs(error) > std::abs(fit.worst_error)) {
        fit.worst_error = error;
        fit.worst_at_bytes = points[i].bytes;
      }
    }
  }
  fit.rms_error = std::sqrt(squares / static_cast<double>(points.size()));
  return Result<CollectiveFit>::ok(std::move(fit));
}

std::string_view crossing_name(CrossingKind kind) {
  constexpr std::array<std::string_view, crossing_kind_count> names{"dent", "step", "jump", "flat"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<CollectiveCrossing> find_crossings(const CollectiveCurve& curve, const CollectiveFit& line) {
  const std::vector<bool> spikes = one_off_spikes(curve);
  std::vector<CollectiveCrossing> out;
  for (std::size_t i = 0; i + 1 < curve.samples.size(); ++i) {
    const CollectiveSample &here = curve.samples[i], &next = curve.samples[i + 1];
    if (next.bytes != 2 * here.bytes || spikes[i] || spikes[i + 1]) continue;
    CollectiveCrossing c{.from_bytes = here.bytes, .to_bytes = next.bytes};
    c.time_ratio = next.seconds / here.seconds;
    c.line_ratio = line.seconds(next.bytes) / line.seconds(here.bytes);
    const bool grew = i > 0 && here.seconds > 1.2 * curve.samples[i - 1].seconds;
    // The second column agrees where it shows the same in a weaker form.
    const double in_place = next.in_place_s / here.in_place_s;
    bool agrees = false;
    if (c.time_ratio > 2.04) {
      c.kind = CrossingKind::dent;
      agrees = in_place > 2.02;
    } else if (c.time_ratio > 1.30 && c.line_ratio < 1.12) {
      c.kind = CrossingKind::step;
      agrees = in_place > 1.20;
    } else if (c.time_ratio < 1.12 && c.line_ratio > 1.5) {
      c.kind = CrossingKind::jump;
      agrees = in_place < 1.20;
    } else if (c.time_ratio < 1.05 && c.line_ratio > 1.12 && grew) {
      c.kind = CrossingKind::flat;
      agrees = in_place < 1.10;
    } else {
      continue;
    }
    if (!std::isnan(in_place)) c.in_place = agrees ? SecondColumn::agrees : SecondColumn::differs;
    out.push_back(c);
  }
  return out;
}

}  // namespace models::parallel
