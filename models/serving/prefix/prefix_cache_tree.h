#pragma once
#include <cstdint>
#include <vector>

#include "models/serving/prefix/prefix_cache_trace.h"

/// The radix tree of a list of prompts: a node is a run of blocks that the same requests go through.
namespace models {

enum class PrefixRule : std::uint8_t {
  every_block,  ///< each block with an id is kept and may be hit, the partly filled last one too
  full_blocks,  ///< full blocks alone are kept, and at least one token of a prompt is computed: what a paged engine
                ///< does
};
inline constexpr int prefix_rule_count = 2;

struct PrefixNode {
  std::int32_t parent = -1;  ///< -1: it begins a prompt
  std::int32_t top = 0;      ///< blocks above it
  std::int32_t blocks = 0;
};

struct PrefixTree {
  std::int64_t block_tokens = 512;
  std::vector<PrefixNode> nodes;  ///< children may stand before their parents
  // By request, in the order of the trace:
  std::vector<std::int32_t> ends;    ///< the node with its last block that is kept; -1: none is
  std::vector<std::int32_t> blocks;  ///< that are kept
  std::vector<std::int32_t> usable;  ///< how many of them may be hit
  std::vector<std::int64_t> tokens;

  /// Tokens that need not be computed when `hit` blocks are found: `block_tokens` each, and no more than there are.
  std::int64_t hit_tokens(std::size_t request, std::int64_t hit) const;
  /// Nodes from the first block of a prompt to its last.
  void path(std::size_t request, std::vector<std::int32_t>& out) const;
};

PrefixTree prefix_tree(const PromptTrace& trace, PrefixRule rule);

/// Depths count blocks; the first block of a prompt has depth 1.
struct PrefixTreeFigures {
  std::int64_t nodes = 0;  ///< distinct blocks
  std::int64_t max_depth = 0, root_children = 0;
  std::int64_t leaves = 0;           ///< blocks after which none comes
  std::int64_t branching_nodes = 0;  ///< blocks with two or more behind them
  std::int64_t compressed_nodes =
      0;  ///< nodes of the radix tree: runs of blocks that end where a prompt ends or branches
  std::int64_t distinct_end_nodes = 0;  ///< blocks with which some prompt ends
  double mean_node_depth = 0;
  bool operator==(const PrefixTreeFigures&) const = default;
};
PrefixTreeFigures count_prefix_tree(const PrefixTree& tree);

/// The requests along the tree, depth first: branches in the order in which they came first, and a prompt that another
/// one continues before it. A shared prefix is then followed by all that share it, so that each block is computed once
/// if the cache holds the longest prompt (Zheng et al., SGLang, arXiv 2312.07104, theorem 3.1).
std::vector<std::int32_t> order_along_tree(const PrefixTree& tree);

}  // namespace models
