#pragma once
#include <cstddef>
#include <vector>

#include "models/rare/rare_message.h"

/// When workers compute, talk and wait: the clock of a run, apart from its loss.
namespace models::rare {

/// A model whose gradients are as large as `parameters` says and take the same steps as the small network.
struct RarePrice {
  double parameters = 1e9;
  double step_s = 0.5;  ///< forward and backward of one step on one worker, on average
  double spread = 0.1;  ///< standard deviation of the logarithm of a step's time, drawn anew for each step and worker
  double bytes_per_s = 3e9, hop_s = 1e-5;  ///< a worker's link in one direction, and the latency of a step of the ring
  double memory_bytes_per_s = 3.35e12;     ///< in which messages are made
  double code_slowdown = 1;  ///< how many times longer making and reading a message takes than its bytes in memory
  RareLayers layers = RareLayers::trained;
};

/// One sync on the links: it begins when the last worker is ready.
struct RareTalk {
  double from_s = 0, until_s = 0;
};

struct RareClock {
  double code_s = 0;            ///< making and reading a worker's message, or an outer step, each sync
  double transfer_s = 0;        ///< a sync on the links
  double sent_bytes = 0;        ///< what a worker sends in each sync
  double ratio = 1;             ///< FP32 values over the message
  std::vector<double> known_s;  ///< by steps made, from 0: when every worker has the model after them
  std::vector<RareTalk> talks;  ///< in order
  double waited_s = 0;          ///< what a worker waits, for the slowest and for the links, over the run
  double computed_s = 0;        ///< forward and backward of a worker over the run
  double talked_s = 0;          ///< links busy within `total_s`
  double silence_s = 0;         ///< from a sync's end to the next, mean; a last round of fewer steps does not count
  double total_s() const { return known_s.back(); }
  /// Syncs that have ended by then.
  std::size_t syncs_by(double time_s) const;
};
/// Source of transfer times: models/machine/all_reduce_time.h, a ring of workers with one port each.
RareClock rare_clock(const RareSetup& setup, const RarePrice& price);

/// Where a run's loss first falls to a target: between two looks on a straight line, rounded up to a step, and of
/// methods that sync seldom at a sync.
struct RareGoal {
  double steps = 0, time_s = 0, bytes = 0;  ///< bytes: what a worker has sent in whole syncs until then
  bool reached = false;
};
RareGoal rare_goal(const RareRun& run, const RareClock& clock, double target_loss);

}  // namespace models::rare
