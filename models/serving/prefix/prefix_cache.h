#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/serving/prefix/prefix_cache_tree.h"

/// Which blocks of their prompts requests find in a cache of prefixes: for every size of it at once. Requests come one
/// at a time; each is looked up and then stored before the next. A lookup walks the prompt's blocks from the first and
/// ends before the first one that is not there. What a request answers is not stored.
///
/// Least recently used is a stack algorithm (Mattson, Gecsei, Slutz, Traiger, "Evaluation techniques for storage
/// hierarchies", IBM Systems Journal 9, 1970): a cache of C blocks holds the C that were touched last, so a block is
/// there if fewer than C others were touched since. All blocks of a node whose last request is the same one were
/// touched together, so one pass over nodes, not blocks, knows the distances of all.
namespace models {

enum class PrefixEviction : std::uint8_t {
  none,            ///< everything stays
  lru,             ///< a request touches its blocks from the last to the first, so that leaves go before their parents
  lru_root_first,  ///< from the first to the last: parents go first and strand what is behind them
  ttl,             ///< a block stays so long after it was touched last; no other limit
};
inline constexpr int prefix_eviction_count = 4;

/// Blocks in a row of one request's prompt that one earlier request, the same for all of them, touched last.
struct PrefixRun {
  std::int32_t last = 0;     ///< place of that request in the order
  std::int32_t blocks = 0;   ///< that may be hit
  std::int64_t newer = 0;    ///< distinct blocks that were touched after that request
  std::int64_t whole = 0;    ///< and with them those that it touched and nobody since
  std::int64_t idle_ms = 0;  ///< since that request
};

/// What a pass over requests in one order found; requests are counted by their place in it.
struct PrefixPass {
  std::vector<std::int32_t> order;    ///< by place the request's number in the tree
  std::vector<std::int64_t> time_ms;  ///< by place
  std::vector<PrefixRun> runs;
  std::vector<std::size_t> first_run;  ///< by place, and one more: where its runs begin
  std::vector<std::int32_t> seen;      ///< by place: blocks that some request before it touched and that may be hit
  /// Smallest cache in which least recently used, leaf to root, finds all of `seen`.
  std::int64_t capacity_for_all = 0;
  std::span<const PrefixRun> runs_of(std::size_t place) const {
    return {runs.data() + first_run[place], first_run[place + 1] - first_run[place]};
  }
};

/// `order` names each request of the tree once; `time_ms` is by place. O(nodes on the paths x log requests).
PrefixPass pass_prefix_cache(const PrefixTree& tree, std::span<const std::int32_t> order,
                             std::span<const std::int64_t> time_ms);

struct PrefixCacheSetting {
  PrefixEviction eviction = PrefixEviction::lru;
  std::int64_t capacity_blocks = 1000;  ///< from 0 on; for lru and lru_root_first
  std::int64_t ttl_ms = 300'000;        ///< equal counts as there
};

/// Blocks that the request at this place finds.
std::int64_t prefix_hit(const PrefixPass& pass, std::size_t place, const PrefixCacheSetting& setting);

struct PrefixCacheFigures {
  std::int64_t requests = 0, total_blocks = 0, hit_blocks = 0, total_tokens = 0, hit_tokens = 0;
  double block_hit_rate = 0, token_hit_rate = 0;
  double mean_request_token_hit_rate = 0;                   ///< mean over requests of hit tokens over tokens
  std::int64_t requests_full_hit = 0, requests_no_hit = 0;  ///< all blocks found; none
  std::int64_t seen_blocks = 0;                             ///< that an endless cache would find
  std::int64_t recomputed_blocks() const { return seen_blocks - hit_blocks; }
  bool operator==(const PrefixCacheFigures&) const = default;
};
/// `hits`: by place, where it is not null, what prefix_hit says.
PrefixCacheFigures count_prefix_hits(const PrefixTree& tree, const PrefixPass& pass, const PrefixCacheSetting& setting,
                                     std::vector<std::int64_t>* hits = nullptr);

/// Blocks found in a cache of 0, 1, 2, ... blocks, up to the tree's; for lru and lru_root_first. O(runs + blocks).
std::vector<std::int64_t> prefix_hits_by_capacity(const PrefixTree& tree, const PrefixPass& pass,
                                                  PrefixEviction eviction);

/// Blocks found where they stay for each of these times; ascending. O(runs log runs + times).
std::vector<std::int64_t> prefix_hits_by_ttl(const PrefixPass& pass, std::span<const std::int64_t> ttl_ms);

/// Blocks of each node that are in the cache once the requests at places 0 to `place` have come. Leaf to root a node
/// keeps its first ones, root first its last ones.
std::vector<std::int32_t> prefix_cache_contents(const PrefixTree& tree, const PrefixPass& pass,
                                                const PrefixCacheSetting& setting, std::size_t place);

}  // namespace models
