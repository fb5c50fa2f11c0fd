#include "models/inference/guard_cache.h"

#include <algorithm>
#include <bit>

namespace models::inference {
namespace {

constexpr std::uint32_t triton_divisor = 16;

bool guards_pass(const CachedGraph& graph, std::uint32_t length, const GuardRules& rules) {
  if (!graph.dynamic()) return graph.length == length;
  if (rules.splits_one && length == 1) return false;
  return rules.policy != ShapePolicy::divisible || (length % triton_divisor == 0) == (graph.multiple_of > 1);
}

/// The graph that a length gets that none takes. `varied`: another length was there before.
CachedGraph graph_for(std::uint32_t length, const GuardRules& rules, bool varied) {
  CachedGraph graph{.length = length};
  const bool one = rules.splits_one && length == 1;
  switch (rules.policy) {
    case ShapePolicy::automatic:
      if (varied && !one) graph.length = 0;
      break;
    case ShapePolicy::dynamic:
    case ShapePolicy::any_padded:
      if (!one) graph.length = 0;
      break;
    case ShapePolicy::divisible:
      if (!one) graph.length = 0;
      if (length % triton_divisor == 0) graph.multiple_of = triton_divisor;
      break;
    case ShapePolicy::exact:
    case ShapePolicy::powers:
    case ShapePolicy::multiples:
    case ShapePolicy::longest:
      break;
  }
  return graph;
}

/// Does every graph take one length and no other?
bool exact_alone(ShapePolicy policy) {
  return policy == ShapePolicy::exact || policy == ShapePolicy::powers || policy == ShapePolicy::multiples ||
         policy == ShapePolicy::longest;
}

std::int64_t distinct_of(std::span<const std::uint32_t> lengths) {
  std::vector<bool> seen;
  std::int64_t distinct = 0;
  for (const std::uint32_t length : lengths) {
    if (length >= seen.size()) seen.resize(length + std::size_t{1});
    distinct += seen[length] ? 0 : 1;
    seen[length] = true;
  }
  return distinct;
}

}  // namespace

std::int64_t padded_length(const GuardRules& rules, std::int64_t length) {
  const std::int64_t bucket = std::max<std::int64_t>(1, rules.bucket);
  switch (rules.policy) {
    case ShapePolicy::powers:
      return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(length, bucket))));
    case ShapePolicy::multiples:
    case ShapePolicy::any_padded:
      return (length + bucket - 1) / bucket * bucket;
    case ShapePolicy::longest:
      return std::max(length, rules.longest);
    case ShapePolicy::exact:
    case ShapePolicy::automatic:
    case ShapePolicy::dynamic:
    case ShapePolicy::divisible:
      break;
  }
  return length;
}

GuardRun run_guards(std::span<const std::uint32_t> lengths, const GuardRules& rules) {
  GuardRun out;
  out.calls.reserve(lengths.size());
  std::vector<std::int32_t> order;  // the graph that was hit last is the first
  out.distinct_lengths = distinct_of(lengths);
  std::vector<std::int32_t> at_length;  // of a hashed cache: the exact graph of each length, or -1
  bool varied = false;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto ran = static_cast<std::uint32_t>(padded_length(rules, lengths[i]));
    GuardedCall call{.length = lengths[i], .ran = ran};
    varied = varied || lengths[i] != lengths[0];
    std::size_t at = 0;
    if (rules.hashed && ran < at_length.size() && at_length[ran] >= 0) {
      // The order means nothing where graphs are looked up: the newest are at the front.
      at = order.size() - 1 - static_cast<std::size_t>(at_length[ran]);
    } else if (rules.hashed && exact_alone(rules.policy)) {
      at = order.size();
    }
    while (at < order.size() && !guards_pass(out.graphs[static_cast<std::size_t>(order[at])], ran, rules)) ++at;
    call.walked = static_cast<std::int32_t>(std::min(rules.hashed ? 1 : at + 1, order.size()));
    if (at < order.size()) {
      call.graph = order[at];
      if (!rules.hashed)
        std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(at),
                    order.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else if (rules.max_graphs == 0 || static_cast<std::int64_t>(out.graphs.size()) < rules.max_graphs) {
      CachedGraph graph = graph_for(ran, rules, varied);
      graph.first_call = static_cast<std::int64_t>(i);
      call.graph = static_cast<std::int32_t>(out.graphs.size());
      call.compiled = true;
      out.graphs.push_back(graph);
      order.insert(order.begin(), call.graph);
      if (rules.hashed && !graph.dynamic()) {
        if (ran >= at_length.size()) at_length.resize(ran + std::size_t{1}, -1);
        at_length[ran] = call.graph;
      }
    } else {
      call.ran = call.length;
      ++out.eager_calls;
    }
    if (call.graph >= 0) ++out.graphs[static_cast<std::size_t>(call.graph)].calls;
    out.walked += call.walked;
    out.tokens += call.length;
    out.ran_tokens += call.ran;
    out.calls.push_back(call);
  }
  return out;
}

}  // namespace models::inference
