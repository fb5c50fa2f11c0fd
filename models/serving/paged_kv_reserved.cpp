#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "models/serving/paged_kv_ledger.h"

/// Serving with the cache of each answer reserved ahead.
namespace models {
namespace {

using paged_detail::Ledger, paged_detail::PoolLevels, paged_detail::StepLoad, paged_detail::step_us;

/// A run of slots and what its answer will fill of it.
struct Reservation {
  std::int64_t start = 0, slots = 0, final_tokens = 0;
  bool done = false;
};
struct ReservedGroup {
  std::int32_t request = 0, produced = 0;  ///< tokens of each answer so far; 0: the prompt is computed first
  std::vector<Reservation> answers;
};

class ReservedEngine {
 public:
  ReservedEngine(const PagedDemand& demand, const PagedSetup& setup)
      : demand_(demand), setup_(setup), ledger_(demand, setup), slots_(setup.pool_tokens, setup.fit) {}

  PagedRun run() {
    while (!ledger_.over()) {
      ledger_.arrivals([&](const PagedRequest& r) { return ever_fits(r); });
      while (!ledger_.queue.empty() && static_cast<std::int64_t>(running_.size()) < setup_.max_running &&
             admit(ledger_.queue.front()))
        ledger_.queue.pop_front();
      ledger_.run.peak_running = std::max(ledger_.run.peak_running, static_cast<std::int64_t>(running_.size()));
      if (running_.empty()) {
        if (!ledger_.more_come()) break;
        ledger_.advance(ledger_.next_arrival_us(), levels(), [&] { return frame(); });
        continue;
      }
      step();
    }
    if (setup_.until_us != std::numeric_limits<std::int64_t>::max())
      ledger_.advance(setup_.until_us, levels(), [&] { return frame(); });
    ledger_.arrivals([&](const PagedRequest& r) { return ever_fits(r); });  // who comes at the very end
    ledger_.run.blocks_left = setup_.pool_tokens - slots_.free_slots() - occupied();
    return ledger_.finished();
  }

 private:
  std::size_t answers() const { return static_cast<std::size_t>(demand_.answers); }
  /// Would it fit into the empty pool?
  bool ever_fits(const PagedRequest& r) const {
    SlotRuns empty(setup_.pool_tokens, setup_.fit);
    for (std::size_t k = 0; k < answers(); ++k) {
      const std::int64_t slots = reserved_slots(r, k, setup_);
      if (r.prompt_tokens + r.output_tokens[k] - 1 > slots || !empty.take(slots)) return false;
    }
    return true;
  }
  /// All answers of the request get their runs, or none.
  bool admit(std::int32_t request) {
    const PagedRequest& r = demand_.requests[static_cast<std::size_t>(request)];
    ReservedGroup group{.request = request};
    for (std::size_t k = 0; k < answers(); ++k) {
      const std::int64_t slots = reserved_slots(r, k, setup_);
      const auto start = slots_.take(slots);
      if (!start) {
        for (const Reservation& taken : group.answers) slots_.give_back(taken.start, taken.slots);
        return false;
      }
      group.answers.push_back({*start, slots, r.prompt_tokens + r.output_tokens[k] - 1});
    }
    ledger_.start(request);
    running_.push_back(std::move(group));
    return true;
  }
  /// Tokens that each of its answers holds during the step: those of the prompt, and all but the one that it makes.
  std::int64_t tokens_of(const ReservedGroup& group) const {
    return std::int64_t{demand_.requests[static_cast<std::size_t>(group.request)].prompt_tokens} + group.produced;
  }
  PoolLevels levels() const {
    PoolLevels out;
    std::int64_t used = 0, final_tokens = 0, reserved = 0, sequences = 0;
    for (const ReservedGroup& group : running_)
      for (const Reservation& one : group.answers) {
        if (one.done) continue;
        used += std::min(one.final_tokens, tokens_of(group));
        final_tokens += one.final_tokens;
        reserved += one.slots;
        ++sequences;
      }
    out.used = static_cast<double>(used);
    out.later = static_cast<double>(final_tokens - used);
    out.never = static_cast<double>(reserved - final_tokens);
    out.outside = static_cast<double>(setup_.pool_tokens - reserved);
    out.running = static_cast<double>(running_.size());
    out.sequences = static_cast<double>(sequences);
    return out;
  }
  std::int64_t occupied() const {
    std::int64_t out = 0;
    for (const ReservedGroup& group : running_)
      for (const Reservation& one : group.answers)
        if (!one.done) out += slots_.occupied(one.slots);
    return out;
  }
  PoolFrame frame() const {
    PoolFrame out;
    for (const ReservedGroup& group : running_)
      for (std::size_t k = 0; k < group.answers.size(); ++k) {
        const Reservation& one = group.answers[k];
        if (one.done) continue;
        out.sequences.push_back({group.request, static_cast<std::int32_t>(k), one.start, one.slots,
                                 std::min(one.final_tokens, tokens_of(group)), one.final_tokens, false});
      }
    out.free_slots = slots_.free_slots();
    out.longest_hole = slots_.longest_hole();
    return out;
  }
  void step() {
    StepLoad load;
    for (ReservedGroup& group : running_) {
      const double prompt = demand_.requests[static_cast<std::size_t>(group.request)].prompt_tokens;
      for (const Reservation& one : group.answers) {
        if (one.done) continue;
        ++load.rows;
        if (group.produced > 0) {
          ++load.tokens;
          load.context += static_cast<double>(tokens_of(group));
        } else {
          load.tokens += prompt;  // each answer computes the prompt for itself
          load.chunk_s += setup_.cost->chunk_attention_s(prompt, 0);
        }
      }
    }
    ledger_.count_step(static_cast<std::int64_t>(load.rows));
    if (!ledger_.advance(ledger_.now_us + step_us(load, setup_), levels(), [&] { return frame(); })) return;
    for (ReservedGroup& group : running_) {
      ++group.produced;
      const PagedRequest& r = demand_.requests[static_cast<std::size_t>(group.request)];
      for (std::size_t k = 0; k < group.answers.size(); ++k) {
        Reservation& one = group.answers[k];
        if (one.done) continue;
        ++ledger_.run.tokens;
        if (group.produced < r.output_tokens[k]) continue;
        one.done = true;
        slots_.give_back(one.start, one.slots);
      }
    }
    std::erase_if(running_, [&](const ReservedGroup& group) {
      const bool done = std::all_of(group.answers.begin(), group.answers.end(), [](const auto& a) { return a.done; });
      if (done) ledger_.finish(group.request);
      return done;
    });
  }

  const PagedDemand& demand_;
  const PagedSetup& setup_;
  Ledger ledger_;
  SlotRuns slots_;
  std::vector<ReservedGroup> running_;  ///< in the order in which they were taken in
};

}  // namespace

std::int64_t reserved_slots(const PagedRequest& request, std::size_t answer, const PagedSetup& setup) {
  const std::int64_t prompt = request.prompt_tokens, output = request.output_tokens[answer];
  if (setup.rule == ReserveRule::longest) return setup.reserve_tokens;
  if (setup.rule == ReserveRule::power_of_two)
    return prompt + static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(output)));
  return prompt + output - 1;
}

PagedRun simulate_reserved(const PagedDemand& demand, const PagedSetup& setup) {
  return ReservedEngine(demand, setup).run();
}

}  // namespace models
