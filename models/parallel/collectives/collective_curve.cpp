#include "models/parallel/collectives/collective_curve.h"

#include <algorithm>
#include <cmath>

namespace models::parallel {

std::vector<bool> one_off_spikes(const CollectiveCurve& curve) {
  constexpr double spike = 1.25;
  std::vector<bool> out(curve.samples.size(), false);
  for (std::size_t i = 0; i + 1 < curve.samples.size(); ++i) {
    const CollectiveSample &here = curve.samples[i], &next = curve.samples[i + 1];
    // False where a column was not printed, since then the comparison is with not-a-number.
    const bool both_columns = here.in_place_s > spike * next.in_place_s;
    out[i] = here.seconds > spike * next.seconds && !both_columns;
  }
  return out;
}

double latency_floor_s(const CollectiveCurve& curve) {
  const std::vector<bool> spikes = one_off_spikes(curve);
  std::vector<double> small;
  for (std::size_t i = 0; i < curve.samples.size(); ++i)
    if (curve.samples[i].bytes <= 1024 && !spikes[i]) small.push_back(curve.samples[i].seconds);
  if (small.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(small.begin(), small.end());
  const std::size_t middle = small.size() / 2;
  return small.size() % 2 == 1 ? small[middle] : (small[middle - 1] + small[middle]) / 2;
}

CollectivePeak peak_of(const CollectiveCurve& curve) {
  CollectivePeak peak;
  for (std::size_t i = 0; i < curve.samples.size(); ++i)
    if (curve.busbw(i) > peak.bus_bytes_per_s) peak = {curve.busbw(i), curve.samples[i].bytes, 0};
  for (std::size_t i = 0; i < curve.samples.size(); ++i)
    if (curve.busbw(i) >= peak.bus_bytes_per_s / 2) {
      peak.half_at_bytes = curve.samples[i].bytes;
      break;
    }
  return peak;
}

}  // namespace models::parallel
