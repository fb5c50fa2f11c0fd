#pragma once
#include "models/base/result.h"
#include "models/machine/roofline.h"
#include "models/training/adapters.h"

/// Many adapters on one base model in decode: what a step reads besides the base, against a merged copy for each.
namespace models::adapters {

struct ServingSetup {
  std::int64_t batch = 64;      ///< sequences that are decoded together
  std::int64_t context = 2048;  ///< tokens in the cache of each
  std::int64_t distinct = 16;   ///< adapters among them, evenly; at most one for each sequence
  Targets targets = Targets::query_value;
  double rank = 16;
  double memory_bytes = 80e9;  ///< The chip's.
};

struct ServedStep {
  double adapter_bytes = 0;    ///< one, 16 bits
  double base_s = 0;           ///< a step of the base model alone
  double adapters_s = 0;       ///< what the pairs add to it
  double read_bytes = 0;       ///< What a step reads of the adapters.
  double base_bytes = 0;       ///< What a step moves of weights, cache and activations.
  double flops_per_token = 0;  ///< What the pairs add.
  double base_flops_per_token = 0;
  double merged_s = 0;      ///< a token for every sequence where each adapter has a merged copy: one after the other
  double adapters_fit = 0;  ///< beside base and cache
  double merged_fit = 0;    ///< copies of the model beside the cache; 0: not even the base that adapters share
  double step_s() const { return base_s + adapters_s; }
  double tokens_per_s(std::int64_t batch) const { return static_cast<double>(batch) / step_s(); }
};

/// Pairs are read once for each adapter in the batch, as batched gathering kernels do (Punica's SGMV, Chen et al. 2023;
/// S-LoRA, Sheng et al. 2023), two kernels a matrix and layer. A launch adds to the time. Merged copies read their
/// whole model for their own sequences alone. Times are those of a chip that holds it all: whether it does, the last
/// two say. Infeasible: more adapters than sequences; a machine without peak or bandwidth.
Result<ServedStep> served_step(const Architecture& architecture, const ServingSetup& setup, const Machine& machine);

}  // namespace models::adapters
