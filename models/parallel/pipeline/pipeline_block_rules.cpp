#include <algorithm>
#include <array>

#include "models/parallel/pipeline/pipeline_rules.h"

namespace models::parallel {
namespace {

/// In the order in which a micro-batch meets them on a rank that holds two stages of a V: the forward of the stage on
/// the way down, that of the one on the way up, their input gradients in reverse, and then any weight gradient.
enum BlockKind : std::size_t { down_forward, up_forward, up_input, down_input, weight };
constexpr std::size_t passes = 4;
constexpr std::int64_t block_slots = 6;  ///< F, I and W of two stages, a slot each: a block returns after so many

/// When a rank does what: by kind, then by micro-batch, in slots of one operation; weights in the order of their input
/// gradients.
struct RankSlots {
  std::array<std::vector<std::int64_t>, passes + 1> at;
  std::vector<std::uint8_t> kinds;  ///< what stands in each slot; `nothing` in those that are free
};

/// The building block of V-Half and V-Min: the first micro-batch's slots on a rank (Qi et al. 2024). `gap` keeps the
/// blocks of a rank from meeting in one slot.
std::array<std::int64_t, passes> building_block(bool half, std::int64_t p, std::int64_t rank) {
  if (half) {
    const std::int64_t gap = p % 2 == 0 ? 3 : 0;
    return {2 * rank, 3 * p - rank - 2, 3 * p + gap + 2 * rank - 1, 6 * p + gap - rank - 2};
  }
  const std::int64_t gap = p % 3 == 0 ? 2 : 0;
  return {rank, 2 * p - rank - 1, 2 * p + gap + rank, 4 * p + gap - rank - 1};
}

std::int64_t last_slot(const RankSlots& rank) {
  std::int64_t last = 0;
  for (const auto& slots : rank.at)
    if (!slots.empty()) last = std::max(last, slots.back());
  return last;
}

constexpr std::uint8_t nothing = passes + 1;
void write_kinds(RankSlots& rank) {
  rank.kinds.assign(static_cast<std::size_t>(last_slot(rank)) + 1, nothing);
  for (std::size_t kind = 0; kind <= passes; ++kind)
    for (const std::int64_t slot : rank.at[kind])
      rank.kinds[static_cast<std::size_t>(slot)] = static_cast<std::uint8_t>(kind);
}

/// Puts a weight gradient into each slot that is free once one waits, and what is left behind the last pass.
void place_weights(RankSlots& rank) {
  rank.at[weight].clear();
  write_kinds(rank);
  std::int64_t waiting = 0, slot = 0;
  for (; slot < static_cast<std::int64_t>(rank.kinds.size()); ++slot) {
    const std::size_t kind = rank.kinds[static_cast<std::size_t>(slot)];
    if (kind == up_input || kind == down_input) ++waiting;
    if (kind != nothing || waiting == 0) continue;
    rank.at[weight].push_back(slot);
    --waiting;
  }
  for (; waiting > 0; --waiting) rank.at[weight].push_back(slot++);
}

/// What a rank keeps, from a forward to its weight gradient, as its slots go by.
struct Keeping {
  std::int64_t kept = 0, waiting = 0, most = 0;
  /// `placed`: weight gradients have slots of their own; else each free slot does one that waits.
  void pass(std::size_t kind, bool placed) {
    if (kind == down_forward || kind == up_forward) ++kept;
    if (kind == up_input || kind == down_input) ++waiting;
    if (kind == weight || (kind == nothing && !placed && waiting > 0)) {
      --kept;
      --waiting;
    }
    most = std::max(most, kept);
  }
};
std::int64_t most_kept(const RankSlots& rank) {
  Keeping keeping;
  for (const std::size_t kind : rank.kinds) keeping.pass(kind, !rank.at[weight].empty());
  return keeping.most;
}

struct Placed {
  std::int64_t slot = 0;
  std::size_t rank = 0, kind = 0, micro_batch = 0;
};
/// All of all ranks by slot; in one slot by rank.
std::vector<Placed> in_order(std::vector<RankSlots>& ranks) {
  std::size_t slots = 0;
  for (RankSlots& rank : ranks) {
    write_kinds(rank);
    slots = std::max(slots, rank.kinds.size());
  }
  std::vector<std::array<std::size_t, passes + 1>> seen(ranks.size());
  std::vector<Placed> out;
  out.reserve(slots * ranks.size());
  for (std::size_t slot = 0; slot < slots; ++slot)
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (slot >= ranks[rank].kinds.size() || ranks[rank].kinds[slot] == nothing) continue;
      const std::size_t kind = ranks[rank].kinds[slot];
      out.push_back({static_cast<std::int64_t>(slot), rank, kind, seen[rank][kind]++});
    }
  return out;
}

/// The last slot of what an operation waits for; -1: nothing.
std::int64_t needs_slot(const std::vector<RankSlots>& ranks, const Placed& op) {
  std::int64_t slot = -1;
  const RankSlots& own = ranks[op.rank];
  if (op.micro_batch > 0) slot = own.at[op.kind][op.micro_batch - 1];
  if (op.kind == weight) {
    std::vector<std::int64_t> inputs = own.at[up_input];
    inputs.insert(inputs.end(), own.at[down_input].begin(), own.at[down_input].end());
    const auto nth = inputs.begin() + static_cast<std::ptrdiff_t>(op.micro_batch);
    std::nth_element(inputs.begin(), nth, inputs.end());
    return std::max(slot, *nth);
  }
  if (op.kind > 0) slot = std::max(slot, own.at[op.kind - 1][op.micro_batch]);
  const bool down = op.kind == down_forward || op.kind == up_input;
  if (down && op.rank > 0) slot = std::max(slot, ranks[op.rank - 1].at[op.kind][op.micro_batch]);
  if (!down && op.rank + 1 < ranks.size()) slot = std::max(slot, ranks[op.rank + 1].at[op.kind][op.micro_batch]);
  return slot;
}

/// Moves an operation to the first free slot in which its rank keeps no more than `limit`; else it stays.
void move_forward(std::vector<RankSlots>& ranks, const Placed& op, std::int64_t limit) {
  RankSlots& own = ranks[op.rank];
  const auto first = static_cast<std::size_t>(needs_slot(ranks, op) + 1), last = static_cast<std::size_t>(op.slot);
  const bool placed = !own.at[weight].empty(), adds = op.kind == down_forward || op.kind == up_forward;
  own.kinds[last] = nothing;
  Keeping before;
  for (std::size_t slot = 0; slot < first; ++slot) before.pass(own.kinds[slot], placed);
  for (std::size_t slot = first; slot <= last; ++slot) {
    if (own.kinds[slot] != nothing) continue;
    own.kinds[slot] = static_cast<std::uint8_t>(op.kind);
    own.at[op.kind][op.micro_batch] = static_cast<std::int64_t>(slot);
    if (slot == last || (placed && !adds)) return;  // a gradient that comes earlier adds to nothing
    Keeping keeping = before;
    for (std::size_t later = first; later < own.kinds.size() && keeping.most <= limit; ++later)
      keeping.pass(own.kinds[later], placed);
    if (keeping.most <= limit) return;
    own.kinds[slot] = nothing;
  }
}

/// Squeezes: with each operation as long as a slot, each starts as soon as its rank and what it needs are ready.
void squeeze(std::vector<RankSlots>& ranks) {
  std::vector<std::int64_t> free_slot(ranks.size(), 0);
  for (const Placed& op : in_order(ranks)) {
    // Of a weight gradient the order on the rank alone decides.
    const std::int64_t after = op.kind == weight ? -1 : needs_slot(ranks, op);
    const std::int64_t slot = std::max(free_slot[op.rank], after + 1);
    ranks[op.rank].at[op.kind][op.micro_batch] = slot;
    free_slot[op.rank] = slot + 1;
  }
}

/// What a walk over all operations in time has reached: the pipeline fills until the first gradient is back on rank 0,
/// and empties from the last forward on. Between these the building block returns as it is.
enum class Stretch : std::uint8_t { filling, steady, emptying };

/// Fills the holes at both ends of the step with what comes later, where memory allows. `with_weights`: weight
/// gradients have slots of their own and move too; else the filling end is left as it is.
void fill_holes(std::vector<RankSlots>& ranks, bool with_weights) {
  std::int64_t limit = 0;
  for (RankSlots& rank : ranks) {
    if (with_weights) place_weights(rank);
    write_kinds(rank);
    limit = std::max(limit, most_kept(rank));
  }
  Stretch stretch = Stretch::filling;
  for (const Placed& op : in_order(ranks)) {
    if (stretch == Stretch::filling && op.kind == down_input && op.rank == 0) stretch = Stretch::steady;
    const bool stays = stretch == Stretch::steady || (stretch == Stretch::filling && !with_weights);
    if (stretch == Stretch::steady && op.kind == down_forward &&
        op.micro_batch + 1 == ranks[op.rank].at[down_forward].size())
      stretch = Stretch::emptying;
    if (!stays) move_forward(ranks, op, limit);
  }
  if (!with_weights)
    for (RankSlots& rank : ranks) place_weights(rank);
  squeeze(ranks);
  for (RankSlots& rank : ranks) rank.at[weight].clear();
}

/// A rank's passes in time, and in each free slot a weight gradient that waits, those of the way up first.
std::vector<PipeOp> order_of(const PipelinePlan& plan, std::int64_t rank, RankSlots& slots) {
  const std::int64_t up = 2 * plan.ranks - 1 - rank;
  constexpr std::array<PipeKind, passes> kinds{PipeKind::forward, PipeKind::forward, PipeKind::input_gradient,
                                               PipeKind::input_gradient};
  std::array<std::int64_t, passes> done{};
  std::array<std::int64_t, 2> weights{};
  std::vector<PipeOp> out;
  const auto add = [&](PipeKind kind, std::int64_t stage, std::int64_t micro_batch) {
    out.push_back({.kind = kind,
                   .stage = static_cast<std::uint16_t>(stage),
                   .micro_batch = static_cast<std::uint16_t>(micro_batch)});
  };
  const auto add_weight = [&] {
    for (std::size_t i = 0; i < 2; ++i) {
      if (weights[i] >= done[i == 0 ? up_input : down_input]) continue;
      add(PipeKind::weight_gradient, i == 0 ? up : rank, weights[i]++);
      return true;
    }
    return false;
  };
  write_kinds(slots);
  for (const std::size_t kind : slots.kinds) {
    if (kind == nothing)
      add_weight();
    else
      add(kinds[kind], kind == down_forward || kind == down_input ? rank : up, done[kind]++);
  }
  while (add_weight()) {
  }
  return out;
}

}  // namespace

void order_by_building_block(PipelinePlan& plan) {
  const bool half = plan.schedule == PipelineSchedule::v_half;
  std::vector<RankSlots> ranks(plan.orders.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto first = building_block(half, plan.ranks, static_cast<std::int64_t>(rank));
    for (std::size_t kind = 0; kind < passes; ++kind)
      for (std::int64_t m = 0; m < plan.micro_batches; ++m)
        ranks[rank].at[kind].push_back(first[kind] + block_slots * m);
  }
  fill_holes(ranks, true);
  fill_holes(ranks, false);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    plan.orders[rank] = order_of(plan, static_cast<std::int64_t>(rank), ranks[rank]);
}

}  // namespace models::parallel
