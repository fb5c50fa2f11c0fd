#pragma once
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace chapters {

/// Results that took long, kept with the lab and its clones: a slider that does not touch them must not train again.
/// The same key always makes the same value, so a lab's outputs depend on its inputs alone.
template <class Key, class Value, std::size_t max_entries = 24>
class Memo {
 public:
  /// `make(key)` returns a shared_ptr<const Value>; null (cancelled) is not kept.
  template <class Make>
  std::shared_ptr<const Value> get(const Key& key, Make&& make) {
    const std::lock_guard lock(mutex_);
    for (auto i = kept_.begin(); i != kept_.end(); ++i)
      if (i->first == key) {
        std::rotate(i, i + 1, kept_.end());  // asked for last, dropped last
        return kept_.back().second;
      }
    std::shared_ptr<const Value> fresh = make(key);
    if (fresh) kept_.emplace_back(key, fresh);
    if (kept_.size() > max_entries) kept_.erase(kept_.begin());
    return fresh;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Key, std::shared_ptr<const Value>>> kept_;
};

}  // namespace chapters
