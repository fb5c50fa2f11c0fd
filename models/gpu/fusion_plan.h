#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "models/gpu/fusion_kernel.h"

/// A chain cut into kernels: what it moves and how long it takes, and how a compiler cuts it.
namespace models::gpu {

struct OpRun {
  int first = 0, last = 0;  ///< both included
  bool operator==(const OpRun&) const = default;
};

struct FusionPlan {
  std::vector<FusedKernel> kernels;
  double bytes = 0, l2_bytes = 0;
  double device_s = 0;  ///< kernels and their starts
  double host_s = 0;    ///< launches and graph breaks
  double time_s = 0;    ///< the longer of the two: the host runs ahead
  std::int64_t trips = 0;
};
/// Infeasible where one of the runs is.
Result<FusionPlan> price_plan(const FusionChain& chain, const std::vector<OpRun>& runs, int breaks,
                              const FusionMachine& machine);

/// Each operation a kernel, but those from `first` to `last` one, which a graph break behind operation `break_after`
/// (counted from 1; 0: none) cuts in two.
std::vector<OpRun> lasso(const FusionChain& chain, int first, int last, int break_after);
/// Operations `first` to `last` as torch.compile cuts them: a product is a kernel of a library with its bias,
/// element-wise operations and norms that follow one another are one kernel, product, softmax and product are one
/// attention; `epilogues` (max-autotune): a product takes the element-wise operations behind it. No kernel crosses a
/// graph break.
std::vector<OpRun> compiled_runs(const FusionChain& chain, int first, int last, int break_after, bool epilogues);
/// What a compiler takes for it: "library product", "product with epilogue" (or with work before it), "two
/// products", "attention", "reduction", "pointwise".
std::string_view kernel_kind(const FusionChain& chain, const OpRun& run);

/// Tensors that kernels of the plan hand to one another.
struct BufferPlan {
  int buffers = 0;
  double sum_bytes = 0;   ///< each in its own place
  double peak_bytes = 0;  ///< alive at once: what is read last by a kernel is free behind it
};
BufferPlan plan_buffers(const FusionChain& chain, const std::vector<OpRun>& runs, bool backward);

}  // namespace models::gpu
