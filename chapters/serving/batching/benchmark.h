#pragma once
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "models/serving/arrivals/benchmark_log.h"
#include "models/serving/engine/serving.h"
#include "models/serving/engine/serving_bound.h"

/// A benchmark of one's own, and the same load through the chosen policy.
namespace chapters::serving::batching {

struct Inputs;

/// A time that the benchmark measured, and what the simulation makes of it.
struct ComparedTime {
  std::int64_t run = 1;  ///< from 1
  std::string name;
  double measured_s = 0, simulated_s = 0;
  double ratio = 1;  ///< simulated over measured
};

/// Rates are output tokens a second of all requests, over all chips.
struct ComparedRun {
  std::string what;  ///< engine, requests and lengths, and how they were sent
  std::int64_t requests = 0;
  double measured_per_s = 0, simulated_per_s = 0;
  double bound_per_s = std::nan("");      ///< with as many requests under way as there were
  double reached_percent = std::nan("");  ///< measured over that
  double sequences = 0;                   ///< under way at a time, by the log or by its limit
};

struct ComparedBenchmark {
  std::vector<ComparedRun> runs;
  std::size_t fastest = 0;
  std::string left_out;  ///< what of the file was left out; empty: nothing
  std::vector<ComparedTime> times;
  bool any() const { return !runs.empty(); }
};

/// Reads the log and runs what it says through `setup`, whose policy, slots and cache are the lab's; the first twelve
/// runs and 5,000 requests of each. Fails with a sentence where no request fits.
models::Result<ComparedBenchmark> compare_benchmark(const Inputs& in, const models::ServingSetup& setup);

}  // namespace chapters::serving::batching
