#include <algorithm>
#include <array>
#include <deque>

#include "models/parallel/pipeline/pipeline_rules.h"

namespace models::parallel {
namespace {

/// Writes the order of a rank that holds two stages, each with a count of its own of forwards, backwards and weight
/// gradients. What lies beyond the last micro-batch is counted and not written.
class TwoStageOrder {
 public:
  TwoStageOrder(std::int64_t first, std::int64_t second, std::int64_t micro_batches)
      : stages_{first, second}, micro_batches_(micro_batches) {}

  void forward(std::size_t i) { add(PipeKind::forward, i, forwards_[i]++); }
  void input_gradient(std::size_t i) {
    waiting_.push_back({i, backwards_[i]});
    add(PipeKind::input_gradient, i, backwards_[i]++);
  }
  void backward(std::size_t i) { add(PipeKind::backward, i, backwards_[i]++); }
  /// The oldest weight gradient that waits on stage `i`.
  void weight_gradient(std::size_t i) { add(PipeKind::weight_gradient, i, weights_[i]++); }
  /// The oldest that waits on either.
  void oldest_weight_gradient() {
    const auto [i, micro_batch] = waiting_.front();
    waiting_.pop_front();
    add(PipeKind::weight_gradient, i, micro_batch);
  }
  /// A forward of stage `f` that overlaps a backward of the other.
  void pair(std::size_t f) {
    const std::size_t b = 1 - f;
    out_.push_back({.kind = PipeKind::pair,
                    .stage = static_cast<std::uint16_t>(stages_[f]),
                    .micro_batch = static_cast<std::uint16_t>(forwards_[f]++),
                    .back_stage = static_cast<std::uint16_t>(stages_[b]),
                    .back_micro_batch = static_cast<std::uint16_t>(backwards_[b]++)});
  }

  std::int64_t forwards(std::size_t i) const { return forwards_[i]; }
  std::int64_t backwards(std::size_t i) const { return backwards_[i]; }
  std::int64_t weights(std::size_t i) const { return weights_[i]; }
  std::vector<PipeOp> take() { return std::move(out_); }

 private:
  void add(PipeKind kind, std::size_t i, std::int64_t micro_batch) {
    if (micro_batch < micro_batches_)
      out_.push_back({.kind = kind,
                      .stage = static_cast<std::uint16_t>(stages_[i]),
                      .micro_batch = static_cast<std::uint16_t>(micro_batch)});
  }

  std::array<std::int64_t, 2> stages_, forwards_{}, backwards_{}, weights_{};
  std::int64_t micro_batches_;
  std::deque<std::pair<std::size_t, std::int64_t>> waiting_;
  std::vector<PipeOp> out_;
};

template <class Body>
void times(std::int64_t n, const Body& body) {
  for (std::int64_t i = 0; i < n; ++i) body();
}

}  // namespace

std::vector<PipeOp> zb_v_order(const PipelinePlan& plan, std::int64_t rank) {
  const std::int64_t p = plan.ranks, behind = p - rank, n = std::max(2 * p - 1, plan.micro_batches);
  TwoStageOrder order(rank, 2 * p - 1 - rank, plan.micro_batches);
  const auto whole_backward = [&](std::size_t i) {
    order.input_gradient(i);
    order.weight_gradient(i);
  };
  times(2 * behind - 1, [&] { order.forward(0); });
  times(rank, [&] {
    order.forward(1);
    order.forward(0);
  });
  times(behind, [&] {
    order.forward(1);
    whole_backward(1);
  });
  while (order.forwards(1) < order.forwards(0) || order.forwards(0) < n) {
    if (order.forwards(0) < n) order.forward(0);
    whole_backward(0);
    order.forward(1);
    whole_backward(1);
  }
  times(rank, [&] {
    order.input_gradient(0);
    order.input_gradient(1);
  });
  times(behind, [&] { whole_backward(0); });
  while (order.weights(1) < order.backwards(1)) order.weight_gradient(1);
  while (order.weights(0) < order.backwards(0)) order.weight_gradient(0);
  return order.take();
}

std::vector<PipeOp> dualpipe_order(const PipelinePlan& plan, std::int64_t rank) {
  const bool two_directions = plan.stages != plan.depth;
  const std::int64_t p = plan.ranks, across = 2 * p - 1 - rank;
  // DualPipe is DualPipe-V folded in the middle: ranks count from the nearer end, and phase 0 starts there.
  const std::int64_t height = two_directions ? p / 2 : p;
  const std::int64_t h = two_directions ? std::min(rank, p - 1 - rank) : rank;
  const bool swapped = two_directions && rank >= height;
  TwoStageOrder order(swapped ? across : rank, swapped ? rank : across, plan.micro_batches);
  const std::int64_t behind = height - h - 1;
  times(2 * behind, [&] { order.forward(0); });
  times(h + 1, [&] {
    order.forward(0);
    order.forward(1);
  });
  times(behind, [&] {
    order.input_gradient(1);
    order.oldest_weight_gradient();
    order.forward(1);
  });
  bool alone = behind == 0;  // where the two directions meet, the first pair has nothing to overlap yet
  times(plan.micro_batches - 2 * height + h + 1, [&] {
    if (alone) {
      order.forward(0);
      order.backward(1);
      alone = false;
    } else {
      order.pair(0);
    }
    order.pair(1);
  });
  times(behind, [&] {
    order.backward(1);
    order.pair(1);
  });
  bool split = false;
  const auto backward = [&](std::size_t i) {
    if (split)
      order.input_gradient(i);
    else
      order.backward(i);
  };
  for (std::int64_t i = 0; i <= h; ++i) {
    if (i == (h + 1) / 2 && h % 2 == 1) split = true;
    backward(1);
    if (i == (h + 1) / 2 && h % 2 == 0) split = true;
    backward(0);
  }
  times(behind, [&] {
    order.oldest_weight_gradient();
    order.input_gradient(0);
  });
  times(h + 1, [&] { order.oldest_weight_gradient(); });
  return order.take();
}

}  // namespace models::parallel
