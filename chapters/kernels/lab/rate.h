#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/kernels/lab/lab.h"
#include "models/base/result.h"
#include "models/machine/op_cost.h"

/// Each rung against its roof.
namespace chapters::kernels::lab {

/// For a rung with this roof. Infeasible: a chip that is unknown, no GPU, or without an FP32 peak.
models::Result<Ceilings> ceilings_of(const Inputs& in, const ::kernels::Ladder& ladder, std::string_view rung_roof);
/// What is assumed where the roof is that of a cache or of all threads together; says whether it is one of those.
bool assume_wider_roof(const Inputs& in, std::string_view rung_roof, Ceilings& ceilings);
/// All rungs of the ladder at this size. Infeasible as ceilings_of.
models::Result<std::vector<RatedRung>> rate_rungs(const Inputs& in, const ::kernels::Ladder& ladder, std::int64_t size);
/// The first measured roof of that id; null when there is none.
const RoofRow* measured_roof(const Inputs& in, std::string_view device, std::string_view id);
/// The latest run of the rung at this size; null when there is none.
const RunRow* run_of(const Inputs& in, const ::kernels::Ladder& ladder, std::string_view rung, std::int64_t size,
                     bool edited);
/// Did the run end with a time? False for null.
bool timed(const RunRow* run);
/// Why a measurement may lie above the rung's roof: a clause.
std::string_view above_roof_text(const RatedRung& rung);
/// Half of a run's samples lie further apart than this share of the median: the machine was not quiet.
inline constexpr double noisy_spread = 0.1;
/// The run has samples, and they spread by more than that; false for null.
bool noisy(const RunRow* run);
/// Was the rung timed, and may the learner see it?
inline bool shown(const RatedRung& rung) { return timed(rung.run.get()) && !rung.hidden; }
/// Was more of the roof reached, here or by others, than the model says can be? Then its figure is no bound but an
/// estimate.
inline bool exceeded(const RatedRung& rung) {
  return rung.published > rung.limit.share || (shown(rung) && rung.measured > rung.limit.share);
}
/// Is a rung with this roof held against bandwidth? By the roof, else by what its ladder counts.
bool against_bandwidth(const Inputs& in, const ::kernels::Ladder& ladder, std::string_view roof);

}  // namespace chapters::kernels::lab
