#pragma once
#include <atomic>
#include <memory>
#include <queue>
#include <vector>

#include "models/serving/engine/serving_replica.h"

/// The clock and the queue of events, once for everything that is served step by step: requests come, caches arrive
/// over the links between replicas, timers run out, and steps end. Who owns the replicas says by rules what only it
/// decides.
namespace models::serving {

/// A cache on its way from one replica to another.
struct Transfer {
  std::size_t id = 0;  ///< number of the request
  std::int64_t start_us = 0, end_us = 0;
  std::int64_t waited_us = 0;  ///< from the end of the prompt to the start
  double bytes = 0;
};

/// What the owner of a pool decides.
class PoolRules {
 public:
  virtual ~PoolRules() = default;
  /// When the next request comes; never_us: none does.
  virtual std::int64_t arrival_us() const = 0;
  virtual void arrive() = 0;
  /// Where request number `id` goes on, whose prompt has been read.
  virtual std::size_t writer_of(std::size_t /*id*/) { return 0; }
  virtual void sends(const Transfer&) {}
  virtual void stepped(std::size_t /*place*/) {}
  /// The owner's own next moment; it comes only while there is other work.
  virtual std::int64_t timer_us() const { return never_us; }
  virtual void timer() {}
  virtual bool goes_on(std::int64_t /*next_us*/) const { return true; }
};

class ReplicaPool final : public Links {
 public:
  /// Requests and run must stay. Caches go over links of their replicas, one at a time at both ends.
  ReplicaPool(std::span<const ServingRequest> requests, ServingRun& run, const std::atomic<bool>* cancelled)
      : requests_(requests), run_(run), cancelled_(cancelled) {}
  void set_link(double bytes_per_s, double latency_s, double bytes_per_token);

  /// A replica more, of a setup that must stay; returns its place. `ids`: the requests that will be its own, where they
  /// are known ahead.
  std::size_t add(const ServingSetup& setup, Duty duty, bool pictured = false, std::vector<std::int32_t> ids = {});
  std::size_t size() const { return members_.size(); }
  Replica& replica(std::size_t place) { return members_[place]->replica; }
  const Replica& replica(std::size_t place) const { return members_[place]->replica; }

  void run(PoolRules& rules);
  std::int64_t now_us() const { return now_us_; }

  /// Request number `id` comes to this replica.
  void offer(std::size_t place, std::size_t id);
  /// The next of the requests that were given to it ahead.
  void offer_next(std::size_t place);
  /// One that was read before the run began, with this many tokens of cache and the first of its answer.
  void seat(std::size_t place, std::size_t id, std::int64_t tokens);
  /// The step under way at this replica ends.
  void go_on(PoolRules& rules, std::size_t place);

 private:
  struct Member {
    Member(std::span<const ServingRequest> requests, std::vector<std::int32_t> ids, const ServingSetup& setup,
           ServingRun& run, Duty duty, bool pictured, Links* links)
        : share{requests, std::move(ids)},
          ledger(run, setup, share, pictured),
          replica(share, setup, ledger, duty, links) {}
    Share share;
    Ledger ledger;
    Replica replica;
    std::size_t offered = 0;
    std::int64_t link_free_us = 0;
  };
  /// A cache at its sender, until it has arrived.
  struct Sent {
    std::int64_t time_us = 0;
    std::size_t sender = 0, request = 0;  ///< request: place in the sender's share
    std::int64_t blocks = 0, tokens = 0;
    bool operator>(const Sent& o) const { return time_us > o.time_us; }
  };

  std::int64_t send(std::size_t place, std::int64_t now_us, const Waiting& from) override;
  void land();
  void write(PoolRules& rules, std::size_t sender, Waiting read);
  void noted(std::size_t place) { next_us_[place] = members_[place]->replica.next_us(); }

  std::span<const ServingRequest> requests_;
  ServingRun& run_;
  const std::atomic<bool>* cancelled_;
  PoolRules* rules_ = nullptr;
  double link_bytes_per_s_ = 50e9, link_latency_s_ = 0, bytes_per_token_ = 0;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::int64_t> next_us_;  ///< by replica: end of its step
  std::vector<Sent> senders_;          ///< by request: who holds its cache, and since when
  std::priority_queue<Sent, std::vector<Sent>, std::greater<>> wire_;
  std::int64_t now_us_ = 0;
};

}  // namespace models::serving
