#pragma once
#include <cstdint>
#include <vector>

#include "models/fleet/detector.h"
#include "models/fleet/scaling_tax.h"

/// A new release of the training software, tried on ever more GPUs next to what past releases reached there.
namespace models::fleet {

/// What is wrong with the release. All of them are examples.
enum class Release : std::uint8_t {
  as_before,       ///< nothing
  rare_pauses,     ///< every GPU pauses now and then: nothing on few GPUs, a pause in most steps of many
  slower_kernels,  ///< products take longer, the same on any number of GPUs
  gradients_wait,  ///< nothing hides gradients and weights any more
  half_network     ///< half the rate between nodes
};
inline constexpr std::size_t release_count = 5;
/// Chance that a GPU pauses in a step, and how long, as a share of the step's computation.
inline constexpr double rare_pause_share = 1e-4, rare_pause_size = 0.3;
inline constexpr double slower_kernel_share = 0.05;

/// How a release is judged: `looks` at its rate on each number of GPUs, each with a spread of `run_spread` (a share).
struct CanarySetup {
  Release release = Release::rare_pauses;
  Detector rule{};
  double run_spread = 0.01;
  std::int64_t looks = 10;
};

/// The release on some of the GPUs.
struct CanaryRung {
  std::int64_t gpus = 0;
  double past_mfu = 0, mfu = 0;  ///< shares: what past releases reach, and this one
  double shortfall = 0;          ///< share of the rate that is missing
  double found = 0;              ///< chance that the rule raises an alarm within the looks
  double looks = 0;              ///< until then, the mean of those found
};
/// One rung for each doubling of whole copies, and all GPUs. Work a GPU is the same on all of them.
std::vector<CanaryRung> canary_rungs(const parallel::PlannerJob& job, const memory::TrainingPlan& plan,
                                     const CanarySetup& setup);

/// Chance that the rule raises an alarm within the looks at one rung, though nothing is wrong.
double canary_false_alarm(const CanarySetup& setup);

}  // namespace models::fleet
