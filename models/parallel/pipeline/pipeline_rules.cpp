#include "models/parallel/pipeline/pipeline_rules.h"

#include <algorithm>

namespace models::parallel {
namespace {

PipeOp op_of(PipeKind kind, std::int64_t stage, std::int64_t micro_batch) {
  return {
      .kind = kind, .stage = static_cast<std::uint16_t>(stage), .micro_batch = static_cast<std::uint16_t>(micro_batch)};
}

}  // namespace

std::vector<PipeOp> gpipe_order(const PipelinePlan& plan, std::int64_t rank) {
  std::vector<PipeOp> out;
  out.reserve(static_cast<std::size_t>(2 * plan.micro_batches));
  for (const PipeKind kind : {PipeKind::forward, PipeKind::backward})
    for (std::int64_t m = 0; m < plan.micro_batches; ++m) out.push_back(op_of(kind, rank, m));
  return out;
}

std::vector<PipeOp> one_f_one_b_order(const PipelinePlan& plan, std::int64_t rank) {
  std::vector<PipeOp> out;
  out.reserve(static_cast<std::size_t>(2 * plan.micro_batches));
  std::int64_t next = 0;
  const std::int64_t warm_up = std::min(plan.ranks - 1 - rank, plan.micro_batches);
  for (; next < warm_up; ++next) out.push_back(op_of(PipeKind::forward, rank, next));
  for (std::int64_t m = 0; m < plan.micro_batches; ++m) {
    if (next < plan.micro_batches) out.push_back(op_of(PipeKind::forward, rank, next++));
    out.push_back(op_of(PipeKind::backward, rank, m));
  }
  return out;
}

std::vector<PipeOp> breadth_first_order(const PipelinePlan& plan, std::int64_t rank) {
  std::vector<PipeOp> out;
  out.reserve(static_cast<std::size_t>(2 * plan.micro_batches * plan.chunks));
  for (std::int64_t chunk = 0; chunk < plan.chunks; ++chunk)
    for (std::int64_t m = 0; m < plan.micro_batches; ++m)
      out.push_back(op_of(PipeKind::forward, chunk * plan.ranks + rank, m));
  for (std::int64_t chunk = plan.chunks; chunk-- > 0;)
    for (std::int64_t m = plan.micro_batches; m-- > 0;)
      out.push_back(op_of(PipeKind::backward, chunk * plan.ranks + rank, m));
  return out;
}

namespace {

/// Operation k of a kind where chunks take turns of `round` micro-batches, gradients from the last chunk on.
PipeOp in_turns(const PipelinePlan& plan, std::int64_t rank, std::int64_t round, PipeKind kind, std::int64_t k) {
  const std::int64_t turn = (k / round) % plan.chunks;
  const std::int64_t chunk = kind == PipeKind::forward ? turn : plan.chunks - 1 - turn;
  return op_of(kind, chunk * plan.ranks + rank, k / (round * plan.chunks) * round + k % round);
}

}  // namespace

std::vector<PipeOp> interleaved_order(const PipelinePlan& plan, std::int64_t rank, std::int64_t round) {
  const std::int64_t slots = plan.micro_batches * plan.chunks;
  const auto slot = [&](PipeKind kind, std::int64_t k) { return in_turns(plan, rank, round, kind, k); };
  std::vector<PipeOp> out;
  out.reserve(static_cast<std::size_t>(2 * slots));
  std::int64_t next = 0;
  const std::int64_t warm_up = std::min((plan.chunks - 1) * round + 2 * (plan.ranks - 1 - rank), slots);
  for (; next < warm_up; ++next) out.push_back(slot(PipeKind::forward, next));
  for (std::int64_t k = 0; k < slots; ++k) {
    if (next < slots) out.push_back(slot(PipeKind::forward, next++));
    out.push_back(slot(PipeKind::backward, k));
  }
  return out;
}

std::vector<PipeOp> interleaved_zb_order(const PipelinePlan& plan, std::int64_t rank, std::int64_t round) {
  const std::int64_t slots = plan.micro_batches * plan.chunks;
  const auto slot = [&](PipeKind kind, std::int64_t k) { return in_turns(plan, rank, round, kind, k); };
  std::vector<PipeOp> out;
  std::int64_t forwards = 0, weights = 0;
  const std::int64_t warm_up = std::min((plan.chunks - 1) * round + plan.ranks - 1 - rank, slots);
  for (; forwards < warm_up; ++forwards) out.push_back(slot(PipeKind::forward, forwards));
  for (std::int64_t k = 0; k < slots; ++k) {
    if (forwards < slots) out.push_back(slot(PipeKind::forward, forwards++));
    out.push_back(slot(PipeKind::input_gradient, k));
    if (k >= rank) out.push_back(slot(PipeKind::weight_gradient, weights++));
  }
  while (weights < slots) out.push_back(slot(PipeKind::weight_gradient, weights++));
  return out;
}

std::vector<PipeOp> zb_h1_order(const PipelinePlan& plan, std::int64_t rank) {
  std::vector<PipeOp> out;
  std::int64_t forwards = 0, weights = 0;
  const std::int64_t warm_up = std::min(plan.ranks - 1 - rank, plan.micro_batches);
  for (; forwards < warm_up; ++forwards) out.push_back(op_of(PipeKind::forward, rank, forwards));
  for (std::int64_t m = 0; m < plan.micro_batches; ++m) {
    if (forwards < plan.micro_batches) out.push_back(op_of(PipeKind::forward, rank, forwards++));
    out.push_back(op_of(PipeKind::input_gradient, rank, m));
    if (m >= rank) out.push_back(op_of(PipeKind::weight_gradient, rank, weights++));
  }
  while (weights < plan.micro_batches) out.push_back(op_of(PipeKind::weight_gradient, rank, weights++));
  return out;
}

std::vector<PipeOp> zb_h2_order(const PipelinePlan& plan, std::int64_t rank) {
  std::vector<PipeOp> out;
  std::int64_t forwards = 0, weights = 0;
  const std::int64_t warm_up = std::min(2 * (plan.ranks - rank) - 1, plan.micro_batches);
  for (; forwards < warm_up; ++forwards) out.push_back(op_of(PipeKind::forward, rank, forwards));
  for (std::int64_t m = 0; m < plan.micro_batches; ++m) {
    out.push_back(op_of(PipeKind::input_gradient, rank, m));
    if (m >= 2 * rank) out.push_back(op_of(PipeKind::weight_gradient, rank, weights++));
    if (forwards < plan.micro_batches) out.push_back(op_of(PipeKind::forward, rank, forwards++));
  }
  while (weights < plan.micro_batches) out.push_back(op_of(PipeKind::weight_gradient, rank, weights++));
  return out;
}

}  // namespace models::parallel
