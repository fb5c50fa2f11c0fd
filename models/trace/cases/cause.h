#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

/// What can be wrong with a training job, and what helps against it.
namespace models::trace {

enum class Cause : std::uint8_t {
  nothing,
  slow_loader,
  pageable_copy,
  garbage_collection,
  recompilation,
  hidden_sync,
  small_kernels,
  throttled_rank,
  bad_link,
  uneven_batch,
  late_bucket,
  checkpoint_write,
  page_faults,
  clock_drop,
  contention,
  // Recordings of real jobs have these, and no case is dealt with them.
  late_rank,         ///< one rank comes last to the collectives, and nothing on it says why
  slow_first_launch  ///< a kernel's first launch loads its code
};
inline constexpr std::size_t cause_count = 17, dealt_cause_count = 15;

enum class Fix : std::uint8_t {
  nothing,
  more_workers,
  pinned_memory,
  collect_by_hand,
  fixed_shapes,
  keep_on_device,
  fuse_kernels,
  replace_gpu,
  other_link,
  balance_batches,
  smaller_buckets,
  save_in_background,
  reuse_buffers,
  lock_clocks,
  machine_alone,
  even_ranks,  ///< the rank that comes late does what holds it up with the others
  warm_up      ///< launches every kernel once before the run counts
};
inline constexpr std::size_t fix_count = 17;

/// Does this fix take this fault away? Some take several: another GPU is neither throttled nor shared.
bool fixes(Fix fix, Cause cause);

/// Is the fault in code that all ranks run, or in what they share, and not in one rank?
bool of_all_ranks(Cause cause);

}  // namespace models::trace
