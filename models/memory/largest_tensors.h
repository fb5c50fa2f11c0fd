#pragma once
#include <string>
#include <vector>

#include "models/memory/step_timeline.h"

/// The tensors that stand in memory when it is fullest.
namespace models::memory {

/// Tensors that are alike.
struct TensorRow {
  std::string name;
  MemoryOwner owner{};
  double each_bytes = 0, count = 0;  ///< The bytes of one on this GPU; how many are there at the peak.
  double total_bytes() const { return each_bytes * count; }
};

/// What is held at the timeline's peak, the largest tensor first. Weights, gradients, master and moments by the matrix
/// that they belong to (optimizers that treat matrices apart, and gradients that are not all there, as one row), the
/// activations of every layer that is not at work by the operation that keeps them, the logits as equal arrays where
/// they are such. What is left of an owner, the layer at work for example, is one row. The rows of an owner add up to
/// what it holds. The timeline must be made with these very settings.
std::vector<TensorRow> largest_tensors(const Architecture& architecture, const TimelineSetting& setting,
                                       const StepTimeline& timeline);

}  // namespace models::memory
