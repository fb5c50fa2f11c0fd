#include "models/serving/engine/serving_answers.h"

#include <bit>

namespace models::serving {

std::int64_t AnswerLengths::all_tokens(std::size_t id) const {
  std::int64_t out = 0;
  for (std::size_t k = 0; k < count(); ++k) out += tokens(id, k);
  return out;
}

std::unique_ptr<AnswerCache> make_answer_cache(std::span<const ServingRequest> requests, const ServingSetup& setup) {
  if (setup.keeping == CacheKeeping::tables) return std::make_unique<AnswerTables>(requests, setup);
  if (setup.keeping == CacheKeeping::runs) return std::make_unique<AnswerRuns>(requests, setup);
  return nullptr;
}

bool RoomCheck::ever_fits(std::size_t id) const {
  if (setup_.keeping == CacheKeeping::tables)
    return static_cast<const AnswerTables&>(*cache_).final_blocks(id) <= setup_.blocks;
  if (setup_.keeping == CacheKeeping::runs) return static_cast<const AnswerRuns&>(*cache_).ever_fits(id);
  return std::int64_t{requests_[id].prompt_tokens} + requests_[id].output_tokens <= setup_.blocks * setup_.block_tokens;
}

std::int64_t reserved_slots(std::int64_t prompt, std::int64_t output, ReserveRule rule, std::int64_t reserve_tokens) {
  if (rule == ReserveRule::longest) return reserve_tokens;
  if (rule == ReserveRule::power_of_two)
    return prompt + static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(output)));
  return prompt + output - 1;
}

AnswerRuns::AnswerRuns(std::span<const ServingRequest> requests, const ServingSetup& setup)
    : setup_(setup),
      lengths_(requests, setup.answers),
      all_slots_(setup.blocks * setup.block_tokens),
      slots_(all_slots_, setup.answers.fit),
      groups_(static_cast<std::size_t>(setup.slots)) {}

std::int64_t AnswerRuns::slots_of(std::size_t id, std::size_t answer) const {
  return reserved_slots(lengths_.prompt(id), lengths_.tokens(id, answer), setup_.answers.rule,
                        setup_.answers.reserve_tokens);
}

bool AnswerRuns::ever_fits(std::size_t id) const {
  SlotRuns empty(all_slots_, setup_.answers.fit);
  for (std::size_t k = 0; k < lengths_.count(); ++k) {
    const std::int64_t slots = slots_of(id, k);
    if (final_tokens(id, k) > slots || !empty.take(slots)) return false;
  }
  return true;
}

std::int64_t AnswerRuns::lost_blocks() const {
  std::int64_t held = 0;
  for (const Group& g : groups_)
    for (const Reservation& one : g.answers)
      if (!one.done) held += slots_.occupied(one.slots);
  return all_slots_ - slots_.free_slots() - held;
}

bool AnswerRuns::take(std::int64_t lane, std::size_t id, std::int32_t, std::int64_t) {
  Group& g = groups_[static_cast<std::size_t>(lane)];
  g = {.id = id, .live = static_cast<std::int64_t>(lengths_.count()), .answers = {}};
  for (std::size_t k = 0; k < lengths_.count(); ++k) {
    const std::int64_t slots = slots_of(id, k);
    const auto start = slots_.take(slots);
    if (!start) {
      release(lane);
      return false;
    }
    g.answers.push_back({*start, slots, final_tokens(id, k)});
  }
  return true;
}

std::int64_t AnswerRuns::end_answers(std::int64_t lane, std::int32_t produced) {
  Group& g = groups_[static_cast<std::size_t>(lane)];
  for (std::size_t k = 0; k < g.answers.size(); ++k) {
    Reservation& one = g.answers[k];
    if (one.done || produced < lengths_.tokens(g.id, k)) continue;
    one.done = true;
    --g.live;
    slots_.give_back(one.start, one.slots);
  }
  return g.live;
}

std::int64_t AnswerRuns::release(std::int64_t lane) {
  Group& g = groups_[static_cast<std::size_t>(lane)];
  const std::int64_t before = free_blocks();
  for (const Reservation& one : g.answers)
    if (!one.done) slots_.give_back(one.start, one.slots);
  g = {};
  return free_blocks() - before;
}

}  // namespace models::serving
