#include "models/parallel/collectives/collective_formulas.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"

namespace models::parallel {
namespace {

using enum CollectiveAlgorithm;

/// Shares of the buffer: steps, bytes in series and bytes added in series, on links between and inside nodes.
struct CostShares {
  double steps = 0, bytes = 0, added = 0;
  double inside_steps = 0, inside_bytes = 0;
};

std::int64_t floor_log2(std::int64_t n) {
  std::int64_t power = 0;
  while ((std::int64_t{2} << power) <= n) ++power;
  return power;
}

/// Blocks of one rank that a Bruck all-to-all sends in all steps: each as often as its distance has binary ones.
double bruck_blocks(std::int64_t ranks) {
  double blocks = 0;
  for (std::int64_t distance = 1; distance < ranks; distance *= 2) {
    const std::int64_t whole = ranks / (2 * distance), rest = ranks % (2 * distance);
    blocks += as_double(whole * distance + std::max<std::int64_t>(0, rest - distance));
  }
  return blocks;
}

/// Halves of the two trees that the busiest rank sends: 4 for a rank that is inner in one tree and a leaf of the other.
double double_tree_halves(std::int64_t ranks) { return ranks == 2 ? 2 : ranks == 3 ? 3 : 4; }

CostShares halving_shares(const CollectiveSpec& spec) {
  const std::int64_t levels = floor_log2(spec.ranks), active = std::int64_t{1} << levels;
  const double half = as_double(active - 1) / as_double(active), steps = as_double(levels);
  switch (spec.primitive) {
    case Primitive::reduce_scatter:
      return {.steps = steps, .bytes = half, .added = half};
    case Primitive::all_gather:
      return {.steps = steps, .bytes = half};
    default:
      break;
  }
  const double fold = active < spec.ranks ? 1 : 0;
  return {.steps = 2 * steps + 2 * fold, .bytes = 2 * half + 2 * fold, .added = half + fold};
}

CostShares ring_shares(const CollectiveSpec& spec) {
  const double n = as_double(spec.ranks), half = (n - 1) / n;
  switch (spec.primitive) {
    case Primitive::reduce_scatter:
      return {.steps = n - 1, .bytes = half, .added = half};
    case Primitive::all_gather:
      return {.steps = n - 1, .bytes = half};
    default:
      return {.steps = 2 * (n - 1), .bytes = 2 * half, .added = half};
  }
}

CostShares tree_shares(const CollectiveSpec& spec) {
  const double levels = as_double(ceil_log2(spec.ranks)), n = as_double(spec.ranks);
  switch (spec.primitive) {
    case Primitive::broadcast:
      return {.steps = levels, .bytes = levels};
    case Primitive::reduce:
      return {.steps = levels, .bytes = levels, .added = levels};
    case Primitive::scatter:
    case Primitive::gather:
      return {.steps = levels, .bytes = (n - 1) / n};
    default:
      return {.steps = 2 * levels, .bytes = 2 * levels, .added = levels};
  }
}

CostShares hierarchical_shares(const CollectiveSpec& spec) {
  const double g = as_double(spec.node_ranks), nodes = as_double(spec.ranks / spec.node_ranks);
  const double inside = (g - 1) / g, between = (nodes - 1) / nodes / g;
  const double halves = spec.primitive == Primitive::all_reduce ? 2 : 1;
  return {.steps = halves * (nodes - 1),
          .bytes = halves * between,
          .added = spec.primitive == Primitive::all_gather ? 0 : inside + between,
          .inside_steps = halves * (g - 1),
          .inside_bytes = halves * inside};
}

/// All but the chain, whose best number of pieces depends on the bytes.
CostShares cost_shares(const CollectiveSpec& spec) {
  const double n = as_double(spec.ranks), levels = as_double(ceil_log2(spec.ranks));
  const bool all_reduce = spec.primitive == Primitive::all_reduce;
  switch (spec.algorithm) {
    case ring:
      return ring_shares(spec);
    case tree:
      return tree_shares(spec);
    case double_binary_tree:
      return {.steps = 2 * levels, .bytes = double_tree_halves(spec.ranks) / 2, .added = spec.ranks == 2 ? 0.5 : 1};
    case halving_doubling:
      return halving_shares(spec);
    case recursive_doubling: {
      const double active = as_double(floor_log2(spec.ranks)), fold = is_power_of_two(spec.ranks) ? 0 : 1;
      return {.steps = active + 2 * fold, .bytes = active + 2 * fold, .added = active + fold};
    }
    case hierarchical:
      return hierarchical_shares(spec);
    case scatter_all_gather:
      return {.steps = levels + n - 1, .bytes = 2 * (n - 1) / n};
    case pairwise:
      return {
          .steps = n - 1, .bytes = (n - 1) / n, .added = spec.primitive == Primitive::reduce_scatter ? (n - 1) / n : 0};
    case bruck:
      return {.steps = levels,
              .bytes = spec.primitive == Primitive::all_to_all ? bruck_blocks(spec.ranks) / n : (n - 1) / n};
    case in_network:
      return {.steps = all_reduce ? 4.0 : 2.0, .bytes = all_reduce ? 1 + 1 / n : 1};
  }
  return {};
}

bool is_chain(const CollectiveSpec& spec) {
  return spec.algorithm == ring && (spec.primitive == Primitive::broadcast || spec.primitive == Primitive::reduce);
}

/// (N - 2 + k)(alpha + n (beta + gamma) / k), least over k >= 1.
AlphaBetaTime chain_time(const CollectiveSpec& spec, double bytes, const AlphaBetaLinks& links) {
  const double beta = 1 / links.bandwidth_bytes_per_s;
  const double gamma =
      spec.primitive == Primitive::reduce && links.reduce_bytes_per_s > 0 ? 1 / links.reduce_bytes_per_s : 0;
  const double hops = as_double(spec.ranks - 2);
  const double best = links.latency_s > 0 ? std::sqrt(hops * bytes * (beta + gamma) / links.latency_s) : HUGE_VAL;
  if (std::isinf(best)) return {.transfer_s = bytes * beta, .reduce_s = bytes * gamma};
  const double pieces = std::max(1.0, best), rounds = (hops + pieces) / pieces;
  return {.latency_s = (hops + pieces) * links.latency_s,
          .transfer_s = rounds * bytes * beta,
          .reduce_s = rounds * bytes * gamma};
}

}  // namespace

AlphaBetaTime collective_time(const CollectiveSpec& spec, double bytes, const AlphaBetaLinks& links) {
  if (is_chain(spec)) return chain_time(spec, bytes, links);
  const CostShares c = cost_shares(spec);
  return {.latency_s = c.steps * links.latency_s + c.inside_steps * links.inside_latency_s,
          .transfer_s =
              bytes * (c.bytes / links.bandwidth_bytes_per_s + c.inside_bytes / links.inside_bandwidth_bytes_per_s),
          .reduce_s = links.reduce_bytes_per_s > 0 ? bytes * c.added / links.reduce_bytes_per_s : 0};
}

std::int64_t collective_steps(const CollectiveSpec& spec) {
  if (is_chain(spec)) return spec.ranks - 1;
  const CostShares c = cost_shares(spec);
  return std::llround(c.steps + c.inside_steps);
}

double serial_share(const CollectiveSpec& spec) { return is_chain(spec) ? 1 : cost_shares(spec).bytes; }

double sent_share(const CollectiveSpec& spec) {
  const double n = as_double(spec.ranks);
  const CostShares c = cost_shares(spec);
  const auto levels = ceil_log2(spec.ranks);
  switch (spec.algorithm) {
    case ring:
      return is_chain(spec) ? 1 : c.bytes;
    case tree:
      if (spec.primitive == Primitive::reduce) return 1;
      if (spec.primitive == Primitive::gather) {
        double most = 0;
        for (std::int64_t distance = 1; distance < spec.ranks; distance *= 2)
          most = std::max(most, as_double(std::min(distance, spec.ranks - distance)));
        return most / n;
      }
      return spec.primitive == Primitive::scatter ? c.bytes : as_double(levels);
    case halving_doubling:
      if (spec.primitive == Primitive::reduce) return c.bytes / 2 + 0.5;
      return is_power_of_two(spec.ranks) ? c.bytes : c.bytes - 1;
    case recursive_doubling:
      return is_power_of_two(spec.ranks) ? c.bytes : c.bytes - 1;
    case hierarchical:
      return c.bytes + c.inside_bytes;
    case pairwise:
      return spec.primitive == Primitive::gather ? 1 / n : c.bytes;
    case in_network:
      return spec.primitive == Primitive::all_gather ? 1 / n : c.bytes;
    case double_binary_tree:
    case scatter_all_gather:
    case bruck:
      return c.bytes;
  }
  return 0;
}

ChunkTraffic chunk_traffic(const CollectiveSchedule& schedule) {
  const auto all = static_cast<std::size_t>(schedule.participants());
  ChunkTraffic out{std::vector<std::int64_t>(all, 0), std::vector<std::int64_t>(all, 0)};
  for (const ChunkTransfer& t : schedule.transfers) {
    ++out.sent[static_cast<std::size_t>(t.source)];
    ++out.received[static_cast<std::size_t>(t.target)];
  }
  return out;
}

namespace {

/// Calls `each` with the time of one step after the other.
template <class Each>
void for_each_step(const CollectiveSchedule& schedule, double bytes, const AlphaBetaLinks& links, const Each& each) {
  const std::int64_t ranks = schedule.spec.ranks, g = schedule.spec.node_ranks;
  const auto all = static_cast<std::size_t>(ranks);
  const double chunk_bytes = bytes / as_double(schedule.chunks);
  const auto most = [](const std::vector<std::int64_t>& counts) {
    return as_double(*std::max_element(counts.begin(), counts.end()));
  };
  std::vector<std::int64_t> sent(all), received(all), added(all);
  std::size_t i = 0;
  for (std::int64_t step = 0; step < schedule.steps; ++step) {
    for (auto* counts : {&sent, &received, &added}) std::fill(counts->begin(), counts->end(), 0);
    bool inside = schedule.spec.algorithm == hierarchical;
    for (; i < schedule.transfers.size() && schedule.transfers[i].step == step; ++i) {
      const ChunkTransfer& t = schedule.transfers[i];
      if (t.source < ranks) ++sent[static_cast<std::size_t>(t.source)];
      if (t.target < ranks) {
        ++received[static_cast<std::size_t>(t.target)];
        if (t.action == ChunkAction::reduce) ++added[static_cast<std::size_t>(t.target)];
      }
      inside = inside && t.source / g == t.target / g;
    }
    const double bytes_per_s = inside ? links.inside_bandwidth_bytes_per_s : links.bandwidth_bytes_per_s;
    each(AlphaBetaTime{
        .latency_s = inside ? links.inside_latency_s : links.latency_s,
        .transfer_s = std::max(most(sent), most(received)) * chunk_bytes / bytes_per_s,
        .reduce_s = links.reduce_bytes_per_s > 0 ? most(added) * chunk_bytes / links.reduce_bytes_per_s : 0});
  }
}

}  // namespace

AlphaBetaTime step_by_step_time(const CollectiveSchedule& schedule, double bytes, const AlphaBetaLinks& links) {
  AlphaBetaTime out;
  for_each_step(schedule, bytes, links, [&](const AlphaBetaTime& step) {
    out.latency_s += step.latency_s;
    out.transfer_s += step.transfer_s;
    out.reduce_s += step.reduce_s;
  });
  return out;
}

std::vector<double> state_times(const CollectiveSchedule& schedule, double bytes, const AlphaBetaLinks& links) {
  std::vector<double> out{0};
  for_each_step(schedule, bytes, links, [&](const AlphaBetaTime& step) { out.push_back(out.back() + step.total_s()); });
  return out;
}

std::vector<double> crossing_bytes(const CollectiveSpec& a, const CollectiveSpec& b, const AlphaBetaLinks& links,
                                   double lo, double hi) {
  const auto gap = [&](double bytes) {
    return collective_time(a, bytes, links).total_s() / collective_time(b, bytes, links).total_s() - 1;
  };
  constexpr int parts = 256;
  constexpr double nothing = 1e-12;  // curves that lie on each other do not cross
  std::vector<double> out;
  const auto size_at = [&](int i) { return lo * std::pow(hi / lo, static_cast<double>(i) / parts); };
  double before = gap(lo), before_bytes = lo;
  for (int i = 1; i <= parts; ++i) {
    const double bytes = size_at(i), now = gap(bytes);
    if (std::abs(now) <= nothing) continue;
    if (std::abs(before) > nothing && (now > 0) != (before > 0)) {
      double low = before_bytes, high = bytes;
      for (int k = 0; k < 60 && high / low - 1 > 1e-10; ++k) {
        const double middle = std::sqrt(low * high);
        ((gap(middle) > 0) == (before > 0) ? low : high) = middle;
      }
      out.push_back(std::sqrt(low * high));
    }
    before = now;
    before_bytes = bytes;
  }
  return out;
}

HierarchyTimes hierarchy_times(const CollectiveSpec& spec, double bytes, const AlphaBetaLinks& links) {
  const double n = as_double(spec.ranks), g = as_double(spec.node_ranks), nodes = n / g;
  const double inside = bytes / links.inside_bandwidth_bytes_per_s, between = bytes / links.bandwidth_bytes_per_s;
  HierarchyTimes out;
  out.inside_s = 2 * (g - 1) / g * inside;
  out.between_s = 2 * (nodes - 1) / nodes / g * between;
  out.pipelined_s = std::max(out.inside_s, out.between_s);
  out.flat_ring_s = 2 * (n - 1) / n * between;
  out.flat_rails_s = out.flat_ring_s / g;
  out.one_port_s = out.inside_s + 2 * (nodes - 1) / nodes * between + inside;
  return out;
}

}  // namespace models::parallel
