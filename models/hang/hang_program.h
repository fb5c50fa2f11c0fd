#pragma once
#include <vector>

#include "models/hang/hang_simulation.h"

/// What each rank of a made-up job calls, and in which groups.
namespace models::hang {

/// One call of a program. `group` is a place in HangPrograms::groups.
struct ProgramCall {
  std::int32_t group = -1;
  std::int32_t call = -1;                      ///< place in HangPrograms::calls
  std::int32_t source = -1, destination = -1;  ///< who sends and gets a message, in ranks of the group
  std::int32_t root = 0;
  std::int32_t step = 0;
  bool stop = false;   ///< the rank never gets here
  double delay_s = 0;  ///< it comes later by so much
};

struct HangPrograms {
  std::vector<JobGroup> groups;
  std::vector<FlightCall> calls;
  std::vector<std::vector<ProgramCall>> ranks;
  std::vector<std::int64_t> culprits;
  std::int64_t step = -1;
  bool died = false;  ///< the culprit leaves no dump
};

HangPrograms make_programs(const HangJob& job);

}  // namespace models::hang
