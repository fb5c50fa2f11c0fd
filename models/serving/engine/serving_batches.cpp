#include <cmath>
#include <functional>
#include <queue>

#include "models/serving/engine/serving_ledger.h"

namespace models::serving {
namespace {

struct Batch {
  double end_s = 0;
  std::int64_t lane = 0;
  std::size_t first = 0, count = 0;
  bool operator>(const Batch& o) const { return end_s > o.end_s || (end_s == o.end_s && lane > o.lane); }
};

class Batches {
 public:
  Batches(const Share& share, const ServingSetup& setup, std::int64_t servers, Ledger& ledger)
      : share_(share), setup_(setup), ledger_(ledger) {
    const bool alone = setup.policy == ServingPolicy::single || setup.policy == ServingPolicy::continuous ||
                       setup.policy == ServingPolicy::chunked;
    slots_ = alone ? 1 : static_cast<std::size_t>(setup.slots);
    for (std::int64_t lane = 0; lane < servers; ++lane) idle_.push(lane);
  }

  void run() {
    const std::size_t n = share_.size();
    std::size_t arrived = 0, left = 0;
    while (left < n && ledger_.may_go_on()) {
      const double arrival_s = arrived < n ? share_.at(arrived).arrival_s : never_s;
      const double end_s = busy_.empty() ? never_s : busy_.top().end_s;
      const double timeout_s = setup_.policy == ServingPolicy::dynamic && head_ < arrived && !idle_.empty()
                                   ? share_.at(head_).arrival_s + setup_.timeout_s
                                   : never_s;
      double now_s = timeout_s;
      if (end_s <= arrival_s && end_s <= timeout_s) {
        now_s = end_s;
        left += finish();
      } else if (arrival_s <= timeout_s) {
        now_s = arrival_s;
        ++arrived;
        ledger_.arrive(now_s);
      }
      while (!idle_.empty() && ready(now_s, arrived)) start(now_s, arrived);
    }
  }

 private:
  bool ready(double now_s, std::size_t arrived) const {
    if (head_ == arrived) return false;
    if (arrived - head_ >= slots_ || arrived == share_.size())
      return true;  // the last batch need not wait for what will never come
    return setup_.policy == ServingPolicy::dynamic && now_s >= share_.at(head_).arrival_s + setup_.timeout_s;
  }

  std::int64_t reserved(std::size_t i) const {
    return blocks_of(share_.at(i).prompt_tokens + share_.at(i).output_tokens, setup_);
  }

  void start(double now_s, std::size_t arrived) {
    std::size_t count = std::min(slots_, arrived - head_);
    std::int64_t taken = 0;
    if (setup_.cost) {
      std::size_t fit = 0;
      while (fit < count && taken + reserved(head_ + fit) <= setup_.blocks) taken += reserved(head_ + fit++);
      count = fit;  // at least one: what can never fit was refused
    }
    const std::int64_t lane = idle_.top();
    idle_.pop();
    ledger_.take(now_s, static_cast<std::int64_t>(count));
    const double end_s = setup_.cost ? run_model(now_s, count) : run_plain(now_s, count, lane);
    if (setup_.cost) ledger_.blocks(now_s, taken);
    ledger_.work(now_s, end_s, static_cast<double>(count));
    ledger_.run().events += static_cast<std::int64_t>(setup_.cost ? count + 2 : 1);
    busy_.push({end_s, lane, head_, count});
    head_ += count;
  }

  double run_plain(double now_s, std::size_t count, std::int64_t lane) {
    double longest_s = 0;
    for (std::size_t i = head_; i < head_ + count; ++i) longest_s = std::max(longest_s, share_.at(i).service_s);
    const double end_s = now_s + longest_s;
    for (std::size_t i = 0; i < count; ++i) {
      const double own_s = now_s + share_.at(head_ + i).service_s;
      ledger_.served(head_ + i) = {now_s, own_s, own_s, end_s};
      show(i, lane * static_cast<std::int64_t>(slots_), now_s, now_s, own_s, end_s);
    }
    return end_s;
  }

  /// Prompts are padded to the longest, and every row computes until the last is done.
  double run_model(double now_s, std::size_t count) {
    std::int64_t prompt = 0, output = 0;
    for (std::size_t i = head_; i < head_ + count; ++i) {
      prompt = std::max<std::int64_t>(prompt, share_.at(i).prompt_tokens);
      output = std::max<std::int64_t>(output, share_.at(i).output_tokens);
    }
    const ServingCost& cost = *setup_.cost;
    const double n = static_cast<double>(count), p = static_cast<double>(prompt);
    const double first_s = now_s + cost.step_s(n * p, n, 0) + n * cost.chunk_attention_s(p, 0);
    const double step_s = cost.step_s(n, n, 0);
    // k decode steps attend to n (p + 1), n (p + 2), ... tokens.
    const auto after_s = [&](std::int64_t tokens) {
      const double k = static_cast<double>(tokens - 1);
      return first_s + k * step_s + cost.context_s * n * k * (p + (k + 1) / 2);
    };
    const double end_s = after_s(output);
    for (std::size_t i = 0; i < count; ++i) {
      const double own_s = after_s(share_.at(head_ + i).output_tokens);
      ledger_.served(head_ + i) = {now_s, first_s, own_s, end_s};
      if (ledger_.counts(own_s))
        ledger_.run().gaps.add_ramp(step_s + cost.context_s * n * (p + 1), cost.context_s * n,
                                    share_.at(head_ + i).output_tokens - 1, 1);
      show(i, 0, now_s, first_s, own_s, end_s);
    }
    return end_s;
  }

  void show(std::size_t i, std::int64_t lane, double start_s, double first_s, double own_s, double end_s) {
    ledger_.use(start_s, own_s, 1);
    if (!ledger_.shown(end_s)) return;
    lane += static_cast<std::int64_t>(i);
    if (first_s > start_s) ledger_.span(head_ + i, lane, start_s, first_s, SlotUse::prefill);
    if (own_s > first_s) ledger_.span(head_ + i, lane, first_s, own_s, SlotUse::decode);
    if (end_s > own_s) ledger_.span(head_ + i, lane, own_s, end_s, SlotUse::held);
  }

  std::size_t finish() {
    const Batch batch = busy_.top();
    busy_.pop();
    idle_.push(batch.lane);
    for (std::size_t i = batch.first; i < batch.first + batch.count; ++i) {
      ledger_.run().tokens += setup_.cost ? share_.at(i).output_tokens : 0;
      ledger_.done(i);
    }
    if (setup_.cost) ledger_.blocks(batch.end_s, 0);
    ledger_.leave(batch.end_s, static_cast<std::int64_t>(batch.count));
    if (ledger_.picture_is_complete()) ledger_.close_picture();
    return batch.count;
  }

  const Share& share_;
  const ServingSetup& setup_;
  Ledger& ledger_;
  std::size_t slots_ = 1, head_ = 0;
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> idle_;
  std::priority_queue<Batch, std::vector<Batch>, std::greater<>> busy_;
};

}  // namespace

void run_batches(const Share& share, const ServingSetup& setup, std::int64_t servers, Ledger& ledger) {
  Batches(share, setup, servers, ledger).run();
}

}  // namespace models::serving
