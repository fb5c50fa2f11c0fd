#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/parallel/collectives/collective_kinds.h"

/// A measured collective: one run of nccl-tests or rccl-tests, a time for each message size.
namespace models::parallel {

struct CollectiveSample {
  double bytes = 0;    ///< S as nccl-tests counts it: of all ranks together for all-gather and reduce-scatter
  double seconds = 0;  ///< what one call takes, out of place
  double in_place_s = std::numeric_limits<double>::quiet_NaN();         ///< not a number: not printed
  double busbw_bytes_per_s = std::numeric_limits<double>::quiet_NaN();  ///< as printed; not a number: not printed
  bool operator==(const CollectiveSample&) const = default;
};

/// Sizes rise. Times are above 0.
struct CollectiveCurve {
  Primitive primitive = Primitive::all_reduce;
  std::int64_t ranks = 8;
  std::vector<CollectiveSample> samples;
  /// Only bandwidths were printed, with two decimals, and the times computed back from them.
  bool times_from_bandwidth = false;
  double factor() const { return bus_factor(primitive, ranks); }
  double busbw(std::size_t i) const { return factor() * samples[i].bytes / samples[i].seconds; }
  bool operator==(const CollectiveCurve&) const = default;
};

/// Which sizes are one-off spikes: over 1.25 times the time of the next larger size where the in-place column does not
/// do the same, or is not there. The largest size is none.
std::vector<bool> one_off_spikes(const CollectiveCurve& curve);

/// Median of the times at 1 KiB and below, spikes left out; not a number where no size is that small.
double latency_floor_s(const CollectiveCurve& curve);

/// The largest bus bandwidth of a curve, from size and time. `half_at_bytes`: the smallest size that reaches half of
/// it.
struct CollectivePeak {
  double bus_bytes_per_s = 0, at_bytes = 0, half_at_bytes = 0;
};
CollectivePeak peak_of(const CollectiveCurve& curve);

}  // namespace models::parallel
