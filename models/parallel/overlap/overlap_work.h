#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/result.h"
#include "models/machine/roofline.h"
#include "models/memory/training_plan.h"
#include "models/transformer/transformer.h"

/// What one GPU computes in a step, cut where gradients appear, and the buckets that the gradients are put into.
namespace models::parallel {

/// What is run as one: the embedding, some layers, or final norm, output matrix and loss. Times are of a GPU that does
/// nothing else meanwhile.
struct OverlapUnit {
  std::string name;
  double elements = 0;  ///< parameters; those of a tied output matrix are the embedding's
  double forward_s = 0, backward_s = 0;
};

/// The gradient of one parameter tensor.
struct GradientTensor {
  std::int64_t elements = 0;
  std::int32_t unit = 0;     ///< whose backward completes it
  double after_share = 1.0;  ///< the share of that unit's backward that is done when it is there
};

/// Figures of the work as a whole.
struct OverlapWorkTotals {
  double forward_s = 0, backward_s = 0, optimizer_s = 0;
  double elements = 0;      ///< all parameters
  double active_share = 1;  ///< the share of the layers' parameters that a token uses
  double tokens = 0;        ///< tokens of the GPU's batch
  double state_bytes = 0;   ///< weights, gradients, master weights and moments of the GPU, at rest
};
struct OverlapWork : OverlapWorkTotals {
  std::vector<OverlapUnit> units;       ///< in the order of the forward pass
  std::vector<GradientTensor> tensors;  ///< in the order in which their gradients appear
  bool tied = false;                    ///< the output matrix is the embedding's
  bool runs_again = false;              ///< each layer's forward runs again before its backward
};

/// Times come from memory::operation_times; the gradients of an operation's parameters appear when its backward ends,
/// operations in reverse order, those of a tied output matrix with the embedding's. A mixture of experts has a tensor
/// an expert and matrix. With Recompute::full each layer's forward runs again first. Infeasible: as operation_times.
Result<OverlapWork> overlap_work(const Architecture& architecture, const memory::TrainingPlan& plan,
                                 const Machine& machine, double roof_share);

/// The same work with `layers` layers in each unit between embedding and output; the last may have fewer.
OverlapWork with_units_of(const OverlapWork& work, std::int64_t layers);

/// Gradients that are summed in one all-reduce: tensors [first, last).
struct GradientBucket {
  std::size_t first = 0, last = 0;
  double bytes = 0;
};
inline constexpr double mebibyte = 1024.0 * 1024.0;

/// Buckets as PyTorch's DDP has them from the second step on: tensors in the order in which their gradients appeared
/// are added to a bucket until it has reached `first_bytes`, the later ones until `bytes`; a bucket is closed by the
/// tensor that reaches the limit, so that it may be larger. Source: compute_bucket_assignment_by_size and
/// rebuild_buckets in torch/csrc/distributed/c10d/reducer.cpp; limits: 1 MiB and 25 MiB, or the same one for both where
/// bucket_cap_mb is given (torch/nn/parallel/distributed.py of 2.11).
std::vector<GradientBucket> gradient_buckets(std::span<const GradientTensor> tensors, double element_bytes,
                                             double first_bytes, double bytes);

}  // namespace models::parallel
