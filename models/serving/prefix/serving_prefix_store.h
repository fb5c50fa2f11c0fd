#pragma once
#include <cstdint>
#include <list>
#include <unordered_map>

/// Caches of sessions that nobody uses at the moment, and that the next request of the session goes on from.
namespace models {

/// What a request's prompt begins with: the first `tokens` of it are what its session has said so far. A session is a
/// chain: two sessions share nothing.
struct PromptPrefix {
  std::int32_t session = -1;  ///< -1: it goes on from nothing
  std::int32_t tokens = 0;
};

namespace serving {

class PrefixStore {
 public:
  std::int64_t blocks() const { return blocks_; }
  /// Tokens that are kept of a session.
  std::int64_t tokens_of(std::int32_t session) const;
  /// Takes a session out; returns the blocks that it held.
  std::int64_t take(std::int32_t session);
  /// Keeps these whole blocks of a session as the newest. Returns the blocks of what was kept of it before, which are
  /// free from now on.
  std::int64_t keep(std::int32_t session, std::int64_t blocks, std::int64_t block_tokens);
  /// Gives up blocks of the session that was used least recently, its last ones first, until `wanted` are free; returns
  /// how many are.
  std::int64_t evict(std::int64_t wanted);

 private:
  struct Kept {
    std::int32_t session = -1;
    std::int64_t blocks = 0, block_tokens = 1;
  };
  std::list<Kept> kept_;  ///< the least recently used first
  std::unordered_map<std::int32_t, std::list<Kept>::iterator> places_;
  std::int64_t blocks_ = 0;
};

}  // namespace serving
}  // namespace models
