#include <algorithm>

#include "chapters/distributed/pipeline/lab.h"

namespace chapters::distributed::pipeline {
namespace {

using namespace models::parallel;

/// The block as one step has it: the same block of every step is moved.
PipeOp in_first_step(const Side& side, PipeOp op) {
  if (never_drains(side.spec.schedule)) return op;
  const auto once = static_cast<std::uint16_t>(side.spec.micro_batches);
  op.micro_batch = static_cast<std::uint16_t>(op.micro_batch % once);
  op.back_micro_batch = static_cast<std::uint16_t>(op.back_micro_batch % once);
  return op;
}

}  // namespace

void move_block(Inputs& in, const Side& side, std::size_t rank, std::size_t from, std::size_t to) {
  const std::vector<PipeOp>& order = side.plan.orders[rank];
  if (from >= order.size() || to == from || to == from + 1) return;
  const auto step = [&](std::size_t i) { return order[i].micro_batch / side.spec.micro_batches; };
  // The end of a step is in front of nothing of that step.
  const bool last = to >= order.size() || (!never_drains(side.spec.schedule) && step(to) > step(from));
  const MoveRow row{.rank = static_cast<std::int64_t>(rank),
                    .block = label(side.plan, in_first_step(side, order[from])),
                    .before = last ? std::string() : label(side.plan, in_first_step(side, order[to]))};
  if (row.block == row.before) return;
  if (!in.moves.empty() && in.moves.back().rank == row.rank && in.moves.back().block == row.block) in.moves.pop_back();
  in.moves.push_back(row);
  const auto moved = edited_steps(side.spec, in.steps, moves_of(in, side.spec));
  const auto generated = edited_steps(side.spec, in.steps, {});
  if (moved && generated && moved->orders == generated->orders) in.moves.clear();
}

}  // namespace chapters::distributed::pipeline
