#pragma once
#include <optional>

#include "models/sheet/techniques.h"
#include "models/training/step_switches.h"

/// The training side of the page: a step of the case under switches and plans.
namespace models::sheet {

/// The job of the case, and what each set of switches makes of a step of it.
class TrainingCase {
 public:
  explicit TrainingCase(const WorkCase& work);
  /// Kernels, update and exposed exchange, s; nothing where the chip cannot do it.
  std::optional<double> step_s(SwitchSet on) const;
  Result<SwitchedStep> step(SwitchSet on) const { return switched_step(job_, on); }
  Result<memory::TrainingMemory> held(const memory::TrainingPlan& plan) const;
  static SwitchSet modern();

 private:
  const WorkCase& work_;
  SwitchedJob job_;
};

/// Time of the gradients' exchange, s: all `gpus` as one group.
double exchange_s(const WorkCase& work, double bytes, AllReduceAlgorithm algorithm);

}  // namespace models::sheet
