#pragma once
#include <cstdint>
#include <vector>

#include "models/memory/step_timeline.h"

/// What the memory of several steps in a row does: whether it comes back, once stays higher, or grows and grows.
namespace models::memory {

/// One step of a timeline.
struct StepLevels {
  HeldBytes begin, end;   ///< when it begins; when the next one does
  double peak_bytes = 0;  ///< its fullest moment
};
/// All steps of a timeline, in order.
std::vector<StepLevels> step_levels(const StepTimeline& timeline);

enum class MemoryTrend : std::uint8_t {
  one_step,  ///< one step says nothing of the next
  sawtooth,  ///< every step ends where it began
  plateau,   ///< the first step ends higher, the later ones end where they began
  leak,      ///< every step after the first ends higher than it began
  mixed      ///< none of these
};
inline constexpr std::size_t memory_trend_count = 5;

struct TrendFacts {
  MemoryTrend trend = MemoryTrend::one_step;
  double growth_bytes = 0;                   ///< Growth in the first step of a plateau, in each later step of a leak.
  MemoryOwner grows = MemoryOwner::buffers;  ///< the owner that grows most where something grows
  double first_over = 0;                     ///< The first step of a leak that is over the limit, from 1; 0: none.
};
/// `limit_bytes`: of the chip. A leak is continued by what its last step grew.
TrendFacts memory_trend(const std::vector<StepLevels>& steps, double limit_bytes);

/// How much higher the last micro-batch of the first step peaks than its first one; 0 where there is one.
double micro_batch_growth(const StepTimeline& timeline);

}  // namespace models::memory
