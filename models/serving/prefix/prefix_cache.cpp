#include "models/serving/prefix/prefix_cache.h"

#include <algorithm>
#include <utility>

namespace models {
namespace {

std::size_t to_index(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Sums over the places from one on, of numbers that change (Fenwick, "A new data structure for cumulative frequency
/// tables", 1994).
class SumsFrom {
 public:
  explicit SumsFrom(std::size_t places) : sums_(places + 1, 0) {}
  void add(std::size_t place, std::int64_t value) {
    for (std::size_t i = sums_.size() - 1 - place; i < sums_.size(); i += i & (~i + 1)) sums_[i] += value;
  }
  /// The sum over `place` and all later ones.
  std::int64_t from(std::size_t place) const {
    std::int64_t sum = 0;
    for (std::size_t i = sums_.size() - 1 - place; i > 0; i &= i - 1) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<std::int64_t> sums_;
};

/// Splits the rest of one request's path, from its first node on, into runs of the same last request.
void add_runs(const PrefixTree& tree, const std::vector<std::int32_t>& path, const std::vector<std::int32_t>& last,
              const SumsFrom& touched, std::size_t place, std::int32_t usable, PrefixPass& out) {
  std::int32_t left = usable, seen = 0;
  for (std::size_t i = 0; i < path.size() && left > 0 && last[to_index(path[i])] >= 0;) {
    const std::int32_t from = last[to_index(path[i])];
    std::int32_t blocks = 0;
    for (; i < path.size() && last[to_index(path[i])] == from; ++i) blocks += tree.nodes[to_index(path[i])].blocks;
    blocks = std::min(blocks, left);
    const std::int64_t newer = touched.from(to_index(from) + 1), whole = touched.from(to_index(from));
    out.runs.push_back({from, blocks, newer, whole, out.time_ms[place] - out.time_ms[to_index(from)]});
    out.capacity_for_all = std::max(out.capacity_for_all, newer + blocks);
    left -= blocks;
    seen += blocks;
  }
  out.seen.push_back(seen);
}

/// Blocks of a run that are found. Less than all: the lookup ends there.
std::int64_t found_of(const PrefixRun& run, const PrefixCacheSetting& setting) {
  switch (setting.eviction) {
    case PrefixEviction::none:
      break;
    case PrefixEviction::lru:
      return std::clamp<std::int64_t>(setting.capacity_blocks - run.newer, 0, run.blocks);
    case PrefixEviction::lru_root_first:
      return run.whole <= setting.capacity_blocks ? run.blocks : 0;
    case PrefixEviction::ttl:
      return run.idle_ms <= setting.ttl_ms ? run.blocks : 0;
  }
  return run.blocks;
}

/// By node the place of its last request up to `place`; -1: none yet.
std::vector<std::int32_t> last_requests(const PrefixTree& tree, const PrefixPass& pass, std::size_t place) {
  std::vector<std::int32_t> last(tree.nodes.size(), -1);
  for (std::size_t k = place + 1; k-- > 0;)
    for (std::int32_t v = tree.ends[to_index(pass.order[k])]; v >= 0 && last[to_index(v)] < 0;
         v = tree.nodes[to_index(v)].parent)
      last[to_index(v)] = static_cast<std::int32_t>(k);
  return last;
}

}  // namespace

PrefixPass pass_prefix_cache(const PrefixTree& tree, std::span<const std::int32_t> order,
                             std::span<const std::int64_t> time_ms) {
  PrefixPass out;
  out.order.assign(order.begin(), order.end());
  out.time_ms.assign(time_ms.begin(), time_ms.end());
  std::vector<std::int32_t> last(tree.nodes.size(), -1), path;
  SumsFrom touched(order.size() + 1);
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t request = to_index(order[place]);
    out.first_run.push_back(out.runs.size());
    tree.path(request, path);
    add_runs(tree, path, last, touched, place, tree.usable[request], out);
    for (const std::int32_t v : path) {
      const std::int64_t blocks = tree.nodes[to_index(v)].blocks;
      if (last[to_index(v)] >= 0) touched.add(to_index(last[to_index(v)]), -blocks);
      last[to_index(v)] = static_cast<std::int32_t>(place);
    }
    touched.add(place, tree.blocks[request]);
  }
  out.first_run.push_back(out.runs.size());
  return out;
}

std::int64_t prefix_hit(const PrefixPass& pass, std::size_t place, const PrefixCacheSetting& setting) {
  std::int64_t hit = 0;
  for (const PrefixRun& run : pass.runs_of(place)) {
    const std::int64_t found = found_of(run, setting);
    hit += found;
    if (found < run.blocks) break;
  }
  return hit;
}

PrefixCacheFigures count_prefix_hits(const PrefixTree& tree, const PrefixPass& pass, const PrefixCacheSetting& setting,
                                     std::vector<std::int64_t>* hits) {
  PrefixCacheFigures out;
  if (hits) hits->clear();
  double shares = 0;
  for (std::size_t place = 0; place < pass.order.size(); ++place) {
    const std::size_t request = to_index(pass.order[place]);
    const std::int64_t hit = prefix_hit(pass, place, setting), tokens = tree.hit_tokens(request, hit);
    if (hits) hits->push_back(hit);
    ++out.requests;
    out.total_blocks += tree.blocks[request];
    out.hit_blocks += hit;
    out.seen_blocks += pass.seen[place];
    out.total_tokens += tree.tokens[request];
    out.hit_tokens += tokens;
    shares += static_cast<double>(tokens) / static_cast<double>(tree.tokens[request]);
    out.requests_full_hit += hit == tree.blocks[request] ? 1 : 0;
    out.requests_no_hit += hit == 0 ? 1 : 0;
  }
  if (out.requests == 0) return out;
  out.mean_request_token_hit_rate = shares / static_cast<double>(out.requests);
  out.token_hit_rate = static_cast<double>(out.hit_tokens) / static_cast<double>(out.total_tokens);
  if (out.total_blocks > 0)
    out.block_hit_rate = static_cast<double>(out.hit_blocks) / static_cast<double>(out.total_blocks);
  return out;
}

std::vector<std::int64_t> prefix_hits_by_capacity(const PrefixTree& tree, const PrefixPass& pass,
                                                  PrefixEviction eviction) {
  std::int64_t blocks = 0;
  for (const PrefixNode& node : tree.nodes) blocks += node.blocks;
  // What each size adds to the size before it; leaf to root a run adds one block a size from its first distance on, and
  // since distances grow along a prompt no lookup ends before a block that is there.
  std::vector<std::int64_t> out(static_cast<std::size_t>(blocks) + 2, 0);
  const auto add = [&](std::int64_t capacity, std::int64_t value) { out[static_cast<std::size_t>(capacity)] += value; };
  const bool leaf_first = eviction == PrefixEviction::lru;
  for (const PrefixRun& run : pass.runs) {
    if (leaf_first) {
      add(run.newer + 1, 1);
      add(run.newer + run.blocks + 1, -1);
    } else {
      add(run.whole, run.blocks);
    }
  }
  const int sums = leaf_first ? 2 : 1;
  for (int pass_over = 0; pass_over < sums; ++pass_over)
    for (std::size_t c = 1; c < out.size(); ++c) out[c] += out[c - 1];
  out.pop_back();
  return out;
}

std::vector<std::int64_t> prefix_hits_by_ttl(const PrefixPass& pass, std::span<const std::int64_t> ttl_ms) {
  // A lookup ends at the first run that is too old: a run is found if no run before it in its prompt is older.
  std::vector<std::pair<std::int64_t, std::int64_t>> found;  // longest idle time so far, blocks
  for (std::size_t place = 0; place < pass.order.size(); ++place) {
    std::int64_t oldest_ms = 0;
    for (const PrefixRun& run : pass.runs_of(place)) {
      oldest_ms = std::max(oldest_ms, run.idle_ms);
      found.emplace_back(oldest_ms, run.blocks);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::int64_t> out;
  std::size_t next = 0;
  std::int64_t blocks = 0;
  for (const std::int64_t ttl : ttl_ms) {
    for (; next < found.size() && found[next].first <= ttl; ++next) blocks += found[next].second;
    out.push_back(blocks);
  }
  return out;
}

std::vector<std::int32_t> prefix_cache_contents(const PrefixTree& tree, const PrefixPass& pass,
                                                const PrefixCacheSetting& setting, std::size_t place) {
  const std::vector<std::int32_t> last = last_requests(tree, pass, place);
  SumsFrom touched(place + 2);
  for (std::size_t v = 0; v < last.size(); ++v)
    if (last[v] >= 0) touched.add(to_index(last[v]), tree.nodes[v].blocks);
  std::vector<std::int32_t> out(last.size(), 0);
  for (std::size_t v = 0; v < last.size(); ++v) {
    if (last[v] < 0) continue;
    const PrefixNode& node = tree.nodes[v];
    // Nodes of the same last request hang below each other; those above count as newer, or those below root first.
    std::int64_t above = 0;
    for (std::int32_t up = node.parent; up >= 0 && last[to_index(up)] == last[v]; up = tree.nodes[to_index(up)].parent)
      above += tree.nodes[to_index(up)].blocks;
    const std::int64_t newer = touched.from(to_index(last[v]) + 1), whole = touched.from(to_index(last[v]));
    PrefixRun run{last[v], node.blocks, newer + above, whole, pass.time_ms[place] - pass.time_ms[to_index(last[v])]};
    if (setting.eviction == PrefixEviction::lru_root_first)
      out[v] = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(setting.capacity_blocks - (whole - above - node.blocks), 0, node.blocks));
    else
      out[v] = static_cast<std::int32_t>(found_of(run, setting));
  }
  return out;
}

}  // namespace models
