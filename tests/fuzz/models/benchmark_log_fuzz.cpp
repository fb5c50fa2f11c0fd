// What a benchmark printed or wrote: whatever is accepted has requests, a time and tokens that a simulation takes.
#include "models/serving/arrivals/benchmark_log.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = models::parse_benchmark_log(fuzz::text_of(data, size));
  if (!fuzz::accepted(read)) return 0;
  fuzz::require(!read->runs.empty() && read->runs.size() <= 1000, "no run, or too many");
  fuzz::require((read->left_out > 0) == !read->first_fault.empty(), "a fault that is not counted");
  for (const models::BenchmarkRun& run : read->runs) {
    fuzz::require(run.requests >= 1 && run.requests <= 1'000'000'000 && run.failed >= 0, "requests out of range");
    fuzz::require(run.duration_s > 0 && run.duration_s <= 1e9, "a duration out of range");
    fuzz::require(run.prompt_tokens >= 1 && run.prompt_tokens <= 1e7 && run.output_tokens >= 1 &&
                      run.output_tokens <= 1e7 && run.output_tokens_per_s > 0,
                  "tokens out of range");
    fuzz::require(!run.offered_rate_per_s || *run.offered_rate_per_s > 0, "a rate that is none");
    fuzz::require(!run.most_at_once || *run.most_at_once >= 1, "a limit that is none");
    for (const models::BenchmarkLatency* each : {&run.ttft, &run.tpot, &run.itl, &run.latency})
      for (const auto& value : {each->mean_s, each->p50_s, each->p90_s, each->p99_s})
        fuzz::require(!value || (*value >= 0 && *value < 1e9), "a time that is none");
  }
  return 0;
}
