#pragma once
#include <cstdint>
#include <vector>

#include "models/base/result.h"
#include "models/parallel/topology/topology_placement.h"
#include "models/transformer/transformer.h"

namespace models::parallel {

/// A training step as its messages see it. Numbers that travel have two bytes, gradients too.
struct TopologyWork {
  std::int64_t sequences = 1;      ///< Sequences of a micro-batch.
  std::int64_t tokens = 4096;      ///< Tokens of a sequence.
  std::int64_t micro_batches = 8;  ///< Micro-batches of a step, on every replica.
};

/// What every axis of the plan with more than one rank sends in a step of training. Tensor: an all-reduce of the
/// activations behind attention and one behind the feed-forward, in the forward and in the backward pass (Shoeybi and
/// others 2019; sequence parallelism cuts each in two halves of the same bytes). Context: keys and values gathered
/// once in the forward and once in the backward pass, and their gradients scattered. Pipeline: activations forward and
/// gradients backward, each micro-batch, cut over the tensor ranks. Data: gradients once a step. Expert: tokens to
/// their experts and back, forward and backward. Expert data: gradients of experts, once a step.
/// Fails with a sentence: experts of a dense model, more stages than layers, a sequence that the ranks do not divide.
Result<std::vector<TopologyCall>> topology_calls(const Architecture& architecture, const TopologyWork& work,
                                                 const TopologyPlan& plan);

}  // namespace models::parallel
