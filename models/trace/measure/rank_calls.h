#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/result.h"
#include "models/trace/measure/ranks.h"
#include "models/trace/replay/replay.h"

/// When each rank of a job came to each of its collectives, as figures: who waited for whom, who is to blame, and what
/// would be won if one rank came on time.
namespace models::trace {

struct BusyPart {
  std::int64_t start_ns = 0, end_ns = 0;
};

/// Ranks by collectives, on one clock that begins at 0.
struct RankCalls {
  std::vector<std::int64_t> ranks;              ///< their numbers, as the job has them
  std::vector<std::string> calls;               ///< what each is, in the order of their first arrival
  std::vector<std::int64_t> start_ns, end_ns;   ///< ranks x calls; both -1 where the rank takes no part
  std::vector<std::int64_t> computing_ns;       ///< by rank: all its computing
  std::vector<std::vector<BusyPart>> computes;  ///< by rank: when, with short pauses closed
  std::int64_t first_ns = 0, last_ns = 0;       ///< from the first computing or arrival to the last end

  std::size_t at(std::size_t rank, std::size_t call) const { return rank * calls.size() + call; }
  bool takes_part(std::size_t rank, std::size_t call) const { return end_ns[at(rank, call)] >= 0; }
};

/// Made of recordings that were matched. Where their clocks disagree, the ends of a collective are laid on each other.
RankCalls rank_calls_of(std::span<const RankWork> ranks, const JobWaits& waits);

/// One rank comes earlier to every collective by `by_ns`, but to none before its end of the one before it. What the
/// others do stays as it was: static, call by call.
RankCalls with_rank_earlier(RankCalls calls, std::size_t rank, std::int64_t by_ns);

/// Who waited for whom. Vectors by row of the ranks.
struct RankBlame {
  std::vector<std::int64_t> matrix_ns;  ///< ranks x ranks: the row waits for the column
  std::vector<std::int64_t> waited_ns, caused_ns, times_last;
  std::vector<std::int64_t> won_ns;     ///< waiting of all that would be saved, call by call, if the rank came on time
  std::vector<std::int64_t> sooner_ns;  ///< how much sooner the job would end then: run again, with all that follows;
                                        ///< for the 16 that cause most, 0 for the others
  std::vector<std::uint32_t> last;      ///< by call: the row that comes last
  std::int64_t total_ns = 0, length_ns = 0;
  int culprit = -1;  ///< causes most; -1: nobody waits
  int computes_longest = 0, waits_longest = 0;
};
Result<RankBlame> rank_blame_of(const RankCalls& calls);

/// The eight ranks of a recommendation model on V100s that facebookresearch/param publishes (et_replay/tests/inputs,
/// dlrm_kineto, MIT): arrivals and ends of the eight collectives to the microsecond.
const RankCalls& recorded_dlrm();

}  // namespace models::trace
