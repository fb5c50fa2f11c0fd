#include "models/serving/paged/paged_kv_watch.h"

#include <algorithm>

namespace models::paged_detail {

using serving::AnswerRuns, serving::AnswerTables, serving::Replica, serving::Sequence;

void Watch::passes(std::int64_t from_us, std::int64_t to_us, const Replica& replica) {
  to_us = std::min(to_us, setup_.until_us);
  if (to_us <= from_us) return;
  const bool tables = dynamic_cast<const AnswerTables*>(replica.answers()) != nullptr;
  const PoolLevels levels = tables ? levels_of_tables(replica) : levels_of_runs(replica);
  for (; next_frame_ < setup_.frame_times_us.size() && setup_.frame_times_us[next_frame_] < to_us; ++next_frame_) {
    run_.frames.push_back(frame(replica, levels));
    run_.frames.back().time_us = setup_.frame_times_us[next_frame_];
  }
  add(run_.whole, static_cast<double>(to_us - from_us), levels, replica);
  const std::int64_t from = std::max(from_us, setup_.measure_from_us), until = std::min(to_us, setup_.measure_until_us);
  if (until > from) add(run_.measured, static_cast<double>(until - from), levels, replica);
  run_.peak_running = std::max(run_.peak_running, replica.running());
}

void Watch::sent_back(std::size_t id, std::int64_t now_us) {
  ++run_.served[id].preempted;
  if (run_.preempted.size() < paged_events_max) run_.preempted.push_back({now_us, static_cast<std::int32_t>(id)});
}

void Watch::copied(std::size_t id, std::int64_t blocks, std::int64_t now_us) {
  for (std::int64_t i = 0; i < blocks && run_.copied.size() < paged_events_max; ++i)
    run_.copied.push_back({now_us, static_cast<std::int32_t>(id)});
}

void Watch::add(PagedIntegrals& sum, double us, const PoolLevels& levels, const Replica& replica) {
  sum.us += us;
  sum.used += us * levels.used;
  sum.later += us * levels.later;
  sum.never += us * levels.never;
  (replica.waiting() == 0 ? sum.spare : sum.stranded) += us * levels.outside;
  sum.running += us * levels.running;
  sum.waiting += us * static_cast<double>(replica.waiting());
  sum.sequences += us * levels.sequences;
  sum.blocks += us * levels.blocks;
  sum.named_blocks += us * levels.named_blocks;
}

PoolLevels Watch::levels_of_tables(const Replica& replica) const {
  const auto& cache = static_cast<const AnswerTables&>(*replica.answers());
  const PagedBlocks& pool = cache.pool();
  PoolLevels out;
  const std::int64_t slots = pool.taken_blocks() * pool.block_tokens();
  out.used = static_cast<double>(pool.filled_slots());
  out.never = static_cast<double>(slots - pool.filled_slots());
  out.outside = static_cast<double>(setup_.pool_tokens - slots);
  out.running = static_cast<double>(replica.running());
  out.blocks = static_cast<double>(pool.taken_blocks());
  out.named_blocks = static_cast<double>(pool.named_blocks());
  for (const Sequence& s : replica.batch()) out.sequences += static_cast<double>(cache.live(s.lane));
  return out;
}

/// Tokens that each answer of a reservation holds during the step: those of the prompt, and all but the one that it
/// makes.
std::int64_t Watch::tokens_held(std::size_t id, const Sequence& s) const {
  const PagedRequest& r = request(id);
  const auto end = r.output_tokens.begin() + demand_.answers;
  return std::int64_t{r.prompt_tokens} + *std::max_element(r.output_tokens.begin(), end) - s.tokens_left;
}

PoolLevels Watch::levels_of_runs(const Replica& replica) const {
  const auto& cache = static_cast<const AnswerRuns&>(*replica.answers());
  PoolLevels out;
  std::int64_t used = 0, final_tokens = 0, reserved = 0, sequences = 0;
  for (const Sequence& s : replica.batch()) {
    const AnswerRuns::Group& group = cache.group(s.lane);
    const std::int64_t held = tokens_held(group.id, s);
    for (const AnswerRuns::Reservation& one : group.answers) {
      if (one.done) continue;
      used += std::min(one.final_tokens, held);
      final_tokens += one.final_tokens;
      reserved += one.slots;
      ++sequences;
    }
  }
  out.used = static_cast<double>(used);
  out.later = static_cast<double>(final_tokens - used);
  out.never = static_cast<double>(reserved - final_tokens);
  out.outside = static_cast<double>(setup_.pool_tokens - reserved);
  out.running = static_cast<double>(replica.running());
  out.sequences = static_cast<double>(sequences);
  return out;
}

PoolFrame Watch::frame_of_tables(const Replica& replica) const {
  const auto& cache = static_cast<const AnswerTables&>(*replica.answers());
  PoolFrame out;
  for (const Sequence& s : replica.batch()) {
    const AnswerTables::Group& group = cache.group(s.lane);
    const PagedRequest& r = request(group.id);
    for (std::size_t k = 0; k < group.tables.size(); ++k) {
      const PagedTable& table = group.tables[k];
      if (table.blocks.empty()) continue;
      out.sequences.push_back({static_cast<std::int32_t>(group.id), static_cast<std::int32_t>(k),
                               static_cast<std::int64_t>(out.blocks.size()),
                               static_cast<std::int64_t>(table.blocks.size()), table.tokens,
                               r.prompt_tokens + r.output_tokens[k] - 1, s.stalled});
      out.blocks.insert(out.blocks.end(), table.blocks.begin(), table.blocks.end());
    }
  }
  out.free_slots = cache.pool().free_blocks() * cache.pool().block_tokens();
  out.longest_hole = out.free_slots;
  out.host_blocks = replica.host_blocks();
  return out;
}

PoolFrame Watch::frame_of_runs(const Replica& replica) const {
  const auto& cache = static_cast<const AnswerRuns&>(*replica.answers());
  PoolFrame out;
  for (const Sequence& s : replica.batch()) {
    const AnswerRuns::Group& group = cache.group(s.lane);
    const std::int64_t held = tokens_held(group.id, s);
    for (std::size_t k = 0; k < group.answers.size(); ++k) {
      const AnswerRuns::Reservation& one = group.answers[k];
      if (one.done) continue;
      out.sequences.push_back({static_cast<std::int32_t>(group.id), static_cast<std::int32_t>(k), one.start, one.slots,
                               std::min(one.final_tokens, held), one.final_tokens, false});
    }
  }
  out.free_slots = cache.slots().free_slots();
  out.longest_hole = cache.slots().longest_hole();
  return out;
}

PoolFrame Watch::frame(const Replica& replica, const PoolLevels& levels) const {
  const bool tables = dynamic_cast<const AnswerTables*>(replica.answers()) != nullptr;
  PoolFrame out = tables ? frame_of_tables(replica) : frame_of_runs(replica);
  out.used = levels.used;
  out.later = levels.later;
  out.never = levels.never;
  (replica.waiting() == 0 ? out.spare : out.stranded) = levels.outside;
  out.waiting = replica.waiting();
  out.running = static_cast<std::int64_t>(levels.running);
  out.served = served_.completed;
  for (const serving::Waiting& w : replica.queue()) {
    if (out.queue.size() >= frame_queue_max) break;
    out.queue.push_back(static_cast<std::int32_t>(replica.number_of(w.request)));
  }
  return out;
}

}  // namespace models::paged_detail
