#include "models/serving/prefix/prefix_cache_tree.h"

#include <algorithm>
#include <numeric>

namespace models {
namespace {

std::size_t tree_index(std::int32_t i) { return static_cast<std::size_t>(i); }

/// The node whose last block is block number `depth`, from 1, of the path that ends at `end`; a longer one is cut.
std::int32_t node_ending_at(PrefixTree& tree, std::int32_t end, std::int32_t depth) {
  std::int32_t lower = end;
  while (tree.nodes[tree_index(lower)].top >= depth) lower = tree.nodes[tree_index(lower)].parent;
  const PrefixNode node = tree.nodes[tree_index(lower)];
  if (node.top + node.blocks == depth) return lower;
  // The lower part keeps its number, so that what ends there still does.
  const auto upper = static_cast<std::int32_t>(tree.nodes.size());
  tree.nodes.push_back({node.parent, node.top, depth - node.top});
  tree.nodes[tree_index(lower)] = {upper, depth, node.top + node.blocks - depth};
  return upper;
}

std::int32_t end_of(PrefixTree& tree, const PromptRequest& request, std::int32_t blocks) {
  if (blocks == 0) return -1;
  const std::int32_t shared = std::min(request.shared, blocks);
  std::int32_t end = shared > 0 ? node_ending_at(tree, tree.ends[tree_index(request.like)], shared) : -1;
  if (shared == blocks) return end;
  tree.nodes.push_back({end, shared, blocks - shared});
  return static_cast<std::int32_t>(tree.nodes.size()) - 1;
}

}  // namespace

std::int64_t PrefixTree::hit_tokens(std::size_t request, std::int64_t hit) const {
  return std::min(hit * block_tokens, tokens[request]);
}

void PrefixTree::path(std::size_t request, std::vector<std::int32_t>& out) const {
  out.clear();
  for (std::int32_t node = ends[request]; node >= 0; node = nodes[tree_index(node)].parent) out.push_back(node);
  std::reverse(out.begin(), out.end());
}

PrefixTree prefix_tree(const PromptTrace& trace, PrefixRule rule) {
  PrefixTree tree;
  tree.block_tokens = trace.block_tokens;
  const bool full = rule == PrefixRule::full_blocks;
  for (const PromptRequest& r : trace.requests) {
    const std::int64_t most = full ? r.tokens / trace.block_tokens : r.blocks;
    const auto kept = static_cast<std::int32_t>(std::min<std::int64_t>(r.blocks, most));
    const std::int64_t usable = full ? (r.tokens - 1) / trace.block_tokens : kept;
    tree.ends.push_back(end_of(tree, r, kept));
    tree.blocks.push_back(kept);
    tree.usable.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(usable, 0, kept)));
    tree.tokens.push_back(r.tokens);
  }
  return tree;
}

PrefixTreeFigures count_prefix_tree(const PrefixTree& tree) {
  PrefixTreeFigures out;
  std::vector<std::int32_t> children(tree.nodes.size(), 0);
  std::vector<bool> is_end(tree.nodes.size(), false);
  for (const std::int32_t end : tree.ends)
    if (end >= 0) is_end[tree_index(end)] = true;
  double depths = 0;
  for (const PrefixNode& node : tree.nodes) {
    if (node.parent >= 0)
      ++children[tree_index(node.parent)];
    else
      ++out.root_children;
    const double n = node.blocks;
    out.nodes += node.blocks;
    out.max_depth = std::max<std::int64_t>(out.max_depth, node.top + node.blocks);
    depths += n * node.top + n * (n + 1) / 2;
  }
  out.leaves = std::count(children.begin(), children.end(), 0);
  out.branching_nodes = std::count_if(children.begin(), children.end(), [](std::int32_t n) { return n > 1; });
  out.compressed_nodes = static_cast<std::int64_t>(tree.nodes.size());
  out.distinct_end_nodes = std::count(is_end.begin(), is_end.end(), true);
  out.mean_node_depth = out.nodes > 0 ? depths / static_cast<double>(out.nodes) : 0;
  return out;
}

std::vector<std::int32_t> order_along_tree(const PrefixTree& tree) {
  const std::size_t n = tree.nodes.size();
  // Who comes first to each node, which orders the branches, and who ends there.
  std::vector<std::int32_t> first(n, -1);
  std::vector<std::vector<std::int32_t>> ending(n), children(n);
  std::vector<std::int32_t> out, tops;
  for (std::size_t i = 0; i < tree.ends.size(); ++i) {
    const auto request = static_cast<std::int32_t>(i);
    if (tree.ends[i] < 0) {
      out.push_back(request);  // it shares nothing with anybody
      continue;
    }
    ending[tree_index(tree.ends[i])].push_back(request);
    for (std::int32_t v = tree.ends[i]; v >= 0 && first[tree_index(v)] < 0; v = tree.nodes[tree_index(v)].parent)
      first[tree_index(v)] = request;
  }
  std::vector<std::int32_t> by_first(n);
  std::iota(by_first.begin(), by_first.end(), 0);
  std::sort(by_first.begin(), by_first.end(), [&](std::int32_t a, std::int32_t b) {
    return first[tree_index(a)] != first[tree_index(b)] ? first[tree_index(a)] < first[tree_index(b)] : a < b;
  });
  for (const std::int32_t v : by_first) {
    const std::int32_t parent = tree.nodes[tree_index(v)].parent;
    (parent >= 0 ? children[tree_index(parent)] : tops).push_back(v);
  }
  std::vector<std::int32_t> stack(tops.rbegin(), tops.rend());
  while (!stack.empty()) {
    const std::int32_t v = stack.back();
    stack.pop_back();
    out.insert(out.end(), ending[tree_index(v)].begin(), ending[tree_index(v)].end());
    stack.insert(stack.end(), children[tree_index(v)].rbegin(), children[tree_index(v)].rend());
  }
  return out;
}

}  // namespace models
