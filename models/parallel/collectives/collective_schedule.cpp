#include "models/parallel/collectives/collective_schedule.h"

#include <algorithm>
#include <array>

#include "models/parallel/collectives/collective_writer.h"

namespace models::parallel {
namespace {

using enum CollectiveAlgorithm;

constexpr unsigned bit_of(CollectiveAlgorithm algorithm) { return 1u << static_cast<unsigned>(algorithm); }

/// The algorithms of each collective, in the order of Primitive.
constexpr std::array<unsigned, primitive_count> algorithms_of{
    bit_of(ring) | bit_of(tree) | bit_of(double_binary_tree) | bit_of(halving_doubling) | bit_of(recursive_doubling) |
        bit_of(hierarchical) | bit_of(in_network),
    bit_of(ring) | bit_of(halving_doubling) | bit_of(hierarchical) | bit_of(pairwise) | bit_of(in_network),
    bit_of(ring) | bit_of(halving_doubling) | bit_of(hierarchical) | bit_of(bruck) | bit_of(in_network),
    bit_of(pairwise) | bit_of(bruck),
    bit_of(ring) | bit_of(tree) | bit_of(scatter_all_gather) | bit_of(in_network),
    bit_of(ring) | bit_of(tree) | bit_of(halving_doubling) | bit_of(in_network),
    bit_of(tree) | bit_of(pairwise),
    bit_of(tree) | bit_of(pairwise),
};
/// An id in words: "double binary tree", "all-to-all".
std::string worded(std::string_view id, char between) {
  std::string text(id);
  std::replace(text.begin(), text.end(), '_', between);
  return text;
}
/// "ring, tree or pairwise".
std::string offered_for(Primitive primitive) {
  std::vector<std::string> words;
  for (std::size_t a = 0; a < collective_algorithm_count; ++a)
    if (has_algorithm(primitive, static_cast<CollectiveAlgorithm>(a)))
      words.push_back(worded(collective_algorithm_id(static_cast<CollectiveAlgorithm>(a)), ' '));
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}
}  // namespace

std::string_view collective_algorithm_id(CollectiveAlgorithm algorithm) {
  static constexpr std::array<std::string_view, collective_algorithm_count> ids{
      "ring",
      "tree",
      "double_binary_tree",
      "halving_doubling",
      "recursive_doubling",
      "hierarchical",
      "scatter_all_gather",
      "pairwise",
      "bruck",
      "in_network",
  };
  return ids[static_cast<std::size_t>(algorithm)];
}

bool has_algorithm(Primitive primitive, CollectiveAlgorithm algorithm) {
  return (algorithms_of[static_cast<std::size_t>(primitive)] & bit_of(algorithm)) != 0;
}

Status check(const CollectiveSpec& spec) {
  if (spec.ranks < 2) return Status::fail("A collective needs at least 2 ranks.");
  if (!has_algorithm(spec.primitive, spec.algorithm))
    return Status::fail("There is no " + worded(collective_algorithm_id(spec.algorithm), ' ') + " " +
                        worded(primitive_id(spec.primitive), '-') + " here: choose " + offered_for(spec.primitive) +
                        ".");
  if (spec.algorithm == halving_doubling && spec.primitive != Primitive::all_reduce && !is_power_of_two(spec.ranks))
    return Status::fail(
        "Halving and doubling pairs all ranks at distances 1, 2, 4, ..., so it takes a power of two, not " +
        std::to_string(spec.ranks) + " ranks: choose another algorithm or number of ranks.");
  if (spec.algorithm == hierarchical) {
    if (spec.node_ranks < 2)
      return Status::fail("A hierarchical collective needs nodes of at least 2 ranks: raise the ranks of a node.");
    if (spec.ranks % spec.node_ranks != 0 || spec.ranks == spec.node_ranks)
      return Status::fail("A hierarchical collective needs two or more whole nodes, and " + std::to_string(spec.ranks) +
                          " ranks make no such number of nodes of " + std::to_string(spec.node_ranks) +
                          ": choose a multiple.");
  }
  if (spec.pieces < 1) return Status::fail("A buffer is cut into at least 1 piece.");
  return Status::ok();
}

Result<CollectiveSchedule> make_collective(const CollectiveSpec& spec) {
  using Out = Result<CollectiveSchedule>;
  if (const Status fit = check(spec); !fit) return Out::fail(fit.error);
  if (spec.ranks > max_scheduled_ranks)
    return Out::fail("Schedules are written out for at most " + std::to_string(max_scheduled_ranks) +
                     " ranks; of more only time and bytes are computed.");
  if (spec.pieces > max_collective_pieces)
    return Out::fail("Schedules are written out for at most " + std::to_string(max_collective_pieces) + " pieces.");
  static constexpr std::array<void (*)(CollectiveSchedule&), collective_algorithm_count> writers{
      write_ring,
      write_binomial,
      write_double_binary_tree,
      write_halving_doubling,
      write_recursive_doubling,
      write_hierarchical,
      write_scatter_all_gather,
      write_pairwise,
      write_bruck,
      write_in_network,
  };
  CollectiveSchedule out;
  out.spec = spec;
  writers[static_cast<std::size_t>(spec.algorithm)](out);
  std::stable_sort(out.transfers.begin(), out.transfers.end(),
                   [](const ChunkTransfer& a, const ChunkTransfer& b) { return a.step < b.step; });
  return Out::ok(std::move(out));
}

}  // namespace models::parallel
