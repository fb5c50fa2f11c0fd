#include "models/sheet/sheet_training.h"

#include <algorithm>
#include <numeric>

namespace models::sheet {

TrainingCase::TrainingCase(const WorkCase& work) : work_(work) {
  job_.architecture = *work.request.architecture;
  job_.chip = work.request.chip;
  job_.batch = work.micro_batch * work.pieces;
  job_.sequence = work.sequence;
  job_.micro_batches = work.pieces;
  job_.found_format = Format::fp32;
}

SwitchSet TrainingCase::modern() {
  return SwitchSet()
      .with(StepSwitch::bf16)
      .with(StepSwitch::compile)
      .with(StepSwitch::fused_optimizer)
      .with(StepSwitch::flash)
      .with(StepSwitch::overlap);
}

double exchange_s(const WorkCase& work, double bytes, AllReduceAlgorithm algorithm) {
  return all_reduce_time(algorithm, {work.gpus, work.gpus_per_node}, work.links, bytes).total_s();
}

std::optional<double> TrainingCase::step_s(SwitchSet on) const {
  const auto made = switched_step(job_, on);
  if (!made) return std::nullopt;
  const double kernels_s = std::accumulate(made->kernel_s.begin(), made->kernel_s.end(), 0.0);
  const double update_s = made->setup.update_bytes * made->setup.parameters / made->setup.optimizer_bytes_per_s;
  const double behind_s = made->backward_flops / (made->forward_flops + made->backward_flops) * kernels_s;
  double exposed_s = exchange_s(work_, made->setup.gradient_bytes, AllReduceAlgorithm::ring);
  // Of pieces that are added up, only the last one's backward pass has the exchange beside it.
  const double pieces = on.has(StepSwitch::accumulate) ? static_cast<double>(work_.pieces) : 1;
  if (on.has(StepSwitch::overlap)) exposed_s = std::max(0.0, exposed_s - behind_s / pieces);
  return kernels_s + update_s + exposed_s;
}

Result<memory::TrainingMemory> TrainingCase::held(const memory::TrainingPlan& plan) const {
  return memory::training_memory(job_.architecture, plan);
}

}  // namespace models::sheet
