#pragma once
#include <cstdint>
#include <vector>

#include "models/parallel/collectives/collective_schedule.h"

/// A schedule executed on real numbers: who holds whose numbers after each step, and whether the result is right.
namespace models::parallel {

/// What rank `rank` puts into chunk `chunk` at the start: a whole number of 1 to 99, so that sums are exact.
double starting_number(std::int64_t rank, std::int64_t chunk);

/// States before the first step, after it, ..., after the last; or the last alone.
struct CollectiveRun {
  std::int64_t states = 0, participants = 0, chunks = 0;
  /// Numbers that one cell holds: 1, or one of each rank where blocks travel unsummed (all-to-all).
  std::int64_t width = 1;
  std::vector<std::uint64_t> origins;  ///< [state][participant][chunk]: bit r is set where rank r's numbers are in it
  std::vector<double> numbers;         ///< [state][participant][chunk][width]; 0 where there is none
  /// Results that the collective asks for, and those of them that are the right numbers.
  std::int64_t asked = 0, right = 0;

  std::size_t cell(std::int64_t state, std::int64_t rank, std::int64_t chunk) const {
    return static_cast<std::size_t>((state * participants + rank) * chunks + chunk);
  }
};

/// Whose numbers the cell must hold in the end, as in `origins`; 0 where the collective asks for nothing. A
/// reduce-scatter asks that every chunk is whole on one rank: the one that the schedule leaves it on.
std::uint64_t asked_origins(const CollectiveSchedule& schedule, std::int64_t rank, std::int64_t chunk);

/// Executes all steps. Transfers of one step read what was there before it. `keep_states`: all of them, else the last
/// alone.
CollectiveRun run_collective(const CollectiveSchedule& schedule, bool keep_states);

}  // namespace models::parallel
