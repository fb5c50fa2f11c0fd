#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/parallel/collectives/collective_kinds.h"

/// A collective as data: which rank sends which chunk to whom in which step, and what the receiver does with it.
namespace models::parallel {

enum class CollectiveAlgorithm : std::uint8_t {
  ring,                ///< neighbours only; a chain of pieces where there is one root
  tree,                ///< binomial: the distance doubles with each step
  double_binary_tree,  ///< two trees with half of the bytes each, as NCCL lays them
  halving_doubling,    ///< recursive halving, then recursive doubling
  recursive_doubling,  ///< whole buffers between partners at doubling distance
  hierarchical,        ///< reduce-scatter in a node, a ring across nodes for each share, all-gather in a node
  scatter_all_gather,  ///< a binomial scatter, then a ring all-gather
  pairwise,            ///< every pair of ranks exchanges directly; from one root, one rank after the other
  bruck,               ///< log2 N steps, blocks travel over other ranks
  in_network,          ///< the switch adds, and copies to all ranks
};
inline constexpr std::size_t collective_algorithm_count = 10;
/// "ring", "double_binary_tree".
std::string_view collective_algorithm_id(CollectiveAlgorithm algorithm);
/// Whether there is such an algorithm for this collective here.
bool has_algorithm(Primitive primitive, CollectiveAlgorithm algorithm);

/// What a receiver does with a chunk that comes in.
enum class ChunkAction : std::uint8_t {
  reduce,  ///< adds it to its own
  copy,    ///< puts it in place of its own
  move,    ///< puts it next to its own, and the sender is rid of it
};

/// One message of one step: `chunk` goes from `source` to `target`. Ranks count from 0; the switch of an in-network
/// collective is `CollectiveSchedule::switch_rank`.
struct ChunkTransfer {
  std::int32_t step = 0, source = 0, target = 0, chunk = 0;
  ChunkAction action = ChunkAction::copy;
  std::int32_t origin = -1;  ///< the rank whose block of this chunk moves; -1 where nothing moves
  bool operator==(const ChunkTransfer&) const = default;
};

struct CollectiveSpec {
  Primitive primitive = Primitive::all_reduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  std::int64_t ranks = 8;
  std::int64_t node_ranks = 1;  ///< ranks of a node; used by the hierarchical algorithm alone
  /// Pieces that a pipelined algorithm cuts its buffer into (each tree's half, the chain's whole).
  std::int64_t pieces = 1;
  /// Rings: rank r first sends chunk r - 1, as NCCL does, and ends its reduce-scatter with chunk r. Else it first sends
  /// chunk r, as textbooks do, and ends with chunk r + 1.
  bool nccl_start = false;
};

/// Rank 0 is the root of what has one. A chunk is bytes / `chunks`; of an all-to-all, chunk c is what goes to rank c.
struct CollectiveSchedule {
  CollectiveSpec spec;
  std::int64_t chunks = 1, steps = 0;
  std::int64_t switch_rank = -1;         ///< the switch takes part under this number; -1: none does
  std::vector<ChunkTransfer> transfers;  ///< by step; those of one step happen at the same time
  std::int64_t participants() const { return spec.ranks + (switch_rank >= 0 ? 1 : 0); }
};

inline constexpr std::int64_t max_scheduled_ranks = 64, max_collective_pieces = 16;

/// Why there is no such collective, in one sentence: no such algorithm, ranks not a power of two where halving needs
/// it, ranks that do not fill whole nodes.
Status check(const CollectiveSpec& spec);

/// The schedule of at most `max_scheduled_ranks`. An all-reduce by halving and doubling or by recursive doubling on
/// ranks that are no power of two first folds: of the first 2 (N - 2^k) ranks each even one hands its buffer to its
/// neighbour, and gets the sum back in the end. Sources: Thakur, Rabenseifner, Gropp, "Optimization of collective
/// communication operations in MPICH", 2005; Bruck et al. 1997; src/device/all_reduce.h and src/graph/trees.cc of NCCL.
Result<CollectiveSchedule> make_collective(const CollectiveSpec& spec);

/// One of NCCL's two binary trees: the parent of each rank, -1 for its root. `second`: the one that mirrors the first
/// on an even number of ranks, and is shifted by one rank on an odd number.
std::vector<std::int64_t> binary_tree_parents(std::int64_t ranks, bool second);

/// "A power of two", from 1 up.
constexpr bool is_power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }
/// Rounded up: 3 for 5 to 8.
constexpr std::int64_t ceil_log2(std::int64_t n) {
  std::int64_t power = 0;
  while ((std::int64_t{1} << power) < n) ++power;
  return power;
}

}  // namespace models::parallel
