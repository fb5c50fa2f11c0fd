#include "models/fleet/gpu_neighbours.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "models/base/integer_math.h"
#include "models/fleet/shelf_room.h"

namespace models::fleet {
namespace {

SharedStep finish_step(const Tenant& t, double step_s, SharedRoof roof) { return {step_s, step_s / t.step_s(), roof}; }

/// A job's parts on the GPU with its limit or in its instance, while nobody is felt; the longer binds.
struct OwnParts {
  double compute_s = 0, bytes_s = 0;

  double gpu_s() const { return std::max(compute_s, bytes_s); }
  bool bytes_bind() const { return bytes_s > compute_s; }
};

OwnParts own_parts(const Tenant& t, const SharingWith& with) {
  OwnParts parts{t.compute_s, t.bytes_s};
  if (with.way == SharingWay::mps) parts.compute_s /= with.sm_share;
  if (with.way == SharingWay::mig) {
    parts.compute_s *= mig_compute_slices / with.compute_slices;
    parts.bytes_s *= mig_memory_slices / with.memory_slices;
  }
  return parts;
}

/// What a job asks for while it computes.
struct Phase {
  double gpu_s = 0, sms = 0, bandwidth = 0;
  bool bytes_bind = false;  ///< while nobody is felt
};
/// No phase is taken as shorter.
constexpr double least_s = 1e-9;

Phase phase_of(const Tenant& t, const SharingWith& with) {
  const OwnParts parts = own_parts(t, with);
  const double gpu_s = parts.gpu_s();
  if (!(gpu_s > 0)) return {};
  return {gpu_s, t.compute_s / gpu_s, t.bytes_s / gpu_s, parts.bytes_bind()};
}

/// The share of time that a chain spends in each state, from its rates by row; they are used up. Grassmann, Taksar and
/// Heyman 1985: elimination without a subtraction.
std::vector<double> long_run_shares(std::vector<double>& rates, std::size_t n) {
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return rates[i * n + j]; };
  for (std::size_t last = n; last-- > 1;) {
    double out = 0;
    for (std::size_t j = 0; j < last; ++j) out += at(last, j);
    for (std::size_t i = 0; i < last; ++i) {
      if (at(i, last) == 0) continue;
      at(i, last) /= out;
      for (std::size_t j = 0; j < last; ++j) at(i, j) += at(i, last) * at(last, j);
    }
  }
  std::vector<double> share(n, 0);
  share[0] = 1;
  double sum = 1;
  for (std::size_t j = 1; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) share[j] += share[i] * at(i, j);
    sum += share[j];
  }
  for (double& s : share) s /= sum;
  return share;
}

/// The network of jobs that compute and wait for their hosts.
std::vector<SharedStep> steps_together(std::span<const Tenant> tenants, const SharingWith& with) {
  std::vector<double> gpu_s;
  std::vector<std::size_t> free;  ///< jobs that sometimes compute and sometimes wait
  std::size_t always = 0;         ///< those that compute all the time, as bits
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    gpu_s.push_back(gpu_phase_s(tenants[i], with));
    if (tenants[i].host_s <= negligible_part * gpu_s[i])
      always |= std::size_t{1} << i;
    else if (gpu_s[i] > negligible_part * tenants[i].host_s)
      free.push_back(i);
  }
  const std::size_t states = std::size_t{1} << free.size();
  std::vector<std::array<Pace, max_tenants>> paces(states);
  std::vector<double> rates(states * states, 0);
  std::vector<std::size_t> active(states, always);
  for (std::size_t s = 0; s < states; ++s) {
    for (std::size_t f = 0; f < free.size(); ++f) active[s] |= (s >> f & 1) << free[f];
    set_paces(tenants, active[s], with, {paces[s].data(), tenants.size()});
    for (std::size_t f = 0; f < free.size(); ++f) {
      const std::size_t i = free[f];
      const bool computes = (s >> f & 1) != 0;
      rates[s * states + (s ^ std::size_t{1} << f)] =
          computes ? paces[s][i].rate / std::max(gpu_s[i], least_s) : 1 / std::max(tenants[i].host_s, least_s);
    }
  }
  const std::vector<double> share = long_run_shares(rates, states);
  std::vector<SharedStep> out;
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    double computes = 0, work = 0, by_bytes = 0;
    for (std::size_t s = 0; s < states; ++s) {
      if ((active[s] >> i & 1) == 0) continue;
      computes += share[s];
      work += share[s] * paces[s][i].rate;
      by_bytes += paces[s][i].bandwidth ? share[s] : 0;
    }
    const double longer = work > 0 ? computes / work : 1, shared_s = gpu_s[i] * longer;
    const bool turns = with.way == SharingWay::time_slices && longer > 1 + negligible_part;
    out.push_back(finish_step(tenants[i], shared_s + tenants[i].host_s,
                              tenants[i].host_s > shared_s ? SharedRoof::host
                              : turns                      ? SharedRoof::slices
                              : by_bytes > computes / 2    ? SharedRoof::bandwidth
                                                           : SharedRoof::compute));
  }
  return out;
}

/// Each in an instance of its own.
SharedStep step_in_instance(const Tenant& t, const SharingWith& with) {
  const OwnParts parts = own_parts(t, with);
  const double gpu_s = parts.gpu_s();
  return finish_step(t, gpu_s + t.host_s,
                     t.host_s > gpu_s     ? SharedRoof::host
                     : parts.bytes_bind() ? SharedRoof::bandwidth
                                          : SharedRoof::compute);
}

}  // namespace

double gpu_phase_s(const Tenant& t, const SharingWith& with) { return own_parts(t, with).gpu_s(); }

void set_paces(std::span<const Tenant> tenants, std::size_t active, const SharingWith& with, std::span<Pace> paces) {
  std::array<Phase, max_tenants> phases{};
  for (std::size_t i = 0; i < tenants.size(); ++i) phases[i] = phase_of(tenants[i], with);
  const int count = std::popcount(active);
  if (with.way != SharingWay::mps) {
    const bool turns = with.way == SharingWay::time_slices && count > 1;
    const double rate = turns ? with.slice_s / (with.slice_s + with.switch_s) / count : 1;
    for (std::size_t i = 0; i < tenants.size(); ++i) paces[i] = {rate, phases[i].bytes_bind};
    return;
  }
  std::array<double, max_tenants> asked{};
  std::size_t n = 0;
  for (std::size_t i = 0; i < tenants.size(); ++i)
    if ((active >> i & 1) != 0) asked[n++] = phases[i].bandwidth;
  const double bandwidth = max_min_level({asked.data(), n}, 1);
  const auto held = [&](const Phase& p) { return std::min(1.0, bandwidth / std::max(p.bandwidth, negligible_part)); };
  n = 0;
  for (std::size_t i = 0; i < tenants.size(); ++i)
    if ((active >> i & 1) != 0) asked[n++] = phases[i].sms * held(phases[i]);
  const double sms = max_min_level({asked.data(), n}, 1);
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    const double by_bytes = held(phases[i]), by_sms = std::min(1.0, sms / std::max(phases[i].sms, negligible_part));
    // Where nobody is felt, what binds is the job's own: with a limit on SMs arithmetic may.
    paces[i] = {std::min(by_bytes, by_sms), by_bytes != by_sms ? by_bytes < by_sms : phases[i].bytes_bind};
  }
}

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
  if (with.way != SharingWay::mig) return steps_together(tenants, with);
  std::vector<SharedStep> out;
  for (const Tenant& t : tenants) out.push_back(step_in_instance(t, with));
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
