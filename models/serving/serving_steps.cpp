#include <cmath>
#include <deque>
#include <numeric>

#include "models/serving/serving_ledger.h"

namespace models::serving {
namespace {

class Steps {
 public:
  Steps(const Share& share, const ServingSetup& setup, Ledger& ledger)
      : share_(share), setup_(setup), cost_(*setup.cost), ledger_(ledger), free_(setup.blocks) {
    lanes_.resize(static_cast<std::size_t>(setup.slots));
    std::iota(lanes_.rbegin(), lanes_.rend(), std::int64_t{0});
  }

  void run() {
    const std::size_t n = share_.size();
    while (left_ < n && ledger_.may_go_on(running_.size())) {
      arrive_until(now_s_);
      if (running_.empty() && queue_.empty()) {
        now_s_ = share_.at(arrived_).arrival_s;
        continue;
      }
      const double before_s = now_s_;
      const std::size_t held = admit();
      const double batch = static_cast<double>(running_.size());
      if (prefilling_ > 0)
        setup_.policy == ServingPolicy::chunked ? mixed_step() : prompt_step();
      else if (held == 0)
        decode_steps();
      ledger_.work(before_s, now_s_, batch);
      ledger_.use(before_s, now_s_, batch);
      retire();
    }
    ledger_.run().blocks_left += setup_.blocks - free_;
  }

 private:
  void arrive_until(double time_s) {
    while (arrived_ < share_.size() && share_.at(arrived_).arrival_s <= time_s) {
      ledger_.arrive(share_.at(arrived_).arrival_s);
      queue_.push_back({arrived_++});
    }
  }

  /// First come, first served; a request that does not fit yet holds back those behind it. Returns how many came back
  /// from the host, whose transfer takes a turn of its own.
  std::size_t admit() {
    std::size_t from_host = 0;
    while (!queue_.empty() && !lanes_.empty() && !resting_) {
      const Waiting w = queue_.front();
      const ServingRequest& r = share_.at(w.request);
      const std::int64_t prompt = r.prompt_tokens + w.generated;
      const std::int64_t blocks = blocks_of(prompt + 1, setup_);  // room for the first new token, too
      if (blocks > free_) break;
      queue_.pop_front();
      ledger_.take(now_s_, 1);
      ++ledger_.run().events;
      Sequence s{
          .request = w.request,
          .lane = lanes_.back(),
          .stored = 0,
          .blocks = blocks,
          .prompt_left = prompt,
          .tokens_left = r.output_tokens - w.generated,
          .since_s = now_s_,
          .token_s = w.token_s,
      };
      lanes_.pop_back();
      if (ServedRequest& served = ledger_.served(w.request); served.start_s < 0) served.start_s = now_s_;
      if (w.swapped > 0) {
        s.stored = w.swapped;
        s.prompt_left = 0;
        now_s_ += static_cast<double>(w.swapped) * cost_.kv_bytes_per_token / setup_.swap_bytes_per_s;
        arrive_until(now_s_);
        ++from_host;
      } else {
        ++prefilling_;
      }
      take_blocks(blocks);
      running_.push_back(s);
    }
    return from_host;
  }

  /// All prompts that were just admitted, in one step; whoever decodes waits.
  void prompt_step() {
    double tokens = 0, attention_s = 0, rows = 0;
    for (const Sequence& s : running_) {
      if (s.prompt_left == 0) continue;
      tokens += static_cast<double>(s.prompt_left);
      attention_s += cost_.chunk_attention_s(static_cast<double>(s.prompt_left), 0);
      ++rows;
    }
    now_s_ += cost_.step_s(tokens, rows, 0) + attention_s;
    for (Sequence& s : running_)
      if (s.prompt_left > 0) {
        s.stored = s.prompt_left;
        s.prompt_left = 0;
        emit_first(s);
      }
    ++ledger_.run().events;
  }

  /// One token of everyone who decodes, and prompts in the room that is left.
  void mixed_step() {
    if (!grow(1)) return;
    std::int64_t decoding = 0, context = 0;
    for (const Sequence& s : running_)
      if (s.prompt_left == 0) {
        ++decoding;
        context += s.stored + 1;
      }
    std::int64_t room = std::max<std::int64_t>(setup_.chunk_tokens - decoding, 16);
    double tokens = static_cast<double>(decoding), rows = tokens, attention_s = 0;
    chunks_.assign(running_.size(), 0);
    for (std::size_t i = 0; i < running_.size() && room > 0; ++i) {
      const Sequence& s = running_[i];
      if (s.prompt_left == 0) continue;
      chunks_[i] = std::min(s.prompt_left, room);
      room -= chunks_[i];
      tokens += static_cast<double>(chunks_[i]);
      attention_s += cost_.chunk_attention_s(static_cast<double>(chunks_[i]), static_cast<double>(s.stored));
      if (chunks_[i] == s.prompt_left) ++rows;
    }
    now_s_ += cost_.step_s(tokens, rows, static_cast<double>(context)) + attention_s;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      Sequence& s = running_[i];
      if (s.prompt_left == 0) {
        ++s.stored;
        --s.tokens_left;
        token(s, now_s_);
      } else if (chunks_[i] > 0) {
        s.stored += chunks_[i];
        s.prompt_left -= chunks_[i];
        if (s.prompt_left == 0) emit_first(s);
      }
    }
    ++ledger_.run().events;
  }

  void token(Sequence& s, double now_s) {
    if (s.token_s >= 0 && ledger_.counts(now_s)) ledger_.run().gaps.add(now_s - s.token_s);
    s.token_s = now_s;
  }

  /// The first token of this admission: at once what ends the prompt. After a recomputation it is the next one.
  void emit_first(Sequence& s) {
    --prefilling_;
    --s.tokens_left;
    ++ledger_.run().events;
    ServedRequest& served = ledger_.served(s.request);
    if (s.tokens_left + 1 == share_.at(s.request).output_tokens) served.first_token_s = now_s_;
    token(s, now_s_);
    ledger_.span(s.request, s.lane, s.since_s, now_s_, SlotUse::prefill);
    s.since_s = now_s_;
  }

  /// As many decode steps at once as nothing changes in: until the first is done, the blocks run out, or somebody can
  /// join.
  void decode_steps() {
    if (!grow(1)) return;
    std::int64_t k = running_.front().tokens_left, context = 0;
    for (const Sequence& s : running_) {
      k = std::min(k, s.tokens_left);
      context += s.stored + 1;
    }
    const double batch = static_cast<double>(running_.size());
    const Ramp ramp{cost_.step_s(batch, batch, static_cast<double>(context)), cost_.context_s * batch};
    if (queue_.empty() && !lanes_.empty() && arrived_ < share_.size())
      k = ramp.steps_until(share_.at(arrived_).arrival_s - now_s_, k);
    const auto members = static_cast<std::int64_t>(running_.size());
    if (members * blocks_of(k, setup_) > free_ &&
        growth(k) > free_) {  // the most steps whose blocks there are; one fits, see above
      std::int64_t low = 1, high = k;
      while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (growth(middle) <= free_ ? low : high) = middle;
      }
      k = low;
    }
    std::int64_t taken = 0;
    const double step_s = now_s_ + ramp.first_s, end_s = now_s_ + ramp.time_of(k);
    for (Sequence& s : running_) {
      token(s, step_s);  // it may have stalled before this one: for a prompt, or in the queue
      s.token_s = end_s;
      s.stored += k;
      s.tokens_left -= k;
      const std::int64_t more = lacking(s, 0);
      taken += more;
      s.blocks += more;
    }
    if (ledger_.counts(end_s))
      ledger_.run().gaps.add_ramp(ramp.first_s + ramp.more_s, ramp.more_s, k - 1,
                                  static_cast<std::int64_t>(running_.size()));
    now_s_ = end_s;
    arrive_until(now_s_);
    if (taken > 0) take_blocks(taken);
    ++ledger_.run().events;
  }

  /// Blocks that a sequence needs besides its own for `steps` more tokens: nearly always none, and then without a
  /// division.
  std::int64_t lacking(const Sequence& s, std::int64_t steps) const {
    const std::int64_t beyond = s.stored + steps - s.blocks * setup_.block_tokens;
    return beyond > 0 ? blocks_of(beyond, setup_) : 0;
  }

  std::int64_t growth(std::int64_t steps) const {
    std::int64_t blocks = 0;
    for (const Sequence& s : running_)
      if (s.prompt_left == 0) blocks += lacking(s, steps);
    return blocks;
  }

  /// Makes room for `steps` more tokens of everyone who decodes, by sending the youngest back. False when somebody was
  /// sent back.
  bool grow(std::int64_t steps) {
    bool all_stay = true;
    const auto most = [&] { return static_cast<std::int64_t>(running_.size()) * blocks_of(steps, setup_); };
    while (running_.size() > 1 && most() > free_ && growth(steps) > free_) {
      preempt();
      all_stay = false;
    }
    if (!all_stay || setup_.policy != ServingPolicy::chunked) return all_stay;
    if (prefilling_ == 0) return true;
    std::int64_t taken = 0;
    for (Sequence& s : running_)
      if (s.prompt_left == 0) {
        const std::int64_t more = lacking(s, steps);
        taken += more;
        s.blocks += more;
      }
    if (taken > 0) take_blocks(taken);
    return true;
  }

  void preempt() {
    auto youngest = running_.begin();
    for (auto s = running_.begin(); s != running_.end(); ++s)
      if (s->request > youngest->request) youngest = s;
    const Sequence s = *youngest;
    running_.erase(youngest);
    Waiting w{s.request, share_.at(s.request).output_tokens - s.tokens_left, 0, s.token_s};
    if (s.prompt_left > 0) {
      --prefilling_;
    } else if (setup_.preemption == Preemption::swap) {
      w.swapped = s.stored;
      now_s_ += static_cast<double>(s.stored) * cost_.kv_bytes_per_token / setup_.swap_bytes_per_s;
      arrive_until(now_s_);
    }
    // The queue is sorted by arrival, and nobody who waits came earlier than this one unless preempted, too.
    auto place = queue_.begin();
    while (place != queue_.end() && place->request < s.request) ++place;
    queue_.insert(place, w);
    ledger_.take(now_s_, -1);
    release(s, true);
    resting_ = true;
    ++ledger_.run().preemptions;
    ++ledger_.run().events;
  }

  void retire() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const Sequence& s = running_[i];
      if (s.tokens_left > 0) {
        if (kept != i) running_[kept] = s;
        ++kept;
        continue;
      }
      ServedRequest& served = ledger_.served(s.request);
      served.last_token_s = served.finish_s = now_s_;
      ledger_.run().tokens += share_.at(s.request).output_tokens;
      release(s, false);
      ledger_.done(s.request);
      arrive_until(now_s_);
      ledger_.leave(now_s_, 1);
      ++left_;
      resting_ = false;
    }
    running_.resize(kept);
    if (!ledger_.picture_is_complete()) return;
    for (const Sequence& s : running_)
      if (now_s_ > s.since_s)
        ledger_.span(s.request, s.lane, s.since_s, now_s_, s.prompt_left > 0 ? SlotUse::prefill : SlotUse::decode);
    ledger_.close_picture();
  }

  void release(const Sequence& s, bool preempted) {
    if (ledger_.shown(now_s_) && now_s_ > s.since_s) {
      ledger_.span(s.request, s.lane, s.since_s, now_s_, s.prompt_left > 0 ? SlotUse::prefill : SlotUse::decode);
      ledger_.run().spans.back().preempted = preempted;
    }
    lanes_.push_back(s.lane);
    take_blocks(-s.blocks);
  }
  void take_blocks(std::int64_t blocks) {
    free_ -= blocks;
    ledger_.blocks(now_s_, setup_.blocks - free_);
  }

  const Share& share_;
  const ServingSetup& setup_;
  const ServingCost& cost_;
  Ledger& ledger_;
  std::deque<Waiting> queue_;
  std::vector<Sequence> running_;
  std::vector<std::int64_t> lanes_, chunks_;
  std::int64_t free_ = 0, prefilling_ = 0;
  std::size_t arrived_ = 0, left_ = 0;
  double now_s_ = 0;
  bool resting_ = false;  ///< after a preemption nobody is admitted until somebody is done: the blocks just freed are
                          ///< for those who stay
};

}  // namespace

void run_steps(const Share& share, const ServingSetup& setup, Ledger& ledger) { Steps(share, setup, ledger).run(); }

}  // namespace models::serving
