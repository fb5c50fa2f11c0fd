#pragma once
#include <string>
#include <vector>

#include "models/transformer/layer_ops.h"

namespace models {

/// Appends the operations of one layer: for the layer_ops*.cpp files alone.
class OperationBuilder {
 public:
  OperationBuilder(const Architecture& architecture, const Workload& workload, std::string layer, std::int64_t count,
                   std::vector<LayerOperation>& out);

  const Architecture& a;
  const Workload& w;
  const double tokens;  ///< new tokens over the batch
  const bool train;

  /// rows x [k,n] by `groups` weight matrices; `stored` of them exist (none if tied), each with a bias of n if told.
  void product(std::string name, OperationGroup group, double rows, double n, double k, bool bias = false,
               double groups = 1, std::int64_t stored = 1);
  /// An element-wise operation, norm or move: twice the flops backward.
  void simple(std::string name, OperationGroup group, const OpCost& forward, std::int64_t parameters = 0);
  /// A norm of `rows` rows; `with_residual` adds the residual in the same pass.
  void norm(std::string name, double rows, double width, bool bias, bool with_residual = false);
  void residual(std::string name);
  /// The norm of a block's result, and where element-wise operations are fused the residual add behind it.
  void post_norm(std::string name);
  /// Bytes an element of what a weight format leaves alone: see Workload::other_weight_bytes.
  double other_weight_bytes() const { return w.other_weight_bytes > 0 ? w.other_weight_bytes : w.weight_bytes; }
  /// One attention, fused or in three steps; keys and values are read at `kv_bytes` an element.
  void attention(const AttentionShape& shape, double kv_bytes);
  void push(LayerOperation operation);

 private:
  std::string layer_;
  std::int64_t count_;
  std::vector<LayerOperation>& out_;
};

void add_attention_block(OperationBuilder& builder, const LayerForm& form);
void add_feed_forward_block(OperationBuilder& builder, const LayerForm& form);

}  // namespace models
