#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/base/result.h"
#include "models/machine/all_reduce_time.h"
#include "models/machine/hardware.h"
#include "models/memory/training_plan.h"
#include "models/parallel/collectives/collective_machine.h"
#include "models/parallel/context/context_ring.h"
#include "models/parallel/planner/planner_constants.h"

/// What is trained, on what and by which software: everything that a plan is priced against.
namespace models::parallel {

/// How GPUs are put together. 0 takes what is usual for the chip, and a latency below 0 that of NCCL's tuner.
struct PlannerSite {
  std::int64_t gpus = 8, gpus_per_node = 0;
  double network_bytes_per_s = 0;  ///< The port of one GPU, one direction.
  double network_latency_s = -1;   ///< One step to a neighbour on another node.
  /// Switches inside a node may add up all-reduces (NVLink SHARP) where they can. The constants were set without.
  bool in_switch = false;
  /// The network's switches may add all-reduces that leave a node (InfiniBand's SHARP). The constants were set without.
  bool in_network = false;
};

/// Bytes of a GPU's memory that a training framework cannot use, where nobody says otherwise: the CUDA context and the
/// communicators' buffers. Assumed; a job that keeps more or less of it free sets it itself.
inline constexpr double kept_free_bytes = 2e9;

/// GPUs of one kind. Rates are of one GPU; those of links are of one direction.
struct PlannerCluster {
  std::int64_t gpus = 8, gpus_per_node = 8;
  double peak_flops_per_s = 0;       ///< The peak of 16-bit products.
  double fast_peak_flops_per_s = 0;  ///< The peak in the format of the products inside the layers.
  double memory_bytes = 0, memory_bandwidth_bytes_per_s = 0;
  double link_inside_bytes_per_s = 0, link_between_bytes_per_s = 0;  ///< as printed; shares are in `curve`
  /// What a rank's links carry while a node's switches add (in_switch_sums), and the latency; 0: none adds.
  double switch_bytes_per_s = 0, switch_latency_s = 0;
  /// The node and its ports as the collectives lab has them, where the network's switches add; nothing: none does.
  std::optional<CollectiveMachine> adding_network;
  /// A GPU's link to its host, one direction, and its part of the host's memory bandwidth, which is assumed.
  double host_link_bytes_per_s = 0, host_memory_bytes_per_s = 50e9;
  PlannerCurve curve;
  ChipGeneration generation = ChipGeneration::other;  ///< whose shares `curve` has
  /// Chips along each dimension of the torus that joins those of a slice, which is then the node; 0: no torus.
  std::array<std::int64_t, 3> torus{};
  double torus_link_bytes_per_s = 0, torus_hop_s = 0;  ///< one link, one direction; one step to a neighbour
  bool is_torus() const { return torus[0] > 0; }
  bool compared = true;  ///< Published runs of this chip are among those that the planner is held against.
};

/// Adapters beside frozen weights in place of training all weights.
struct PlannerAdapters {
  double rank = 0;  ///< 0: all weights are trained
  memory::AdapterTargets targets = memory::AdapterTargets::attention;
  double frozen_bytes = 2;  ///< Bytes of a frozen matrix's element.
};

struct PlannerJob {
  Architecture architecture;
  PlannerCluster cluster;
  PlannerStack stack;
  Format format = Format::bf16;  ///< Format of the products inside the layers: 16, 8 or 4 bits; the rest is 16 bits.
  std::int64_t global_batch = 256, sequence = 4096;
  /// How sequences are shared over the context ranks; nothing: the way that leaves least uncovered.
  std::optional<ContextMethod> context_method{};
  PlannerAdapters adapters{};
};

/// The cluster of a chip of the catalog; a usual box has 8 GPUs, one of Grace Hoppers 4, an NVL72 rack 72, and chips of
/// a torus are a slice as large as the GPUs are, a pod at most, whose sides are as even as they can be. Shares of a
/// chip that no run was compared with are those of its generation, or priors. Infeasible: a chip that states no 16-bit
/// peak or no link.
Result<PlannerCluster> planner_cluster(const Chip& chip, const PlannerSite& site, Format format);

}  // namespace models::parallel
