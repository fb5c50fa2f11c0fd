#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/parallel/collectives/collective_curve.h"

/// Reads what nccl-tests and rccl-tests print.
namespace models::parallel {

struct CollectiveLog {
  CollectiveCurve curve;  ///< by size; of a size that stands more than once the last row
  /// Ranks by bus bandwidth over algorithm bandwidth at the largest size; of a broadcast, whose factor is 1, those that
  /// the log lists, or 0.
  std::int64_t inferred_ranks = 0, listed_ranks = 0;  ///< listed: lines "# Rank"; 0: none
  std::int64_t rows = 0, wrong_rows = 0;              ///< wrong: rows whose #wrong is above 0
  bool primitive_is_named = false;                    ///< false: only its factor is known
  std::vector<double> spike_bytes;                    ///< one-off spikes
  std::vector<std::string> notes;                     ///< whole sentences: what is odd in the log
};

/// A log of any release since 2018: rows of size, count, type, then time, algbw and busbw out of place and, where it is
/// there, in place; a header says whether a row has a root; output of mpirun and of schedulers may stand before each
/// line. n comes from busbw / algbw at the largest size: 2 / (2 - r) for an all-reduce, 1 / (1 - r) for all-gather,
/// reduce-scatter and all-to-all. Where the lines "# Rank" agree with it as far as two decimals tell, their number is
/// taken. Fails with a sentence where there is no row, where one rank ran alone, where a pair was timed (sendrecv), or
/// where the two bandwidths of the largest size belong to no collective.
Result<CollectiveLog> parse_collective_log(std::string_view text);

/// The lines of a log that the reader looks at: rows, listed ranks, the test's name. Reading them gives what reading
/// the whole gives; the output of NCCL_DEBUG=INFO of a hundred hosts shrinks to a page.
std::string lines_of_collective_log(std::string_view text);

/// Largest text that is read.
inline constexpr std::size_t max_collective_log_bytes = 1 << 20;

}  // namespace models::parallel
