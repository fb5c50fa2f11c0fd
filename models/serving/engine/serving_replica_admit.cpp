#include "models/serving/engine/serving_replica.h"

/// Which request is taken in, and what of its prompt is there already.
namespace models::serving {

const PromptPrefix* Replica::prefix_of(std::size_t i) const {
  return setup_.prefixes.empty() ? nullptr : &setup_.prefixes[static_cast<std::size_t>(share_.ids[i])];
}

/// Names of the full blocks within the first `tokens` of a prompt.
std::span<const std::int32_t> Replica::names_of(std::size_t id, std::int64_t tokens) const {
  const auto names = setup_.named->of(id);
  const auto full = static_cast<std::size_t>(std::max<std::int64_t>(0, tokens / setup_.named->block_tokens));
  return names.first(std::min(names.size(), full));
}

std::int64_t Replica::kept_of_session(const PromptPrefix& prefix, std::int64_t shared) const {
  if (prefix.session < 0) return 0;
  const std::int64_t known = std::min<std::int64_t>(prefix.tokens, shared);
  return std::min(store_.tokens_of(prefix.session), known / setup_.block_tokens * setup_.block_tokens);
}

std::int64_t Replica::kept_tokens(std::size_t id) const {
  const std::int64_t prompt = share_.requests[id].prompt_tokens;
  if (has_tree()) return tree_.find(names_of(id, prompt - 1)).nodes * setup_.named->block_tokens;
  return setup_.prefixes.empty() ? 0 : kept_of_session(setup_.prefixes[id], prompt - 1);
}

bool Replica::admit_first() {
  const Waiting w = queue_.front();
  const ServingRequest& r = share_.at(w.request);
  Sequence s{
      .request = w.request,
      .lane = lanes_.back(),
      .prompt_left = w.remote > 0 ? w.remote : r.prompt_tokens + w.generated,
      .tokens_left = r.output_tokens - w.generated,
      .since_us = now_us_,
      .token_us = w.token_us,
  };
  const std::int64_t kept = running_.empty() && incoming_.empty() ? 0 : setup_.watermark_blocks;
  if (!(answers_ ? take_followed(s, w, kept) : take_counted(s, w, kept))) return false;
  queue_.pop_front();
  lanes_.pop_back();
  queued_tokens_ -= w.remote > 0 ? w.remote : r.prompt_tokens;
  ledger_.take(now_s(), 1);
  ++ledger_.run().events;
  if (ServedRequest& served = ledger_.served(w.request); served.start_s < 0) served.start_s = now_s();
  prefilling_ += s.prompt_left > 0;
  if (w.remote > 0) {
    incoming_.push_back({s, links_->send(place_, now_us_, w)});
    return true;
  }
  // Where blocks are followed, those who came first find theirs first.
  auto place = running_.end();
  while (answers_ && place != running_.begin() && rank(std::prev(place)->request) > rank(s.request)) --place;
  running_.insert(place, s);
  return true;
}

/// Blocks for the prompt and the token behind it, less what lies in the tree.
bool Replica::take_counted(Sequence& s, const Waiting& w, std::int64_t kept) {
  const std::int64_t prompt = s.prompt_left;
  s.blocks = blocks_of(prompt + (duty_ == Duty::prefill ? 0 : 1), setup_);
  PrefixTreeStore::Path path;
  if (has_tree() && w.swapped == 0 && w.remote == 0) {
    // At least one token is computed, and after a recomputation no more than the prompt has names.
    path = tree_.find(
        names_of(number_of(w.request), std::min<std::int64_t>(prompt, share_.at(w.request).prompt_tokens) - 1));
    s.node = path.node;
    s.shared = path.nodes * tree_.node_blocks();
  }
  if (s.blocks - s.shared + kept > room() - tree_.unread_blocks(s.node)) return false;
  if (w.swapped > 0) {
    s.stored = w.swapped;
    delay_us_ +=
        microseconds_in(static_cast<double>(w.swapped) * cost_.kv_bytes_per_token / setup_.swap_bytes_per_s, 1);
  } else if (w.remote > 0) {
    s.stored = w.remote;
  } else if (has_tree()) {
    tree_.pin(s.node);
    s.stored = path.nodes * setup_.named->block_tokens;
    ledger_.run().kept_tokens += static_cast<double>(s.stored);
  } else {
    s.stored = find_session(w.request, prompt);
  }
  s.prompt_left = w.swapped > 0 || w.remote > 0 ? 0 : prompt - s.stored;
  take_blocks(s.blocks - s.shared);
  return true;
}

/// Tokens at the prompt's beginning that the session has left, in whole blocks; at least one token is computed.
std::int64_t Replica::find_session(std::size_t i, std::int64_t prompt) {
  const PromptPrefix* prefix = prefix_of(i);
  if (!prefix || prefix->session < 0) return 0;
  const std::int64_t kept = kept_of_session(*prefix, prompt - 1);
  free_ += store_.take(prefix->session);
  ledger_.run().kept_tokens += static_cast<double>(kept);
  return kept;
}

/// The prompt has been read: its full blocks go into the tree, and those that another one has left there since are
/// free.
void Replica::share_prompt(Sequence& s) {
  const auto names = names_of(number_of(s.request), share_.at(s.request).prompt_tokens);
  const auto known = static_cast<std::size_t>(s.shared / tree_.node_blocks());
  if (names.size() <= known) return;
  PrefixTreeStore::Path path{s.node, static_cast<std::int64_t>(known)};
  free_ += tree_.add(path, names.subspan(known)) * tree_.node_blocks();
  s.node = path.node;
  s.shared = path.nodes * tree_.node_blocks();
}

}  // namespace models::serving
