#include "models/fleet/gpu_neighbours.h"

#include <algorithm>
#include <limits>

#include "models/base/integer_math.h"
#include "models/fleet/shelf_room.h"

namespace models::fleet {
namespace {

SharedStep finish_step(const Tenant& t, double step_s, SharedRoof roof) { return {step_s, step_s / t.step_s(), roof}; }

/// One GPU in turns: `capacity` is the share of the clock that switches leave.
std::vector<SharedStep> steps_in_turns(std::span<const Tenant> tenants, const SharingWith& with) {
  const double capacity = tenants.size() < 2 ? 1 : with.slice_s / (with.slice_s + with.switch_s);
  std::vector<double> asked;
  for (const Tenant& t : tenants) asked.push_back(t.gpu_s() / t.step_s());
  const double level = max_min_level(asked, capacity);
  std::vector<SharedStep> out;
  for (const Tenant& t : tenants) {
    const double in_turns = t.gpu_s() / level;
    const bool waits = in_turns > t.step_s();
    out.push_back(finish_step(t, std::max(t.step_s(), in_turns),
                              waits                      ? SharedRoof::slices
                              : t.host_s > t.gpu_s()     ? SharedRoof::host
                              : t.compute_s >= t.bytes_s ? SharedRoof::compute
                                                         : SharedRoof::bandwidth));
  }
  return out;
}

}  // namespace

double max_min_level(std::span<const double> asked, double capacity) {
  std::vector<double> sorted(asked.begin(), asked.end());
  std::sort(sorted.begin(), sorted.end());
  double left = capacity;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double even = left / static_cast<double>(sorted.size() - i);
    if (sorted[i] > even) return even;
    left -= sorted[i];
  }
  return std::numeric_limits<double>::infinity();
}

std::vector<SharedStep> shared_steps(std::span<const Tenant> tenants, const SharingWith& with) {
  if (with.way == SharingWay::time_slices) return steps_in_turns(tenants, with);
  const double count = static_cast<double>(tenants.size());
  const bool mig = with.way == SharingWay::mig;
  const double sms = mig ? with.compute_slices / mig_compute_slices : std::min(with.sm_share, 1 / count);
  const double bandwidth = mig ? with.memory_slices / mig_memory_slices : 1;
  std::vector<SharedStep> out;
  std::vector<double> asked;
  for (const Tenant& t : tenants) {
    const double compute_s = t.compute_s / sms, bytes_s = t.bytes_s / bandwidth, gpu_s = std::max(compute_s, bytes_s);
    out.push_back(finish_step(t, gpu_s + t.host_s,
                              t.host_s > gpu_s       ? SharedRoof::host
                              : compute_s >= bytes_s ? SharedRoof::compute
                                                     : SharedRoof::bandwidth));
    asked.push_back(t.bytes_s / out.back().step_s);
  }
  if (mig) return out;
  const double level = max_min_level(asked, 1);
  for (std::size_t i = 0; i < tenants.size(); ++i)
    if (asked[i] > level) out[i] = finish_step(tenants[i], tenants[i].bytes_s / level, SharedRoof::bandwidth);
  return out;
}

double shared_throughput(std::span<const SharedStep> steps) {
  double sum = 0;
  for (const SharedStep& s : steps) sum += 1 / s.slowdown;
  return sum;
}

double host_rate(bool remote, double link_bytes_per_s, double cross_bytes_per_s, std::int64_t sharers) {
  return remote ? std::min(link_bytes_per_s, cross_bytes_per_s / as_double(std::max<std::int64_t>(1, sharers)))
                : link_bytes_per_s;
}

}  // namespace models::fleet
