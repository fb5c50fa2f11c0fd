#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

/// A radix tree of cache blocks: what prompts begin with in common is kept once, and what nobody reads is given up from
/// the leaves, the least recently used first (Zheng et al., SGLang, arXiv 2312.07104, section 3).
namespace models {

/// Prompts by the names of their full blocks. Two prompts share a block where they share all names up to it.
struct NamedPrompts {
  std::int64_t block_tokens = 512;  ///< tokens in a named block
  std::vector<std::int32_t> names;  ///< those of all requests, one after the other
  std::vector<std::size_t> first;   ///< by request, and one more: where its names begin
  std::span<const std::int32_t> of(std::size_t request) const {
    return {names.data() + first[request], first[request + 1] - first[request]};
  }
};

namespace serving {

class PrefixTreeStore {
 public:
  /// Cache blocks that a node takes.
  explicit PrefixTreeStore(std::int64_t node_blocks = 1) : node_blocks_(node_blocks) {}

  struct Path {
    std::int32_t node = -1;  ///< its last node; -1: none
    std::int64_t nodes = 0;
  };
  std::int64_t node_blocks() const { return node_blocks_; }
  /// Blocks of nodes that nobody reads, which can be given up.
  std::int64_t blocks() const { return static_cast<std::int64_t>(unread_.size()) * node_blocks_; }
  std::int64_t nodes() const { return static_cast<std::int64_t>(places_.size()); }
  /// The longest beginning of these names that is kept.
  Path find(std::span<const std::int32_t> names) const;
  /// Blocks on the way to this node that nobody reads.
  std::int64_t unread_blocks(std::int32_t node) const;
  /// Somebody reads all nodes down to this one: they stay.
  void pin(std::int32_t node);
  /// One reader less; what nobody reads any more counts as used now, parents later than their children.
  void unpin(std::int32_t node);
  /// Goes on from a pinned path with these names and pins them, too. A name that is not there yet becomes a node, whose
  /// blocks the caller gives. Returns how many were there already.
  std::int64_t add(Path& path, std::span<const std::int32_t> names);
  /// Gives up nodes until `wanted` blocks are free, or none is left that nobody reads; returns how many are.
  std::int64_t evict(std::int64_t wanted);

 private:
  struct Node {
    std::int32_t parent = -1, name = 0, readers = 0;
    std::list<std::int32_t>::iterator place;  ///< among the unread, while nobody reads it
  };
  static std::uint64_t key(std::int32_t parent, std::int32_t name) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(parent)) << 32 | static_cast<std::uint32_t>(name);
  }
  Node& at(std::int32_t node) { return nodes_[static_cast<std::size_t>(node)]; }
  const Node& at(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)]; }
  void read(std::int32_t node);

  std::int64_t node_blocks_ = 1;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> spare_;                         ///< places in `nodes_` that are free
  std::unordered_map<std::uint64_t, std::int32_t> places_;  ///< by parent and name
  std::list<std::int32_t> unread_;                          ///< the least recently used first
};

}  // namespace serving
}  // namespace models
