#include "models/training/speedup_stack.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace models {
namespace {

constexpr auto data_index = static_cast<std::size_t>(StackPart::data);

double sum_of(const StackTimes& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

/// What stands in the step of parts that take `work_s` each.
StackTimes visible(const StackTimes& work_s, bool loader_beside) {
  StackTimes shown = work_s;
  if (loader_beside) shown[data_index] = std::max(0.0, work_s[data_index] - (sum_of(work_s) - work_s[data_index]));
  return shown;
}

StackTimes after(const StackTimes& work_s, const StackTechnique& technique) {
  StackTimes faster = work_s;
  for (std::size_t i = 0; i < stack_part_count; ++i) faster[i] /= technique.factor[i];
  return faster;
}

}  // namespace

Result<SpeedupStack> stack_speedups(const StackTimes& parts_s, std::span<const StackTechnique> techniques,
                                    bool loader_beside) {
  using Out = Result<SpeedupStack>;
  for (const double part : parts_s)
    if (!(part >= 0 && std::isfinite(part))) return Out::fail("No part of the step may take less than no time.");
  if (!(sum_of(parts_s) > 0)) return Out::fail("A step needs at least one part that takes time.");
  SpeedupStack stack;
  StackTimes work = parts_s, untouched = parts_s, touched{};
  const StackTimes first = visible(work, loader_beside);
  stack.stages.push_back({.part_s = first, .step_s = sum_of(first)});
  const double base_s = stack.stages.front().step_s;
  for (const StackTechnique& technique : techniques) {
    double before = 0, then = 0;
    for (std::size_t i = 0; i < stack_part_count; ++i) {
      if (!(technique.factor[i] > 0 && std::isfinite(technique.factor[i])))
        return Out::fail("A technique makes its parts some number above 0 times as fast.");
      if (!technique.touches(static_cast<StackPart>(i))) continue;
      before += parts_s[i];
      then += parts_s[i] / technique.factor[i];
      untouched[i] = 0;
      if (touched[i]++ > 0) stack.disjoint = false;
    }
    work = after(work, technique);
    StackStage stage;
    stage.part_s = visible(work, loader_beside);
    stage.step_s = sum_of(stage.part_s);
    stage.saved_s = stack.stages.back().step_s - stage.step_s;
    // What is only the rounding of sums is nothing.
    if (std::abs(stage.saved_s) <= 1e-12 * stage.step_s) stage.saved_s = 0;
    stage.gain = stack.stages.back().step_s / stage.step_s;
    stage.alone_gain = base_s / sum_of(visible(after(parts_s, technique), loader_beside));
    stage.own_factor = then > 0 ? before / then : 1;
    stack.own_product *= stage.own_factor;
    stack.alone_product *= stage.alone_gain;
    stack.stages.push_back(stage);
  }
  stack.speedup = base_s / stack.stages.back().step_s;
  stack.ceiling = base_s / sum_of(visible(untouched, loader_beside));
  if (loader_beside && parts_s[data_index] > 0) stack.disjoint = false;
  return Out::ok(std::move(stack));
}

}  // namespace models
