#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/result.h"

/// Several speed-ups of one step, each of them on some of its parts: what they give together, and what their product
/// would promise.
namespace models {

/// Parts of a step that follow one another on the device, and the loader. The loader's part stands last.
enum class StackPart : std::uint8_t { forward, backward, optimizer, rest, data };
inline constexpr std::size_t stack_part_count = 5;
using StackTimes = std::array<double, stack_part_count>;

/// Makes each part `factor` times as fast; 1 leaves its time as it is.
struct StackTechnique {
  StackTimes factor{1, 1, 1, 1, 1};
  std::array<bool, stack_part_count> acts{};  ///< touched even at a factor of 1, so that bounds do not depend on it
  bool touches(StackPart part) const {
    const auto i = static_cast<std::size_t>(part);
    return acts[i] || factor[i] != 1;
  }
};

/// The step after one more technique.
struct StackStage {
  StackTimes part_s{};    ///< as they stand in the step: of a loader beside the device, what is waited for it
  double step_s = 0;      ///< their sum
  double saved_s = 0;     ///< against the stage before; below 0 where it got slower
  double gain = 1;        ///< step before / step after
  double alone_gain = 1;  ///< the same of this technique alone, on the step as it was at first
  double own_factor = 1;  ///< how much faster the parts that it touches get, taken together, as they were at first
};

struct SpeedupStack {
  std::vector<StackStage> stages;  ///< the first is the step as it was; then one a technique, in order
  double speedup = 1;              ///< first step / last step
  double own_product = 1;          ///< product of own_factor: what multiplying the techniques' own speed-ups promises
  double alone_product = 1;        ///< product of alone_gain: what multiplying whole-step gains measured alone promises
  double ceiling = 1;              ///< largest speed-up, were everything that is touched to take no time
  bool disjoint = true;            ///< no part is touched twice, and no loader hides behind the device
};

/// With `loader_beside` the loader works while the device does, and the step waits only for what is left:
/// max(0, data - everything else). Fails in a sentence where a time is below 0, all are 0, or a factor is not above 0.
/// The end does not depend on the order. Source: Amdahl, AFIPS 1967; Hennessy, Patterson, section 1.9.
Result<SpeedupStack> stack_speedups(const StackTimes& parts_s, std::span<const StackTechnique> techniques,
                                    bool loader_beside);

}  // namespace models
