#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "models/serving/prefix/prefix_cache.h"

/// A prefix cache that is played block by block, as its rules say: what the pass over nodes is held against.
namespace prefix_test {

using Ids = std::vector<std::int64_t>;

/// The ids of each request's blocks, new ones counted on.
inline std::vector<Ids> ids_of(const models::PromptTrace& trace) {
  std::vector<Ids> out;
  std::int64_t next = 0;
  for (const models::PromptRequest& r : trace.requests) {
    Ids ids;
    if (r.like >= 0) {
      const Ids& other = out[static_cast<std::size_t>(r.like)];
      ids.assign(other.begin(), other.begin() + r.shared);
    }
    while (static_cast<std::int32_t>(ids.size()) < r.blocks) ids.push_back(next++);
    out.push_back(std::move(ids));
  }
  return out;
}

/// Least recently used over single blocks.
class DirectLru {
 public:
  explicit DirectLru(std::size_t capacity) : capacity_(capacity) {}
  std::int64_t look_up(const Ids& ids) const {
    std::int64_t hit = 0;
    while (hit < static_cast<std::int64_t>(ids.size()) && at_.contains(ids[static_cast<std::size_t>(hit)])) ++hit;
    return hit;
  }
  void touch(std::int64_t id) {
    if (const auto found = at_.find(id); found != at_.end()) recent_.erase(found->second);
    recent_.push_front(id);
    at_[id] = recent_.begin();
    if (recent_.size() <= capacity_) return;
    at_.erase(recent_.back());
    recent_.pop_back();
  }
  bool holds(std::int64_t id) const { return at_.contains(id); }
  std::size_t size() const { return recent_.size(); }

 private:
  std::size_t capacity_;
  std::list<std::int64_t> recent_;
  std::unordered_map<std::int64_t, std::list<std::int64_t>::iterator> at_;
};

/// Blocks found by each request in turn; `order` names the requests.
inline std::vector<std::int64_t> direct_hits(const std::vector<Ids>& ids, const std::vector<std::int32_t>& order,
                                             std::size_t capacity, bool root_first, DirectLru* left = nullptr) {
  DirectLru cache(capacity);
  std::vector<std::int64_t> out;
  for (const std::int32_t request : order) {
    const Ids& mine = ids[static_cast<std::size_t>(request)];
    out.push_back(cache.look_up(mine));
    for (std::size_t i = 0; i < mine.size(); ++i) cache.touch(mine[root_first ? i : mine.size() - 1 - i]);
  }
  if (left) *left = cache;
  return out;
}

inline std::vector<std::int64_t> direct_ttl_hits(const std::vector<Ids>& ids, const std::vector<std::int64_t>& time_ms,
                                                 std::int64_t ttl_ms) {
  std::unordered_map<std::int64_t, std::int64_t> touched;
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::int64_t hit = 0;
    for (const std::int64_t id : ids[i]) {
      const auto found = touched.find(id);
      if (found == touched.end() || time_ms[i] - found->second > ttl_ms) break;
      ++hit;
    }
    out.push_back(hit);
    for (const std::int64_t id : ids[i]) touched[id] = time_ms[i];
  }
  return out;
}

/// The requests as they came.
struct AsTheyCame {
  std::vector<std::int32_t> order;
  std::vector<std::int64_t> time_ms;
  explicit AsTheyCame(const models::PromptTrace& trace) : order(trace.requests.size()) {
    std::iota(order.begin(), order.end(), 0);
    for (const models::PromptRequest& r : trace.requests) time_ms.push_back(r.time_ms);
  }
};

inline models::PrefixPass pass_of(const models::PromptTrace& trace, const models::PrefixTree& tree) {
  const AsTheyCame as(trace);
  return models::pass_prefix_cache(tree, as.order, as.time_ms);
}

}  // namespace prefix_test
