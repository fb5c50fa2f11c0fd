#include "models/serving/arrivals/benchmark_log.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

/// As vllm bench serve prints: 200 requests of 512 and 128 tokens in 40 s.
constexpr std::string_view printed = R"(INFO 03-04 10:00:00 Starting: 1 run
============ Serving Benchmark Result ============
Successful requests:                     200
Failed requests:                         3
Request rate configured (RPS):           5.00
Benchmark duration (s):                  40.00
Total input tokens:                      102400
Total generated tokens:                  25600
Request throughput (req/s):              5.00
Output token throughput (tok/s):         640.00
Total Token throughput (tok/s):          3200.00
---------------Time to First Token----------------
Mean TTFT (ms):                          81.25
Median TTFT (ms):                        70.50
P99 TTFT (ms):                           240.00
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          21.00
Median TPOT (ms):                        20.50
P90 TPOT (ms):                           24.00
P99 TPOT (ms):                           30.00
---------------Inter-token Latency----------------
Mean ITL (ms):                           21.00
Median ITL (ms):                         19.00
P99 ITL (ms):                            55.00
==================================================
)";

}  // namespace

TEST_CASE("benchmark log: a table that a benchmark printed, in seconds and means of a request") {
  const auto log = parse_benchmark_log(printed);
  REQUIRE(log);
  REQUIRE(log->runs.size() == 1);
  CHECK(log->left_out == 0);
  const BenchmarkRun& run = log->runs[0];
  CHECK(run.line == 2);
  CHECK(run.requests == 200);
  CHECK(run.failed == 3);
  CHECK(run.duration_s == 40);
  CHECK(run.prompt_tokens == 512);
  CHECK(run.output_tokens == 128);
  CHECK(run.offered_rate_per_s == 5);
  CHECK_FALSE(run.most_at_once);
  CHECK(run.output_tokens_per_s == 640);
  CHECK(near(*run.ttft.mean_s, 0.08125, 1e-12));
  CHECK(near(*run.ttft.p99_s, 0.24, 1e-12));
  CHECK_FALSE(run.ttft.p90_s);
  CHECK(near(*run.tpot.p90_s, 0.024, 1e-12));
  CHECK(near(*run.itl.p50_s, 0.019, 1e-12));
  CHECK_FALSE(run.latency.mean_s);
}

TEST_CASE("benchmark log: runs one after the other, sent all at once or so many at a time") {
  const std::string text = R"(============ Serving Benchmark Result ============
Backend:                                 sglang
Traffic request rate:                    inf
Max request concurrency:                 not set
Successful requests:                     10
Benchmark duration (s):                  20.00
Total input tokens:                      1000
Total generated tokens:                  2000
Total generated tokens (retokenized):    1990
Request throughput (req/s):              0.50
Output token throughput (tok/s):         100.00
Mean E2E Latency (ms):                   9,500.00
Median E2E Latency (ms):                 9000.00
==================================================
============ Serving Benchmark Result ============
Backend:                                 sglang
Traffic request rate:                    inf
Max request concurrency:                 4
Successful requests:                     8
Benchmark duration (s):                  16
Total input tokens:                      800
Total generated tokens:                  1600
)" + std::string(printed.substr(printed.find("====")));
  const auto log = parse_benchmark_log(text);
  REQUIRE(log);
  REQUIRE(log->runs.size() == 3);
  CHECK(log->runs[0].engine == "sglang");
  CHECK_FALSE(log->runs[0].offered_rate_per_s);
  CHECK_FALSE(log->runs[0].most_at_once);
  CHECK(log->runs[0].latency.mean_s == 9.5);
  CHECK(log->runs[1].most_at_once == 4);
  CHECK(log->runs[1].output_tokens_per_s == 100);
  CHECK(log->runs[2].requests == 200);
}

TEST_CASE("benchmark log: the overview of trtllm-bench, with its details and without") {
  const std::string overview = R"(= PERFORMANCE OVERVIEW
===========================================================
Request Throughput (req/sec):                     2.5000
Total Output Throughput (tokens/sec):             500.0000
Total Token Throughput (tokens/sec):              1500.0000
Total Latency (ms):                               40000.0000
Average request latency (ms):                     3000.0000
Average time-to-first-token [TTFT] (ms):          120.0000
Average time-per-output-token [TPOT] (ms):        14.5000
)";
  const auto alone = parse_benchmark_log(overview);
  REQUIRE(alone);
  CHECK(alone->runs[0].requests == 100);  // 2.5 a second for 40 s
  CHECK(alone->runs[0].output_tokens == 200);
  CHECK(alone->runs[0].prompt_tokens == 400);
  CHECK(near(*alone->runs[0].ttft.mean_s, 0.12, 1e-12));
  CHECK(alone->runs[0].engine == "TensorRT-LLM");
  const auto detailed = parse_benchmark_log(
      "= REQUEST DETAILS\nNumber of requests:             100\n"
      "Average Input Length (tokens):  411.5000\n"
      "Average Output Length (tokens): 200.0000\n" +
      overview);
  REQUIRE(detailed);
  REQUIRE(detailed->runs.size() == 1);
  CHECK(detailed->runs[0].prompt_tokens == 411.5);
}

TEST_CASE("benchmark log: JSON in one object or one a line; a bad line is named and the rest is kept") {
  const std::string one = R"({"backend": "vllm", "request_rate": "inf", "max_concurrency": 16, "completed": 50,
 "duration": 10.0, "total_input_tokens": 25000, "total_output_tokens": 5000, "request_throughput": 5.0,
 "output_throughput": 500.0, "mean_ttft_ms": 90.0, "median_ttft_ms": 80.0, "p99_ttft_ms": 300.0,
 "mean_e2el_ms": 3000.0, "ttfts": [0.1, 0.2]})";
  const auto log = parse_benchmark_log(one);
  REQUIRE(log);
  CHECK(log->runs[0].most_at_once == 16);
  CHECK_FALSE(log->runs[0].offered_rate_per_s);
  CHECK(log->runs[0].latency.mean_s == 3);
  CHECK(log->runs[0].ttft.p50_s == 0.08);
  const std::string row = R"({"backend": "sglang", "request_rate": 2.5, "completed": 10, "duration": 4,)"
                          R"( "total_input_tokens": 100, "total_output_tokens": 400, "median_e2e_latency_ms": 5})";
  const auto lines = parse_benchmark_log(row + "\nnot JSON\n" + row + "\n");
  REQUIRE(lines);
  CHECK(lines->runs.size() == 2);
  CHECK(lines->left_out == 1);
  CHECK(lines->first_fault == "Line 2 is no JSON object.");
  CHECK(lines->runs[1].offered_rate_per_s == 2.5);
}

TEST_CASE("benchmark log: what is wrong is said, and what is none is refused") {
  const auto refused = [](std::string_view text) {
    const auto log = parse_benchmark_log(text);
    return log ? std::string() : log.error;
  };
  CHECK(refused("hello").starts_with("This is no output of a serving benchmark"));
  CHECK(refused("").starts_with("This is no output"));
  CHECK(refused("{}") == "The run that begins in line 1 does not say how many requests were answered.");
  std::string other(printed);
  other.replace(other.find("640.00"), 6, "700.00");
  CHECK(refused(other) ==
        "The run that begins in line 2 prints another rate of output tokens than its tokens and its "
        "duration give.");
  std::string turned(printed);
  turned.replace(turned.find("240.00"), 6, " 60.00");
  CHECK(refused(turned) == "The run that begins in line 2 has a median beyond its 99th percentile.");
  // A bad one beside a good one is left out and counted.
  const auto both = parse_benchmark_log(turned + std::string(printed));
  REQUIRE(both);
  CHECK(both->runs.size() == 1);
  CHECK(both->left_out == 1);
  CHECK(both->first_fault.find("line 2") != std::string::npos);
}
