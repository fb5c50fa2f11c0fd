#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "models/memory/saved_tensors.h"

/// One layer's forward and backward pass as allocations and frees, for the .cpp files of this folder alone.
///
/// A sink has `begin(operation)` before an operation, `held(owner, bytes)` for an allocation or, with a negative
/// number, a free, and `end(operation)` behind it.
namespace models::memory {

/// One operation with what comes before and after it in its layer.
struct WalkRules {
  bool weight_gradients_stay = false;  ///< the first backward pass allocates gradients, which stay
  double stay_bytes = 2;               ///< Bytes of an element of the gradients that stay.
  bool weight_gradients_pass = false;  ///< a 16-bit gradient of one weight lives while it is added
  double pass_bytes = 2;
  double stream_bytes = 0;  ///< Bytes of the residual stream's gradient.
};

/// `owner`: activations in the step's own forward pass, temporary where a layer runs again. `keep`: what is saved.
template <class Sink>
void walk_forward(std::span<const OperationMemory> layer, Recompute keep, MemoryOwner owner, Sink& sink) {
  double pool = 0, input = 0;  // what the next operation reads; what the products of one input still share
  for (std::size_t i = 0; i < layer.size(); ++i) {
    const OperationMemory& m = layer[i];
    const bool joins = m.shares_input, leads = i + 1 < layer.size() && layer[i + 1].shares_input;
    const double saved = keep == Recompute::full ? 0 : keep == Recompute::selective ? m.saved - m.dropped : m.saved;
    sink.begin(m.operation);
    const bool scores = keep == Recompute::selective && m.comeback == OperationMemory::Comeback::scores;
    const double fresh = std::max(m.output, scores && m.saved - saved > 0 ? m.dropped : 0.0);
    sink.held(MemoryOwner::temporary, fresh);
    const double read = joins ? 0 : pool;
    const double turned = std::min(read, saved);  // what was written before is kept as it lies
    sink.held(owner, saved);
    sink.held(MemoryOwner::temporary, -turned);
    sink.end(m.operation);
    const double left = read - turned;
    if (leads && !joins)
      input = left;
    else
      sink.held(MemoryOwner::temporary, -left);
    if (joins && !leads) {
      sink.held(MemoryOwner::temporary, -input);
      input = 0;
    }
    pool = joins || (leads && !joins) ? (joins ? pool + fresh : fresh) : fresh;
  }
  sink.held(MemoryOwner::temporary, -pool);  // the residual add takes it into the stream
}

/// What runs again before an operation of the backward pass reads it, where some of a layer was given up.
class Comebacks {
 public:
  explicit Comebacks(std::span<const OperationMemory> layer) : layer_(layer) {}

  /// What is made again lies there until the operation that reads it is done; a block comes at once.
  template <class Sink>
  void before(std::size_t k, Sink& sink) {
    const OperationMemory& m = layer_[k];
    if (m.dropped > 0 && m.comeback == OperationMemory::Comeback::alone) {
      sink.held(MemoryOwner::temporary, m.dropped);
    } else if (m.dropped > 0 && m.comeback != OperationMemory::Comeback::scores && !rebuilt_) {
      rebuilt_ = true;
      for (const OperationMemory& other : layer_)
        if (other.comeback == m.comeback) sink.held(MemoryOwner::temporary, other.dropped);
    }
    // Scores and softmax run again before the product with the values reads them.
    if (rescored_ > 0 || k == 0 || !are_scores(layer_[k - 1])) return;
    rescored_ = layer_[k - 1].dropped;
    sink.held(MemoryOwner::temporary, rescored_);
  }
  /// Frees the scores behind the operation that they belong to.
  template <class Sink>
  void after(std::size_t k, Sink& sink) {
    if (!are_scores(layer_[k]) || !(rescored_ > 0)) return;
    sink.held(MemoryOwner::temporary, -rescored_);
    rescored_ = 0;
  }

 private:
  static bool are_scores(const OperationMemory& m) {
    return m.dropped > 0 && m.comeback == OperationMemory::Comeback::scores;
  }
  std::span<const OperationMemory> layer_;
  double rescored_ = 0;
  bool rebuilt_ = false;  ///< the block
};

/// Frees what the forward pass kept under `owner` as it goes. The gradient of the residual stream is the caller's.
template <class Sink>
void walk_backward(std::span<const OperationMemory> layer, Recompute keep, MemoryOwner owner, const WalkRules& rules,
                   Sink& sink) {
  double pool = 0;    // gradients of what the operation wrote
  double shared = 0;  // the gradient of an input that several products share
  const bool selective = keep == Recompute::selective;
  Comebacks again(layer);
  for (std::size_t k = layer.size(); k-- > 0;) {
    const OperationMemory& m = layer[k];
    const double saved = selective ? m.saved - m.dropped : m.saved;
    sink.begin(m.operation);
    if (selective) again.before(k, sink);
    const double weight = m.weight_gradient * rules.pass_bytes;
    if (rules.weight_gradients_stay && m.weight_gradient > 0)
      sink.held(MemoryOwner::gradients, m.weight_gradient * rules.stay_bytes);
    if (rules.weight_gradients_pass) sink.held(MemoryOwner::temporary, weight);
    sink.held(MemoryOwner::temporary, m.input_gradient + m.gathered);
    sink.end(m.operation);
    sink.held(MemoryOwner::temporary, -m.gathered);
    if (rules.weight_gradients_pass) sink.held(MemoryOwner::temporary, -weight);
    sink.held(owner, -saved);
    if (selective && m.comeback != OperationMemory::Comeback::scores) sink.held(MemoryOwner::temporary, -m.dropped);
    const bool leads = k + 1 < layer.size() && layer[k + 1].shares_input && !m.shares_input;
    if (m.shares_input || leads) {
      const double done = std::min(pool, m.output);  // the gradient of this product's own result
      pool -= done;
      sink.held(MemoryOwner::temporary, -done);
      if (shared > 0)
        sink.held(MemoryOwner::temporary, -m.input_gradient);  // it was added to the one that is there
      else
        shared = m.input_gradient;
      if (leads) {
        sink.held(MemoryOwner::temporary, -pool);
        pool = shared;
        shared = 0;
      }
    } else if (m.input_gradient > 0) {
      sink.held(MemoryOwner::temporary, -pool);
      pool = m.input_gradient;
    }
    again.after(k, sink);
  }
  sink.held(MemoryOwner::temporary, -pool);  // added to the gradient of the stream
}

/// A sink that keeps the highest sum.
struct HighestSum {
  double now = 0, highest = 0;
  void begin(std::size_t) {}
  void held(MemoryOwner, double bytes) {
    now += bytes;
    highest = std::max(highest, now);
  }
  void end(std::size_t) {}
};

}  // namespace models::memory
