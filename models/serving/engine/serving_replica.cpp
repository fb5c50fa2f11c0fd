#include "models/serving/engine/serving_replica.h"

#include <cmath>
#include <numeric>

namespace models::serving {

std::int64_t microseconds_from(double time_s) {
  const auto near = static_cast<std::int64_t>(std::llround(time_s * 1e6));
  return seconds_of(near) >= time_s ? near : near + 1;
}

std::int64_t microseconds_in(double span_s, std::int64_t least) {
  return std::max(least, static_cast<std::int64_t>(std::llround(span_s * 1e6)));
}

Replica::Replica(const Share& share, const ServingSetup& setup, Ledger& ledger, Duty duty, Links* links)
    : share_(share),
      setup_(setup),
      cost_(*setup.cost),
      ledger_(ledger),
      duty_(duty),
      links_(links),
      answers_(make_answer_cache(share.requests, setup)),
      free_(setup.blocks) {
  const std::int64_t named = setup.named ? setup.named->block_tokens : 0;
  tree_on_ =
      named > 0 && named % setup.block_tokens == 0 && setup.prefixes.empty() && !answers_ && duty != Duty::decode;
  if (tree_on_) tree_ = PrefixTreeStore(named / setup.block_tokens);
  lanes_.resize(static_cast<std::size_t>(setup.slots));
  std::iota(lanes_.rbegin(), lanes_.rend(), std::int64_t{0});
}

void Replica::pass(std::int64_t now_us) {
  if (watch_ && now_us > seen_us_) watch_->passes(seen_us_, now_us, *this);
  seen_us_ = std::max(seen_us_, now_us);
}

void Replica::offer(std::size_t i) {
  const std::int64_t now_us = microseconds_from(share_.at(i).arrival_s);
  pass(now_us);
  ledger_.arrive(share_.at(i).arrival_s);
  enqueue({.request = i});
  queued_tokens_ += share_.at(i).prompt_tokens;
  interrupt(now_us);
}

void Replica::offer(const Waiting& read, std::int64_t now_us) {
  pass(now_us);
  ledger_.arrive(seconds_of(now_us));
  enqueue(read);
  queued_tokens_ += read.remote;
  interrupt(now_us);
}

/// Into the queue by rank: nobody who waits came earlier than this one unless sent back, too.
void Replica::enqueue(const Waiting& w) {
  auto place = queue_.end();
  while (place != queue_.begin() && rank(std::prev(place)->request) > rank(w.request)) --place;
  queue_.insert(place, w);
}

/// A request came: an idle replica begins at once, and decode steps that it could join end at the next token.
void Replica::interrupt(std::int64_t now_us) {
  if (work_.kind == Work::Kind::none) {
    now_us_ = std::max(now_us_, now_us);
    work_ = {.kind = Work::Kind::wait, .start_us = now_us_, .end_us = now_us_};
    return;
  }
  if (work_.kind != Work::Kind::decode || queue_.size() != 1 || lanes_.empty() || now_us >= work_.end_us) return;
  work_.steps = work_.ramp.steps_until(seconds_of(now_us - work_.start_us), work_.steps);
  work_.end_us = work_.start_us + microseconds_in(work_.ramp.time_of(work_.steps), 1);
}

void Replica::go_on() {
  now_us_ = work_.end_us;
  pass(now_us_);
  switch (work_.kind) {
    case Work::Kind::prompts:
      finish_prompts();
      break;
    case Work::Kind::mixed:
      finish_mixed();
      break;
    case Work::Kind::decode:
      finish_decode();
      break;
    case Work::Kind::all:
      finish_all();
      break;
    case Work::Kind::none:
    case Work::Kind::wait:
      break;
  }
  if (work_.batch > 0) {
    const double from_s = seconds_of(work_.start_us);
    ledger_.work(from_s, now_s(), work_.batch);
    ledger_.use(from_s, now_s(), work_.batch);
  }
  work_ = {};
  hand_over();
  retire();
  begin();
}

void Replica::free_sent(std::int64_t now_us, std::size_t request, std::int64_t blocks, std::int64_t tokens) {
  sent_blocks_ -= blocks;
  free_ += blocks;
  if (const auto sent = sent_nodes_.find(request); sent != sent_nodes_.end()) {
    tree_.unpin(sent->second);
    sent_nodes_.erase(sent);
  }
  if (const PromptPrefix* prefix = prefix_of(request); prefix && prefix->session >= 0) {
    const std::int64_t whole = tokens / setup_.block_tokens;
    free_ += store_.keep(prefix->session, whole, setup_.block_tokens) - whole;
  }
  if (!queue_.empty()) interrupt(now_us);
}

std::int64_t Replica::prompt_tokens_left() const {
  std::int64_t tokens = queued_tokens_;
  if (prefilling_ > 0)
    for (const Sequence& s : running_) tokens += s.prompt_left;
  return tokens;
}

void Replica::set(Work::Kind kind, double span_s) {
  work_ = {.kind = kind,
           .start_us = now_us_,
           .end_us = now_us_ + delay_us_ + microseconds_in(span_s, 1),
           .batch = static_cast<double>(running_.size())};
}

/// Takes up whatever can be done now: who has landed joins, the queue is admitted, and a step begins.
void Replica::begin() {
  if (answers_) return begin_followed();
  for (;;) {
    land();
    delay_us_ = 0;
    const std::size_t held = admit();
    // With nobody to run, or one whose next block a cache on its way holds, what lands first changes that.
    if (running_.empty() || (running_.size() == 1 && growth(1) > room())) {
      for (const Incoming& in : incoming_)
        if (work_.kind == Work::Kind::none || in.ready_us < work_.end_us)
          work_ = {.kind = Work::Kind::wait, .start_us = now_us_, .end_us = in.ready_us};
      return;
    }
    if (plan(held)) return;
    if (delay_us_ == 0) continue;  // somebody was sent back at no cost of time
    set(Work::Kind::wait, 0);
    work_.end_us = now_us_ + delay_us_;
    return;
  }
}

bool Replica::plan(std::size_t held) {
  if (prefilling_ > 0 && setup_.policy == ServingPolicy::chunked) return plan_mixed();
  if (prefilling_ > 0) {
    plan_prompts();
    return true;
  }
  return held == 0 && plan_decode();
}

void Replica::land() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    if (incoming_[i].ready_us > now_us_) {
      if (kept != i) incoming_[kept] = incoming_[i];
      ++kept;
      continue;
    }
    running_.push_back(incoming_[i].sequence);
    running_.back().since_us = incoming_[i].ready_us;
  }
  incoming_.resize(kept);
}

/// Whoever has waited longer than allowed, and has got nothing yet, is sent away.
void Replica::drop_late() {
  if (!(setup_.drop_after_s < never_s)) return;
  while (!queue_.empty()) {
    const Waiting& w = queue_.front();
    if (w.generated > 0 || now_s() - share_.at(w.request).arrival_s <= setup_.drop_after_s) return;
    queued_tokens_ -= share_.at(w.request).prompt_tokens;
    ledger_.drop(w.request, now_s());
    queue_.pop_front();
  }
}

/// First come, first served; a request that does not fit yet holds back those behind it. Returns how many came back
/// from the host, whose transfer takes a turn of its own.
std::size_t Replica::admit() {
  const std::int64_t before_us = delay_us_;
  std::size_t from_host = 0;
  while (!queue_.empty() && !lanes_.empty() && !resting_) {
    const std::int64_t delay_us = delay_us_;
    drop_late();
    if (queue_.empty() || !admit_first()) break;
    from_host += delay_us_ > delay_us;
  }
  return delay_us_ > before_us ? from_host : 0;
}

/// All prompts that were just admitted, in one step; whoever decodes waits.
void Replica::plan_prompts() {
  double tokens = 0, attention_s = 0, rows = 0;
  for (const Sequence& s : running_) {
    if (s.prompt_left == 0) continue;
    tokens += static_cast<double>(s.prompt_left);
    attention_s += cost_.chunk_attention_s(static_cast<double>(s.prompt_left), static_cast<double>(s.stored));
    ++rows;
  }
  set(Work::Kind::prompts, cost_.step_s(tokens, rows, 0) + attention_s);
}

void Replica::finish_prompts() {
  for (Sequence& s : running_)
    if (s.prompt_left > 0) {
      s.stored += s.prompt_left;
      s.prompt_left = 0;
      emit_first(s);
    }
  ++ledger_.run().events;
}

/// One token of everyone who decodes, and prompts in the room that is left.
bool Replica::plan_mixed() {
  if (!grow(1)) return false;
  std::int64_t decoding = 0, context = 0;
  for (const Sequence& s : running_)
    if (s.prompt_left == 0) {
      ++decoding;
      context += s.stored + 1;
    }
  std::int64_t left = std::max<std::int64_t>(setup_.chunk_tokens - decoding, 16);
  double tokens = static_cast<double>(decoding), rows = tokens, attention_s = 0;
  chunks_.assign(running_.size(), 0);
  for (std::size_t i = 0; i < running_.size() && left > 0; ++i) {
    const Sequence& s = running_[i];
    if (s.prompt_left == 0) continue;
    chunks_[i] = std::min(s.prompt_left, left);
    left -= chunks_[i];
    tokens += static_cast<double>(chunks_[i]);
    attention_s += cost_.chunk_attention_s(static_cast<double>(chunks_[i]), static_cast<double>(s.stored));
    if (chunks_[i] == s.prompt_left) ++rows;
  }
  set(Work::Kind::mixed, cost_.step_s(tokens, rows, static_cast<double>(context)) + attention_s);
  return true;
}

void Replica::finish_mixed() {
  std::int64_t alike = 0;  // whose token before came at the end of the step before: nearly all
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    Sequence& s = running_[i];
    if (s.prompt_left == 0) {
      ++s.stored;
      --s.tokens_left;
      if (s.token_us == work_.start_us) {
        ++alike;
        s.token_us = now_us_;
      } else {
        token(s, now_us_);
      }
      if (setup_.token_ticks > 0) tick(s, now_us_);
    } else if (chunks_[i] > 0) {
      s.stored += chunks_[i];
      s.prompt_left -= chunks_[i];
      if (s.prompt_left == 0) emit_first(s);
    }
  }
  if (alike > 0 && ledger_.counts(now_s())) ledger_.run().gaps.add(seconds_of(now_us_ - work_.start_us), alike);
  ++ledger_.run().events;
}

/// As many decode steps at once as nothing changes in: until the first is done, the blocks run out, or somebody joins.
bool Replica::plan_decode() {
  if (!grow(1)) return false;
  std::int64_t k = running_.front().tokens_left, context = 0;
  for (const Sequence& s : running_) {
    k = std::min(k, s.tokens_left);
    context += s.stored + 1;
  }
  const double batch = static_cast<double>(running_.size());
  const Ramp ramp{cost_.step_s(batch, batch, static_cast<double>(context)), cost_.context_s * batch};
  for (const Incoming& in : incoming_) k = ramp.steps_until(seconds_of(in.ready_us - now_us_), k);
  const auto members = static_cast<std::int64_t>(running_.size());
  if (members * blocks_of(k, setup_) > room() && growth(k) > room()) {  // the most steps whose blocks there are
    std::int64_t low = 1, high = k;                                     // one fits, see above
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (growth(middle) <= room() ? low : high) = middle;
    }
    k = low;
  }
  set(Work::Kind::decode, ramp.time_of(k));
  work_.ramp = ramp;
  work_.steps = k;
  return true;
}

void Replica::finish_decode() {
  const Ramp& ramp = work_.ramp;
  const std::int64_t k = work_.steps;
  const std::int64_t first_us = std::min(now_us_, work_.start_us + microseconds_in(ramp.first_s, 1));
  std::int64_t taken = 0;
  for (Sequence& s : running_) {
    token(s, first_us);  // it may have stalled before this one: for a prompt, or in the queue
    if (setup_.token_ticks > 0)
      for (std::int64_t j = 1; j <= k; ++j) tick(s, work_.start_us + microseconds_in(ramp.time_of(j), 1));
    s.token_us = now_us_;
    s.stored += k;
    s.tokens_left -= k;
    const std::int64_t more = lacking(s, 0);
    taken += more;
    s.blocks += more;
  }
  if (ledger_.counts(now_s()))
    ledger_.run().gaps.add_ramp(ramp.first_s + ramp.more_s, ramp.more_s, k - 1,
                                static_cast<std::int64_t>(running_.size()));
  if (taken > 0) take_blocks(taken);
  ++ledger_.run().events;
}

}  // namespace models::serving
