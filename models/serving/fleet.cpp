#include "models/serving/fleet.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>

#include "models/base/counter_random.h"
#include "models/serving/fleet_scaler.h"
#include "models/serving/serving_replica.h"

namespace models {
namespace {

using serving::never_us;
using serving::seconds_of;

/// A replica with what it needs to stand still in memory.
struct Member {
  Member(std::span<const ServingRequest> requests, const ServingSetup& setup, ServingRun& run, serving::Duty duty,
         serving::Links* links)
      : share{requests, {}}, ledger(run, setup, share, false), replica(share, setup, ledger, duty, links) {}
  serving::Share share;
  serving::Ledger ledger;
  serving::Replica replica;
  std::int64_t serves_from_us = 0;
  std::int64_t link_free_us = 0;
  bool leaving = false, gone = false;
};

/// A cache has arrived, and its blocks at the sender are free.
struct Sent {
  std::int64_t time_us = 0;
  std::size_t sender = 0, request = 0;  ///< request: place in the sender's share
  std::int64_t blocks = 0, tokens = 0;
  bool operator>(const Sent& o) const { return time_us > o.time_us; }
};

class Fleet {
 public:
  Fleet(std::span<const ServingRequest> requests, const FleetSetup& setup, FleetRun& run)
      : requests_(requests), setup_(setup), run_(run), draws_(random_stream(static_cast<std::int64_t>(setup.seed), 7)) {
    whole_ = setup.replica;
    whole_.history_requests = 0;
    prompts_ = whole_;
    if (setup.parting.prefill_cost) prompts_.cost = setup.parting.prefill_cost;
    if (setup.parting.prefill_blocks > 0) prompts_.blocks = setup.parting.prefill_blocks;
    for (std::int64_t i = 0; i < setup.parting.prefill_replicas; ++i) start(prompts_, serving::Duty::prefill, 0, 0);
    first_ = members_.size();
    for (std::int64_t i = 0; i < setup.replica.servers; ++i) start(whole_, duty(), 0, 0);
    if (setup.sample_s > 0) next_sample_us_ = 0;
    if (scales()) next_look_us_ = serving::microseconds_in(setup.scaling.interval_s, 1);
  }

  void run() {
    std::size_t arrived = 0;
    std::int64_t arrival_us = requests_.empty() ? never_us : serving::microseconds_from(requests_[0].arrival_s);
    for (;;) {
      const auto next = std::min_element(next_us_.begin(), next_us_.end());
      const std::int64_t sent_us = sent_.empty() ? never_us : sent_.top().time_us;
      const std::int64_t work_us = std::min({*next, sent_us, arrival_us});
      if (work_us == never_us || run_.stopped) break;
      now_us_ = std::min({work_us, next_sample_us_, next_look_us_});
      if (arrival_us <= now_us_) {
        arrive(arrived++);
        arrival_us = arrived < requests_.size() ? serving::microseconds_from(requests_[arrived].arrival_s) : never_us;
      } else if (sent_us <= now_us_) {
        land();
      } else if (next_sample_us_ <= now_us_) {
        sample();
        next_sample_us_ += serving::microseconds_in(setup_.sample_s, 1);
      } else if (next_look_us_ <= now_us_) {
        look();
        next_look_us_ += serving::microseconds_in(setup_.scaling.interval_s, 1);
      } else {
        go_on(static_cast<std::size_t>(next - next_us_.begin()));
      }
    }
    close();
  }

 private:
  bool parted() const { return setup_.parting.prefill_replicas > 0; }
  bool scales() const { return setup_.scaling.signal != ScaleSignal::none; }
  serving::Duty duty() const { return parted() ? serving::Duty::decode : serving::Duty::all; }

  /// Sends caches over the wire, one at a time at both ends.
  struct Wire : serving::Links {
    Fleet& fleet;
    std::size_t to = 0;
    Wire(Fleet& f, std::size_t place) : fleet(f), to(place) {}
    std::int64_t send(std::int64_t now_us, const serving::Waiting& from) override {
      return fleet.send(to, now_us, from);
    }
  };

  void start(const ServingSetup& setup, serving::Duty duty, std::int64_t from_us, std::int64_t serves_from_us) {
    const std::size_t place = members_.size();
    wires_.push_back(std::make_unique<Wire>(*this, place));
    members_.push_back(std::make_unique<Member>(requests_, setup, run_, duty, wires_.back().get()));
    members_.back()->serves_from_us = serves_from_us;
    started_us_.push_back(from_us);
    next_us_.push_back(never_us);
    ++paid_;
    run_.most_replicas = std::max(run_.most_replicas, paid_);
  }

  bool fits(const ServingRequest& r) const {
    const std::int64_t size = whole_.block_tokens, tokens = std::int64_t{r.prompt_tokens} + r.output_tokens;
    return tokens <= whole_.blocks * size && (!parted() || r.prompt_tokens <= prompts_.blocks * size);
  }

  void arrive(std::size_t id) {
    if (!fits(requests_[id])) return turn_away(id, FleetVerdict::too_long, run_.refused);
    const std::size_t place = parted() ? pick(id, 0, first_) : pick(id, first_, members_.size());
    Member& m = *members_[place];
    if (setup_.longest_queue > 0 && m.replica.waiting() >= setup_.longest_queue)
      return turn_away(id, FleetVerdict::refused, run_.queue_refused);
    m.share.ids.push_back(static_cast<std::int32_t>(id));
    m.replica.offer(m.share.size() - 1);
    if (!parted()) run_.replica[id] = static_cast<std::int16_t>(place - first_);
    next_us_[place] = m.replica.next_us();
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
      const Member& m = *members_[place];
      if (!m.leaving && m.serves_from_us <= now_us_) open_.push_back(place);
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
    const serving::Replica& r = members_[place]->replica;
    if (setup_.router == FleetRouter::least_blocks) return r.blocks_claimed();
    if (setup_.router != FleetRouter::prefix_aware) return r.requests();
    const std::int64_t prompt = requests_[id].prompt_tokens;
    std::int64_t kept = 0;
    if (!setup_.replica.prefixes.empty()) {
      const PromptPrefix& prefix = setup_.replica.prefixes[id];
      kept = r.kept_tokens(prefix.session, std::min<std::int64_t>(prefix.tokens, prompt - 1));
    }
    return r.prompt_tokens_left() + prompt - kept;
  }

  void go_on(std::size_t place) {
    Member& m = *members_[place];
    m.replica.go_on();
    m.ledger.may_go_on(static_cast<std::size_t>(m.replica.running()));
    for (const serving::Waiting& read : m.replica.take_read()) write(place, read);
    next_us_[place] = m.replica.next_us();
    if (m.leaving && !m.gone && m.replica.idle()) leave(place);
  }

  /// A prompt has been read: its answer is written in the other pool.
  void write(std::size_t sender, serving::Waiting read) {
    const std::int32_t id = members_[sender]->share.ids[read.request];
    const std::size_t place = pick(static_cast<std::size_t>(id), first_, members_.size());
    Member& m = *members_[place];
    senders_.resize(requests_.size());
    senders_[static_cast<std::size_t>(id)] = {now_us_, sender, read.request, read.remote_blocks, read.remote};
    m.share.ids.push_back(id);
    read.request = m.share.size() - 1;
    read.source = static_cast<std::int32_t>(sender);
    m.replica.offer(read, now_us_);
    run_.replica[static_cast<std::size_t>(id)] = static_cast<std::int16_t>(place - first_);
    next_us_[place] = m.replica.next_us();
  }

  std::int64_t send(std::size_t to, std::int64_t now_us, const serving::Waiting& from) {
    Member &target = *members_[to], &source = *members_[static_cast<std::size_t>(from.source)];
    Sent sent = senders_[static_cast<std::size_t>(target.share.ids[from.request])];
    const double bytes = static_cast<double>(from.remote) * whole_.cost->kv_bytes_per_token;
    const std::int64_t span_us =
        serving::microseconds_in(bytes / setup_.parting.link_bytes_per_s + setup_.parting.link_latency_s, 1);
    const std::int64_t start_us = std::max({now_us, target.link_free_us, source.link_free_us});
    run_.transfer_wait_s += seconds_of(start_us - sent.time_us);
    run_.transfer_s += seconds_of(span_us);
    run_.transfer_bytes += bytes;
    ++run_.transfers;
    ++run_.events;
    sent.time_us = target.link_free_us = source.link_free_us = start_us + span_us;
    sent_.push(sent);
    return sent.time_us;
  }

  void land() {
    const Sent sent = sent_.top();
    sent_.pop();
    Member& m = *members_[sent.sender];
    m.replica.free_sent(now_us_, sent.request, sent.blocks, sent.tokens);
    next_us_[sent.sender] = m.replica.next_us();
  }

  FleetPoint point() const {
    FleetPoint out{.time_s = seconds_of(now_us_)};
    for (const auto& m : members_) {
      if (m->gone) continue;
      ++(m->leaving ? out.leaving : m->serves_from_us > now_us_ ? out.starting : out.serving);
      out.waiting += static_cast<std::int32_t>(m->replica.waiting());
      out.running += static_cast<std::int32_t>(m->replica.running());
    }
    return out;
  }
  void sample() {
    constexpr std::size_t most_points = 20000;
    if (run_.history.size() < most_points) run_.history.push_back(point());
  }

  void look() {
    FleetLook seen{.now_us = now_us_};
    for (std::size_t i = first_; i < members_.size(); ++i) {
      const Member& m = *members_[i];
      if (m.leaving) continue;
      ++seen.replicas;
      if (m.serves_from_us > now_us_) continue;
      ++seen.serving;
      seen.waiting += m.replica.waiting();
      seen.running += m.replica.running();
    }
    seen.busy_s = run_.busy_s;
    seen.slots = setup_.replica.slots;
    const std::int64_t wanted = scaler_.wanted(setup_.scaling, seen);
    for (std::int64_t n = seen.replicas; n < wanted; ++n)
      start(whole_, duty(), now_us_, now_us_ + serving::microseconds_in(setup_.scaling.cold_start_s));
    for (std::int64_t n = seen.replicas; n > wanted; --n) shrink();
  }

  /// One that still starts goes first, then the one with the fewest requests; one that serves always stays.
  void shrink() {
    std::size_t best = members_.size(), serving = 0;
    const auto starts = [&](std::size_t i) { return members_[i]->serves_from_us > now_us_; };
    for (std::size_t i = first_; i < members_.size(); ++i) serving += !members_[i]->leaving && !starts(i);
    for (std::size_t i = first_; i < members_.size(); ++i) {
      const Member& m = *members_[i];
      if (m.leaving || (!starts(i) && serving < 2)) continue;
      if (best == members_.size() || starts(i) > starts(best) ||
          (starts(i) == starts(best) && m.replica.requests() <= members_[best]->replica.requests()))
        best = i;
    }
    if (best == members_.size()) return;
    members_[best]->leaving = true;
    if (members_[best]->replica.idle()) leave(best);
  }

  void leave(std::size_t place) {
    members_[place]->gone = true;
    --paid_;
    run_.paid_replica_s += seconds_of(now_us_ - started_us_[place]);
  }

  void close() {
    const double end_s = run_.end_s;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      run_.blocks_left += members_[i]->replica.blocks_held();
      if (!members_[i]->gone) run_.paid_replica_s += std::max(0.0, end_s - seconds_of(started_us_[i]));
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
  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<std::unique_ptr<Member>> members_;  ///< those for prompts first
  std::size_t first_ = 0;                         ///< where the pool that writes begins
  std::vector<std::int64_t> next_us_, started_us_;
  std::vector<std::size_t> open_;
  std::vector<Sent> senders_;  ///< by request: who holds its cache, and since when
  std::priority_queue<Sent, std::vector<Sent>, std::greater<>> sent_;
  std::size_t turn_ = 0;
  std::int64_t now_us_ = 0, next_sample_us_ = never_us, next_look_us_ = never_us, paid_ = 0;
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
