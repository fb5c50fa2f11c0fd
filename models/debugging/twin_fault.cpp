#include "models/debugging/twin_run.h"

namespace models::debugging {

bool comes_again(PlantedFault fault) {
  switch (fault) {
    case PlantedFault::stuck_bit:
    case PlantedFault::sum_order:
    case PlantedFault::ranks:
    case PlantedFault::skipped_batch:
    case PlantedFault::dropout_seed:
    case PlantedFault::learning_rate:
      return true;
    case PlantedFault::none:
    case PlantedFault::flipped_bit:
    case PlantedFault::lost_gradient:
    case PlantedFault::doubled_gradient:
    case PlantedFault::stale_weights:
      return false;
  }
  return false;
}

bool has_layer(PlantedFault fault) {
  return fault != PlantedFault::none && fault != PlantedFault::ranks && fault != PlantedFault::skipped_batch &&
         fault != PlantedFault::learning_rate;
}

bool has_rank(PlantedFault fault) {
  return fault == PlantedFault::stuck_bit || fault == PlantedFault::lost_gradient ||
         fault == PlantedFault::doubled_gradient || fault == PlantedFault::stale_weights;
}

TwinCell twin_cell(int index) {
  constexpr int n = twin_layers;
  if (index < n) return {TwinTensor::activation, index};
  if (index < 2 * n) return {TwinTensor::gradient, 2 * n - 1 - index};
  const int rest = index - 2 * n;
  return {rest % 2 == 0 ? TwinTensor::moment : TwinTensor::weight, rest / 2};
}

int twin_cell_index(TwinCell cell) {
  constexpr int n = twin_layers;
  switch (cell.tensor) {
    case TwinTensor::activation:
      return cell.layer;
    case TwinTensor::gradient:
      return 2 * n - 1 - cell.layer;
    case TwinTensor::moment:
      return 2 * n + 2 * cell.layer;
    case TwinTensor::weight:
      return 2 * n + 2 * cell.layer + 1;
  }
  return 0;
}

StepFault step_fault(const TwinFault& f, int step, const TwinParameters* stale) {
  StepFault plan;
  plan.arrival_order = !f.fixed_order;
  const bool begun = step >= f.step, now = step == f.step;
  switch (f.kind) {
    case PlantedFault::none:
    case PlantedFault::flipped_bit:
      break;
    case PlantedFault::stuck_bit:
      if (begun) plan.stuck = {.layer = f.layer, .rank = f.rank, .unit = f.entry % twin_width, .bit = f.bit};
      break;
    case PlantedFault::sum_order:
      if (begun) plan.other_order_layer = f.layer;
      break;
    case PlantedFault::ranks:
      if (begun) plan.ranks = 2;
      break;
    case PlantedFault::skipped_batch:
      if (begun) plan.batch_shift = 1;
      break;
    case PlantedFault::dropout_seed:
      if (begun) plan.other_dropout_layer = f.layer;
      break;
    case PlantedFault::lost_gradient:
    case PlantedFault::doubled_gradient:
      if (!now) break;
      plan.scaled_layer = f.layer;
      plan.scaled_rank = f.rank;
      plan.scaled_by = f.kind == PlantedFault::lost_gradient ? 0.0f : 2.0f;
      break;
    case PlantedFault::learning_rate:
      if (now) plan.rate_factor = static_cast<float>(f.factor);
      break;
    case PlantedFault::stale_weights:
      if (!now) break;
      plan.stale_layer = f.layer;
      plan.stale_rank = f.rank;
      plan.stale_weights = stale;
      break;
  }
  return plan;
}

}  // namespace models::debugging
