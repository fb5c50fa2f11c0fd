#include "models/serving/engine/serving_replica.h"

/// A replica whose blocks or slots are followed one by one: step by step, with several answers to a prompt.
namespace models::serving {

/// Those who run get the slots of their next tokens, the oldest first; then the queue is admitted, unless somebody was
/// sent back for it; and all of them make one step.
void Replica::begin_followed() {
  delay_us_ = 0;
  moved_blocks_ = 0;
  if (!find_slots()) admit();
  free_ = answers_->free_blocks();
  ledger_.blocks(now_s(), blocks_held());
  plan_all();
}

/// True if somebody was sent back.
bool Replica::find_slots() {
  bool sent_back = false;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const std::int64_t lane = running_[i].lane;
    const std::int32_t produced =
        share_.at(running_[i].request).output_tokens - static_cast<std::int32_t>(running_[i].tokens_left);
    answers_->replace(lane, produced);
    bool stalled = false;
    while (!stalled && !answers_->can_write(lane)) {
      stalled = setup_.answers.stand_still;
      if (stalled) continue;
      preempt();
      sent_back = true;
      if (i >= running_.size()) return true;  // it was the youngest itself
    }
    running_[i].stalled = stalled;
    if (stalled) continue;
    const std::int64_t copies = answers_->write(lane);
    ledger_.run().answers.copies += copies;
    if (copies > 0 && watch_) watch_->copied(number_of(running_[i].request), copies, now_us_);
  }
  return sent_back;
}

/// What the prompt and the tokens so far take; who comes back from the host brings them along, and writes a token in
/// the same step.
bool Replica::take_followed(Sequence& s, const Waiting& w, std::int64_t kept) {
  if (!answers_->take(s.lane, number_of(w.request), static_cast<std::int32_t>(w.generated), kept)) return false;
  if (w.host_blocks == 0) return true;
  s.stored = w.swapped;
  s.prompt_left = 0;
  host_blocks_ -= w.host_blocks;
  moved_blocks_ += w.host_blocks;
  return true;
}

/// Gives up the blocks of one who is sent back; returns how many went to the host.
std::int64_t Replica::leave_cache(const Sequence& s) {
  const std::int64_t blocks = answers_->release(s.lane);
  if (setup_.preemption != Preemption::swap) return 0;
  AnswerCounts& counts = ledger_.run().answers;
  if (host_blocks_ + blocks > setup_.answers.host_blocks) {
    ++counts.host_full;
    return 0;
  }
  host_blocks_ += blocks;
  moved_blocks_ += blocks;
  counts.swapped_out_blocks += blocks;
  return blocks;
}

void Replica::plan_all() {
  double tokens = 0, rows = 0, context = 0, seconds = 0;
  AnswerCounts& counts = ledger_.run().answers;
  bool moves = false;
  for (const Sequence& s : running_) {
    if (s.stalled) continue;
    moves = true;
    const std::int64_t live = answers_->live(s.lane);
    rows += static_cast<double>(live);
    if (s.prompt_left == 0) {
      tokens += static_cast<double>(live);
      context += static_cast<double>(live * (s.stored + 1));
      continue;
    }
    const std::int64_t prompts = answers_->prompts(s.lane), prompt = share_.at(s.request).prompt_tokens,
                       generated = s.prompt_left - prompt, computed = prompts * prompt + live * generated;
    tokens += static_cast<double>(computed);
    seconds += static_cast<double>(prompts) * cost_.chunk_attention_s(static_cast<double>(s.prompt_left), 0);
    if (generated > 0) counts.recomputed_tokens += computed;
  }
  rows_ = static_cast<std::int64_t>(rows);
  if (!moves) {
    if (!running_.empty() && still_since_us_ < 0) still_since_us_ = now_us_;
    return;
  }
  still_since_us_ = -1;
  ++counts.steps;
  const double moved_bytes = static_cast<double>(moved_blocks_ * setup_.block_tokens) * cost_.kv_bytes_per_token;
  set(Work::Kind::all, cost_.step_s(tokens, rows, context) + seconds + moved_bytes / setup_.swap_bytes_per_s);
}

void Replica::finish_all() {
  ServingRun& run = ledger_.run();
  std::int64_t alike = 0;
  for (Sequence& s : running_) {
    if (s.stalled) continue;
    run.answers.tokens += answers_->live(s.lane);
    if (s.prompt_left > 0) {
      s.stored += s.prompt_left;
      s.prompt_left = 0;
      emit_first(s);
    } else {
      ++s.stored;
      --s.tokens_left;
      if (s.token_us == work_.start_us) {  // as nearly all: the token before came at the end of the step before
        ++alike;
        s.token_us = now_us_;
      } else {
        token(s, now_us_);
      }
      if (setup_.token_ticks > 0) tick(s, now_us_);
    }
    answers_->end_answers(s.lane, share_.at(s.request).output_tokens - static_cast<std::int32_t>(s.tokens_left));
  }
  if (alike > 0 && ledger_.counts(now_s())) run.gaps.add(seconds_of(now_us_ - work_.start_us), alike);
  ++run.events;
}

}  // namespace models::serving
