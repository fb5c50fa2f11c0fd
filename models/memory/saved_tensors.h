#pragma once
#include <span>
#include <string>
#include <vector>

#include "models/memory/training_plan.h"

/// What every operation of a layer leaves behind for the backward pass, counted from the same list of operations that
/// models/transformer times.
namespace models::memory {

/// One operation of a layer as memory sees it. Bytes are of one layer and one micro-batch on one GPU.
struct OperationMemory {
  std::size_t operation = 0;  ///< index in the list of operations
  double saved = 0;           ///< new bytes that the operation keeps: an input that is kept already counts once
  double dropped = 0;         ///< The part of `saved` that selective recomputation does not keep.
  /// How `dropped` comes back in the backward pass: scores before the product with the values, a tensor just before it
  /// is read, or a block's tensors all at once.
  enum class Comeback : std::uint8_t { scores, alone, with_block } comeback = Comeback::scores;
  double output = 0;           ///< bytes that it writes, without what another operation counts as its `saved` input
  double input_gradient = 0;   ///< bytes of the gradients of its inputs that the backward pass makes
  double weight_gradient = 0;  ///< elements of its weights on this GPU
  double gathered = 0;         ///< bytes of an input that sequence parallelism gathers again in the backward pass
  bool shares_input = false;   ///< reads the same input as the product before it
  std::string_view what;       ///< what is kept, in words: "input", "queries, keys, values"
};

/// Rules: a product keeps its input, a norm and an activation function what they read, attention its queries, keys and
/// values and the FP32 row sums; a result that the next product keeps is not counted twice; rotation and residual adds
/// keep nothing. With dropout a mask of a byte follows each block, and unfused attention keeps softmax, mask and
/// dropped result. For a GPT layer with dropout and unfused attention the sum is sbh (34 + 5as/h), the formula.
/// `operations` are those of one layer, in order, of workload_of(plan).
std::vector<OperationMemory> operation_memory(const Architecture& architecture,
                                              std::span<const LayerOperation> operations, const TrainingPlan& plan);

/// The modules, as bits of RecomputeModule, whose recomputation runs the operation's forward pass again; 0: none does.
std::uint8_t modules_of(const Architecture& architecture, const LayerOperation& operation, bool fused_attention);
/// Whether recomputation of every second product runs it again.
bool runs_with_second_products(const LayerOperation& operation);

/// Sums over one layer.
struct LayerMemory {
  double saved = 0;       ///< without recomputation
  double dropped = 0;     ///< The part of `saved` that selective recomputation gives up.
  double checkpoint = 0;  ///< the layer's input: all that full recomputation keeps
  double kept(Recompute recompute) const {
    return recompute == Recompute::none ? saved : recompute == Recompute::selective ? saved - dropped : checkpoint;
  }
};
LayerMemory layer_memory(const Architecture& architecture, std::span<const LayerOperation> operations,
                         const TrainingPlan& plan);

}  // namespace models::memory
