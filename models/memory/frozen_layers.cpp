#include "models/memory/frozen_layers.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "models/base/integer_math.h"

namespace models::memory {

bool is_layer_matrix(const LayerOperation& op) {
  return op.shape.k > 0 && op.parameters > 0 && op.name != "router" &&
         (op.group == OperationGroup::projection || op.group == OperationGroup::feed_forward ||
          op.group == OperationGroup::experts);
}

bool gets_pair(const LayerOperation& op, AdapterTargets targets) {
  if (!is_layer_matrix(op)) return false;
  const std::string_view name = op.name;
  const bool query_value = name == "query projection" || name == "value projection";
  if (targets == AdapterTargets::query_value) return query_value;
  const bool attention = query_value || name == "key projection" || name == "output projection";
  return targets == AdapterTargets::attention ? attention : true;
}

double stored_matrices(const LayerOperation& op) {
  return std::max(1.0, std::floor(as_double(op.parameters) / (op.shape.n * op.shape.k)));
}

MatrixCut matrix_cut(const LayerOperation& op) {
  const std::string_view name = op.name;
  if (name.ends_with("output projection") || name.ends_with("down projection")) return MatrixCut::rows;
  return name == "router" || name.ends_with("down") ? MatrixCut::whole : MatrixCut::columns;
}

double rows_of(const LayerOperation& op) { return op.product_flops / (2 * op.shape.n * op.shape.k); }

namespace {

/// GPUs that share the matrices of an operation.
double parts_of(const LayerOperation& op, const TrainingPlan& p) {
  return op.group == OperationGroup::experts ? expert_tensor(p) * as_double(p.expert) : as_double(p.tensor);
}
bool pairs_up(const LayerOperation& op, const TrainingPlan& p) {
  return p.adapter_rank > 0 && gets_pair(op, p.adapter_targets);
}
/// Numbers that the pairs of one operation train, all GPUs together.
double pair_elements(const LayerOperation& op, const TrainingPlan& p) {
  return stored_matrices(op) * p.adapter_rank * (op.shape.k + op.shape.n);
}

/// What whole inputs of pairs add to the shards that sequence parallelism keeps, by the operation that keeps the shard.
std::vector<double> whole_inputs(std::span<const LayerOperation> operations, const TrainingPlan& p,
                                 std::span<const OperationMemory> saved) {
  std::vector<double> more(operations.size(), 0.0);
  if (!p.sequence_parallel || p.tensor < 2) return more;
  std::size_t reader = 0;  // the first product that reads the input which the ones behind it share
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const LayerOperation& op = operations[i];
    if (!(op.shape.k > 0) || op.group == OperationGroup::attention) continue;
    if (!saved[i].shares_input) reader = i;
    if (!pairs_up(op, p) || matrix_cut(op) != MatrixCut::columns || op.group == OperationGroup::experts) continue;
    more[reader] = rows_of(op) * op.shape.k * workload_of(p).activation_bytes * (1 - 1 / as_double(p.tensor));
  }
  return more;
}

}  // namespace

void keep_for_adapters(std::span<const LayerOperation> operations, const TrainingPlan& p,
                       std::vector<OperationMemory>& saved) {
  const double width = workload_of(p).activation_bytes;
  const std::vector<double> more = whole_inputs(operations, p, saved);
  const double wider = p.kept_input_bytes > 0 ? width / p.kept_input_bytes : 1;
  std::vector<bool> needed(operations.size(), false);
  std::size_t owner = 0;  // the product that keeps the input which the ones behind it share
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const LayerOperation& op = operations[i];
    saved[i].weight_gradient = pairs_up(op, p) ? pair_elements(op, p) / parts_of(op, p) : 0;
    if (!is_layer_matrix(op)) {
      needed[i] = true;
      continue;
    }
    if (!saved[i].shares_input) owner = i;
    // Attention's own backward pass reads its result, whatever the product behind it does.
    if (op.name == "output projection" || pairs_up(op, p)) needed[owner] = true;
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const double kept = !needed[i] ? 0 : is_layer_matrix(operations[i]) ? wider : 1;
    saved[i].saved *= kept;
    saved[i].dropped *= kept;
    saved[i].gathered = 0;
    saved[i].saved += more[i];
    if (saved[i].comeback == OperationMemory::Comeback::with_block) saved[i].dropped += more[i];
    if (pairs_up(operations[i], p)) saved[i].saved += rows_of(operations[i]) * p.adapter_rank * width;
  }
}

double pair_sums_per_element(const Architecture& a, const TrainingPlan& p) {
  const Workload w{.phase = Phase::train, .batch = 1, .sequence = 1};
  double sums = 0, elements = 0;
  for (const LayerOperation& op : model_operations(a, w)) {
    if (!pairs_up(op, p)) continue;
    const double pairs = as_double(op.count) * stored_matrices(op);
    sums += pairs * (op.shape.k + op.shape.n + 2 * p.adapter_rank);
    elements += pairs * p.adapter_rank * (op.shape.k + op.shape.n);
  }
  return elements > 0 ? sums / elements : 0;
}

void add_frozen_share(const Architecture& a, const TrainingPlan& p, const LayerForm& form, LayerShare& share) {
  const Workload w{.phase = Phase::train, .batch = 1, .sequence = 1};
  LayerKind kind;
  kind.form = form;
  for (const LayerOperation& op : layer_operations(a, kind, w)) {
    if (!is_layer_matrix(op)) continue;
    const bool experts = op.group == OperationGroup::experts;
    const double matrices = stored_matrices(op) * op.shape.n * op.shape.k / parts_of(op, p);
    (experts ? share.expert_matrices : share.matrices) += matrices;
    if (pairs_up(op, p)) (experts ? share.expert_adapters : share.adapters) += pair_elements(op, p) / parts_of(op, p);
  }
}

}  // namespace models::memory
