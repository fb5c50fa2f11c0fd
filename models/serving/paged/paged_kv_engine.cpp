#include <algorithm>
#include <cmath>

#include "models/serving/paged/paged_kv_watch.h"

/// A demand before one replica of the serving engine, whose blocks or slots are followed one by one.
namespace models {
namespace {

/// The demand in the engine's words.
struct Asked {
  std::vector<ServingRequest> requests;
  std::vector<std::int32_t> answers;  ///< tokens of each
};
Asked asked_of(const PagedDemand& demand) {
  Asked out;
  const auto count = static_cast<std::size_t>(demand.answers);
  for (const PagedRequest& r : demand.requests) {
    const auto end = r.output_tokens.begin() + static_cast<std::ptrdiff_t>(count);
    out.requests.push_back({.arrival_s = serving::seconds_of(r.arrival_us),
                            .prompt_tokens = r.prompt_tokens,
                            .output_tokens = *std::max_element(r.output_tokens.begin(), end)});
    out.answers.insert(out.answers.end(), r.output_tokens.begin(), end);
  }
  return out;
}

ServingSetup engine_of(const PagedSetup& s, const Asked& asked, std::int32_t answers, const ServingCost& cost,
                       CacheKeeping keeping) {
  ServingSetup out{.cost = &cost, .slots = s.max_running};
  const bool tables = keeping == CacheKeeping::tables;
  out.block_tokens = tables ? s.block_tokens : 1;
  out.blocks = s.pool_tokens / out.block_tokens;
  out.preemption = s.when_full == PoolFull::swap ? Preemption::swap : Preemption::recompute;
  out.swap_bytes_per_s = std::max(1.0, s.link_bytes_per_s);
  out.watermark_blocks = tables ? s.watermark_blocks : 0;
  out.keeping = keeping;
  out.urgent = s.urgent;
  out.max_events = std::numeric_limits<std::int64_t>::max();
  out.max_sequence_steps = s.max_sequence_steps;
  out.answers = {.count = answers,
                 .tokens = asked.answers,
                 .share = s.share,
                 .replaced = s.replaced,
                 .seed = s.seed,
                 .stand_still = s.when_full == PoolFull::wait,
                 .host_blocks = s.host_blocks,
                 .rule = s.rule,
                 .fit = s.fit,
                 .reserve_tokens = s.reserve_tokens};
  return out;
}

class PagedRules : public serving::PoolRules {
 public:
  PagedRules(const PagedDemand& demand, const PagedSetup& setup, serving::ReplicaPool& pool,
             const serving::RoomCheck& room, PagedRun& run)
      : demand_(demand), setup_(setup), pool_(pool), room_(room), run_(run) {}
  std::int64_t arrival_us() const override {
    return next_ < demand_.requests.size() ? demand_.requests[next_].arrival_us : serving::never_us;
  }
  void arrive() override {
    const std::size_t id = next_++;
    if (room_.ever_fits(id)) return pool_.offer(0, id);
    run_.served[id].refused = true;
    ++run_.refused;
  }
  bool goes_on(std::int64_t next_us) const override { return next_us <= setup_.until_us; }

 private:
  const PagedDemand& demand_;
  const PagedSetup& setup_;
  serving::ReplicaPool& pool_;
  const serving::RoomCheck& room_;
  PagedRun& run_;
  std::size_t next_ = 0;
};

std::int64_t whole_us(double time_s) { return time_s >= 0 ? std::llround(time_s * 1e6) : -1; }

PagedRun simulate_followed(const PagedDemand& demand, const PagedSetup& setup, CacheKeeping keeping) {
  const Asked asked = asked_of(demand);
  ServingCost cost = *setup.cost;
  cost.kv_bytes_per_token = setup.token_bytes;
  const ServingSetup engine = engine_of(setup, asked, demand.answers, cost, keeping);
  ServingRun served;
  served.served.assign(asked.requests.size(), ServedRequest{-1, -1, -1, -1});
  PagedRun run;
  run.served.resize(asked.requests.size());
  paged_detail::Watch watch(demand, setup, served, run);
  serving::ReplicaPool pool(asked.requests, served, setup.cancelled);
  pool.add(engine, serving::Duty::all);
  serving::Replica& replica = pool.replica(0);
  replica.watch(&watch);
  const serving::RoomCheck room(asked.requests, engine);
  PagedRules rules(demand, setup, pool, room, run);
  pool.run(rules);
  run.end_us = pool.now_us();
  if (setup.until_us != std::numeric_limits<std::int64_t>::max()) run.end_us = setup.until_us;
  replica.pass(run.end_us);
  for (std::size_t i = 0; i < run.served.size(); ++i) {
    run.served[i].start_us = whole_us(served.served[i].start_s);
    run.served[i].finish_us = whole_us(served.served[i].finish_s);
  }
  run.completed = served.completed;
  run.preemptions = served.preemptions;
  run.copies = served.answers.copies;
  run.steps = served.answers.steps;
  run.tokens = served.answers.tokens;
  run.recomputed_tokens = served.answers.recomputed_tokens;
  run.swapped_out_blocks = served.answers.swapped_out_blocks;
  run.host_full = served.answers.host_full;
  run.blocks_left = replica.blocks_left();
  run.stuck_us = replica.still_since_us();
  if (run.stuck_us >= 0) run.stuck_requests = replica.running();
  run.stopped = served.stopped;
  return run;
}

}  // namespace

PagedRun simulate_paged(const PagedDemand& demand, const PagedSetup& setup) {
  return simulate_followed(demand, setup, CacheKeeping::tables);
}

PagedRun simulate_reserved(const PagedDemand& demand, const PagedSetup& setup) {
  return simulate_followed(demand, setup, CacheKeeping::runs);
}

std::int64_t reserved_slots(const PagedRequest& request, std::size_t answer, const PagedSetup& setup) {
  return serving::reserved_slots(request.prompt_tokens, request.output_tokens[answer], setup.rule,
                                 setup.reserve_tokens);
}

}  // namespace models
