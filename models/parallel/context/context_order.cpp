#include "models/parallel/context/context_order.h"

#include <algorithm>
#include <array>

#include "models/base/integer_math.h"

namespace models::parallel {

std::string_view context_order_name(ContextOrder order) {
  constexpr std::array<std::string_view, context_order_count> names{"contiguous", "zig-zag", "striped"};
  return names[static_cast<std::size_t>(order)];
}

std::int64_t token_rank(ContextOrder order, std::int64_t sequence, std::int64_t ranks, std::int64_t token) {
  if (order == ContextOrder::contiguous) return token / (sequence / ranks);
  if (order == ContextOrder::striped) return token % ranks;
  const std::int64_t piece = token / (sequence / (2 * ranks));
  return std::min(piece, 2 * ranks - 1 - piece);
}

double tile_pairs(ContextOrder order, std::int64_t sequence, std::int64_t ranks, std::int64_t queries,
                  std::int64_t keys, bool causal) {
  const double own = as_double(sequence / ranks), half = own / 2;
  if (!causal) return own * own;
  switch (order) {
    case ContextOrder::contiguous:
      return keys < queries ? own * own : keys == queries ? own * (own + 1) / 2 : 0;
    case ContextOrder::zig_zag:
      // Meeting its own pieces, a rank has two triangles and the square of back against front; another rank's, either
      // both of its pieces against that one's front, or its back against both of that one's.
      return keys == queries ? half * (half + 1) + half * half : 2 * half * half;
    case ContextOrder::striped:
      return keys <= queries ? own * (own + 1) / 2 : own * (own - 1) / 2;
  }
  return 0;
}

std::string context_problem(ContextOrder order, std::int64_t sequence, std::int64_t ranks) {
  if (ranks < 1 || ranks > 256) return "From 1 to 256 ranks can share a sequence here.";
  const std::int64_t pieces = order == ContextOrder::zig_zag ? 2 * ranks : ranks;
  if (sequence % pieces == 0) return {};
  return std::to_string(sequence) + " tokens do not divide into " + std::to_string(pieces) +
         " equal pieces; choose a multiple of " + std::to_string(pieces) + ".";
}

}  // namespace models::parallel
