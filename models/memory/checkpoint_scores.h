#pragma once
#include "models/memory/checkpoint_plan.h"

namespace models::memory {

/// Whether every mixture of kept layers, kept ones without their scores and pieces that run again can be tried: layers
/// of one kind, at most `max_exact_layers` of them.
bool every_mixture_is_tried(std::span<const LayerCost> layers);
inline constexpr std::size_t max_exact_layers = 80;

/// The smallest peak for every number of layers that run again and every number that are without their scores, over all
/// ways to place them: dynamic programming from the last layer to the first, n^4 / 24 steps for n layers. The layers
/// must be of one kind. Points in no order; those that no faster one is smaller than are among them.
std::vector<FrontierPoint> frontier_with_scores(std::span<const LayerCost> layers, const CheckpointEnds& ends);

}  // namespace models::memory
