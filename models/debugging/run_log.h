#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// What a training run wrote down step by step (loss, gradient norm and others), and where two such logs part.
namespace models::debugging {

/// A quantity of a log. What was not logged at a step is not there; NaN and infinite are values like others.
struct LogColumn {
  std::string name;
  std::vector<double> values;
  std::vector<std::uint8_t> there;  ///< 0: not logged at this step
};

struct RunLog {
  std::vector<std::int64_t> steps;  ///< in order, each once
  std::vector<LogColumn> columns;   ///< in the order of the file
  std::int64_t repeated = 0;        ///< rows whose step came again, after a restart: the last one counts
  std::int64_t without_step = 0;    ///< objects without a step, such as a summary at the end
};

/// Bounds of a log, so that what it takes in memory stays a small multiple of its text.
inline constexpr std::size_t max_log_bytes = std::size_t{64} << 20, max_log_columns = 256, max_log_cells = 4'000'000;
inline constexpr std::int64_t max_log_step = 1'000'000'000;

/// Reads CSV (commas, semicolons or tabs, quotes as in RFC 4180 on one line) with names in its first line, or JSON
/// lines with an object each. One name is the step's: step, global_step, iteration or iter, with or without "_" or
/// "train/" before it, in any case. Only numbers are quantities: texts, lists and objects are passed over. Fails in one
/// sentence with the line where something is wrong.
Result<RunLog> read_run_log(std::string_view text);

/// Does a quantity of this name measure the machine and not the training: a time, a speed, memory?
bool measures_machine(std::string_view name);

/// What two logs have in common: their common steps by their common quantities.
struct LogComparison {
  std::vector<std::string> names;                  ///< quantities of both, in the order of the first
  std::vector<std::int64_t> steps;                 ///< those that both have
  std::vector<std::vector<float>> differences;     ///< by quantity and step: |b - a| / |a|; -1: not logged by both
  std::vector<std::vector<double>> first, second;  ///< values by quantity and step; NaN where they are not there
  std::vector<std::string> left_out;               ///< times and speeds, which never come again
  std::int64_t only_first = 0, only_second = 0;    ///< steps of one log alone

  /// A place where they differ, by indices; step -1: nowhere.
  struct Place {
    std::int64_t step = -1;  ///< index into steps
    std::size_t name = 0;
  };
  Place differs;  ///< the first step at which any number differs at all
  Place parts;    ///< the first step at which one differs by more than the noise, by the one that is furthest beyond
};

/// Difference of two logged numbers, as a part of the first: 0 where they are equal or both no number, infinite where
/// one alone is, or where the first is 0 and the second is not.
double log_difference(double a, double b);

/// `noise` is a part, 0.01 for 1 %. Quantities that measure the machine are left out. Fails where the logs share no
/// step or no quantity.
Result<LogComparison> compare_logs(const RunLog& first, const RunLog& second, double noise);

}  // namespace models::debugging
