#include "models/serving/parting.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "models/serving/serving_replica.h"

namespace models {
namespace {

using serving::never_us;
using serving::seconds_of;

constexpr std::int32_t long_answer = 1 << 30;

/// A replica with what it needs to stand still in memory.
struct Part {
  Part(std::span<const ServingRequest> requests, const ServingSetup& how, ServingRun& run, serving::Duty duty,
       serving::Links* links)
      : share{requests, {}}, setup(how), ledger(run, setup, share, false), replica(share, setup, ledger, duty, links) {}
  serving::Share share;
  const ServingSetup setup;
  serving::Ledger ledger;
  serving::Replica replica;
  std::int64_t link_free_us = 0;
};

/// A cache has arrived, and its blocks at the sender are free.
struct Arrived {
  std::int64_t time_us = 0;
  std::size_t sender = 0, request = 0;
  std::int64_t blocks = 0, tokens = 0;
};

class World {
 public:
  World(const PartingSetup& setup, PartingWorld world) : setup_(setup), world_(world) {
    readers_ = world == PartingWorld::parted ? static_cast<std::size_t>(setup.prefill_replicas) : 0;
    const auto all = static_cast<std::size_t>(setup.replicas);
    make_requests(all);
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
    sent_.resize(requests_.size());
    for (std::size_t i = 0; i < all; ++i) add(i);
    history_.replicas.resize(all);
    history_.prompts.resize(setup.lands_s.size());
  }

  PartingHistory play() {
    for (std::size_t i = 0; i < users(); ++i) seat(i);
    std::size_t landed = 0;
    while (!run_.stopped && run_.preemptions == 0) {
      const std::size_t next = next_part();
      const std::int64_t land_us = landed < history_.prompts.size() ? arrival_us(users() + landed) : never_us,
                         sent_us = wire_.empty() ? never_us : wire_.front().time_us,
                         now_us = std::min({parts_[next]->replica.next_us(), land_us, sent_us});
      if (now_us == never_us || (now_us > end_us_ && first_tokens_ == history_.prompts.size())) break;
      if (land_us <= now_us)
        land(landed++);
      else if (sent_us <= now_us)
        free_sent();
      else
        go_on(next);
    }
    close();
    return std::move(history_);
  }

 private:
  std::size_t users() const { return static_cast<std::size_t>(setup_.decoders); }
  std::size_t writers() const { return parts_.size() - readers_; }
  std::int64_t arrival_us(std::size_t id) const { return serving::microseconds_from(requests_[id].arrival_s); }
  double since_landing(std::int64_t us) const { return seconds_of(us - lead_us_); }

  /// Users, long prompts, and one request a replica that ends its last step when all is over.
  void make_requests(std::size_t replicas) {
    const auto whole = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
    const std::int64_t lead_us = serving::microseconds_in(setup_.lead_s);
    requests_.assign(users(), {.prompt_tokens = whole(setup_.context), .output_tokens = long_answer});
    for (const double lands_s : setup_.lands_s)
      requests_.push_back({.arrival_s = seconds_of(lead_us + serving::microseconds_in(lands_s)),
                           .prompt_tokens = whole(setup_.prompt_tokens),
                           .output_tokens = whole(setup_.answer_tokens)});
    requests_.resize(requests_.size() + replicas, {.prompt_tokens = 1, .output_tokens = 1});
  }

  struct Wire : serving::Links {
    World& world;
    std::size_t to = 0;
    Wire(World& w, std::size_t place) : world(w), to(place) {}
    std::int64_t send(std::int64_t now_us, const serving::Waiting& from) override {
      return world.send(to, now_us, from);
    }
  };

  void add(std::size_t place) {
    const bool reads = place < readers_;
    ServingSetup how = how_;
    if (reads) how.slots = 1;  // one prompt after another: together they would all wait for the last
    wires_.push_back(std::make_unique<Wire>(*this, place));
    const serving::Duty duty = world_ != PartingWorld::parted ? serving::Duty::all
                               : reads                        ? serving::Duty::prefill
                                                              : serving::Duty::decode;
    parts_.push_back(std::make_unique<Part>(requests_, how, run_, duty, wires_.back().get()));
  }

  std::size_t offer_to(std::size_t place, std::size_t id) {
    serving::Share& share = parts_[place]->share;
    share.ids.push_back(static_cast<std::int32_t>(id));
    return share.size() - 1;
  }

  /// A user whose prompt has been read long ago and whose answer is under way.
  void seat(std::size_t id) {
    const std::size_t place = readers_ + id % writers();
    parts_[place]->replica.offer(
        {.request = offer_to(place, id), .generated = 1, .remote = setup_.context, .source = -1}, 0);
    ++history_.replicas[place].decoders;
  }

  void land(std::size_t prompt) {
    const std::size_t place = prompt % (readers_ > 0 ? readers_ : parts_.size());
    history_.prompts[prompt].reader = history_.prompts[prompt].writer = static_cast<std::int32_t>(place);
    parts_[place]->replica.offer(offer_to(place, users() + prompt));
  }

  void go_on(std::size_t place) {
    Part& p = *parts_[place];
    p.replica.go_on();
    take_ticks();
    p.ledger.may_go_on(static_cast<std::size_t>(p.replica.running()));
    if (setup_.cancelled && setup_.cancelled->load()) run_.stopped = true;
    for (const serving::Waiting& read : p.replica.take_read()) write(place, read);
  }

  /// Tokens that just came: of each replica those of one user stand for all.
  void take_ticks() {
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

  /// A prompt has been read, and its answer is written in the other pool.
  void write(std::size_t sender, serving::Waiting read) {
    const std::int32_t id = parts_[sender]->share.ids[read.request];
    const std::size_t place = readers_ + turn_++ % writers();
    sent_[static_cast<std::size_t>(id)] = {0, sender, read.request, read.remote_blocks, read.remote};
    history_.prompts[static_cast<std::size_t>(id) - users()].writer = static_cast<std::int32_t>(place);
    read.request = offer_to(place, static_cast<std::size_t>(id));
    read.source = static_cast<std::int32_t>(sender);
    parts_[place]->replica.offer(read, read.token_us);
  }

  /// Both ends send or receive one cache at a time. The users' caches were there before the picture begins.
  std::int64_t send(std::size_t to, std::int64_t now_us, const serving::Waiting& from) {
    if (from.source < 0) return now_us;
    Part &target = *parts_[to], &source = *parts_[static_cast<std::size_t>(from.source)];
    const auto id = static_cast<std::size_t>(target.share.ids[from.request]);
    const double bytes = static_cast<double>(from.remote) * setup_.cost->kv_bytes_per_token;
    const std::int64_t start_us = std::max({now_us, target.link_free_us, source.link_free_us}),
                       end_us = start_us +
                                serving::microseconds_in(bytes / setup_.link_bytes_per_s + setup_.link_latency_s, 1);
    target.link_free_us = source.link_free_us = end_us;
    Arrived arrived = sent_[id];
    arrived.time_us = end_us;
    wire_.insert(std::upper_bound(wire_.begin(), wire_.end(), arrived,
                                  [](const Arrived& a, const Arrived& b) { return a.time_us < b.time_us; }),
                 arrived);
    PartingPrompt& p = history_.prompts[id - users()];
    p.sent_from_s = since_landing(start_us);
    p.sent_until_s = since_landing(end_us);
    history_.transfer_bytes += bytes;
    return end_us;
  }

  void free_sent() {
    const Arrived sent = wire_.front();
    wire_.erase(wire_.begin());
    parts_[sent.sender]->replica.free_sent(sent.time_us, sent.request, sent.blocks, sent.tokens);
  }

  std::size_t next_part() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < parts_.size(); ++i)
      if (parts_[i]->replica.next_us() < parts_[best]->replica.next_us()) best = i;
    return best;
  }

  /// Steps of which nobody joins or leaves are run many at once: a last request ends those that are under way, so that
  /// their tokens are known up to the end.
  void close() {
    history_.out_of_room =
        !run_.stopped && (run_.preemptions > 0 || run_.refused > 0 || first_tokens_ < history_.prompts.size());
    for (std::size_t i = readers_; i < parts_.size() && !history_.out_of_room && !run_.stopped; ++i) {
      serving::Replica& replica = parts_[i]->replica;
      const std::size_t id = requests_.size() - parts_.size() + i;
      requests_[id].arrival_s = seconds_of(end_us_);
      if (replica.next_us() == never_us) continue;
      replica.offer(offer_to(i, id));
      for (std::int64_t now_us = 0; now_us <= end_us_ && replica.next_us() != never_us && !run_.stopped;) {
        now_us = replica.next_us();
        go_on(i);
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
  std::size_t readers_ = 0, turn_ = 0, first_tokens_ = 0;
  std::int64_t lead_us_ = 0, end_us_ = 0, ticks_ = 0;
  ServingSetup how_;
  std::vector<ServingRequest> requests_;
  ServingRun run_;
  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<std::unique_ptr<Part>> parts_;  ///< those that read prompts alone first
  std::vector<Arrived> sent_;                 ///< by request: who holds its cache
  std::vector<Arrived> wire_;                 ///< under way, by time
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
