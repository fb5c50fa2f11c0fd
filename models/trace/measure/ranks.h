#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/trace/trace.h"

/// Who waits for whom: the collectives of several ranks of one job, each matched over the ranks that take part in it.
namespace models::trace {

/// One rank: a device of a recording.
struct RankWork {
  const Trace* trace = nullptr;
  int device = -1;
};

/// One collective as each rank saw it. A collective ends for all together, and moves no data before the last has come:
/// until then the others wait inside their kernels.
struct Collective {
  std::string name;                     ///< the kernel's name
  std::vector<std::uint32_t> events;    ///< by row: its event, or `none` where the row takes no part
  std::vector<std::int64_t> waited_ns;  ///< by row: from its own start to the last; 0 of the last
  std::uint32_t last = 0;               ///< row that arrives last
  std::int64_t cost_ns = 0;             ///< sum of what the others waited
  std::int64_t idle_cost_ns = 0;        ///< the part in which the one that waited computed nothing
  std::int64_t spread_ns = 0;           ///< latest end less earliest, by the clocks as recorded
  std::int64_t start_ns = 0;            ///< when its first participant began, since 1970 or since that recording began
};

/// The waits matrix and its sums. All vectors by row of the ranks given.
struct JobWaits {
  std::vector<Collective> collectives;       ///< by start
  std::vector<std::int64_t> waited_ns;       ///< by row: spent waiting for others
  std::vector<std::int64_t> caused_ns;       ///< by row: waited by others for it
  std::vector<std::int64_t> idle_caused_ns;  ///< the part in which those who waited computed nothing
  std::vector<std::int64_t> times_last;
  std::int64_t total_ns = 0;   ///< all waiting together
  std::int64_t unmatched = 0;  ///< collective kernels without the same collective on another rank
  /// Ends of the median collective agree within `clock_tolerance_ns`. If not, each rank's wait is the time by which its
  /// kernel lasts longer than the shortest, which needs no clock.
  bool one_clock = false;
  /// The ends agree at least when each clock is moved by a fixed time. If not, these are not the same collectives, or
  /// exchanges that do not wait for all, and none of them is judged.
  bool ends_agree = false;
  std::int64_t spread_ns = 0;  ///< the spread of the median collective matched, by the clocks as recorded
  int culprit = -1;            ///< row that causes most waiting; -1: nobody waits
  /// The culprit causes so much more than its part that it is no accident, and lets each of the others wait, with
  /// nothing to compute, for at least 2 % of the time from the first collective to the last.
  bool stands_out = false;

  /// What the culprit causes of all waiting, 0 to 1.
  double culprit_share() const;
};

/// Clocks of ranks that agree better than this are one clock: ends of one collective differ by as much by themselves.
inline constexpr std::int64_t clock_tolerance_ns = 50'000;

/// Matches the k-th collective of a process group and name over the ranks, by `Seq` where the recording has one;
/// without a process group, of a stream and name, or of a name where the ranks number their streams differently. Sends
/// and receives of two are no collectives. With fewer than two ranks there is nothing to match.
JobWaits waits_of(std::span<const RankWork> ranks);

}  // namespace models::trace
