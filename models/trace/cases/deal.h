#pragma once
#include <cstdint>

#include "models/trace/cases/cause.h"

/// Deals a training job from a seed: how large it is, what is wrong with it, and what looks wrong and is not.
namespace models::trace {

/// A random number that depends on nothing but what it is asked for, so that taking something out of a job leaves all
/// other numbers as they are. Splitmix64, Steele, Lea and Flood 2014.
struct CaseNoise {
  std::uint64_t seed = 0;
  /// From 0 to 1.
  double uniform(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0, std::uint64_t d = 0) const;
  /// Mean 0, deviation 1; the sum of four uniform numbers, so never beyond 3.5.
  double normal(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0, std::uint64_t d = 0) const;
};

struct CaseSpec {
  CaseNoise noise;
  int ranks = 1, steps = 4, layers = 3, workers = 2;
  double step_ns = 1e8;              ///< what the kernels of a step take
  double communication_share = 0.3;  ///< what the all-reduces of a step take, as a part of step_ns
  double decode_share = 0.7;         ///< a batch comes so often, as a part of step_ns
  double spread = 0.01;              ///< relative spread of a kernel's time
  Cause cause = Cause::nothing;
  int rank = 0;                 ///< whose fault it is; -1: everybody's
  std::uint32_t steps_hit = 0;  ///< bit s: the fault shows in step s
  bool on_device = false;       ///< contention: another process takes the GPU's time, not the CPU's
  double size = 0;              ///< size of the fault, as a part of step_ns or of the time of what it slows
  double aimed_share = 0;       ///< part of the run that the fault is to cost
  /// What is long and costs nothing, as parts of step_ns; 0: it is not there.
  double log = 0, pause = 0, saver = 0, host_op = 0;
};

/// `level` is 1 to 3: from a large fault in a small job to a small one in a large job with long decoys. `faulty` false
/// deals a healthy job of the same kind.
CaseSpec deal_case(std::uint64_t seed, int level, bool faulty);

}  // namespace models::trace
