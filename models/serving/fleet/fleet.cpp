#include "models/serving/fleet/fleet.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "models/base/counter_random.h"
#include "models/serving/engine/serving_pool.h"
#include "models/serving/fleet/fleet_scaler.h"

namespace models {
namespace {

using serving::never_us;
using serving::seconds_of;

/// What the fleet knows of a replica.
struct Member {
  std::int64_t started_us = 0, serves_from_us = 0;
  bool leaving = false, gone = false;
};

class Fleet : serving::PoolRules {
 public:
  Fleet(std::span<const ServingRequest> requests, const FleetSetup& setup, FleetRun& run)
      : requests_(requests),
        setup_(setup),
        run_(run),
        draws_(random_stream(static_cast<std::int64_t>(setup.seed), 7)),
        whole_(setup.replica),
        room_(requests, whole_),
        pool_(requests, run, nullptr) {
    whole_.history_requests = 0;
    if (parted()) whole_.keeping = CacheKeeping::counted;
    prompts_ = whole_;
    if (setup.parting.prefill_cost) prompts_.cost = setup.parting.prefill_cost;
    if (setup.parting.prefill_blocks > 0) prompts_.blocks = setup.parting.prefill_blocks;
    pool_.set_link(setup.parting.link_bytes_per_s, setup.parting.link_latency_s, whole_.cost->kv_bytes_per_token);
    for (std::int64_t i = 0; i < setup.parting.prefill_replicas; ++i) start(prompts_, serving::Duty::prefill, 0, 0);
    first_ = members_.size();
    for (std::int64_t i = 0; i < setup.replica.servers; ++i) start(whole_, duty(), 0, 0);
    if (setup.sample_s > 0) next_sample_us_ = 0;
    if (scales()) next_look_us_ = serving::microseconds_in(setup.scaling.interval_s, 1);
  }

  void run() {
    pool_.run(*this);
    close();
  }

 private:
  std::int64_t arrival_us() const override {
    return arrived_ < requests_.size() ? serving::microseconds_from(requests_[arrived_].arrival_s) : never_us;
  }
  std::int64_t timer_us() const override { return std::min(next_sample_us_, next_look_us_); }
  void timer() override {
    if (next_sample_us_ <= pool_.now_us()) {
      sample();
      next_sample_us_ += serving::microseconds_in(setup_.sample_s, 1);
    } else {
      look();
      next_look_us_ += serving::microseconds_in(setup_.scaling.interval_s, 1);
    }
  }
  bool parted() const { return setup_.parting.prefill_replicas > 0; }
  bool scales() const { return setup_.scaling.signal != ScaleSignal::none; }
  serving::Duty duty() const { return parted() ? serving::Duty::decode : serving::Duty::all; }

  void start(const ServingSetup& setup, serving::Duty duty, std::int64_t from_us, std::int64_t serves_from_us) {
    pool_.add(setup, duty);
    members_.push_back({.started_us = from_us, .serves_from_us = serves_from_us});
    ++paid_;
    run_.most_replicas = std::max(run_.most_replicas, paid_);
  }

  bool fits(std::size_t id) const {
    const ServingRequest& r = requests_[id];
    return room_.ever_fits(id) && (!parted() || r.prompt_tokens <= prompts_.blocks * prompts_.block_tokens);
  }

  void arrive() override {
    const std::size_t id = arrived_++;
    if (!fits(id)) return turn_away(id, FleetVerdict::too_long, run_.refused);
    const std::size_t place = parted() ? pick(id, 0, first_) : pick(id, first_, members_.size());
    if (setup_.longest_queue > 0 && pool_.replica(place).waiting() >= setup_.longest_queue)
      return turn_away(id, FleetVerdict::refused, run_.queue_refused);
    if (!parted()) run_.replica[id] = static_cast<std::int16_t>(place - first_);
    pool_.offer(place, id);
  }

  void turn_away(std::size_t id, FleetVerdict verdict, std::int64_t& count) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    run_.served[id] = {nan, nan, nan, nan};
    run_.verdict[id] = verdict;
    ++count;
    ++run_.events;
  }

  /// The replica from `from` to before `to` that this request goes to: of equal ones the first after the one chosen
  /// last.
  std::size_t pick(std::size_t id, std::size_t from, std::size_t to) {
    open_.clear();
    for (std::size_t i = from; i < to; ++i) {
      const std::size_t place = from + (turn_ + i - from) % (to - from);
      const Member& m = members_[place];
      if (!m.leaving && m.serves_from_us <= pool_.now_us()) open_.push_back(place);
    }
    std::size_t best = open_.front();
    if (setup_.router == FleetRouter::two_choices && open_.size() > 1) {
      const std::size_t a = below(open_.size(), 2 * id), b = below(open_.size() - 1, 2 * id + 1);
      const std::size_t other = open_[b < a ? b : b + 1];
      best = load_of(other, id) < load_of(open_[a], id) ? other : open_[a];
    } else if (setup_.router != FleetRouter::round_robin) {
      for (const std::size_t place : open_)
        if (load_of(place, id) < load_of(best, id)) best = place;
    }
    turn_ = best - from + 1;
    return best;
  }

  std::size_t below(std::size_t count, std::size_t draw) const {
    return static_cast<std::size_t>(unit_draw(draws_, draw) * static_cast<double>(count));
  }

  std::int64_t load_of(std::size_t place, std::size_t id) const {
    const serving::Replica& r = pool_.replica(place);
    if (setup_.router == FleetRouter::least_blocks) return r.blocks_claimed();
    if (setup_.router != FleetRouter::prefix_aware) return r.requests();
    return r.prompt_tokens_left() + requests_[id].prompt_tokens - r.kept_tokens(id);
  }

  void stepped(std::size_t place) override {
    const Member& m = members_[place];
    if (m.leaving && !m.gone && pool_.replica(place).idle()) leave(place);
  }

  std::size_t writer_of(std::size_t id) override {
    const std::size_t place = pick(id, first_, members_.size());
    run_.replica[id] = static_cast<std::int16_t>(place - first_);
    return place;
  }

  void sends(const serving::Transfer& cache) override {
    run_.transfer_wait_s += seconds_of(cache.waited_us);
    run_.transfer_s += seconds_of(cache.end_us - cache.start_us);
    run_.transfer_bytes += cache.bytes;
    ++run_.transfers;
  }

  bool starts(std::size_t place) const { return members_[place].serves_from_us > pool_.now_us(); }
  FleetPoint point() const {
    FleetPoint out{.time_s = seconds_of(pool_.now_us())};
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Member& m = members_[i];
      if (m.gone) continue;
      ++(m.leaving ? out.leaving : starts(i) ? out.starting : out.serving);
      out.waiting += static_cast<std::int32_t>(pool_.replica(i).waiting());
      out.running += static_cast<std::int32_t>(pool_.replica(i).running());
    }
    return out;
  }
  void sample() {
    constexpr std::size_t max_points = 20000;
    if (run_.history.size() < max_points) run_.history.push_back(point());
  }

  void look() {
    FleetLook seen{.now_us = pool_.now_us()};
    for (std::size_t i = first_; i < members_.size(); ++i) {
      if (members_[i].leaving) continue;
      ++seen.replicas;
      if (starts(i)) continue;
      ++seen.serving;
      seen.waiting += pool_.replica(i).waiting();
      seen.running += pool_.replica(i).running();
    }
    seen.busy_s = run_.busy_s;
    seen.slots = setup_.replica.slots;
    const std::int64_t wanted = scaler_.wanted(setup_.scaling, seen);
    for (std::int64_t n = seen.replicas; n < wanted; ++n)
      start(whole_, duty(), pool_.now_us(), pool_.now_us() + serving::microseconds_in(setup_.scaling.cold_start_s));
    for (std::int64_t n = seen.replicas; n > wanted; --n) shrink();
  }

  /// One that still starts goes first, then the one with the fewest requests; one that serves always stays.
  void shrink() {
    std::size_t best = members_.size(), serving = 0;
    for (std::size_t i = first_; i < members_.size(); ++i) serving += !members_[i].leaving && !starts(i);
    for (std::size_t i = first_; i < members_.size(); ++i) {
      if (members_[i].leaving || (!starts(i) && serving < 2)) continue;
      if (best == members_.size() || starts(i) > starts(best) ||
          (starts(i) == starts(best) && pool_.replica(i).requests() <= pool_.replica(best).requests()))
        best = i;
    }
    if (best == members_.size()) return;
    members_[best].leaving = true;
    if (pool_.replica(best).idle()) leave(best);
  }

  void leave(std::size_t place) {
    members_[place].gone = true;
    --paid_;
    run_.paid_replica_s += seconds_of(pool_.now_us() - members_[place].started_us);
  }

  void close() {
    const double end_s = run_.end_s;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      run_.blocks_left += pool_.replica(i).blocks_left();
      if (!members_[i].gone) run_.paid_replica_s += std::max(0.0, end_s - seconds_of(members_[i].started_us));
    }
    for (std::size_t id = 0; id < requests_.size(); ++id)
      if (run_.verdict[id] == FleetVerdict::served && !(run_.served[id].finish_s >= 0)) {
        run_.verdict[id] = FleetVerdict::dropped;
        run_.replica[id] = -1;
      }
  }

  std::span<const ServingRequest> requests_;
  const FleetSetup& setup_;
  FleetRun& run_;
  std::uint64_t draws_;  ///< stream of two_choices
  FleetScaler scaler_;
  ServingSetup whole_, prompts_;
  serving::RoomCheck room_;
  serving::ReplicaPool pool_;
  std::vector<Member> members_;  ///< by place in the pool: those for prompts first
  std::size_t first_ = 0;        ///< where the pool that writes begins
  std::vector<std::size_t> open_;
  std::size_t turn_ = 0, arrived_ = 0;
  std::int64_t next_sample_us_ = never_us, next_look_us_ = never_us, paid_ = 0;
};

}  // namespace

FleetRun simulate_fleet(std::span<const ServingRequest> requests, const FleetSetup& setup) {
  FleetRun run;
  run.served.assign(requests.size(), ServedRequest{-1, -1, -1, -1});
  run.replica.assign(requests.size(), -1);
  run.verdict.assign(requests.size(), FleetVerdict::served);
  Fleet(requests, setup, run).run();
  return run;
}

}  // namespace models
