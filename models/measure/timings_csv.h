#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// Measured times of two versions, in the order in which they were measured.
namespace models::measure {

struct TimedRun {
  bool is_b = false;
  double time_s = 0;
};

struct Timings {
  std::array<std::string, 2> names;  ///< A's, the first in the text, and B's
  std::vector<TimedRun> runs;
};

inline constexpr std::size_t max_timed_runs = 20'000, max_timings_bytes = std::size_t{1} << 20;

/// Reads CSV whose first line names a column "version" (or name) and one "time_s", "time_ms", "time_us" or "time_ns";
/// commas, semicolons or tabs. Each further line is a run; there are two versions. Fails in one sentence with the line
/// where something is wrong.
Result<Timings> read_timings(std::string_view text);

/// Runs that were recorded for this program on a busy machine: three products of two vectors a run, in an interpreter.
/// The same code twice, one after the other; or vectors in lists against vectors in tuples, in turns.
const Timings& recorded_same();
const Timings& recorded_two();
/// Two rungs of the program's own ladder of multiply-adds, eight and twelve chains, in turns.
const Timings& recorded_rungs();

}  // namespace models::measure
