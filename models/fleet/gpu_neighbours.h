#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Jobs that share one GPU: what each loses to its neighbours, by a roofline with a share of every roof while others
/// compute too, and the whole of it while they wait for their hosts.
namespace models::fleet {

/// A step of a job alone on the whole GPU: its kernels need so long at all SMs, and so long at the full bandwidth; the
/// longer binds. Between steps the host works, and the GPU waits.
struct Tenant {
  double compute_s = 0, bytes_s = 0, host_s = 0;

  double gpu_s() const { return compute_s > bytes_s ? compute_s : bytes_s; }
  double step_s() const { return gpu_s() + host_s; }
  bool operator==(const Tenant&) const = default;
};

enum class SharingWay : std::uint8_t {
  time_slices,  ///< one job at a time; a switch between two stops the GPU for a while
  mps,          ///< all at once: SMs up to a limit for each, bandwidth to whoever asks
  mig           ///< instances with SMs and memory of their own
};
inline constexpr std::size_t sharing_way_count = 3;

enum class SharedRoof : std::uint8_t { compute, bandwidth, host, slices };

struct SharingWith {
  SharingWay way = SharingWay::mps;
  double slice_s = 2e-3, switch_s = 2e-4;        ///< time slices
  double sm_share = 1;                           ///< MPS: what each may use at most
  double compute_slices = 1, memory_slices = 1;  ///< MIG: those of the instance, of 7 and of 8
};

struct SharedStep {
  double step_s = 0;
  double slowdown = 1;  ///< over the step alone on the whole GPU
  SharedRoof roof = SharedRoof::compute;
};
/// A mean step of each of the jobs while all of them run. In time slices and under MPS they form a closed network: a
/// job computes, then its host works, and so on, each phase as long as given on average and exponentially distributed.
/// Of those that compute at a moment all have the same part of the clock, or SMs and bandwidth are shared max-min
/// fairly: who asks for less than an even share gets it, the rest is shared evenly among the others. Solved exactly
/// over all sets of jobs that compute; slices are short against phases. At most `max_tenants` jobs.
std::vector<SharedStep> shared_steps(std::span<const Tenant> tenants, const SharingWith& with);
inline constexpr std::size_t max_tenants = 8;
/// A part of a step that is shorter than this share of the rest is left out.
inline constexpr double negligible_part = 1e-6;
/// How fast a job computes against having the GPU, or its instance and limit, to itself.
struct Pace {
  double rate = 1;
  bool bandwidth = false;  ///< bandwidth is what holds it
};
/// A job's time on the GPU in a step with its limit or in its instance, while nobody is felt.
double gpu_phase_s(const Tenant& tenant, const SharingWith& with);
/// Paces of the jobs that compute at the same time, as bits of `active`, one for each tenant.
void set_paces(std::span<const Tenant> tenants, std::size_t active, const SharingWith& with, std::span<Pace> paces);

/// Jobs done in a second by all together, in jobs that each had the whole GPU in turn: the sum of 1 / slowdown.
double shared_throughput(std::span<const SharedStep> steps);

/// The even level at which the asked shares are cut so that they sum to `capacity`; infinite where they do already.
double max_min_level(std::span<const double> asked, double capacity);

/// Bytes a second from the host's memory to one GPU: its own link, or across the sockets, where `sharers` GPUs use one
/// path.
double host_rate(bool remote, double link_bytes_per_s, double cross_bytes_per_s, std::int64_t sharers);

}  // namespace models::fleet
