#include <algorithm>
#include <limits>
#include <numeric>

#include "chapters/role/compounding/lab.h"

namespace chapters::role::compounding {
namespace {

using Sequence = std::array<std::size_t, technique_count>;

models::StackTimes times_of(const Inputs& in) {
  return {in.forward_s, in.backward_s, in.optimizer_s, in.rest_s, in.data_s};
}

/// Seconds that a technique takes off its own parts.
double own_saving(const Inputs& in, std::size_t technique) {
  const models::StackTechnique t = stack_technique(in.techniques[technique]);
  const models::StackTimes parts = times_of(in);
  double saved = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) saved += parts[i] * (1 - 1 / t.factor[i]);
  return saved;
}

Sequence sequence_of_number(std::int64_t number) {
  Sequence sequence{};
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  for (std::int64_t i = 1; i < number; ++i) std::next_permutation(sequence.begin(), sequence.end());
  return sequence;
}

double step_of(const Inputs& in, std::vector<models::StackTechnique> techniques) {
  const auto stack = models::stack_speedups(times_of(in), techniques, in.loader_beside);
  return stack ? stack->stages.back().step_s : 0;
}

/// The technique's largest gain over its smallest, whichever of the others were applied before it.
double widest_gain(const Inputs& in, const std::vector<models::StackTechnique>& others,
                   const models::StackTechnique& one) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (std::size_t set = 0; set < std::size_t{1} << others.size(); ++set) {
    std::vector<models::StackTechnique> before;
    for (std::size_t i = 0; i < others.size(); ++i)
      if (set >> i & 1) before.push_back(others[i]);
    const double without_s = step_of(in, before);
    before.push_back(one);
    const double gain = without_s / step_of(in, before);
    least = std::min(least, gain);
    most = std::max(most, gain);
  }
  return most / least;
}

}  // namespace

Sequence order_of(const Inputs& in) {
  if (in.order == Order::own) return sequence_of_number(in.own_order);
  Sequence sequence = sequence_of_number(1);
  if (in.order == Order::reversed) std::reverse(sequence.begin(), sequence.end());
  if (in.order == Order::largest || in.order == Order::smallest)
    std::stable_sort(sequence.begin(), sequence.end(), [&](std::size_t a, std::size_t b) {
      const double x = own_saving(in, a), y = own_saving(in, b);
      return in.order == Order::largest ? x > y : x < y;
    });
  return sequence;
}

std::int64_t order_number(const Sequence& order) {
  for (std::int64_t number = 1; number <= 120; ++number)
    if (sequence_of_number(number) == order) return number;
  return 1;
}

models::StackTechnique stack_technique(const Technique& t) {
  models::StackTechnique stack;
  const auto touch = [&](models::StackPart part) {
    stack.factor[static_cast<std::size_t>(part)] = t.factor;
    stack.acts[static_cast<std::size_t>(part)] = true;
  };
  const bool all = t.touches == Touch::everything, device = all || t.touches == Touch::device;
  const bool both = device || t.touches == Touch::forward_backward;
  if (both || t.touches == Touch::forward) touch(models::StackPart::forward);
  if (both || t.touches == Touch::backward) touch(models::StackPart::backward);
  if (device || t.touches == Touch::optimizer) touch(models::StackPart::optimizer);
  if (device || t.touches == Touch::rest) touch(models::StackPart::rest);
  if (all || t.touches == Touch::data) touch(models::StackPart::data);
  return stack;
}

Computed compute(const Inputs& in) {
  Outputs out;
  std::vector<models::StackTechnique> techniques;
  for (const std::size_t i : order_of(in)) {
    if (!in.techniques[i].on) continue;
    techniques.push_back(stack_technique(in.techniques[i]));
    out.stages.push_back({.name = std::string(technique_name(i))});
  }
  auto stack = models::stack_speedups(times_of(in), techniques, in.loader_beside);
  if (!stack) {
    out.reason = stack.error;
    return {.facts = std::move(out)};
  }
  out.base_s = stack->stages.front().step_s;
  out.step_s = stack->stages.back().step_s;
  out.speedup = stack->speedup;
  out.own_product = stack->own_product;
  out.own_product_step_s = out.base_s / out.own_product;
  out.alone_product = stack->alone_product;
  out.alone_product_step_s = out.base_s / out.alone_product;
  if (std::isfinite(stack->ceiling)) out.ceiling = stack->ceiling;
  out.untouched_share = 100 / stack->ceiling;
  out.disjoint = stack->disjoint;
  out.saved_share = 100 * (1 - out.step_s / out.base_s);
  out.run_cost_after = in.run_cost / out.speedup;
  out.run_after_s = in.run_s / out.speedup;
  for (std::size_t k = 0; k < out.stages.size(); ++k) {
    const models::StackStage& stage = stack->stages[k + 1];
    std::vector<models::StackTechnique> others = techniques;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    StageRow& row = out.stages[k];
    row.own_factor = stage.own_factor;
    row.step_s = stage.step_s;
    row.saved_s = stage.saved_s;
    row.gain = stage.gain;
    row.first_gain = stage.alone_gain;
    row.last_gain = step_of(in, others) / out.step_s;
    out.widest = std::max(out.widest, widest_gain(in, others, techniques[k]));
  }
  return {std::move(out), std::make_shared<const Run>(Run{std::move(*stack)})};
}

}  // namespace chapters::role::compounding
