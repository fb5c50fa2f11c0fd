#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/hang/hang_diagnosis.h"

/// A made-up job: ranks run programs of collectives over tensor, data and pipeline groups, one fault is planted, and
/// each rank leaves the records that PyTorch would. The diagnosis sees the records alone.
namespace models::hang {

struct HangJob {
  std::int64_t tensor_parallel = 1, data_parallel = 4, pipeline_parallel = 1;
  std::int64_t steps = 4, layers = 2;
  HangFault fault = HangFault::none;  ///< undecided: some ranks broadcast from another root
  std::int64_t seed = 1;              ///< which rank, where in the step, and how long everything takes
  std::int64_t ahead = 0;             ///< calls that a host enqueues before the one that runs has ended
  double timeout_s = 600;
  std::int64_t ring = 2000;  ///< records that stay
  std::int64_t ranks() const { return tensor_parallel * data_parallel * pipeline_parallel; }
  bool operator==(const HangJob&) const = default;
};

inline constexpr std::int64_t max_simulated_ranks = 1024;

struct SimulatedHang {
  std::vector<FlightDump> dumps;
  std::vector<std::int64_t> culprits;  ///< ranks on which the fault was planted
  std::int64_t step = -1;              ///< in which it was; -1: in none, or in all
  bool hung = false;                   ///< some rank did not end its program
};

/// Why a fault cannot be planted in such a job; empty: it can.
std::string cannot_plant(const HangJob& job);

/// Pure: the same job gives the same records. Groups of one rank make no calls.
SimulatedHang simulate_hang(const HangJob& job);

}  // namespace models::hang
