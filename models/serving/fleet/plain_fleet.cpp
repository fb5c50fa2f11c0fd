#include "models/serving/fleet/plain_fleet.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>

#include "models/base/counter_random.h"

namespace models {
namespace {

/// The line in front of servers. With first come first served a request's start is known when it comes.
class PlainLine {
 public:
  explicit PlainLine(std::int64_t servers) : free_s_(static_cast<std::size_t>(servers), 0.0) {
    std::make_heap(free_s_.begin(), free_s_.end(), std::greater<>());
  }
  /// Lets go who has left or started by `now_s`.
  void advance(double now_s) {
    while (!ends_.empty() && ends_.top() <= now_s) ends_.pop();
    while (!starts_.empty() && starts_.front() <= now_s) starts_.pop_front();
  }
  std::int64_t requests() const { return static_cast<std::int64_t>(ends_.size()); }
  std::int64_t waiting() const { return static_cast<std::int64_t>(starts_.size()); }
  double start_s(double now_s) const { return std::max(now_s, free_s_.front()); }
  double serve(double now_s, double service_s) {
    const double start = start_s(now_s), end = start + service_s;
    std::pop_heap(free_s_.begin(), free_s_.end(), std::greater<>());
    free_s_.back() = end;
    std::push_heap(free_s_.begin(), free_s_.end(), std::greater<>());
    ends_.push(end);
    if (start > now_s) starts_.push_back(start);
    return start;
  }

 private:
  std::vector<double> free_s_;  ///< by server, a heap with the earliest first
  std::priority_queue<double, std::vector<double>, std::greater<>> ends_;
  std::deque<double> starts_;  ///< when those that wait will start; in order, since nobody overtakes
};

class PlainFleet {
 public:
  PlainFleet(const PlainFleetSetup& setup)
      : setup_(setup), draws_(random_stream(static_cast<std::int64_t>(setup.seed), 7)) {
    for (std::int64_t i = 0; i < setup.replicas; ++i) lines_.emplace_back(setup.servers);
  }

  /// The line that request `id` goes to: of equal ones the first after the one chosen last.
  std::size_t pick(std::size_t id) {
    const std::size_t n = lines_.size();
    std::size_t best = turn_ % n;
    if (setup_.router == FleetRouter::two_choices && n > 1) {
      const std::size_t a = below(n, 2 * id), b = below(n - 1, 2 * id + 1), other = b < a ? b : b + 1;
      best = lines_[other].requests() < lines_[a].requests() ? other : a;
    } else if (setup_.router != FleetRouter::round_robin) {
      for (std::size_t i = 0; i < n; ++i)
        if (const std::size_t at = (turn_ + i) % n; lines_[at].requests() < lines_[best].requests()) best = at;
    }
    turn_ = best + 1;
    return best;
  }

  void run(std::span<const ServingRequest> requests, FleetRun& out) {
    for (std::size_t id = 0; id < requests.size(); ++id) {
      const double now = requests[id].arrival_s;
      for (PlainLine& line : lines_) line.advance(now);
      ++out.events;
      const std::size_t place = pick(id);
      PlainLine& line = lines_[place];
      if (setup_.longest_queue > 0 && line.waiting() >= setup_.longest_queue) {
        send_away(out, id, FleetVerdict::refused, out.queue_refused);
        continue;
      }
      if (line.start_s(now) - now > setup_.drop_after_s) {
        send_away(out, id, FleetVerdict::dropped, out.dropped);
        continue;
      }
      const double start = line.serve(now, requests[id].service_s);
      keep(out, id, place, now, start, start + requests[id].service_s);
    }
    out.paid_replica_s = static_cast<double>(setup_.replicas) * out.end_s;
    out.most_replicas = setup_.replicas;
  }

 private:
  std::size_t below(std::size_t count, std::size_t draw) const {
    return static_cast<std::size_t>(unit_draw(draws_, draw) * static_cast<double>(count));
  }

  static void send_away(FleetRun& out, std::size_t id, FleetVerdict verdict, std::int64_t& count) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    out.served[id] = {nan, nan, nan, nan};
    out.verdict[id] = verdict;
    ++count;
  }

  void keep(FleetRun& out, std::size_t id, std::size_t place, double now_s, double start_s, double end_s) {
    out.served[id] = {start_s, end_s, end_s, end_s};
    out.replica[id] = static_cast<std::int16_t>(place);
    ++out.completed;
    out.events += 2;
    out.end_s = std::max(out.end_s, end_s);
    add(out, now_s, start_s, end_s, 0, std::numeric_limits<double>::infinity());
    add(out.measured, now_s, start_s, end_s, setup_.measure_from_s, setup_.measure_until_s);
  }

  /// The request's part of the integrals between two times.
  static void add(ServingIntegrals& sums, double now_s, double start_s, double end_s, double from_s, double until_s) {
    const auto part = [&](double a, double b) { return std::max(0.0, std::min(b, until_s) - std::max(a, from_s)); };
    sums.busy_s += part(start_s, end_s);
    sums.in_system_s += part(now_s, end_s);
    sums.waiting_s += part(now_s, start_s);
  }

  PlainFleetSetup setup_;
  std::uint64_t draws_;
  std::vector<PlainLine> lines_;
  std::size_t turn_ = 0;
};

}  // namespace

FleetRun simulate_plain_fleet(std::span<const ServingRequest> requests, const PlainFleetSetup& setup) {
  FleetRun run;
  run.served.assign(requests.size(), ServedRequest{-1, -1, -1, -1});
  run.replica.assign(requests.size(), -1);
  run.verdict.assign(requests.size(), FleetVerdict::served);
  PlainFleet(setup).run(requests, run);
  return run;
}

}  // namespace models
