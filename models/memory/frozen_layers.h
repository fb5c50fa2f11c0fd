#pragma once
#include <span>
#include <vector>

#include "models/memory/saved_tensors.h"
#include "models/memory/state_bytes.h"

/// What a layer keeps and trains whose own weights are frozen, with low-rank pairs beside some of its matrices.
namespace models::memory {

/// A product of activations with a stored matrix inside a layer, other than the router's.
bool is_layer_matrix(const LayerOperation& operation);
/// Whether it gets a pair.
bool gets_pair(const LayerOperation& operation, AdapterTargets targets);
/// Matrices of the operation that are stored: one, or one for each expert.
double stored_matrices(const LayerOperation& operation);
/// Rows that go through it.
double rows_of(const LayerOperation& operation);

/// How the GPUs that share a layer cut one of its matrices.
enum class MatrixCut : std::uint8_t {
  whole,    ///< every GPU has all of it, and under sequence parallelism rows of its own: the router, MLA's way down
  columns,  ///< each GPU has some of its results
  rows      ///< each GPU has some of its inputs, and results are summed
};
MatrixCut matrix_cut(const LayerOperation& operation);

/// Takes out of `saved` what a frozen layer does not keep: the input of a product goes where no pair reads it and
/// nothing else needs it; where a pair does, it is kept as wide as activations are, and the pair's middle with it. Of
/// weight gradients those of the pairs are left. Under sequence parallelism a pair beside a matrix that is cut by
/// columns keeps its input whole, as it was gathered (ParallelLinearAdapter of Megatron Bridge and of NeMo reads the
/// gathered result of the norm), and no input is gathered again for the gradients of weights.
void keep_for_adapters(std::span<const LayerOperation> operations, const TrainingPlan& plan,
                       std::vector<OperationMemory>& saved);

/// Rows and columns of all pairs' matrices over their elements: what Adafactor keeps of an element.
double pair_sums_per_element(const Architecture& architecture, const TrainingPlan& plan);

/// Fills in matrices and adapters of one layer on one GPU. A pair is cut as its matrix is.
void add_frozen_share(const Architecture& architecture, const TrainingPlan& plan, const LayerForm& form,
                      LayerShare& share);

}  // namespace models::memory
