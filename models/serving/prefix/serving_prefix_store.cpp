#include "models/serving/prefix/serving_prefix_store.h"

#include <algorithm>

namespace models::serving {

std::int64_t PrefixStore::tokens_of(std::int32_t session) const {
  const auto place = places_.find(session);
  return place == places_.end() ? 0 : place->second->blocks * place->second->block_tokens;
}

std::int64_t PrefixStore::take(std::int32_t session) {
  const auto place = places_.find(session);
  if (place == places_.end()) return 0;
  const std::int64_t blocks = place->second->blocks;
  kept_.erase(place->second);
  places_.erase(place);
  blocks_ -= blocks;
  return blocks;
}

std::int64_t PrefixStore::keep(std::int32_t session, std::int64_t blocks, std::int64_t block_tokens) {
  const std::int64_t before = take(session);
  if (blocks <= 0) return before;
  kept_.push_back({session, blocks, block_tokens});
  places_[session] = std::prev(kept_.end());
  blocks_ += blocks;
  return before;
}

std::int64_t PrefixStore::evict(std::int64_t wanted) {
  std::int64_t freed = 0;
  while (freed < wanted && !kept_.empty()) {
    Kept& oldest = kept_.front();
    const std::int64_t less = std::min(oldest.blocks, wanted - freed);
    freed += less;
    blocks_ -= less;
    oldest.blocks -= less;
    if (oldest.blocks > 0) continue;
    places_.erase(oldest.session);
    kept_.pop_front();
  }
  return freed;
}

}  // namespace models::serving
