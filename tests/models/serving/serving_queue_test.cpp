#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <queue>

#include "models/serving/arrivals/queueing.h"
#include "models/serving/engine/batch_means.h"
#include "models/serving/engine/serving_summary.h"
#include "tests/support/base/effort.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

// The sanitizers make a run some twenty times slower; a fifth of the arrivals then, and sqrt(5) of the tolerance.
const std::int64_t arrivals = support::sanitized() ? 200'000 : 1'000'000;
const double tolerance = support::sanitized() ? 0.045 : 0.02;

struct Ran {
  std::vector<ServingRequest> requests;
  ServingRun run;
  ServingSummary summary;
};
Ran plain_queue(ServingSetup setup, RequestStream stream) {
  Ran out{make_requests(stream), {}, {}};
  out.run = simulate_serving(out.requests, setup);
  out.summary = summarize_serving(out.requests, out.run, setup, 1e9, 1e9);
  return out;
}

}  // namespace

// Erlang C of 3.2 and 12.8 erlangs on 4 and 16 servers; waits in service times.
TEST_CASE("queueing: the formulas give the tabulated values") {
  CHECK(near(*erlang_c(4, 3.2), 0.596432, 1e-5));
  CHECK(near(*erlang_c(16, 12.8), 0.304884, 1e-5));
  CHECK(near(*mmc_wait_s(4, 3.2, 1), 0.745541, 1e-5));
  CHECK(near(*mmc_wait_s(1, 0.8, 1), 4, 1e-12));
  CHECK(near(*mg1_wait_s(0.5, 1, 0), 0.5, 1e-12));
  CHECK(near(*mg1_wait_s(0.8, 1, 4), 10, 1e-12));
  CHECK_FALSE(mmc_wait_s(2, 2, 1));
  CHECK_FALSE(mg1_wait_s(1, 1, 0));
}

// Gamma gaps of shape 4 at a load of 0.8: sigma is the root of (1 + (1 - sigma) / 3.2)^-4 = sigma, 0.69394.
TEST_CASE("serving: a plain queue with gamma gaps waits as GI/M/1 does, and with a spread of 1 is the Poisson stream") {
  CHECK(near(*gamma_m1_wait_s(0.8, 1, 1), *mmc_wait_s(1, 0.8, 1), 1e-9));
  const double sigma = *gamma_m1_wait_s(0.8, 1, 0.5) / (1 + *gamma_m1_wait_s(0.8, 1, 0.5));
  CHECK(near(std::pow(1 + (1 - sigma) / 3.2, -4), sigma, 1e-9));
  CHECK_FALSE(gamma_m1_wait_s(1, 1, 2));
  CHECK(make_requests({.requests = 100, .gap_cv = 1}) == make_requests({.requests = 100}));
  for (const double cv : {0.5, 2.0}) {
    const Ran ran = plain_queue({.policy = ServingPolicy::single},
                                {.requests = arrivals / 2, .rate_per_s = 0.6, .seed = 3, .gap_cv = cv});
    INFO(cv << ": " << ran.summary.mean_wait_s << " against " << *gamma_m1_wait_s(0.6, 1, cv));
    CHECK(near(ran.summary.mean_wait_s, *gamma_m1_wait_s(0.6, 1, cv), 1.4 * tolerance));
    double sum = 0, squares = 0;
    for (std::size_t i = 1; i < ran.requests.size(); ++i) {
      const double gap = ran.requests[i].arrival_s - ran.requests[i - 1].arrival_s;
      sum += gap;
      squares += gap * gap;
    }
    const double n = static_cast<double>(ran.requests.size() - 1), mean = sum / n;
    CHECK(near(mean, 1 / 0.6, tolerance / 2));
    CHECK(near(std::sqrt(squares / n - mean * mean) / mean, cv, tolerance / 2));
  }
}

TEST_CASE("serving: a plain queue waits as M/M/1, M/M/c and M/D/1 do, at a million arrivals") {
  struct Case {
    std::int64_t servers;
    double load;
    ServiceTime service;
  };
  for (const Case c : {Case{1, 0.5, ServiceTime::exponential}, Case{1, 0.8, ServiceTime::exponential},
                       Case{4, 0.8, ServiceTime::exponential}, Case{16, 0.8, ServiceTime::exponential},
                       Case{1, 0.5, ServiceTime::deterministic}, Case{1, 0.8, ServiceTime::deterministic}}) {
    INFO(c.servers << " servers at " << c.load);
    const double servers = static_cast<double>(c.servers), rate = c.load * servers;
    const Ran ran = plain_queue({.policy = ServingPolicy::single, .servers = c.servers}, {
                                                                                             .requests = arrivals,
                                                                                             .rate_per_s = rate,
                                                                                             .seed = 1,
                                                                                             .service = c.service,
                                                                                         });
    const double wait_s =
        c.service == ServiceTime::exponential ? *mmc_wait_s(c.servers, rate, 1) : *mg1_wait_s(rate, 1, 0);
    INFO(ran.summary.mean_wait_s << " against " << wait_s);
    CHECK(near(ran.summary.mean_wait_s, wait_s, tolerance));
    CHECK(near(ran.summary.mean_latency_s, wait_s + 1, tolerance));
    CHECK(near(ran.summary.mean_waiting, rate * wait_s, 1.5 * tolerance));
    CHECK(near(ran.summary.utilization, c.load, tolerance));
    CHECK(ran.summary.little_error <= 1e-9);
    // The time in M/M/1 is exponential: at 0.8 its median is 5 ln 2 and its 99th percentile 5 ln 100.
    if (c.servers == 1 && c.load == 0.8 && c.service == ServiceTime::exponential) {
      CHECK(near(ran.summary.p50_latency_s, 3.465736, tolerance));
      CHECK(near(ran.summary.p99_latency_s, 23.025851, 2 * tolerance));
    }
  }
}

// One request in ten takes 5.5, the others 0.5: mean 1, variance 0.1 x 4.5^2 + 0.9 x 0.5^2 = 2.25.
TEST_CASE("serving: a plain queue waits as M/G/1 does, at a million arrivals") {
  auto requests = make_requests({.requests = arrivals, .rate_per_s = 0.6, .seed = 3, .lengths = false});
  // The exponential that a request was given says to which of the two it belongs: over ln 10 lies one in ten.
  for (ServingRequest& r : requests) r.service_s = r.service_s > std::log(10.0) ? 5.5 : 0.5;
  const ServingSetup setup{.policy = ServingPolicy::single};
  const ServingRun run = simulate_serving(requests, setup);
  const ServingSummary summary = summarize_serving(requests, run, setup, 1e9, 1e9);
  CHECK(near(summary.mean_wait_s, *mg1_wait_s(0.6, 1, 2.25), tolerance));
  CHECK(near(summary.utilization, 0.6, tolerance));
}

namespace {

/// A run from which the first tenth and the last are cut, as the batching lab does.
ServingSummary steady(std::int64_t servers, double load, std::int64_t requests, std::uint64_t seed) {
  const auto measured = static_cast<std::size_t>(requests), warm_up = measured / 10;
  const auto all = make_requests({
      .requests = requests + 2 * static_cast<std::int64_t>(warm_up),
      .rate_per_s = load * static_cast<double>(servers),
      .seed = seed,
      .lengths = false,
  });
  const ServingWindow window = window_of(all, warm_up, measured);
  const ServingSetup setup{
      .policy = ServingPolicy::single,
      .servers = servers,
      .slots = 1,
      .measure_from_s = window.from_s,
      .measure_until_s = window.until_s,
  };
  return summarize_serving(all, simulate_serving(all, setup), setup, 1e9, 1e9, window);
}

}  // namespace

// Student 1908: t of 9, 19 and 29 degrees is 2.2622, 2.0930 and 2.0452.
TEST_CASE("serving: an interval by batch means is that of its 20 batches") {
  CHECK(near(student_t_975(9), 2.26216, 5e-4));
  CHECK(near(student_t_975(19), 2.09302, 1e-4));
  CHECK(near(student_t_975(29), 2.04523, 1e-4));
  // Batches of 50 whose means are 0, 1, 0, 1, ...: mean 1/2, deviation sqrt(20 x 1/4 / 19).
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i / 50 % 2);
  CHECK(near(mean_half_width(values), 2.09302 * std::sqrt(5.0 / 19 / 20), 1e-4));
  CHECK(std::isnan(mean_half_width(std::span(values).first(999))));
  CHECK(speaks_of_quantile(1000, 0.99));
  CHECK_FALSE(speaks_of_quantile(999, 0.99));
  CHECK(speaks_of_quantile(20, 0.5));
}

// The wait at 0.95 is correlated over thousands of services: the interval must know it. 95 % of intervals hold the
// theory; of 12 the binomial law leaves fewer than nine in one case in 400.
TEST_CASE("serving: the theory lies within the interval that is printed beside the mean, over many seeds") {
  struct Case {
    std::int64_t servers;
    double load;
  };
  const std::int64_t requests = support::sanitized() ? 40'000 : 200'000;
  for (const Case c : {Case{1, 0.8}, Case{8, 0.8}, Case{8, 0.95}}) {
    const double theory_s = *mmc_wait_s(c.servers, c.load * static_cast<double>(c.servers), 1);
    int inside = 0;
    const int seeds = support::sanitized() ? 3 : 12;
    for (int seed = 1; seed <= seeds; ++seed) {
      const ServingSummary s = steady(c.servers, c.load, requests, static_cast<std::uint64_t>(seed));
      CHECK(s.requests == requests);
      CHECK_FALSE(s.overloaded);
      CHECK(s.half.mean_wait_s < 0.5 * theory_s);
      CHECK(near(s.throughput_per_s, s.arrivals_per_s, 0.01));
      CHECK(near(s.mean_waiting, s.arrivals_per_s * s.mean_wait_s, 0.02));
      inside += std::abs(s.mean_wait_s - theory_s) <= s.half.mean_wait_s;
    }
    INFO(c.servers << " servers at " << c.load << ": " << inside << " of " << seeds);
    CHECK(inside >= (support::sanitized() ? 1 : 9));
  }
}

// One standard error of the mean of n million requests of M/M/8 is 2.1 % / sqrt(n) at a load of 0.9 and 4.2 % / sqrt(n)
// at 0.95.
TEST_CASE("serving: M/M/8 comes within 2 % of Erlang C once the run is long enough") {
  if (support::sanitized()) SKIP("a minute under sanitizers; the interval is tested all the same");
  struct Case {
    double load;
    int millions;
  };
  for (const Case c : {Case{0.9, 5}, Case{0.95, 40}}) {
    if (c.millions > 5 && !support::full()) continue;
    double wait_s = 0;
    for (int seed = 1; seed <= c.millions; ++seed)
      wait_s += steady(8, c.load, 1'000'000, static_cast<std::uint64_t>(seed)).mean_wait_s / c.millions;
    INFO(c.load << ": " << wait_s << " against " << *mmc_wait_s(8, 8 * c.load, 1));
    CHECK(near(wait_s, *mmc_wait_s(8, 8 * c.load, 1), 0.02));
  }
}

TEST_CASE("serving: a queue that grows is found out, one near its capacity is not") {
  CHECK(steady(1, 1.05, 20'000, 1).overloaded);
  CHECK(steady(4, 1.2, 20'000, 2).overloaded);
  CHECK(near(steady(4, 1.2, 20'000, 2).throughput_per_s, 4, 0.02));
  for (std::uint64_t seed = 1; seed <= 10; ++seed) CHECK_FALSE(steady(1, 0.97, 20'000, seed).overloaded);
}

TEST_CASE("serving: percentiles are given where ten requests lie beyond them") {
  const ServingSummary few = steady(1, 0.5, 900, 1), more = steady(1, 0.5, 1000, 1), whole = steady(1, 0.5, 20'000, 1);
  CHECK(std::isnan(few.p99_latency_s));
  CHECK(std::isnan(few.half.mean_wait_s));
  CHECK(few.p90_latency_s > 0);
  CHECK(more.p99_latency_s > more.p90_latency_s);
  // The time in M/M/1 at one half is exponential of mean 2: P99 at 2 ln 100.
  CHECK(near(whole.p99_latency_s, 2 * std::log(100.0), 0.1));
  CHECK(std::isnan(whole.half.p99_latency_s));  // ten requests beyond it in each of twenty batches are too few
  CHECK(whole.half.p50_latency_s > 0);
  const ServingSummary long_run = steady(1, 0.5, 120'000, 1);
  CHECK(std::abs(long_run.p99_latency_s - 2 * std::log(100.0)) <= 1.5 * long_run.half.p99_latency_s);
}

// Kiefer and Wolfowitz 1955: each arrival takes the server that is free first. Written here without events.
TEST_CASE("serving: every single start of a plain queue is that of the Kiefer-Wolfowitz recursion") {
  for (const std::int64_t servers : {1, 3, 8}) {
    const Ran ran = plain_queue({.policy = ServingPolicy::single, .servers = servers},
                                {
                                    .requests = 3000,
                                    .rate_per_s = 0.9 * static_cast<double>(servers),
                                    .seed = 7,
                                    .bursty = true,
                                });
    std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
    for (std::int64_t i = 0; i < servers; ++i) free_at.push(0);
    std::size_t different = 0;
    for (std::size_t i = 0; i < ran.requests.size(); ++i) {
      const double start_s = std::max(ran.requests[i].arrival_s, free_at.top());
      free_at.pop();
      free_at.push(start_s + ran.requests[i].service_s);
      different += !(ran.run.served[i].start_s == start_s);
    }
    CHECK(different == 0);
  }
}

// With a service too short to matter, a batch of 32 at 5/s waits (32 - 1) / (2 x 5) = 3.1 s to fill; its first member
// twice that.
TEST_CASE("serving: a static batch waits to fill, a dynamic one no longer than its timeout") {
  const RequestStream stream{
      .requests = 320'000,
      .rate_per_s = 5,
      .service = ServiceTime::deterministic,
      .service_s = 1e-6,
  };
  const Ran full = plain_queue({.policy = ServingPolicy::fixed, .slots = 32}, stream);
  CHECK(near(full.summary.mean_wait_s, 3.1, 0.01));
  double first_s = 0;
  for (std::size_t i = 0; i < full.requests.size(); i += 32)
    first_s += full.run.served[i].start_s - full.requests[i].arrival_s;
  CHECK(near(first_s / 10'000, 6.2, 0.01));
  const Ran timed = plain_queue({.policy = ServingPolicy::dynamic, .slots = 32, .timeout_s = 1}, stream);
  double longest_s = 0;
  for (std::size_t i = 0; i < timed.requests.size(); ++i)
    longest_s = std::max(longest_s, timed.run.served[i].start_s - timed.requests[i].arrival_s);
  CHECK(longest_s <= 1.0001);
  CHECK(longest_s >= 0.999);
  CHECK(timed.summary.mean_wait_s < 1);
}

TEST_CASE("serving: bursts keep the mean rate and lengthen the wait") {
  const RequestStream poisson{
      .requests = 200'000,
      .rate_per_s = 2,
      .seed = 3,
      .service_s = 0.25,
  };
  RequestStream bursty = poisson;
  bursty.bursty = true;
  bursty.burst = 3;
  const Ran even = plain_queue({.policy = ServingPolicy::single}, poisson),
            uneven = plain_queue({.policy = ServingPolicy::single}, bursty);
  CHECK(near(200'000 / uneven.requests.back().arrival_s, 2, 0.02));
  CHECK(near(200'000 / even.requests.back().arrival_s, 2, 0.01));
  CHECK(uneven.summary.mean_wait_s > 1.5 * even.summary.mean_wait_s);
}

TEST_CASE("serving: lengths have the mean and the spread asked for, and a seed gives the same requests again") {
  const RequestStream stream{
      .requests = 100'000,
      .prompt_tokens = 600,
      .output_tokens = 100,
      .length_variation = 0.5,
  };
  const auto a = make_requests(stream), b = make_requests(stream);
  CHECK(a == b);
  double sum = 0, squares = 0;
  for (const auto& r : a) sum += r.prompt_tokens, squares += static_cast<double>(r.prompt_tokens) * r.prompt_tokens;
  const double mean = sum / 100'000, deviation = std::sqrt(squares / 100'000 - mean * mean);
  CHECK(near(mean, 600, 0.01));
  CHECK(near(deviation, 300, 0.03));
  RequestStream other = stream;
  other.seed = 2;
  CHECK_FALSE(make_requests(other) == a);
}

TEST_CASE("serving: arrivals from a file, sorted, counted from the first; bad lines are named") {
  const auto read = parse_requests("time,prompt,output\r\n12.5,100,20\n 10 , 7 , 3\n\n", 100);
  REQUIRE(read);
  REQUIRE(read->requests.size() == 2);
  CHECK(read->requests[0].arrival_s == 0);
  CHECK(read->requests[0].prompt_tokens == 7);
  CHECK(read->requests[1].arrival_s == 2.5);
  CHECK(read->requests[1].output_tokens == 20);
  CHECK(parse_requests("1,2\n", 9).error ==
        "Line 1 of the arrivals has 2 of three values: each line is time,prompt,output in seconds and tokens.");
  CHECK(parse_requests("0,5,5\n1,nan,5\n", 9).error ==
        "Line 2 of the arrivals has the prompt \"nan\", not a whole number from 1 to 1e6: each line is "
        "time,prompt,output in seconds and tokens.");
  CHECK(parse_requests("0,5,0\n", 9).error ==
        "Line 1 of the arrivals has the output \"0\", not a whole number from 1 to 1e6: each line is "
        "time,prompt,output in seconds and tokens.");
  CHECK(parse_requests("time,prompt,output\n", 9).error ==
        "The arrivals hold no request: each line is time,prompt,output in seconds and tokens.");
  CHECK(parse_requests("0,5,1.5\n", 9).error ==
        "Line 1 of the arrivals has the output \"1.5\", not a whole number from 1 to 1e6: each line is "
        "time,prompt,output in seconds and tokens.");
  CHECK(parse_requests("0,5,5\n-1,5,5\n", 9).error ==
        "Line 2 of the arrivals has the time \"-1\", not a number from 0 to 1e10 or a date: each line is "
        "time,prompt,output in seconds and tokens.");
  CHECK(parse_requests("0,5,5\n1,5,5\n2,5,5\n", 2).error ==
        "The arrivals hold more than 2 requests: cut the file after line 2.");
  CHECK(parse_requests("", 9).error ==
        "The arrivals hold no request: each line is time,prompt,output in seconds and tokens.");
}

// The first two lines of rows as the public traces write them; the Azure trace of 2023 counts in hundreds of
// nanoseconds.
TEST_CASE("serving: published traces are read as they are: columns by name, dates, other separators") {
  const auto same = [](std::string_view csv) {
    const auto read = parse_requests(csv, 9);
    INFO(csv << " " << read.error);
    REQUIRE(read);
    REQUIRE(read->requests.size() == 2);
    CHECK(read->requests[0] == ServingRequest{0, 0, 374, 44});
    CHECK(read->requests[1].prompt_tokens == 396);
    CHECK(read->requests[1].output_tokens == 109);
    return read->requests[1].arrival_s;
  };
  CHECK(near(same("TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 "
                  "18:15:50.9951690,396,109\r\n"),
             4.314579, 1e-6));
  CHECK(near(same("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-02-28T23:59:59.500000+00:00,374,44\n2024-03-01T00:00:"
                  "00.500000+00:00,396,109\n"),
             86401, 1e-9));  // a leap year
  CHECK(same("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,374,44,418,Conversation "
             "log\n45,ChatGPT,396,109,505,Conversation log\n") == 40);
  CHECK(same("output;prompt;time\n44;374;1\n109;396;3\n") == 2);
  CHECK(same("\xEF\xBB\xBFtime\tprompt\toutput\r1\t374\t44\r3\t396\t109\r") == 2);
  CHECK(same("\"1\",\"374\",\"44\"\n\"3\",\"396\",\"109\"\n") == 2);
  CHECK(parse_requests("time,model,output\n1,x,4\n", 9).error ==
        "Line 1 of the arrivals names no column for the prompt tokens: columns named time, prompt and output are "
        "needed, in any order.");
  CHECK(parse_requests("time,model,prompt,output\n1,x,4\n", 9).error ==
        "Line 2 of the arrivals has 3 of 4 values: each line is time,prompt,output in seconds and tokens.");
  CHECK_FALSE(parse_requests("2023-13-01 00:00:00,1,1\n", 9));
}
