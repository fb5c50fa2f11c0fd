// What batching's figures are of: a long run without its ends, with intervals, and what is not said of too few
// requests.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <string>

#include "tests/support/base/near.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

LabPtr lab_of_figures() { return open_lab("serving/batching"); }

}  // namespace

// Erlang C: 4 servers at 3.2 erlangs wait 0.745541 service times; 100,000 arrivals leave some 4 % of noise.
TEST_CASE("batching: a plain queue meets its formula, which is shown beside it") {
  const LabPtr lab = lab_of_figures();
  choose(*lab, "policy", "single");
  choose(*lab, "service", "exponential");
  input(*lab, "against").chosen().clear();
  set(*lab, "servers", 4);
  set(*lab, "arrival_rate", 3.2);
  set(*lab, "service_time_s", 1);
  set(*lab, "requests", 100'000);
  lab->compute();
  CHECK(near(out(*lab, "theory_wait_s"), 0.745541, 1e-5));
  CHECK(near(out(*lab, "mean_wait_s"), 0.745541, 0.08));
  CHECK(near(out(*lab, "mean_latency_s"), 1.745541, 0.04));
  CHECK(near(out(*lab, "utilization"), 80, 0.02));
  CHECK(out(*lab, "little_error") <= 1e-9);
  CHECK(std::isnan(out(*lab, "tpot_p99_s")));  // a plain queue has no tokens
  CHECK(out(*lab, "measured") == 100'000);
  CHECK(out(*lab, "completed") == 120'000);
  // The interval beside the mean holds the formula.
  CHECK(std::abs(out(*lab, "mean_wait_s") - 0.745541) <= out(*lab, "mean_wait_half"));
  CHECK(out(*lab, "mean_wait_half") < 0.1);
}

// 48 requests at five a second seem to be served 2.8 a second, for the run has a start and an end.
TEST_CASE("batching: figures are of a long run without its start and its drain, and say how sure they are") {
  const LabPtr lab = lab_of_figures();
  lab->compute();
  CHECK(out(*lab, "measured") == 10'000);
  CHECK(near(out(*lab, "throughput_per_s"), 5, 0.03));
  CHECK(std::abs(out(*lab, "throughput_per_s") - 5) <= out(*lab, "throughput_half"));
  CHECK(near(out(*lab, "mean_waiting"), 2.5, 0.35));
  CHECK(near(out(*lab, "goodput_per_s"), 4.08, 0.05));
  CHECK(near(out(*lab, "p99_latency_s"), 6.34, 0.08));
  for (const char* half : {"mean_wait_half", "mean_latency_half", "p50_latency_half", "ttft_p50_half", "goodput_half",
                           "throughput_half"}) {
    INFO(half);
    CHECK(out(*lab, half) > 0);
  }
  for (const char* half : {"p99_latency_half", "ttft_p99_half", "tpot_p99_half"}) {
    INFO(half);
    CHECK(std::isnan(out(*lab, half)));  // 10,000 requests are too few for an interval of the hundredth
  }
  // Another seed lands within both intervals together.
  const double mean_s = out(*lab, "mean_latency_s"), half_s = out(*lab, "mean_latency_half");
  for (const int seed : {11, 12, 13}) {
    set(*lab, "seed", seed);
    lab->compute();
    CHECK(std::abs(out(*lab, "mean_latency_s") - mean_s) <= 1.5 * (half_s + out(*lab, "mean_latency_half")));
  }
}

TEST_CASE("batching: a P99 and an interval are given where there are requests enough for them") {
  const LabPtr lab = lab_of_figures();
  input(*lab, "against").chosen().clear();
  set(*lab, "requests", 900);
  lab->compute();
  CHECK(std::isnan(out(*lab, "p99_latency_s")));
  CHECK(std::isnan(out(*lab, "ttft_p99_s")));
  CHECK(std::isnan(out(*lab, "mean_wait_half")));
  CHECK(out(*lab, "p90_latency_s") > out(*lab, "p50_latency_s"));
  CHECK(lab->outputs().find("state")->text() == "too few requests to tell: start and end weigh on the figures");
  set(*lab, "requests", 1000);
  lab->compute();
  CHECK(out(*lab, "p99_latency_s") > out(*lab, "p90_latency_s"));
  CHECK(out(*lab, "mean_wait_half") > 0);
}

TEST_CASE("batching: an overloaded queue is said to be one, and its waits are not given") {
  const LabPtr lab = lab_of_figures();
  choose(*lab, "policy", "static");
  input(*lab, "against").chosen().clear();
  lab->compute();
  CHECK(lab->outputs().find("state")->text().find("overloaded: 2.5") == 0);
  CHECK(lab->answer().find("Static serves `2.53` of `5.09` requests per second: its queue grows without end.\n") == 0);
  CHECK(near(out(*lab, "arrivals_per_s"), 5.09, 0.002));
  for (const char* grows : {"mean_wait_s", "p50_latency_s", "p99_latency_s", "ttft_p99_s", "mean_waiting"}) {
    INFO(grows);
    CHECK(std::isnan(out(*lab, grows)));
  }
  CHECK(near(out(*lab, "throughput_per_s"), 2.5, 0.05));
  CHECK(near(out(*lab, "utilization"), 100, 0.01));
  SECTION("a plain queue is, from its whole capacity on, however short the run") {
    set(*lab, "policy", "single", "service", "exponential", "service_time_s", 1, "arrival_rate", 1, "requests", 50);
    lab->compute();
    CHECK(lab->outputs().find("state")->text().find("overloaded") == 0);
    CHECK(std::isnan(out(*lab, "mean_wait_s")));
    set(*lab, "arrival_rate", 0.95, "requests", 20'000);
    lab->compute();
    CHECK(lab->outputs().find("state")->text().find("steady") == 0);
  }
}

// Ten a second with answers of 1,500 tokens: after a thousand of them the batch still grows, and nobody waits for it.
TEST_CASE("batching: a run that ends while the batch fills is not called steady") {
  const LabPtr lab = lab_of_figures();
  input(*lab, "against").chosen().clear();
  set(*lab, "slots", 4096, "arrival_rate", 10, "requests", 1000, "output_tokens", 1500);
  lab->compute();
  CHECK(lab->outputs().find("state")->text().find("not settled: ") == 0);
  CHECK(std::isnan(out(*lab, "mean_wait_half")));
  CHECK(out(*lab, "mean_latency_s") > 0);
}

// Llama-3-70B: 2 x 80 x 8 x 128 numbers a token. In FP8 a byte each, and 160 scales of four bytes in all.
TEST_CASE("batching: the cache in FP8 holds twice the blocks, exactly, and batches take up to 4,096 slots") {
  const LabPtr lab = lab_of_figures();
  set(*lab, "requests", 1);
  lab->compute();
  const double wide = out(*lab, "kv_pool_bytes"), blocks = out(*lab, "kv_blocks");
  CHECK(blocks == std::floor(wide / (16 * 327680)));
  choose(*lab, "kv_format", "fp8");
  set(*lab, "slots", 4096);
  lab->compute();
  CHECK(lab->reason().empty());
  CHECK(wide - out(*lab, "kv_pool_bytes") == 640);
  CHECK(out(*lab, "kv_blocks") == std::floor((wide - 640) / (16 * 163840)));
  // More at once than a picture of lanes could show: 2,000 requests in the first second.
  set(*lab, "requests", 2000, "arrival_rate", 1000, "pictured", 120);
  lab->compute();
  CHECK(lab->reason().empty());
  CHECK(out(*lab, "completed") == 2400);
}

// The first eight requests of Azure's trace for code of 2023, by hand in whole microseconds: 2 ms, 50 us a token in and
// 20 ms a token out, two servers.
TEST_CASE("batching: waits of recorded arrivals at times by tokens are right to the microsecond") {
  const LabPtr lab = open_lab("serving/batching", R"({"policy": "single", "against": [], "service": "per_token"})");
  input(*lab, "trace").file() = {"azure.csv",
                                 "time,prompt,output\n0,4808,10\n0.052,3180,8\n0.098189,110,27\n0.140684,7433,14\n"
                                 "0.444994,34,12\n0.539187,374,14\n0.698571,6985,9\n1.016041,34,23\n"};
  set(*lab, "servers", 2);
  lab->compute();
  REQUIRE(lab->reason().empty());
  const std::int64_t at[] = {0, 52000, 98189, 140684, 444994, 539187, 698571, 1016041},
                     in[] = {4808, 3180, 110, 7433, 34, 374, 6985, 34}, answer[] = {10, 8, 27, 14, 12, 14, 9, 23};
  std::int64_t free_us[2] = {0, 0}, sum = 0, waited = 0, longest = 0, last = 0, service = 0;
  for (int i = 0; i < 8; ++i) {
    std::int64_t& server = free_us[free_us[1] < free_us[0]];
    const std::int64_t start = std::max(at[i], server), takes = 2000 + 50 * in[i] + 20000 * answer[i];
    sum += start - at[i];
    waited += start > at[i];
    longest = std::max(longest, start - at[i]);
    server = start + takes;
    last = std::max(last, server);
    service += takes;
  }
  CHECK(out(*lab, "sum_wait_us") == static_cast<double>(sum));
  CHECK(out(*lab, "waited") == static_cast<double>(waited));
  CHECK(out(*lab, "last_departure_us") == static_cast<double>(last));
  CHECK(near(out(*lab, "max_wait_s"), 1e-6 * static_cast<double>(longest), 1e-12));
  CHECK(near(out(*lab, "mean_wait_s"), 1e-6 * static_cast<double>(sum) / 8, 1e-9));
  CHECK(near(out(*lab, "offered_load"), static_cast<double>(service) / 1016041, 1e-9));
  CHECK(near(out(*lab, "load_percent"), 50 * out(*lab, "offered_load"), 1e-9));
  CHECK(out(*lab, "p50_wait_s") <= out(*lab, "p90_wait_s"));
  CHECK(out(*lab, "p99_wait_s") == out(*lab, "max_wait_s"));
}
