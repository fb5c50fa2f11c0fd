// Recorded arrivals: what the readers make of the published formats, and what a queue makes of the arrivals.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include "models/serving/engine/serving_summary.h"
#include "tests/support/base/gzip.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using namespace models;

using support::near;

namespace {

struct Arrival {
  std::int64_t at_us, input, output;
};
// The first 32 requests of the Azure LLM inference trace for code of 2023 (Azure/AzurePublicDataset, CC-BY-4.0; Patel
// et al., Splitwise, ISCA 2024): arrival in microseconds from the first, tokens in, tokens out.
constexpr std::array<Arrival, 32> azure_code{{
    {0, 4808, 10},        {52000, 3180, 8},     {98189, 110, 27},     {140684, 7433, 14},   {444994, 34, 12},
    {539187, 374, 14},    {698571, 6985, 9},    {1016041, 34, 23},    {1299312, 1145, 7},   {1299337, 201, 24},
    {1398922, 137, 9},    {1399087, 7427, 8},   {29479069, 1555, 19}, {29580407, 3893, 19}, {29610325, 1827, 10},
    {29679153, 394, 17},  {29717488, 675, 6},   {30177869, 7436, 9},  {30225731, 158, 26},  {30482726, 6587, 18},
    {30503459, 763, 8},   {30983655, 1556, 18}, {31285416, 5108, 12}, {31454687, 159, 127}, {31455017, 458, 67},
    {31640022, 2464, 30}, {31807122, 4009, 51}, {32627382, 1632, 9},  {32707961, 2567, 45}, {33079995, 730, 36},
    {33340075, 5108, 10}, {33534078, 2569, 7},
}};

/// Microseconds as the unit of time: integers, which doubles add exactly. Service: 2 ms, 50 us a token in and 20 ms a
/// token out.
std::vector<ServingRequest> in_microseconds(std::span<const Arrival> recorded) {
  std::vector<ServingRequest> out;
  for (const Arrival& a : recorded) {
    const double service_us = 2000 + 50 * static_cast<double>(a.input) + 20000 * static_cast<double>(a.output);
    out.push_back({static_cast<double>(a.at_us), service_us, static_cast<std::int32_t>(a.input),
                   static_cast<std::int32_t>(a.output)});
  }
  return out;
}

struct Waits {
  std::int64_t sum_us = 0, waited = 0, p50_us = 0, p90_us = 0, p99_us = 0, max_us = 0, last_departure_us = 0;
  double mean_s = 0, offered_load = 0;
};
Waits waits_of(const std::vector<ServingRequest>& requests, std::int64_t servers) {
  const ServingSetup setup{.policy = ServingPolicy::single, .servers = servers};
  const ServingRun run = simulate_serving(requests, setup);
  Waits out;
  std::vector<std::int64_t> waits;
  double service_us = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    waits.push_back(static_cast<std::int64_t>(run.served[i].start_s - requests[i].arrival_s));
    out.sum_us += waits.back();
    out.waited += waits.back() > 0;
    out.last_departure_us = std::max(out.last_departure_us, static_cast<std::int64_t>(run.served[i].finish_s));
    service_us += requests[i].service_s;
  }
  std::sort(waits.begin(), waits.end());
  const auto rank = [&](std::size_t percent) { return waits[(percent * waits.size() + 99) / 100 - 1]; };
  out.p50_us = rank(50);
  out.p90_us = rank(90);
  out.p99_us = rank(99);
  out.max_us = waits.back();
  out.mean_s = static_cast<double>(out.sum_us) / static_cast<double>(waits.size()) / 1e6;
  out.offered_load = service_us / (requests.back().arrival_s - requests.front().arrival_s);
  return out;
}

/// The folder of public workloads: RIDGELINE_WORKLOADS may name it.
std::filesystem::path workloads() { return support::public_folder("RIDGELINE_WORKLOADS", "shared/data/workloads"); }

}  // namespace

// Each request takes the server that is free first, worked out apart from this program with integers and a heap.
TEST_CASE("serving: the waits of recorded arrivals are right to the microsecond") {
  const auto requests = in_microseconds(azure_code);
  const Waits one = waits_of(requests, 1), two = waits_of(requests, 2), three = waits_of(requests, 3);
  CHECK(one.sum_us == 98'625'269);
  CHECK(one.waited == 30);
  CHECK(one.last_departure_us == 42'881'469);
  CHECK(two.sum_us == 23'628'699);
  CHECK(two.waited == 28);
  CHECK(two.last_departure_us == 36'260'357);
  CHECK(three.sum_us == 4'499'776);
  CHECK(three.waited == 14);
  CHECK(three.last_departure_us == 34'488'966);
}

TEST_CASE("serving: the whole Azure traces wait as worked out elsewhere, where the recordings are at hand") {
  if (workloads().empty()) SKIP("no folder of workloads");
  struct Case {
    const char* file;
    std::int64_t servers, sum_us, waited, p50_us, p90_us, p99_us, max_us, last_us;
    double mean_s, offered_load;
  };
  const char *code = "azure2023_code_0_2280s.csv.gz", *chat = "azure2023_conv_0_2340s.csv.gz";
  for (const Case& c :
       {Case{code, 2, 1298857188423, 7000, 202142932, 279259611, 307312450, 315382088, 2527904495, 185.1542678,
             2.017915324},
        Case{code, 3, 219797796006, 6818, 21192972, 78512197, 119834568, 129650585, 2285828206, 31.33254398,
             2.017915324},
        Case{code, 4, 110553167421, 6467, 9420760, 47046276, 66624102, 74917982, 2283280245, 15.75953919, 2.017915324},
        Case{chat, 24, 1028401548339, 13751, 72018846, 112983301, 120252787, 121956852, 2394184188, 74.19924591,
             24.18152032},
        Case{chat, 28, 11840956035, 5839, 0, 2832201, 8405483, 11883798, 2348728493, 0.8543258323, 24.18152032},
        Case{chat, 32, 2088022862, 2103, 0, 370374, 2648060, 4624068, 2348728493, 0.1506510001, 24.18152032}}) {
    const auto read = parse_requests(support::gunzipped_file(workloads() / c.file), 1'000'000);
    INFO(c.file << " on " << c.servers << " servers " << read.error);
    REQUIRE(read);
    std::vector<Arrival> rows;
    for (const ServingRequest& r : read->requests)
      rows.push_back({std::llround(r.arrival_s * 1e6), r.prompt_tokens, r.output_tokens});
    const Waits w = waits_of(in_microseconds(rows), c.servers);
    using Figures = std::array<std::int64_t, 7>;
    CHECK(Figures{w.sum_us, w.waited, w.p50_us, w.p90_us, w.p99_us, w.max_us, w.last_departure_us} ==
          Figures{c.sum_us, c.waited, c.p50_us, c.p90_us, c.p99_us, c.max_us, c.last_us});
    CHECK(near(w.mean_s, c.mean_s, 1e-9));
    CHECK(near(w.offered_load, c.offered_load, 1e-9));
  }
}

TEST_CASE("serving: every published workload with arrivals is read as it is") {
  if (workloads().empty()) SKIP("no folder of workloads");
  const auto read = [](const char* file) {
    auto out = parse_requests(support::gunzipped_file(workloads() / file), 1'000'000);
    INFO(file << ": " << out.error);
    REQUIRE(out);
    return *out;
  };
  const auto burst = read("burstgpt1_0_35000s.csv.gz");
  CHECK(burst.requests.size() == 253);
  CHECK(burst.failed == 11);
  CHECK(burst.requests[1].arrival_s == 40);
  const auto chat = read("mooncake_conversation_0_2400s.jsonl.gz");
  CHECK(chat.requests.size() == 7851);
  CHECK(chat.requests[1].prompt_tokens == 7322);
  CHECK(chat.requests[1].output_tokens == 490);
  CHECK(read("mooncake_synthetic_0_680s.jsonl.gz").requests[2].arrival_s == 0.04);
  CHECK(read("azure2023_code_0_2280s.csv.gz").requests.size() == 7015);
}

// The clock of the Azure traces counts in tenths of a microsecond, which seconds since 1970 cannot hold in a double.
TEST_CASE("serving: dates keep their tenths of microseconds, and arrival_s goes before a date") {
  const auto dated = parse_requests(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n"
      "2023-11-16 18:15:50.9951690,396,109\n2023-11-16 18:15:51.2224670,879,55\n",
      9);
  REQUIRE(dated);
  CHECK(std::abs(dated->requests[1].arrival_s - 4.314579) < 1e-12);
  CHECK(std::abs(dated->requests[2].arrival_s - 4.541877) < 1e-12);
  const auto both = parse_requests(
      "TIMESTAMP,ContextTokens,GeneratedTokens,arrival_s,input_tokens,output_tokens\n"
      "2023-11-16 18:15:46.6805900,1,1,0.000000,374,44\n2023-11-16 18:15:50.9951690,1,1,4.25,396,109\n",
      9);
  REQUIRE(both);
  CHECK(both->requests[1] == ServingRequest{4.25, 0, 396, 109});
}

TEST_CASE("serving: a request that got no token back is left out and counted") {
  const auto read = parse_requests(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n"
      "45,ChatGPT,0,0,0,Conversation log\n60,GPT-4,12,0,12,API log\n90,GPT-4,9,3,12,API log\n",
      9);
  REQUIRE(read);
  CHECK(read->requests.size() == 2);
  CHECK(read->failed == 2);
  CHECK(read->requests[1].arrival_s == 85);
}

TEST_CASE("serving: a line is a JSON object in the Mooncake traces, whose clock counts in milliseconds") {
  const auto read = parse_requests(
      "{\"timestamp\":27500,\"input_length\":6758,\"output_length\":500,\"hash_ids\":[0,1]}\n\n"
      "{\"timestamp\":30541,\"input_length\":7322,\"output_length\":490}\r\n"
      "{\"timestamp\":27500,\"input_length\":7236,\"output_length\":794}",
      9);
  REQUIRE(read);
  REQUIRE(read->requests.size() == 3);
  CHECK(read->requests[1] == ServingRequest{0, 0, 7236, 794});  // equal times keep the order of the file
  CHECK(near(read->requests[2].arrival_s, 3.041, 1e-12));
  const auto named = parse_requests(
      R"({"arrival_s":1.5,"input_tokens":3,"output_tokens":4,"timestamp":9,"input_length":9,"output_length":9})", 9);
  REQUIRE(named);
  CHECK(named->requests[0].output_tokens == 4);
  const std::string wanted = ": each line is an object with timestamp in milliseconds, input_length and output_length.";
  const auto error_of = [](std::string_view text) { return parse_requests(text, 1).error; };
  CHECK(error_of("{\"timestamp\":1,\"input_length\":2}") == "Line 1 of the arrivals has no output_length" + wanted);
  CHECK(error_of("{\"timestamp\":1,\"input_length\":2.5,\"output_length\":1}") ==
        "Line 1 of the arrivals has an input_length that is not a whole number from 0 to 1e6" + wanted);
  CHECK(error_of("{\"timestamp\":\"x\",\"input_length\":2,\"output_length\":1}") ==
        "Line 1 of the arrivals has a timestamp that is not a number from 0 on" + wanted);
  CHECK(error_of("{\"timestamp\":1,\n") == "Line 1 of the arrivals is no JSON object" + wanted);
  CHECK(error_of("{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}") ==
        "Line 1 of the arrivals nests more than 16 brackets" + wanted);
  const std::string one = "{\"timestamp\":1,\"input_length\":2,\"output_length\":1}\n";
  CHECK(error_of(one + one) == "The arrivals hold more than 1 requests: cut the file after line 1.");
}
