#pragma once
#include <vector>

#include "models/memory/state_bytes.h"

/// What FSDP and ZeRO-3 make whole for a while: a unit's weights where it computes, the next one's on their way, and
/// its gradient until it is reduced to shards.
namespace models::memory {

enum class UnitKind : std::uint8_t { embedding, layer, head };

/// What is gathered at once: a layer, the embedding, or the output matrix with the final norm. The units of
/// torchtitan's and FSDP2's usual wrapping.
struct GatherUnit {
  UnitKind kind = UnitKind::layer;
  std::int64_t layer = 0;  ///< The layer's place in the model, 0-based, where the unit is a layer.
  double parameters = 0;   ///< on this GPU, before ZeRO splits them
  double held = 0;         ///< The part of `parameters` in this GPU's shard.
  double trained = 0;      ///< parameters whose gradients are reduced: all of them, or its adapters
};
/// The units of the plan's stage, in the order of the forward pass. A matrix that is embedding and output is one unit,
/// the first, and stays whole from the first use to the last.
std::vector<GatherUnit> gather_units(const Architecture& architecture, const TrainingPlan& plan);

/// True where weights and gradients of sharded units are whole for all micro-batches of a pipeline.
bool stays_whole(const TrainingPlan& plan);
/// True where weights are shards, or wait in the host's memory.
bool gathers_units(const TrainingPlan& plan);
/// Bytes of an element of gathered weights and of their unreduced gradients: what the products read.
double gathered_bytes_each(const Architecture& architecture, const TrainingPlan& plan);
/// Bytes of an element in the input of the reduction.
double reduced_bytes_each(const Architecture& architecture, const TrainingPlan& plan);

/// Bytes that are whole on top of the shards.
struct WholeUnits {
  double at_work = 0;        ///< weights of the unit that computes, and of those that stay whole
  double ahead = 0;          ///< weights of the units gathered before they are needed
  double gradient = 0;       ///< Gradients at work, not yet reduced; a tied matrix's until both of its uses are done.
  double reducing = 0;       ///< gradient of the unit before, in the reduction
  std::ptrdiff_t unit = -1;  ///< the one at work, index in gather_units; -1: nothing is gathered
  double total() const { return at_work + ahead + gradient + reducing; }
};

/// While `unit` goes forward: its weights, and those that are gathered ahead of it.
WholeUnits whole_in_forward(const std::vector<GatherUnit>& units, std::size_t unit, const Architecture& architecture,
                            const TrainingPlan& plan);
/// While `unit` goes backward. FSDP2 gathers the next unit's weights meanwhile, keeps the reduction of the unit behind
/// it in flight, and gives the weights up at the end (torch.distributed.fsdp.fully_shard). `gradient` is left at 0:
/// how much of it is there depends on how far the unit has come.
WholeUnits whole_in_backward(const std::vector<GatherUnit>& units, std::size_t unit, const Architecture& architecture,
                             const TrainingPlan& plan);

}  // namespace models::memory
