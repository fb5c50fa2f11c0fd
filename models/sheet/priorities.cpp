#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "models/sheet/sheet_training.h"
#include "models/sheet/techniques.h"

/// Chains of what to do next: at each place the step that gains most of what is left, as the models compute it.
namespace models::sheet {
namespace {

using inference::ChangeSet, inference::RequestChange, inference::RequestPricer;

constexpr double least_gain = 1.01;

/// Takes the best of `left`, as `price` says of a set with it (nothing where it cannot be), until none gains.
template <class Set, class Step, class Price, class With>
std::vector<PriorityStep> greedy(Set at, std::vector<std::pair<Step, std::string_view>> left, const Price& price,
                                 const With& with) {
  std::vector<PriorityStep> chain;
  std::optional<double> now = price(at);
  while (now && *now > 0 && !left.empty()) {
    std::size_t best = left.size();
    double least = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::optional<double> then = price(with(at, left[i].first));
      if (then && (best == left.size() || *then < least)) {
        best = i;
        least = *then;
      }
    }
    if (best == left.size() || *now < least_gain * least) break;
    PriorityStep& step = chain.emplace_back();
    step.name = left[best].second;
    step.gain = least > 0 ? *now / least : std::numeric_limits<double>::infinity();
    step.reaches = !(least > 0);
    at = with(at, left[best].first);
    now = least;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return chain;
}

std::vector<PriorityStep> order_inference(const WorkCase& work) {
  RequestPricer pricer(work.request);
  const auto price = [&](ChangeSet set) -> std::optional<double> {
    const auto state = pricer.price(set);
    return state ? std::optional(state->request_s) : std::nullopt;
  };
  std::vector<std::pair<RequestChange, std::string_view>> all{{RequestChange::flash_attention, "FlashAttention"},
                                                              {RequestChange::fusion, "Fusion"},
                                                              {RequestChange::graph, "CUDA graph"},
                                                              {RequestChange::eight_bit_weights, "8-bit weights"},
                                                              {RequestChange::four_bit_weights, "4-bit weights"},
                                                              {RequestChange::eight_bit_cache, "8-bit cache"},
                                                              {RequestChange::speculative, "Speculation"}};
  if (work.request.chips > 1) all.emplace_back(RequestChange::tensor_parallel, "Tensor parallel");
  return greedy(ChangeSet(), std::move(all), price, [](ChangeSet s, RequestChange c) { return s.with(c); });
}

std::vector<PriorityStep> order_training(const WorkCase& work) {
  const TrainingCase training(work);
  std::vector<std::pair<StepSwitch, std::string_view>> all{
      {StepSwitch::bf16, "BF16"}, {StepSwitch::compile, "Compile"},      {StepSwitch::fused_optimizer, "Fused AdamW"},
      {StepSwitch::fp8, "FP8"},   {StepSwitch::flash, "FlashAttention"}, {StepSwitch::overlap, "Overlap"}};
  return greedy(
      SwitchSet(), std::move(all), [&](SwitchSet on) { return training.step_s(on); },
      [](SwitchSet on, StepSwitch s) { return on.with(s); });
}

enum class Shrink : std::uint8_t { zero1, zero3, adam8, recompute, accumulate, chunked_loss, offload, tensor };

memory::TrainingPlan shrink(memory::TrainingPlan plan, Shrink how, const WorkCase& work) {
  using enum Shrink;
  if (how == zero1) plan.zero_stage = std::max<std::int64_t>(plan.zero_stage, 1);
  if (how == zero3) plan.zero_stage = 3;
  if (how == adam8) plan.optimizer = memory::OptimizerKind::adamw_8bit;
  if (how == recompute) plan.recompute = Recompute::full;
  if (how == chunked_loss) plan.loss = memory::LossKind::chunked;
  if (how == offload) plan.offload = memory::Offload::optimizer;
  if (how == accumulate) {
    plan.micro_batches = work.pieces;
    plan.batch = work.micro_batch;
  }
  if (how == tensor) {
    plan.tensor = std::min(work.request.chips, work.gpus);
    plan.data = std::max<std::int64_t>(1, work.gpus / plan.tensor);
    plan.sequence_parallel = true;
  }
  return plan;
}

/// Until the step fits: what takes most bytes off comes first.
std::vector<PriorityStep> order_memory(const WorkCase& work) {
  const TrainingCase training(work);
  const auto base = training.step(TrainingCase::modern());
  if (!base) return {};
  memory::TrainingPlan alone = base->plan;
  alone.data = work.gpus;
  const double room = work.request.memory_share * work.request.chip->memory_bytes;
  std::vector<std::pair<Shrink, std::string_view>> all{{Shrink::zero1, "ZeRO-1"},
                                                       {Shrink::zero3, "ZeRO-3"},
                                                       {Shrink::adam8, "8-bit AdamW"},
                                                       {Shrink::recompute, "Checkpointing"},
                                                       {Shrink::chunked_loss, "Loss in chunks"},
                                                       {Shrink::offload, "Optimizer on the host"}};
  if (work.pieces > 1) all.emplace_back(Shrink::accumulate, "Smaller micro-batch");
  if (work.request.chips > 1) all.emplace_back(Shrink::tensor, "Tensor and sequence parallel");
  const auto price = [&](const memory::TrainingPlan& plan) -> std::optional<double> {
    const auto held = training.held(plan);
    return held ? std::optional(held->total()) : std::nullopt;
  };
  std::vector<PriorityStep> chain =
      greedy(alone, std::move(all), price, [&](const memory::TrainingPlan& p, Shrink s) { return shrink(p, s, work); });
  std::optional<double> bytes = price(alone);
  if (!bytes || *bytes <= room) return {};
  std::size_t taken = 0;
  while (taken < chain.size() && *bytes > room) {
    PriorityStep& step = chain[taken++];
    *bytes /= step.gain;
    step.reaches = *bytes <= room;
  }
  chain.resize(taken);
  return chain;
}

/// What of the exchange is there.
struct Exchange {
  bool narrow = false, by_node = false, behind = false, accumulate = false;
};

/// Exposed time of the gradients of a step: until nothing is.
std::vector<PriorityStep> order_communication(const WorkCase& work) {
  if (work.gpus < 2) return {};
  const TrainingCase training(work);
  const auto base = training.step(TrainingCase::modern());
  if (!base) return {};
  double kernels_s = 0;
  for (const double s : base->kernel_s) kernels_s += s;
  const double behind_s = base->backward_flops / (base->forward_flops + base->backward_flops) * kernels_s;
  const double numbers = base->setup.gradient_bytes / 2;
  using Flag = bool Exchange::*;
  const auto price = [&](const Exchange& e) -> std::optional<double> {
    const double bytes = numbers * (e.narrow ? 2 : 4);
    // The pieces of a batch exchange once, after the last; else each exchanges its own.
    const double pieces = static_cast<double>(work.pieces), times = e.accumulate ? 1 : pieces;
    const double each =
        exchange_s(work, bytes, e.by_node ? AllReduceAlgorithm::hierarchical : AllReduceAlgorithm::ring);
    return times * std::max(0.0, each - (e.behind ? behind_s / pieces : 0));
  };
  std::vector<std::pair<Flag, std::string_view>> all{{&Exchange::narrow, "16-bit gradients"},
                                                     {&Exchange::behind, "Overlap with backward"}};
  if (work.gpus > work.gpus_per_node) all.emplace_back(&Exchange::by_node, "Reduce in the node first");
  if (work.pieces > 1) all.emplace_back(&Exchange::accumulate, "Exchange once a batch");
  return greedy(Exchange(), std::move(all), price, [](Exchange e, Flag f) {
    e.*f = true;
    return e;
  });
}

}  // namespace

Priorities priorities(const WorkCase& work) {
  return {order_inference(work), order_training(work), order_memory(work), order_communication(work)};
}

}  // namespace models::sheet
