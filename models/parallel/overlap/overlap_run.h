#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

/// Kernels on two streams of one GPU, compute and communication, that run at the same time and slow each other.
namespace models::parallel {

enum class OverlapKind : std::uint8_t {
  forward,
  backward,
  update,          ///< the optimizer
  all_reduce,      ///< sums a bucket, or a shard's gradients over the replicas
  all_gather,      ///< the weights of a unit
  reduce_scatter,  ///< the gradients of a unit
};
inline constexpr std::size_t overlap_kind_count = 6;
constexpr bool is_network(OverlapKind kind) { return kind >= OverlapKind::all_reduce; }

/// One piece of work. It starts when the one before it on its stream has ended and both that it needs have; -1: none.
struct OverlapTask {
  OverlapKind kind = OverlapKind::forward;
  std::int32_t item = 0;  ///< the unit; of an all-reduce of DDP the bucket
  double work_s = 0;      ///< with the GPU to itself
  double bytes = 0;       ///< the whole buffer of a collective
  std::array<std::int32_t, 2> needs{-1, -1};
};

/// Figures of a step as a whole.
struct OverlapTotals {
  double makespan_s = 0;
  double compute_s = 0;  ///< all work of the compute stream, with the GPU to itself
  double slowed_s = 0;   ///< what its kernels take beyond that because collectives run meanwhile
  double exposed_s = 0;  ///< the compute stream waits; compute_s + slowed_s + exposed_s = makespan_s
  double network_s = 0;  ///< a collective runs
  double tail_s = 0;     ///< from the end of the last backward to the end of the last collective after it
};
struct OverlapRun : OverlapTotals {
  std::vector<double> start_s, end_s;  ///< when each task starts and ends
};

/// Runs tasks, each stream in the order of the list, from time 0. Beside a collective, compute runs at 1 / (1 +
/// `slowdown`) of its speed; collectives keep theirs. A need must stand before its task in the list, so that nothing
/// can wait for ever. O(tasks).
OverlapRun run_overlap(std::span<const OverlapTask> tasks, double slowdown);

}  // namespace models::parallel
