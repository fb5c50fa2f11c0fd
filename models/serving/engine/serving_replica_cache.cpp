#include "models/serving/engine/serving_replica.h"

/// How tokens leave a replica, and how its cache grows, is given back and is taken from the youngest.
namespace models::serving {

void Replica::token(Sequence& s, std::int64_t now_us) {
  if (s.token_us >= 0 && ledger_.counts(seconds_of(now_us))) ledger_.run().gaps.add(seconds_of(now_us - s.token_us));
  s.token_us = now_us;
}

void Replica::tick(const Sequence& s, std::int64_t now_us) {
  ServingRun& run = ledger_.run();
  if (static_cast<std::int64_t>(run.ticks.size()) < setup_.token_ticks)
    run.ticks.push_back({share_.ids[s.request], now_us});
}

/// The first token of this admission: at once what ends the prompt. After a recomputation it is the next one.
void Replica::emit_first(Sequence& s) {
  --prefilling_;
  --s.tokens_left;
  ++ledger_.run().events;
  ServedRequest& served = ledger_.served(s.request);
  if (s.tokens_left + 1 == share_.at(s.request).output_tokens) served.first_token_s = now_s();
  token(s, now_us_);
  if (setup_.token_ticks > 0) tick(s, now_us_);
  ledger_.span(s.request, s.lane, seconds_of(s.since_us), now_s(), SlotUse::prefill);
  s.since_us = now_us_;
  if (has_tree()) share_prompt(s);
}

/// Blocks that a sequence needs besides its own for `steps` more tokens: nearly always none, and then without a
/// division.
std::int64_t Replica::lacking(const Sequence& s, std::int64_t steps) const {
  const std::int64_t beyond = s.stored + steps - s.blocks * setup_.block_tokens;
  return beyond > 0 ? blocks_of(beyond, setup_) : 0;
}

std::int64_t Replica::growth(std::int64_t steps) const {
  std::int64_t blocks = 0;
  for (const Sequence& s : running_)
    if (s.prompt_left == 0) blocks += lacking(s, steps);
  return blocks;
}

/// Makes room for `steps` more tokens of everyone who decodes, by sending the youngest back. False when somebody was
/// sent back.
bool Replica::grow(std::int64_t steps) {
  bool all_stay = true;
  const auto most = [&] { return static_cast<std::int64_t>(running_.size()) * blocks_of(steps, setup_); };
  while (running_.size() > 1 && most() > room() && growth(steps) > room()) {
    preempt();
    all_stay = false;
  }
  if (!all_stay || setup_.policy != ServingPolicy::chunked || prefilling_ == 0) return all_stay;
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

void Replica::preempt() {
  auto youngest = running_.begin();
  for (auto s = running_.begin(); s != running_.end(); ++s)
    if (rank(s->request) > rank(youngest->request)) youngest = s;
  const Sequence s = *youngest;
  running_.erase(youngest);
  Waiting w{
      .request = s.request, .generated = share_.at(s.request).output_tokens - s.tokens_left, .token_us = s.token_us};
  if (s.prompt_left > 0) {
    --prefilling_;
  } else if (answers_) {
    w.host_blocks = leave_cache(s);
    if (w.host_blocks > 0) w.swapped = s.stored;
  } else if (setup_.preemption == Preemption::swap) {
    w.swapped = s.stored;
    delay_us_ += microseconds_in(static_cast<double>(s.stored) * cost_.kv_bytes_per_token / setup_.swap_bytes_per_s, 1);
  }
  enqueue(w);
  queued_tokens_ += share_.at(s.request).prompt_tokens;
  ledger_.take(now_s(), -1);
  release(s, true, 0);
  resting_ = !answers_;  // where blocks are followed, for this step alone: begin_followed
  ++ledger_.run().preemptions;
  ++ledger_.run().events;
  if (watch_) watch_->sent_back(number_of(s.request), now_us_);
}

/// Prompts that were read for another replica leave the batch; their blocks stay until they are sent.
void Replica::hand_over() {
  if (duty_ != Duty::prefill) return;
  std::size_t kept = 0;
  for (const Sequence& s : running_) {
    if (s.prompt_left > 0 || s.tokens_left == 0) {
      running_[kept++] = s;
      continue;
    }
    read_.push_back({.request = s.request,
                     .generated = share_.at(s.request).output_tokens - s.tokens_left,
                     .token_us = s.token_us,
                     .remote = s.stored,
                     .remote_blocks = s.blocks - s.shared});
    lanes_.push_back(s.lane);
    sent_blocks_ += s.blocks - s.shared;
    if (s.node >= 0) sent_nodes_[s.request] = s.node;
    ledger_.hand_over(now_s());
    resting_ = false;
  }
  running_.resize(kept);
}

void Replica::retire() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const Sequence& s = running_[i];
    if (s.tokens_left > 0) {
      if (kept != i) running_[kept] = s;
      ++kept;
      continue;
    }
    ServedRequest& served = ledger_.served(s.request);
    served.last_token_s = served.finish_s = now_s();
    ledger_.run().tokens +=
        static_cast<double>(answers_ ? AnswerLengths(share_.requests, setup_.answers).all_tokens(number_of(s.request))
                                     : share_.at(s.request).output_tokens);
    const PromptPrefix* prefix = prefix_of(s.request);
    const bool keeps = prefix && prefix->session >= 0;
    const std::int64_t whole = keeps ? s.stored / setup_.block_tokens : 0;
    release(s, false, whole);
    if (keeps) free_ += store_.keep(prefix->session, whole, setup_.block_tokens);
    ledger_.done(s.request);
    ledger_.leave(now_s(), 1);
    resting_ = false;
  }
  running_.resize(kept);
  if (!ledger_.picture_is_complete()) return;
  for (const Sequence& s : running_)
    if (now_us_ > s.since_us)
      ledger_.span(s.request, s.lane, seconds_of(s.since_us), now_s(),
                   s.prompt_left > 0 ? SlotUse::prefill : SlotUse::decode);
  ledger_.close_picture();
}

/// `kept_blocks` of it are not free afterwards: the store has them.
void Replica::release(const Sequence& s, bool preempted, std::int64_t kept_blocks) {
  if (ledger_.shown(now_s()) && now_us_ > s.since_us) {
    ledger_.span(s.request, s.lane, seconds_of(s.since_us), now_s(),
                 s.prompt_left > 0 ? SlotUse::prefill : SlotUse::decode);
    ledger_.run().spans.back().preempted = preempted;
  }
  lanes_.push_back(s.lane);
  if (answers_) {
    answers_->release(s.lane);
    free_ = answers_->free_blocks();
  } else {
    free_ += s.blocks - s.shared - kept_blocks;
    tree_.unpin(s.node);
  }
  ledger_.blocks(now_s(), blocks_held());
}

void Replica::take_blocks(std::int64_t blocks) {
  if (blocks > free_) free_ += store_.evict(blocks - free_);
  if (blocks > free_) free_ += tree_.evict(blocks - free_);
  free_ -= blocks;
  overdrawn_ = std::max(overdrawn_, -free_);
  ledger_.blocks(now_s(), setup_.blocks - room());
}

}  // namespace models::serving
