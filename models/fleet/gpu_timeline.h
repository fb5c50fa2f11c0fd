#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/fleet/gpu_neighbours.h"

/// Jobs on one GPU in time: which computes when, how fast, and which waits for its turn.
namespace models::fleet {

enum class GpuState : std::uint8_t {
  host,      ///< the job's host works
  computes,  ///< its kernels run at `pace`
  waits      ///< another has the GPU
};
struct TimelinePiece {
  std::uint8_t job = 0;
  GpuState state = GpuState::host;
  double pace = 1;  ///< against having the GPU, or its instance and limit, to itself
  double from_s = 0, to_s = 0;
};
struct Timeline {
  std::vector<TimelinePiece> pieces;  ///< without gaps in each job, in the order in which they end
  std::vector<std::int64_t> steps;    ///< that each job has done
  double end_s = 0;
};
/// Simulates the jobs of `shared_steps` event by event: every phase is drawn from its exponential law, and turns are
/// real ones, one slice after the other. Until `span_s`, or sooner where there would be more than `most_pieces`.
Timeline shared_timeline(std::span<const Tenant> tenants, const SharingWith& with, std::int64_t seed, double span_s,
                         std::size_t most_pieces);

/// Mean steps of jobs that share a GPU. In turns whose slices are not short against what a job computes at a time they
/// are those of a simulation of `most_pieces`, else the exact ones.
std::vector<SharedStep> shared_steps_in_time(std::span<const Tenant> tenants, const SharingWith& with,
                                             std::int64_t seed, std::size_t most_pieces);

}  // namespace models::fleet
