#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/trace/cases/cause.h"
#include "models/trace/trace.h"

/// Names what makes a job slow from its recordings alone: names of spans, their times, launches and ranks. Nothing of
/// how a job was made is known here.
///
/// Each cause has a witness that counts the time it costs: gaps of the compute stream by what the host did in them;
/// kernels above what the same kernel takes at the same place of other steps and ranks; collectives above what the same
/// one takes in other steps, after the last rank has come; waiting in collectives for the rank that comes last, where
/// nothing on that rank says why it does. The witness of the most time names the cause, unless that is too little to
/// tell from noise.
namespace models::trace {

/// Below this part of the recording nothing is accused.
inline constexpr double least_accused_share = 0.025;

struct Witness {
  std::int64_t cost_ns = 0;    ///< on the rank where it is most
  int row = -1;                ///< that rank's place among the recordings; -1: all of them alike, or none
  std::uint32_t event = none;  ///< the span that costs most, of recording `event_row`
  int event_row = 0;
};

struct JobDiagnosis {
  Cause cause = Cause::nothing;
  int row = -1;                                  ///< place among the recordings; -1: all of them alike
  std::int64_t length_ns = 0;                    ///< from the first to the last work of a device
  std::array<Witness, cause_count> witnesses{};  ///< by cause
  /// Idle time of the compute streams, and the part of it for which a cause has a witness, over all ranks.
  std::int64_t idle_ns = 0, explained_ns = 0;
  bool readable = false;  ///< at least one recording has work on a device

  const Witness& witness() const { return witnesses[static_cast<std::size_t>(cause)]; }
};

/// Recordings of ranks of one job, or one of them.
JobDiagnosis diagnose_job(std::span<const Trace* const> ranks);

}  // namespace models::trace
