#pragma once
#include "models/debugging/twin_run.h"

/// Finding the first difference of two runs from logged hashes alone, by halving what is left. Every comparison that is
/// counted was made.
namespace models::debugging {

/// What a comparison of two chained hashes was about.
enum class ProbeLevel : std::uint8_t {
  logged,    ///< entries of the log, one for each interval
  replayed,  ///< steps that were run again
  cell       ///< cells of one step, in the order in which they are computed
};

struct HashProbe {
  ProbeLevel level{};
  int lo = 0, hi = 0;  ///< steps (or cells) among which the first difference is sought, hi included
  int at = 0;          ///< the step (or cell) whose hash was compared
  bool equal = false;
};

enum class SearchEnd : std::uint8_t {
  nothing,   ///< all logged hashes are equal
  interval,  ///< between two entries of the log; run again, the steps came out healthy
  cell,      ///< one tensor of one layer at one step
};
inline constexpr int search_end_count = 3;

struct HashSearch {
  std::vector<HashProbe> probes;  ///< as they were made
  SearchEnd end{};
  int from_step = 0, to_step = 0;  ///< steps that are left, both included
  TwinCell cell;                   ///< where `end` is cell
  int replayed_steps = 0;
  int logged_entries = 0;
  int in_order = 0;  ///< comparisons that reading the same hashes from the beginning would take
};

/// An entry is logged after every `interval` steps and after the last: a chained hash of weights and moments, and the
/// hashes of the step's cells. Where entries are apart, the steps between them are run again with a hash at each.
HashSearch search_hashes(const TwinHealthy& healthy, const TwinSecond& second, const TwinFault& fault, int steps,
                         int interval);

/// First of `n` places at which `differs` is true, given that it is true at the last and stays true: by halving.
/// `differs` is asked ceil(log2 n) times at most.
template <class Differs>
int first_by_halving(int n, Differs&& differs) {
  int lo = 0, hi = n - 1;
  while (lo < hi) {
    const int middle = lo + (hi - lo) / 2;
    if (differs(middle, lo, hi))
      hi = middle;
    else
      lo = middle + 1;
  }
  return lo;
}

/// Bytes of weights and moments, which an entry of the log reads.
inline constexpr double logged_state_bytes = twin_layers * 3.0 * twin_parameters * sizeof(float);

}  // namespace models::debugging
