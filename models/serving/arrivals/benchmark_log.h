#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// What a benchmark of a serving engine printed or wrote.
namespace models {

/// Seconds, as far as they stand in the log.
struct BenchmarkLatency {
  std::optional<double> mean_s, p50_s, p90_s, p99_s;
  bool operator==(const BenchmarkLatency&) const = default;
};

/// One run of a benchmark. All tokens and rates are those of the whole run, over all GPUs.
struct BenchmarkRun {
  std::size_t line = 0;  ///< where it begins in the file, from 1
  std::string engine;    ///< as the log names it; may be empty
  std::int64_t requests = 0;
  std::int64_t failed = 0;  ///< requests that got no answer, where the log counts them
  double duration_s = 0;
  double prompt_tokens = 0, output_tokens = 0;  ///< means of a request
  std::optional<double> offered_rate_per_s;     ///< requests sent a second; nothing where all were sent at once
  std::optional<std::int64_t> most_at_once;     ///< the limit on requests under way, where there was one
  double requests_per_s = 0, output_tokens_per_s = 0;
  BenchmarkLatency ttft, tpot, itl, latency;  ///< each request counts once, in itl each token
  bool operator==(const BenchmarkRun&) const = default;
};

struct BenchmarkLog {
  std::vector<BenchmarkRun> runs;
  std::int64_t left_out = 0;  ///< runs that lack what is needed or contradict themselves
  std::string first_fault;    ///< what is wrong with the first of them, in one sentence; empty: none is
};

/// Reads the tables that vllm bench serve, sglang.bench_serving and TensorRT-LLM's benchmark_serving.py print, the
/// overview of trtllm-bench, and the JSON that the first three write: one object, or one a line. Any number of runs, of
/// which up to 1,000 are kept. A run needs requests, duration, tokens in and out; what it lacks of these is worked out
/// where the others give it. Left out is a run whose output tokens over its duration are not the rate that it prints,
/// within 2 %, or whose median lies beyond its 99th percentile. The error is one sentence for a text without a good
/// run.
Result<BenchmarkLog> parse_benchmark_log(std::string_view text);

}  // namespace models
