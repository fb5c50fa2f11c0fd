#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "models/serving/engine/serving.h"

/// Between the engines of serving.h: what they all write down as time goes on.
namespace models::serving {

inline constexpr double never_s = std::numeric_limits<double>::infinity();
inline constexpr std::size_t max_points = 20000;

/// The requests that one replica serves, without those that can never fit.
struct Share {
  std::span<const ServingRequest> requests;
  std::vector<std::int32_t> ids;  ///< in order of arrival
  std::size_t size() const { return ids.size(); }
  const ServingRequest& at(std::size_t i) const { return requests[static_cast<std::size_t>(ids[i])]; }
};

class Ledger {
 public:
  Ledger(ServingRun& run, const ServingSetup& setup, const Share& share, bool pictured)
      : run_(run), setup_(setup), share_(share), pictured_(pictured) {
    for (std::size_t i = 0; i < share.size(); ++i) {
      if (!in_picture(i)) continue;
      if (to_picture_++ == 0) pictured_from_s_ = setup.history_from > 0 ? share.at(i).arrival_s : 0;
    }
    pictured_ = pictured && to_picture_ > 0;
  }

  void arrive(double now_s) {
    pass(now_s);
    ++in_system_;
    wait(now_s, 1);
    ++run_.events;
  }
  /// `count` requests leave the queue (or, negative, go back to it).
  void take(double now_s, std::int64_t count) {
    pass(now_s);
    wait(now_s, -count);
  }
  void leave(double now_s, std::int64_t count) {
    pass(now_s);
    in_system_ -= count;
    run_.completed += count;
    run_.events += count;
    run_.end_s = std::max(run_.end_s, now_s);
    if (run_.completed / 4096 != (run_.completed - count) / 4096) report();
  }
  /// A request goes on at another replica.
  void hand_over(double now_s) {
    pass(now_s);
    --in_system_;
    ++run_.events;
  }
  /// The request at `i` has waited too long, and leaves the queue with nothing.
  void drop(std::size_t i, double now_s) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    take(now_s, 1);
    --in_system_;
    ++run_.events;
    ++run_.dropped;
    served(i) = {nan, nan, nan, nan};
    done(i);
  }
  ServedRequest& served(std::size_t i) { return run_.served[static_cast<std::size_t>(share_.ids[i])]; }
  /// The request at `i` has got all that it came for.
  void done(std::size_t i) {
    if (in_picture(i)) --to_picture_;
  }
  /// All who are pictured have left, and the picture has not been closed.
  bool picture_is_complete() const { return pictured_ && to_picture_ == 0; }
  void close_picture() { pictured_ = false; }
  void span(std::size_t i, std::int64_t lane, double start_s, double end_s, SlotUse use) {
    if (!shown(end_s)) return;
    run_.spans.push_back({static_cast<std::int32_t>(lane), share_.ids[i], start_s, end_s, use, false});
  }
  /// Is what ends then a part of the picture?
  bool shown(double end_s) const { return pictured_ && end_s > pictured_from_s_ && run_.spans.size() < max_points; }
  void blocks(double now_s, std::int64_t used) {
    run_.peak_blocks = std::max(run_.peak_blocks, used);
    if (!pictured_ || run_.blocks.size() >= max_points) return;
    // Of the time before the picture the last point is kept, so that it begins with what is taken then.
    if (!run_.blocks.empty() && now_s < pictured_from_s_) run_.blocks.clear();
    run_.blocks.push_back({now_s, static_cast<double>(used)});
  }
  /// A server worked from then to then, with this many slots taken.
  void work(double from_s, double to_s, double slots) {
    const double measured_s = measured(from_s, to_s);
    run_.busy_s += to_s - from_s;
    run_.measured.busy_s += measured_s;
    run_.slot_held_s += slots * (to_s - from_s);
    run_.measured.slot_held_s += slots * measured_s;
  }
  /// Counts `slots` of those that are taken as used by requests not yet done.
  void use(double from_s, double to_s, double slots) {
    run_.slot_used_s += slots * (to_s - from_s);
    run_.measured.slot_used_s += slots * measured(from_s, to_s);
  }
  /// Do gaps between tokens that end now count?
  bool counts(double now_s) const { return now_s >= setup_.measure_from_s && now_s < setup_.measure_until_s; }
  /// False when the run should end early.
  bool may_go_on(std::size_t sequences = 0) {
    sequence_steps_ += static_cast<std::int64_t>(sequences);
    if (run_.events > setup_.max_events || sequence_steps_ > setup_.max_sequence_steps) run_.stopped = true;
    return !run_.stopped;
  }
  std::int64_t waiting() const { return waiting_; }
  ServingRun& run() { return run_; }

 private:
  bool in_picture(std::size_t i) const {
    return share_.ids[i] >= setup_.history_from && share_.ids[i] < setup_.history_from + setup_.history_requests;
  }
  double measured(double from_s, double to_s) const {
    return std::max(0.0, std::min(to_s, setup_.measure_until_s) - std::max(from_s, setup_.measure_from_s));
  }
  void pass(double now_s) {
    const double measured_s = measured(last_s_, now_s), requests = static_cast<double>(in_system_),
                 waiting = static_cast<double>(waiting_);
    run_.in_system_s += requests * (now_s - last_s_);
    run_.waiting_s += waiting * (now_s - last_s_);
    run_.measured.in_system_s += requests * measured_s;
    run_.measured.waiting_s += waiting * measured_s;
    last_s_ = now_s;
  }
  void wait(double now_s, std::int64_t change) {
    waiting_ += change;
    run_.peak_waiting = std::max(run_.peak_waiting, waiting_);
    if (pictured_ && now_s >= pictured_from_s_ && run_.waiting.size() < max_points)
      run_.waiting.push_back({now_s, static_cast<double>(waiting_)});
  }
  void report() {
    if (setup_.cancelled && setup_.cancelled->load()) run_.stopped = true;
    if (setup_.fraction)
      setup_.fraction->store(static_cast<double>(run_.completed) / static_cast<double>(run_.served.size()));
  }

  ServingRun& run_;
  const ServingSetup& setup_;
  const Share& share_;
  bool pictured_ = false;
  double pictured_from_s_ = 0;   ///< nothing that ends earlier is kept
  std::int64_t to_picture_ = 0;  ///< pictured requests that have not left
  std::int64_t in_system_ = 0, waiting_ = 0, sequence_steps_ = 0;
  double last_s_ = 0;
};

/// Decode steps of an unchanged batch: each is a little longer than the one before, because every cache has grown by a
/// token.
struct Ramp {
  double first_s = 0, more_s = 0;
  double time_of(std::int64_t steps) const {
    const double j = static_cast<double>(steps);
    return j * first_s + more_s * j * (j - 1) / 2;
  }
  /// The fewest steps that last until then, from 1 to `most`.
  std::int64_t steps_until(double until_s, std::int64_t most) const {
    // first_s j + more_s j (j - 1) / 2 = until_s, solved for j without cancellation.
    const double b = first_s - more_s / 2, root = std::sqrt(std::max(0.0, b * b + 2 * more_s * until_s));
    auto steps = static_cast<std::int64_t>(std::clamp(2 * until_s / (b + root), 1.0, static_cast<double>(most)));
    while (steps < most && time_of(steps) < until_s) ++steps;
    while (steps > 1 && time_of(steps - 1) >= until_s) --steps;
    return std::min(steps, most);
  }
};

inline std::int64_t blocks_of(std::int64_t tokens, const ServingSetup& setup) {
  return (tokens + setup.block_tokens - 1) / setup.block_tokens;
}

/// Plain queues and the batches that run to the end of their longest member.
void run_batches(const Share& share, const ServingSetup& setup, std::int64_t servers, Ledger& ledger);
/// Batches that change at every step.
void run_steps(const Share& share, const ServingSetup& setup, ServingRun& run, bool pictured);

}  // namespace models::serving
