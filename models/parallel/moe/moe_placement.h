#pragma once
#include <cstdint>
#include <vector>

#include "models/base/result.h"

/// Which rank of an expert-parallel group holds which experts.
namespace models::parallel {

enum class MoePlacementRule : std::uint8_t {
  contiguous,   ///< rank 0 holds the first experts, rank 1 the next
  round_robin,  ///< expert e lies on rank e mod ranks
  by_load,      ///< packed so that the fullest rank has little: heaviest first, then swaps while they help
  replicated    ///< as by_load, with spare slots that hold copies of the heaviest experts
};
inline constexpr std::size_t moe_placement_rule_count = 4;

struct MoePlacementSetting {
  MoePlacementRule rule = MoePlacementRule::contiguous;
  std::int64_t ranks = 8, nodes = 1;
  std::int64_t spare_slots = 1;  ///< Spare slots of each rank under `replicated`.
  bool within_nodes = false;     ///< experts stay on the node that a contiguous placement gives them
};

struct MoePlacement {
  std::vector<std::vector<std::int32_t>> experts;  ///< by rank, in the order of its slots
  std::vector<std::vector<std::int32_t>> ranks;    ///< by expert: those that hold a copy of it
};

/// Places experts for the load that each had, any unit. Every rank gets as many slots. Refuses with a sentence where
/// experts do not divide evenly over the ranks, and where `within_nodes` cannot be kept.
/// Source: the balanced packing and replication of EPLB (DeepSeek 2025): each further copy goes to the expert with the
/// most load a copy, and slots, heaviest first, to the emptiest rank with room.
Result<MoePlacement> place_experts(const MoePlacementSetting& setting, const std::vector<double>& load);

/// Load of each rank; an expert's is shared evenly by its copies.
std::vector<double> rank_loads(const MoePlacement& placement, const std::vector<double>& load);

}  // namespace models::parallel
