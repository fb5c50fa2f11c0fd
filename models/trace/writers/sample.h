#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace models {

/// What keeps the device waiting in a made-up training run.
enum class SampleFault : std::uint8_t {
  none,
  hidden_sync,
  data_starved,
  launch_bound,
  exposed_communication,
  straggler
};

struct SampleRun {
  SampleFault fault = SampleFault::hidden_sync;
  int ranks = 4;   ///< 1 to 64
  int steps = 4;   ///< 1 to 64
  int layers = 5;  ///< transformer blocks, 1 to 128
};

/// A data-parallel training run as PyTorch's profiler would write it: one Chrome trace (JSON) a rank. Each step loads a
/// batch, runs forward and backward with an all-reduce a bucket of gradients on a second stream, and an optimizer. The
/// processor dispatches operations ahead of the device; a collective ends on all ranks together, at the time the last
/// one joined plus its duration. Deterministic. Durations are invented; the rules that connect them are those of a real
/// queue.
std::vector<std::string> sample_traces(const SampleRun& run);

}  // namespace models
