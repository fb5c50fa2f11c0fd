#include "models/parallel/context/context_ring.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/integer_math.h"

namespace models::parallel {
namespace {

/// What every rank would compute if all had the same.
double even_compute_s(const ContextSetup& s, double pairs) {
  return pairs / as_double(s.ranks) * s.flops_per_pair() / s.flops_per_s;
}

ContextCost cost_of_gather(const ContextSetup& s) {
  const double others = as_double(s.ranks - 1);
  // Each rank computes all tiles of its rows, and waits for none of the others; the one with most rows' pairs is last.
  double most = 0;
  for (std::int64_t rank = 0; rank < s.ranks; ++rank) {
    double pairs = 0;
    for (std::int64_t keys = 0; keys < s.ranks; ++keys)
      pairs += tile_pairs(s.order, s.sequence, s.ranks, rank, keys, s.causal);
    most = std::max(most, pairs);
  }
  ContextCost out;
  // Backward the keys are gathered once more in front, and the parts of their gradients are summed behind.
  out.sent_bytes = others * s.block_bytes();
  const double collectives = s.backward ? 2 : 1;
  out.exposed_s = out.sent_bytes / s.link_bytes_per_s + collectives * others * s.message_s;
  out.before_s = out.exposed_s / collectives;
  out.time_s = most * s.flops_per_pair() / s.flops_per_s + out.exposed_s;
  out.held_bytes = as_double(s.ranks) * s.block_bytes();
  return out;
}

ContextCost cost_of_all_to_all(const ContextSetup& s, const ContextRing& ring) {
  ContextCost out;
  if (s.heads % s.ranks != 0) {
    out.why_not = std::to_string(s.heads) + " query heads of a rank cannot be dealt to " + std::to_string(s.ranks) +
                  " ranks evenly: all-to-all needs a divisor of them.";
    return out;
  }
  if (s.kv_heads % s.ranks != 0 && s.ranks % s.kv_heads != 0) {
    out.why_not = std::to_string(s.kv_heads) + " key heads of a rank neither divide over " + std::to_string(s.ranks) +
                  " ranks nor can be sent to several evenly: all-to-all needs a divisor or a multiple.";
    return out;
  }
  const double n = as_double(s.ranks), share = (n - 1) / n;
  const double number_bytes = s.rank_tokens() * as_double(s.head_dim) * s.element_bytes;
  const double keys = as_double(std::max(s.kv_heads, s.ranks));  // heads that are sent, copies counted
  // Queries, keys and values go out and the result comes back; backward its gradient goes out and theirs come back.
  out.sent_bytes = share * number_bytes * (2 * as_double(s.heads) + 2 * keys);
  if (s.ranks > 1) {
    out.exposed_s = out.sent_bytes / s.link_bytes_per_s + 2 * s.message_s;
    const double first = s.backward ? as_double(s.heads) : as_double(s.heads) + 2 * keys;
    out.before_s = share * number_bytes * first / s.link_bytes_per_s + s.message_s;
  } else {
    out.exposed_s = 0;
  }
  out.time_s = even_compute_s(s, ring.pairs) + out.exposed_s;
  const double kv_of_rank = std::max(1.0, as_double(s.kv_heads) / n);
  out.held_bytes = 2 * n * number_bytes * kv_of_rank;
  return out;
}

}  // namespace

std::string_view context_method_name(ContextMethod method) {
  constexpr std::array<std::string_view, context_method_count> names{"ring", "gather", "all-to-all"};
  return names[static_cast<std::size_t>(method)];
}

Result<ContextRing> run_context_ring(const ContextSetup& s) {
  using Out = Result<ContextRing>;
  if (std::string problem = context_problem(s.order, s.sequence, s.ranks); !problem.empty()) return Out::fail(problem);
  if (!(s.flops_per_s > 0) || !(s.link_bytes_per_s > 0) || s.heads < 1 || s.kv_heads < 1 || s.head_dim < 1 ||
      s.batch < 1 || !(s.message_s >= 0))
    return Out::fail("Heads, widths, batch and rates must be above 0.");
  ContextRing out;
  const double s_per_pair = s.flops_per_pair() / s.flops_per_s;
  const double transfer_s = s.message_s + s.block_bytes() / s.link_bytes_per_s;
  for (std::int64_t step = 0; step < s.ranks; ++step) {
    ContextStep now;
    double sum = 0;
    for (std::int64_t rank = 0; rank < s.ranks; ++rank) {
      const double pairs = tile_pairs(s.order, s.sequence, s.ranks, rank, key_owner(s.ranks, rank, step), s.causal);
      now.slowest_pairs = std::max(now.slowest_pairs, pairs);
      sum += pairs;
    }
    now.mean_pairs = sum / as_double(s.ranks);
    now.compute_s = now.slowest_pairs * s_per_pair;
    if (step + 1 < s.ranks) now.transfer_s = transfer_s;
    out.pairs += sum;
    out.compute_s += now.compute_s;
    out.time_s += now.time_s();
    out.exposed_s += now.time_s() - now.compute_s;
    out.steps.push_back(now);
  }
  out.sent_bytes = as_double(s.ranks - 1) * s.block_bytes();
  if (s.backward && s.ranks > 1) {
    // The gradients of keys and values go one step further than the keys: home to their owner.
    out.sent_bytes += s.block_bytes() / 2;
    const double home_s = s.message_s + s.block_bytes() / 2 / s.link_bytes_per_s;
    out.exposed_s += home_s;
    out.time_s += home_s;
  }
  const double even_s = even_compute_s(s, out.pairs);
  out.waiting_s = out.time_s - even_s;
  out.busy_share = even_s / out.time_s;
  return Out::ok(std::move(out));
}

double ring_slowdown(ContextOrder order, std::int64_t ranks, bool causal) {
  if (!causal || order != ContextOrder::contiguous) return 1;
  return (2 * as_double(ranks) - 1) / as_double(ranks);
}

double hiding_tokens(const ContextSetup& s) {
  if (s.ranks < 2) return 0;
  // Pairs of the slowest tile over the square of a rank's tokens of one sequence: a c^2 = b c + message.
  const double share = !s.causal || s.order == ContextOrder::contiguous ? 1 : 0.5;
  const double a = share * s.flops_per_pair() / s.flops_per_s;
  const double b = s.block_bytes() / as_double(s.sequence / s.ranks) / s.link_bytes_per_s;
  return (b + std::sqrt(b * b + 4 * a * s.message_s)) / (2 * a);
}

ContextCost context_cost(ContextMethod method, const ContextSetup& s) {
  ContextCost out;
  const auto ring = run_context_ring(s);
  if (!ring) {
    out.why_not = ring.error;
    return out;
  }
  if (method == ContextMethod::gather) return cost_of_gather(s);
  if (method == ContextMethod::all_to_all) return cost_of_all_to_all(s, *ring);
  out.time_s = ring->time_s;
  out.exposed_s = ring->exposed_s;
  out.sent_bytes = ring->sent_bytes;
  out.held_bytes = (s.ranks > 1 ? 2 : 1) * s.block_bytes();
  return out;
}

}  // namespace models::parallel
