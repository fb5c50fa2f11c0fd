#include "models/serving/prefix/serving_prefix_tree.h"

namespace models::serving {

PrefixTreeStore::Path PrefixTreeStore::find(std::span<const std::int32_t> names) const {
  Path path;
  for (const std::int32_t name : names) {
    const auto next = places_.find(key(path.node, name));
    if (next == places_.end()) break;
    path = {next->second, path.nodes + 1};
  }
  return path;
}

std::int64_t PrefixTreeStore::unread_blocks(std::int32_t node) const {
  std::int64_t nodes = 0;
  // Whoever reads a node reads its parents, too.
  for (; node >= 0 && at(node).readers == 0; node = at(node).parent) ++nodes;
  return nodes * node_blocks_;
}

void PrefixTreeStore::read(std::int32_t node) {
  Node& n = at(node);
  if (n.readers++ == 0) unread_.erase(n.place);
}

void PrefixTreeStore::pin(std::int32_t node) {
  for (; node >= 0; node = at(node).parent) read(node);
}

void PrefixTreeStore::unpin(std::int32_t node) {
  for (; node >= 0; node = at(node).parent) {
    Node& n = at(node);
    if (--n.readers == 0) n.place = unread_.insert(unread_.end(), node);
  }
}

std::int64_t PrefixTreeStore::add(Path& path, std::span<const std::int32_t> names) {
  std::int64_t there = 0;
  for (const std::int32_t name : names) {
    const auto [next, fresh] = places_.try_emplace(key(path.node, name), -1);
    if (fresh) {
      std::int32_t node = static_cast<std::int32_t>(nodes_.size());
      if (spare_.empty()) {
        nodes_.emplace_back();
      } else {
        node = spare_.back();
        spare_.pop_back();
      }
      at(node) = {.parent = path.node, .name = name, .readers = 1, .place = {}};
      next->second = node;
    } else {
      read(next->second);
      ++there;
    }
    path = {next->second, path.nodes + 1};
  }
  return there;
}

std::int64_t PrefixTreeStore::evict(std::int64_t wanted) {
  std::int64_t freed = 0;
  // A child was never used later than its parent, so that the least recently used node is a leaf.
  while (freed < wanted && !unread_.empty()) {
    const std::int32_t node = unread_.front();
    unread_.pop_front();
    places_.erase(key(at(node).parent, at(node).name));
    spare_.push_back(node);
    freed += node_blocks_;
  }
  return freed;
}

}  // namespace models::serving
