#include "models/serving/fleet/parting.h"

#include <algorithm>
#include <cmath>

#include "models/serving/engine/serving_pool.h"

namespace models {
namespace {

using serving::never_us;
using serving::seconds_of;

constexpr std::int32_t long_answer = 1 << 30;

class World : serving::PoolRules {
 public:
  World(const PartingSetup& setup, PartingWorld world)
      : setup_(setup),
        world_(world),
        readers_(world == PartingWorld::parted ? static_cast<std::size_t>(setup.prefill_replicas) : 0),
        requests_(requests_of(setup)),
        pool_(requests_, run_, setup.cancelled) {
    const auto all = static_cast<std::size_t>(setup.replicas);
    lead_us_ = serving::microseconds_in(setup.lead_s);
    end_us_ = lead_us_ + serving::microseconds_in(setup.counted_s, 1);
    how_ = {
        .policy = world == PartingWorld::chunked ? ServingPolicy::chunked : ServingPolicy::continuous,
        .cost = setup.cost,
        .slots = setup.decoders + static_cast<std::int64_t>(setup.lands_s.size()) + 1,
        .chunk_tokens = setup.chunk_tokens,
        .block_tokens = setup.block_tokens,
        .blocks = setup.blocks,
        .token_ticks = setup.max_ticks,
        .measure_from_s = seconds_of(lead_us_),
        .measure_until_s = seconds_of(end_us_),
    };
    run_.served.assign(requests_.size(), ServedRequest{-1, -1, -1, -1});
    reading_ = how_;
    reading_.slots = 1;  // one prompt after another: together they would all wait for the last
    pool_.set_link(setup.link_bytes_per_s, setup.link_latency_s, setup.cost->kv_bytes_per_token);
    for (std::size_t i = 0; i < all; ++i)
      pool_.add(i < readers_ ? reading_ : how_, world != PartingWorld::parted ? serving::Duty::all
                                                : i < readers_                ? serving::Duty::prefill
                                                                              : serving::Duty::decode);
    history_.replicas.resize(all);
    history_.prompts.resize(setup.lands_s.size());
  }

  PartingHistory play() {
    for (std::size_t i = 0; i < users(); ++i) seat(i);
    pool_.run(*this);
    close();
    return std::move(history_);
  }

 private:
  std::size_t users() const { return static_cast<std::size_t>(setup_.decoders); }
  std::size_t writers() const { return pool_.size() - readers_; }
  std::int64_t arrival_us(std::size_t id) const { return serving::microseconds_from(requests_[id].arrival_s); }
  double since_landing(std::int64_t us) const { return seconds_of(us - lead_us_); }

  /// Users, long prompts, and one request a replica that ends its last step when all is over.
  static std::vector<ServingRequest> requests_of(const PartingSetup& setup) {
    const auto whole = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
    const std::int64_t lead_us = serving::microseconds_in(setup.lead_s);
    std::vector<ServingRequest> out;
    out.assign(static_cast<std::size_t>(setup.decoders),
               {.prompt_tokens = whole(setup.context), .output_tokens = long_answer});
    for (const double lands_s : setup.lands_s)
      out.push_back({.arrival_s = seconds_of(lead_us + serving::microseconds_in(lands_s)),
                     .prompt_tokens = whole(setup.prompt_tokens),
                     .output_tokens = whole(setup.answer_tokens)});
    out.resize(out.size() + static_cast<std::size_t>(setup.replicas), {.prompt_tokens = 1, .output_tokens = 1});
    return out;
  }

  /// A user whose prompt has been read long ago and whose answer is under way.
  void seat(std::size_t id) {
    const std::size_t place = readers_ + id % writers();
    pool_.seat(place, id, setup_.context);
    ++history_.replicas[place].decoders;
  }

  std::int64_t arrival_us() const override {
    return landed_ < history_.prompts.size() ? arrival_us(users() + landed_) : never_us;
  }
  void arrive() override {
    const std::size_t prompt = landed_++, place = prompt % (readers_ > 0 ? readers_ : pool_.size());
    history_.prompts[prompt].reader = history_.prompts[prompt].writer = static_cast<std::int32_t>(place);
    pool_.offer(place, users() + prompt);
  }
  bool goes_on(std::int64_t next_us) const override {
    return run_.preemptions == 0 && (next_us <= end_us_ || first_tokens_ < history_.prompts.size());
  }
  std::size_t writer_of(std::size_t id) override {
    const std::size_t place = readers_ + turn_++ % writers();
    history_.prompts[id - users()].writer = static_cast<std::int32_t>(place);
    return place;
  }
  void sends(const serving::Transfer& cache) override {
    PartingPrompt& p = history_.prompts[cache.id - users()];
    p.sent_from_s = since_landing(cache.start_us);
    p.sent_until_s = since_landing(cache.end_us);
    history_.transfer_bytes += cache.bytes;
  }

  /// Tokens that just came: of each replica those of one user stand for all.
  void stepped(std::size_t) override {
    for (const TokenTick& tick : run_.ticks) {
      const auto id = static_cast<std::size_t>(tick.request);
      const double time_s = since_landing(tick.time_us);
      if (id < users()) {
        if (id < writers()) history_.replicas[readers_ + id].token_s.push_back(time_s);
      } else if (id < users() + history_.prompts.size()) {
        PartingPrompt& p = history_.prompts[id - users()];
        if (p.token_s.empty()) ++first_tokens_;
        p.token_s.push_back(time_s);
      }
    }
    ticks_ += static_cast<std::int64_t>(run_.ticks.size());
    run_.ticks.clear();
    if (ticks_ >= setup_.max_ticks) run_.stopped = true;
  }

  /// Steps of which nobody joins or leaves are run many at once: a last request ends those that are under way, so that
  /// their tokens are known up to the end.
  void close() {
    history_.out_of_room =
        !run_.stopped && (run_.preemptions > 0 || run_.refused > 0 || first_tokens_ < history_.prompts.size());
    for (std::size_t i = readers_; i < pool_.size() && !history_.out_of_room && !run_.stopped; ++i) {
      const serving::Replica& replica = pool_.replica(i);
      const std::size_t id = requests_.size() - pool_.size() + i;
      requests_[id].arrival_s = seconds_of(end_us_);
      if (replica.next_us() == never_us) continue;
      pool_.offer(i, id);
      for (std::int64_t now_us = 0; now_us <= end_us_ && replica.next_us() != never_us && !run_.stopped;) {
        now_us = replica.next_us();
        pool_.go_on(*this, i);
      }
    }
    history_.stopped = run_.stopped;
    history_.busy_s = run_.measured.busy_s;
    for (std::size_t i = 0; i < history_.prompts.size(); ++i) {
      const ServedRequest& served = run_.served[users() + i];
      PartingPrompt& p = history_.prompts[i];
      p.lands_s = setup_.lands_s[i];
      p.start_s = since_landing(std::llround(served.start_s * 1e6));
      p.first_token_s = since_landing(std::llround(served.first_token_s * 1e6));
    }
  }

  const PartingSetup& setup_;
  PartingWorld world_;
  std::size_t readers_ = 0, turn_ = 0, first_tokens_ = 0, landed_ = 0;
  std::int64_t lead_us_ = 0, end_us_ = 0, ticks_ = 0;
  ServingSetup how_, reading_;
  std::vector<ServingRequest> requests_;
  ServingRun run_;
  serving::ReplicaPool pool_;  ///< those that read prompts alone first
  PartingHistory history_;
};

}  // namespace

PartingHistory play_parting(const PartingSetup& setup, PartingWorld world) { return World(setup, world).play(); }

std::int64_t parting_tokens_needed(const PartingSetup& setup, PartingWorld world) {
  const bool parted = world == PartingWorld::parted;
  const std::int64_t writers = parted ? setup.replicas - setup.prefill_replicas : setup.replicas,
                     users = (setup.decoders + writers - 1) / writers;
  const double step_s = setup.cost->step_s(1, 1, static_cast<double>(setup.context)),
               written = std::ceil((setup.lead_s + setup.counted_s) / step_s) + 1;
  const auto whole = [&](double tokens) {
    const auto blocks = static_cast<std::int64_t>(tokens) / setup.block_tokens + 1;
    return blocks * setup.block_tokens;
  };
  return users * whole(static_cast<double>(setup.context) + written) +
         whole(static_cast<double>(setup.prompt_tokens + setup.answer_tokens));
}

ServingCost with_kv_copies(ServingCost cost, double copies) {
  cost.kv_bytes_per_token *= copies;
  cost.context_s *= copies;
  return cost;
}

}  // namespace models
