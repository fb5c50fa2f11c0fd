#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "models/base/result.h"

namespace kernels {

inline constexpr std::size_t max_turns = 400;

/// Two rungs of one ladder, or one rung against itself, run one after the other in an order that is given.
struct TurnsRequest {
  std::string ladder, a, b;  ///< ids of the rungs; both may be the same
  std::string turns;         ///< whose run comes when, a letter each: "ABBA"
  std::int64_t size = 0;     ///< 0: the ladder's default
  bool cold = true;          ///< operands out of cache at the start of each run; otherwise they stay there
  std::uint64_t seed = 1;    ///< seed of the operands' values
  bool operator==(const TurnsRequest&) const = default;
};

/// One run. A warm one that is too short for the clock is the mean of calls that follow each other.
struct TimedTurn {
  std::int64_t place = 0;  ///< in the order of the clock, from 0
  bool is_b = false;
  double time_s = 0;
  bool operator==(const TimedTurn&) const = default;
};
using TakeTurn = std::function<bool(const TimedTurn&)>;  ///< false asks to stop

/// Can a request be tried? Runs nothing.
models::Status check(const TurnsRequest& request);

/// Checks both rungs against float64 and then times every run of `turns`; each goes to `take` at once. Fails in one
/// sentence where a rung cannot run here or is wrong, and where the last run has left a wrong result.
models::Status run_turns(const TurnsRequest& request, const TakeTurn& take);

}  // namespace kernels
