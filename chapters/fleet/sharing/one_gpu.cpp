#include <algorithm>

#include "chapters/fleet/sharing/lab.h"
#include "models/base/integer_math.h"

/// Jobs on one GPU.
namespace chapters::fleet::sharing {

using namespace models::fleet;
using models::as_double;

namespace {

/// The narrowest profile with so many compute slices.
const MigProfile& profile_of(std::int64_t compute_slices) {
  for (const MigProfile& p : mig_profiles())
    if (p.compute_slices == compute_slices) return p;
  return mig_profiles().back();
}

/// How many instances of a profile lie on a GPU at once.
std::int64_t instances_of(const MigProfile& profile) {
  Places taken = 0;
  std::int64_t count = 0;
  for (const Places at : profile.at) {
    if ((at & taken) != 0) continue;
    taken = static_cast<Places>(taken | at);
    ++count;
  }
  return count;
}

constexpr std::size_t max_pieces = 900;
/// Pieces of turns that are simulated for mean steps.
constexpr std::size_t counted_pieces = 30'000;

struct Gpu {
  std::vector<Tenant> tenants;
  SharingWith with;
  double instances = Outputs::none;
};

/// The widest instance of which so many lie on a GPU.
const MigProfile& profile_for(std::int64_t jobs) {
  const MigProfile* best = &mig_profiles().front();
  for (const MigProfile& p : mig_profiles())
    if (instances_of(p) >= jobs &&
        (p.compute_slices > best->compute_slices ||
         (p.compute_slices == best->compute_slices && p.memory_slices > best->memory_slices)))
      best = &p;
  return *best;
}

/// `count` jobs that share the GPU in a way; `profile` is the instance of each where it is cut.
Gpu gpu_of(const Inputs& in, SharingWay way, std::int64_t count, const MigProfile& profile, double host_bytes_per_s) {
  const Tenant yours{in.compute_s, in.bytes_s, in.host_s + in.host_bytes / host_bytes_per_s};
  Gpu gpu;
  gpu.with = {.way = way, .slice_s = in.slice_s, .switch_s = in.switch_s, .sm_share = in.sm_limit / 100};
  if (way == SharingWay::mig) {
    gpu.with.compute_slices = profile.compute_slices;
    gpu.with.memory_slices = profile.memory_slices;
    const std::int64_t fit = instances_of(profile);
    gpu.instances = as_double(fit);
    count = std::min(count, fit);  // who has no instance runs elsewhere
  }
  gpu.tenants.assign(static_cast<std::size_t>(count), yours);
  if (count > 1) gpu.tenants[1] = {in.noisy_compute_s, in.noisy_bytes_s, in.noisy_host_s};
  return gpu;
}

Gpu gpu_of(const Inputs& in, double host_bytes_per_s) {
  return gpu_of(in, in.way, in.tenants, profile_of(in.profile), host_bytes_per_s);
}

}  // namespace

void fill_timeline(const Inputs& in, const Outputs& out, Run& run) {
  const Gpu gpu = gpu_of(in, out.host_rate);
  double longest = 0;
  for (const TenantRow& row : out.tenants) longest = std::max(longest, row.step_s);
  run.timeline = shared_timeline(gpu.tenants, gpu.with, in.seed, 6 * longest, max_pieces);
  run.timeline_from_s = run.timeline.end_s / 6;
  // Against the whole GPU instead of the instance or the limit.
  for (TimelinePiece& piece : run.timeline.pieces)
    if (piece.state == GpuState::computes) {
      const Tenant& t = gpu.tenants[piece.job];
      piece.pace *= t.gpu_s() / gpu_phase_s(t, gpu.with);
    }
}

void fill_crowd(const Inputs& in, const Outputs& out, Run& run) {
  for (std::int64_t jobs = 1; jobs <= max_jobs; ++jobs) {
    CrowdPoint point;
    for (std::size_t way = 0; way < sharing_way_count; ++way) {
      const Gpu gpu = gpu_of(in, static_cast<SharingWay>(way), jobs, profile_for(jobs), out.host_rate);
      const auto steps = shared_steps_in_time(gpu.tenants, gpu.with, in.seed, counted_pieces);
      point.slowdown[way] = steps.front().slowdown;
      point.done[way] = shared_throughput(steps);
    }
    run.crowd.push_back(point);
  }
}

void fill_one_gpu(const Inputs& in, Outputs& out) {
  out.host_rate = host_rate(in.remote, in.link_bytes_per_s, in.cross_bytes_per_s, in.sharers);
  const Gpu gpu = gpu_of(in, out.host_rate);
  const std::vector<Tenant>& tenants = gpu.tenants;
  out.instances = gpu.instances;
  out.placed = static_cast<std::int64_t>(tenants.size());
  out.unplaced = in.tenants - out.placed;
  if (in.way == SharingWay::mig) out.memory_slices = gpu.with.memory_slices;
  const auto steps = shared_steps_in_time(tenants, gpu.with, in.seed, counted_pieces);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string name = i == 0 ? "yours" : i == 1 ? "the noisy neighbour" : "like yours";
    out.tenants.push_back({.tenant = name,
                           .alone_s = tenants[i].step_s(),
                           .step_s = steps[i].step_s,
                           .host_s = tenants[i].host_s,
                           .slowdown = steps[i].slowdown,
                           .sms_alone = 100 * tenants[i].compute_s / tenants[i].step_s(),
                           .bandwidth_alone = 100 * tenants[i].bytes_s / tenants[i].step_s()});
  }
  out.alone_s = tenants.front().step_s();
  out.step_s = steps.front().step_s;
  out.slowdown = steps.front().slowdown;
  out.noisy_slowdown = steps.size() > 1 ? steps[1].slowdown : 1;
  out.roof = steps.front().roof;
  out.throughput = shared_throughput(steps);
}

}  // namespace chapters::fleet::sharing
