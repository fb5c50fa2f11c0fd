#pragma once
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace chapters {

/// Results that took long, kept with the lab and its clones: a slider that does not touch them must not train again.
/// The same key always makes the same value, so a lab's outputs depend on its inputs alone. Who asks for a value that
/// another is making waits for it; nobody else does.
template <class Key, class Value, std::size_t max_entries = 24>
class Memo {
 public:
  /// `make(key)` returns a shared_ptr<const Value>; null (cancelled) is not kept.
  template <class Make>
  std::shared_ptr<const Value> get(const Key& key, Make&& make) {
    std::unique_lock lock(mutex_);
    made_.wait(lock, [&] { return std::find(in_work_.begin(), in_work_.end(), key) == in_work_.end(); });
    for (auto i = kept_.begin(); i != kept_.end(); ++i)
      if (i->first == key) {
        std::rotate(i, i + 1, kept_.end());  // asked for last, dropped last
        return kept_.back().second;
      }
    in_work_.push_back(key);
    lock.unlock();
    std::shared_ptr<const Value> fresh = make(key);
    lock.lock();
    in_work_.erase(std::find(in_work_.begin(), in_work_.end(), key));
    made_.notify_all();
    if (fresh) kept_.emplace_back(key, fresh);
    if (kept_.size() > max_entries) kept_.erase(kept_.begin());
    return fresh;
  }

 private:
  std::mutex mutex_;
  std::condition_variable made_;
  std::vector<Key> in_work_;
  std::vector<std::pair<Key, std::shared_ptr<const Value>>> kept_;
};

}  // namespace chapters
