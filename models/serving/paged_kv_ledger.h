#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/serving/paged_kv.h"

/// What both ways to serve a demand do alike: the clock, the line of those who wait, and the sums over time.
namespace models::paged_detail {

/// Slots and requests at a moment; see PagedIntegrals.
struct PoolLevels {
  double used = 0, later = 0, never = 0, outside = 0;
  double running = 0, sequences = 0, blocks = 0, named_blocks = 0;
};

/// What one step of the engine carries.
struct StepLoad {
  double tokens = 0, rows = 0, context = 0;  ///< new tokens, sequences that get one, cache that decoding ones read
  double chunk_s = 0, moved_bytes = 0;
};

inline std::int64_t step_us(const StepLoad& load, const PagedSetup& s) {
  const double seconds = s.cost->step_s(load.tokens, load.rows, load.context) + load.chunk_s +
                         load.moved_bytes / std::max(1.0, s.link_bytes_per_s);
  return std::max<std::int64_t>(1, std::llround(1e6 * seconds));
}

class Ledger {
 public:
  Ledger(const PagedDemand& demand, const PagedSetup& setup) : demand_(demand), setup_(setup) {
    run.served.resize(demand.requests.size());
  }

  /// Takes in who has arrived; `fits` says who can never be served.
  template <class Fits>
  void arrivals(Fits&& fits) {
    for (; next_ < demand_.requests.size() && demand_.requests[next_].arrival_us <= now_us; ++next_) {
      if (!fits(demand_.requests[next_])) {
        run.served[next_].refused = true;
        ++run.refused;
        continue;
      }
      wait(static_cast<std::int32_t>(next_));
    }
  }
  /// Back into the line, by rank.
  void wait(std::int32_t request) {
    auto at = queue.end();
    while (at != queue.begin() && rank(*(at - 1)) > rank(request)) --at;
    queue.insert(at, request);
  }
  /// Smaller is served first.
  std::int64_t rank(std::int32_t request) const { return request == setup_.urgent ? -1 : request; }
  bool more_come() const { return next_ < demand_.requests.size(); }
  std::int64_t next_arrival_us() const { return demand_.requests[next_].arrival_us; }

  void start(std::int32_t request) {
    PagedServed& one = run.served[static_cast<std::size_t>(request)];
    if (one.start_us < 0) one.start_us = now_us;
  }
  void finish(std::int32_t request) {
    run.served[static_cast<std::size_t>(request)].finish_us = now_us;
    ++run.completed;
  }

  /// The clock goes on to `to_us` with these levels; frames in between are asked for from `frame()`. False where the
  /// run ends before.
  template <class Frame>
  bool advance(std::int64_t whole_us, const PoolLevels& levels, Frame&& frame) {
    const std::int64_t to_us = std::min(whole_us, setup_.until_us);
    while (next_frame_ < setup_.frame_times_us.size() && setup_.frame_times_us[next_frame_] < to_us) {
      PoolFrame out = frame();
      out.time_us = setup_.frame_times_us[next_frame_++];
      fill(levels, out);
      run.frames.push_back(std::move(out));
    }
    add(run.whole, static_cast<double>(to_us - now_us), levels);
    const std::int64_t from = std::max(now_us, setup_.measure_from_us),
                       until = std::min(to_us, setup_.measure_until_us);
    if (until > from) add(run.measured, static_cast<double>(until - from), levels);
    now_us = to_us;
    return to_us == whole_us;
  }
  bool over() const {
    return now_us >= setup_.until_us || run.stopped ||
           (setup_.cancelled && setup_.cancelled->load(std::memory_order_relaxed));
  }
  void count_step(std::int64_t sequences) {
    ++run.steps;
    sequence_steps_ += sequences;
    if (sequence_steps_ > setup_.max_sequence_steps) run.stopped = true;
  }
  PagedRun finished() {
    run.end_us = now_us;
    if (setup_.cancelled && setup_.cancelled->load(std::memory_order_relaxed)) run.stopped = true;
    return std::move(run);
  }

  PagedRun run;
  std::deque<std::int32_t> queue;  ///< who waits, by rank
  std::int64_t now_us = 0;

 private:
  double waiting() const { return static_cast<double>(queue.size()); }
  void add(PagedIntegrals& sum, double us, const PoolLevels& levels) const {
    sum.us += us;
    sum.used += us * levels.used;
    sum.later += us * levels.later;
    sum.never += us * levels.never;
    (queue.empty() ? sum.spare : sum.stranded) += us * levels.outside;
    sum.running += us * levels.running;
    sum.waiting += us * waiting();
    sum.sequences += us * levels.sequences;
    sum.blocks += us * levels.blocks;
    sum.named_blocks += us * levels.named_blocks;
  }
  void fill(const PoolLevels& levels, PoolFrame& out) const {
    out.used = levels.used;
    out.later = levels.later;
    out.never = levels.never;
    (queue.empty() ? out.spare : out.stranded) = levels.outside;
    out.waiting = static_cast<std::int64_t>(queue.size());
    out.running = static_cast<std::int64_t>(levels.running);
    out.served = run.completed;
    for (std::size_t i = 0; i < queue.size() && i < frame_queue_max; ++i) out.queue.push_back(queue[i]);
  }

  const PagedDemand& demand_;
  const PagedSetup& setup_;
  std::size_t next_ = 0, next_frame_ = 0;
  std::int64_t sequence_steps_ = 0;
};

}  // namespace models::paged_detail
