#pragma once
#include <cstdint>
#include <string_view>

#include "models/base/result.h"
#include "models/machine/all_reduce_time.h"
#include "models/machine/hardware.h"
#include "models/memory/training_plan.h"
#include "models/parallel/planner/planner_constants.h"

/// What is trained, on what and by which software: everything that a plan is priced against.
namespace models::parallel {

/// GPUs of one kind. Rates are of one GPU; those of links are of one direction.
struct PlannerCluster {
  std::int64_t gpus = 8, gpus_per_node = 8;
  double peak_flops_per_s = 0;       ///< The peak of 16-bit products.
  double fast_peak_flops_per_s = 0;  ///< The peak in the format of the products inside the layers.
  double memory_bytes = 0, memory_bandwidth_bytes_per_s = 0;
  double link_inside_bytes_per_s = 0, link_between_bytes_per_s = 0;  ///< as printed; shares are in `curve`
  PlannerCurve curve;
};

struct PlannerJob {
  Architecture architecture;
  PlannerCluster cluster;
  PlannerStack stack;
  Format format = Format::bf16;  ///< Format of the products inside the layers: 16, 8 or 4 bits; the rest is 16 bits.
  std::int64_t global_batch = 256, sequence = 4096;
  std::int64_t shard_group = 0;  ///< ZeRO splits states over so many ranks; 0: over all of data parallel
};

/// The cluster of a chip of the catalog. `gpus_per_node` is that of the chip's usual box: 8, or the 72 of an NVL72 rack
/// rounded down to a power of two. `network_bytes_per_s`: of one GPU's port, 0 takes that of the generation.
/// Infeasible: a chip that states no 16-bit peak or no link.
Result<PlannerCluster> planner_cluster(const Chip& chip, std::int64_t gpus, Format format,
                                       double network_bytes_per_s = 0);

}  // namespace models::parallel
