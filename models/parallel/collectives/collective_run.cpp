#include "models/parallel/collectives/collective_run.h"

namespace models::parallel {
namespace {

constexpr std::uint64_t origin_bit(std::int64_t rank) { return std::uint64_t{1} << rank; }
std::uint64_t all_origins(std::int64_t ranks) { return ranks >= 64 ? ~std::uint64_t{0} : origin_bit(ranks) - 1; }

/// Whose numbers a cell holds before the first step.
std::uint64_t starting_origins(const CollectiveSpec& spec, std::int64_t rank, std::int64_t chunk) {
  if (rank >= spec.ranks) return 0;  // the switch
  switch (spec.primitive) {
    case Primitive::all_reduce:
    case Primitive::reduce_scatter:
    case Primitive::reduce:
    case Primitive::all_to_all:
      return origin_bit(rank);
    case Primitive::all_gather:
    case Primitive::gather:
      return rank == chunk ? origin_bit(rank) : 0;
    case Primitive::broadcast:
    case Primitive::scatter:
      return rank == 0 ? origin_bit(0) : 0;
  }
  return 0;
}

/// The rank on which a reduce-scatter leaves a chunk whole: the one that is the last to add to it.
std::int64_t owner_of(const CollectiveSchedule& schedule, std::int64_t chunk) {
  if (schedule.switch_rank >= 0) return chunk;
  for (std::size_t i = schedule.transfers.size(); i-- > 0;)
    if (schedule.transfers[i].chunk == chunk) return schedule.transfers[i].target;
  return chunk;
}

/// The number that a finished cell must hold for these origins: a sum, or one block.
double expected_number(const CollectiveSchedule& schedule, std::int64_t chunk, std::uint64_t origins) {
  double sum = 0;
  for (std::int64_t r = 0; r < schedule.spec.ranks; ++r)
    if (origins & origin_bit(r)) sum += starting_number(r, chunk);
  return sum;
}

struct Payload {
  std::uint64_t origins = 0;
  double number = 0;
};

class Executor {
 public:
  Executor(const CollectiveSchedule& schedule, CollectiveRun& run, bool keep) : s_(schedule), run_(run), keep_(keep) {
    run.participants = schedule.participants();
    run.chunks = schedule.chunks;
    run.width = schedule.spec.primitive == Primitive::all_to_all ? schedule.spec.ranks : 1;
    const auto cells = static_cast<std::size_t>(run.participants * run.chunks);
    const auto states = static_cast<std::size_t>(keep ? schedule.steps + 1 : 1);
    run.states = static_cast<std::int64_t>(states);
    run.origins.reserve(states * cells);
    run.numbers.reserve(states * cells * static_cast<std::size_t>(run.width));
    origins_.assign(cells, 0);
    numbers_.assign(cells * static_cast<std::size_t>(run.width), 0);
    for (std::int64_t r = 0; r < schedule.spec.ranks; ++r)
      for (std::int64_t c = 0; c < run.chunks; ++c) {
        origins_[at(r, c)] = starting_origins(schedule.spec, r, c);
        if (origins_[at(r, c)]) number(r, c, r) = starting_number(r, c);
      }
  }

  void run() {
    save(false);
    std::size_t i = 0;
    for (std::int64_t step = 0; step < s_.steps; ++step) {
      const std::size_t first = i;
      payloads_.clear();
      for (; i < s_.transfers.size() && s_.transfers[i].step == step; ++i) payloads_.push_back(take(s_.transfers[i]));
      for (std::size_t k = first; k < i; ++k) put(s_.transfers[k], payloads_[k - first]);
      save(step + 1 == s_.steps);
    }
    check_result();
  }

 private:
  std::size_t at(std::int64_t rank, std::int64_t chunk) const {
    return static_cast<std::size_t>(rank * run_.chunks + chunk);
  }
  double& number(std::int64_t rank, std::int64_t chunk, std::int64_t origin) {
    const auto width = static_cast<std::size_t>(run_.width);
    return numbers_[at(rank, chunk) * width + (width > 1 ? static_cast<std::size_t>(origin) : 0)];
  }
  /// What a transfer carries. A block that moves is gone from its sender.
  Payload take(const ChunkTransfer& t) {
    if (t.action != ChunkAction::move) return {origins_[at(t.source, t.chunk)], number(t.source, t.chunk, 0)};
    const Payload out{origins_[at(t.source, t.chunk)] & origin_bit(t.origin), number(t.source, t.chunk, t.origin)};
    origins_[at(t.source, t.chunk)] &= ~origin_bit(t.origin);
    number(t.source, t.chunk, t.origin) = 0;
    return out;
  }
  void put(const ChunkTransfer& t, const Payload& in) {
    std::uint64_t& origins = origins_[at(t.target, t.chunk)];
    double& to = number(t.target, t.chunk, t.origin);
    switch (t.action) {
      case ChunkAction::reduce:
        to += in.number;
        origins |= in.origins;
        break;
      case ChunkAction::copy:
        to = in.number;
        origins = in.origins;
        break;
      case ChunkAction::move:
        to = in.number;
        origins |= in.origins;
        break;
    }
  }
  void save(bool last) {
    if (!keep_ && !last) return;
    run_.origins.insert(run_.origins.end(), origins_.begin(), origins_.end());
    run_.numbers.insert(run_.numbers.end(), numbers_.begin(), numbers_.end());
  }
  void check_result() {
    for (std::int64_t r = 0; r < s_.spec.ranks; ++r)
      for (std::int64_t c = 0; c < run_.chunks; ++c) {
        const std::uint64_t asked = asked_origins(s_, r, c);
        if (asked == 0) continue;
        for (std::int64_t origin = 0; origin < run_.width; ++origin) {
          const std::uint64_t own = run_.width > 1 ? origin_bit(origin) : asked;
          ++run_.asked;
          if (origins_[at(r, c)] == asked && number(r, c, origin) == expected_number(s_, c, own)) ++run_.right;
        }
      }
  }

  const CollectiveSchedule& s_;
  CollectiveRun& run_;
  bool keep_;
  std::vector<std::uint64_t> origins_;
  std::vector<double> numbers_;
  std::vector<Payload> payloads_;
};

}  // namespace

double starting_number(std::int64_t rank, std::int64_t chunk) {
  std::uint64_t x = static_cast<std::uint64_t>(rank) * 0x9E3779B97F4A7C15ull + static_cast<std::uint64_t>(chunk + 1);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return static_cast<double>(1 + (x ^ (x >> 31)) % 99);
}

std::uint64_t asked_origins(const CollectiveSchedule& schedule, std::int64_t rank, std::int64_t chunk) {
  const std::int64_t n = schedule.spec.ranks;
  switch (schedule.spec.primitive) {
    case Primitive::all_reduce:
      return all_origins(n);
    case Primitive::reduce:
      return rank == 0 ? all_origins(n) : 0;
    case Primitive::reduce_scatter:
      return owner_of(schedule, chunk) == rank ? all_origins(n) : 0;
    case Primitive::all_to_all:
      return rank == chunk ? all_origins(n) : 0;
    case Primitive::all_gather:
      return origin_bit(chunk);
    case Primitive::gather:
      return rank == 0 ? origin_bit(chunk) : 0;
    case Primitive::broadcast:
      return origin_bit(0);
    case Primitive::scatter:
      return rank == chunk ? origin_bit(0) : 0;
  }
  return 0;
}

CollectiveRun run_collective(const CollectiveSchedule& schedule, bool keep_states) {
  CollectiveRun out;
  Executor(schedule, out, keep_states).run();
  return out;
}

}  // namespace models::parallel
