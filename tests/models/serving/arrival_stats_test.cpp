// Figures of arrivals: against counts by hand, against figures of the recordings that were worked out apart from this
// program, and what a file of requests with bad rows gives.
#include "models/serving/arrivals/arrival_stats.h"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include "models/serving/arrivals/arrival_samples.h"
#include "tests/support/base/gzip.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using namespace models;

using support::near;

namespace {

constexpr double arrivals_exact = 2e-9;

struct ExpectedArrivals {
  const char* file;
  std::int64_t window_s, count, zero_gaps;
  double rate, gap_mean, gap_cv, dispersion_1s, dispersion_10s;
  std::int64_t peak_1s, empty_1s, peak_10s, empty_10s;
  std::array<std::int64_t, 3> prompt, output;
  double prompt_mean, output_mean;
};

void check_arrivals(const ArrivalFigures& f, const ExpectedArrivals& e) {
  CHECK(f.count == e.count);
  CHECK(f.window_s == static_cast<double>(e.window_s));
  CHECK(f.zero_gaps == e.zero_gaps);
  CHECK(near(f.rate_per_s, e.rate, arrivals_exact));
  CHECK(near(f.gap_mean_s, e.gap_mean, arrivals_exact));
  CHECK(near(f.gap_cv, e.gap_cv, arrivals_exact));
  CHECK(near(f.in_1s.index_of_dispersion, e.dispersion_1s, arrivals_exact));
  CHECK(near(f.in_10s.index_of_dispersion, e.dispersion_10s, arrivals_exact));
  CHECK(f.in_1s.peak == e.peak_1s);
  CHECK(f.in_1s.empty_bins == e.empty_1s);
  CHECK(f.in_10s.peak == e.peak_10s);
  CHECK(f.in_10s.empty_bins == e.empty_10s);
  CHECK(std::array{f.prompt.p50, f.prompt.p90, f.prompt.p99} == e.prompt);
  CHECK(std::array{f.output.p50, f.output.p90, f.output.p99} == e.output);
  CHECK(near(f.prompt.mean, e.prompt_mean, arrivals_exact));
  CHECK(near(f.output.mean, e.output_mean, arrivals_exact));
}

std::filesystem::path arrival_recordings() {
  return support::public_folder("RIDGELINE_WORKLOADS", "shared/data/workloads");
}

}  // namespace

TEST_CASE("arrivals: gaps, bins and ranks by hand") {
  // Seconds 0, 0, 1.5, 2.999999 and 21 in a window of 30 s; the one at 31 lies behind it.
  const std::array<RequestArrival, 6> a{
      {{0, 10, 1}, {0, 20, 2}, {1'500'000, 30, 3}, {2'999'999, 40, 0}, {21'000'000, 50, 5}, {31'000'000, 60, 6}}};
  const ArrivalFigures f = arrival_figures(a, 30'000'000);
  CHECK(f.count == 5);
  CHECK(f.failed == 1);
  CHECK(f.zero_gaps == 1);
  CHECK(near(f.gap_mean_s, 21.0 / 4, 1e-12));
  // Counts of 10 s: 4, 0, 1. Mean 5/3, mean square 17/3: variance 26/9.
  CHECK(near(f.in_10s.index_of_dispersion, (17.0 / 3 - 25.0 / 9) / (5.0 / 3), 1e-12));
  CHECK(f.in_10s.empty_bins == 1);
  CHECK(f.in_1s.peak == 2);
  CHECK(f.prompt.p50 == 30);  // place ceil(2.5) = 3
  CHECK(f.prompt.p90 == 50);
  CHECK(f.output.sum == 11);
  CHECK(busiest_rate_per_s(a, 30'000'000, 10'000'000) == 0.4);
  CHECK(window_of_arrivals(a) == 40'000'000);
  CHECK(std::isnan(arrival_figures(std::span(a).first(1), 30'000'000).gap_cv));
  CHECK(std::isnan(arrival_figures(a, 500'000).in_1s.index_of_dispersion));
}

TEST_CASE("arrivals: the recordings that come with the program have the figures of their source") {
  check_arrivals(arrival_figures(sample_arrivals(azure_conversation_rows()), azure_conversation_window_us),
                 {"",
                  300,
                  1445,
                  0,
                  1445.0 / 300,
                  0.20767590997229918,
                  1.1924612947003772,
                  1.3210495963091116,
                  3.3869665513264113,
                  12,
                  5,
                  70,
                  0,
                  {1012, 1847, 4100},
                  {217, 429, 594},
                  1057.278892733564,
                  254.02768166089965});
  check_arrivals(arrival_figures(sample_arrivals(azure_code_rows()), azure_code_window_us), {"",
                                                                                             600,
                                                                                             1482,
                                                                                             0,
                                                                                             2.47,
                                                                                             0.3956132977717758,
                                                                                             12.144027075472412,
                                                                                             14.941605937921647,
                                                                                             84.64008097165987,
                                                                                             41,
                                                                                             456,
                                                                                             234,
                                                                                             35,
                                                                                             {1421, 5479, 7436},
                                                                                             {13, 54, 253},
                                                                                             2076.9790823211874,
                                                                                             27.42847503373819});
}

TEST_CASE("arrivals: the whole recordings have the figures of their source, where they are at hand") {
  if (arrival_recordings().empty()) SKIP("no folder of workloads");
  for (const ExpectedArrivals& e : {ExpectedArrivals{"azure2023_code_0_2280s.csv.gz",
                                                     2280,
                                                     7015,
                                                     0,
                                                     3.076754386,
                                                     0.3250631727,
                                                     12.64183746,
                                                     13.10043735,
                                                     70.14977617,
                                                     67,
                                                     1562,
                                                     327,
                                                     112,
                                                     {1462, 5059, 7436},
                                                     {13, 55, 249},
                                                     2033.194583,
                                                     27.60983607},
                                    ExpectedArrivals{"azure2023_conv_0_2340s.csv.gz",
                                                     2340,
                                                     13860,
                                                     0,
                                                     5.923076923,
                                                     0.1688292406,
                                                     1.07942315,
                                                     1.335220335,
                                                     3.500111,
                                                     16,
                                                     9,
                                                     98,
                                                     0,
                                                     {1016, 4075, 4122},
                                                     {115, 421, 598},
                                                     1202.638889,
                                                     201.0060606},
                                    ExpectedArrivals{"burstgpt1_0_35000s.csv.gz",
                                                     35000,
                                                     264,
                                                     3,
                                                     0.007542857143,
                                                     133.0418251,
                                                     3.910250484,
                                                     1.015184416,
                                                     1.129116883,
                                                     2,
                                                     34739,
                                                     3,
                                                     3260,
                                                     {417, 1524, 1956},
                                                     {245, 541, 1656},
                                                     585.4583333,
                                                     284.7386364},
                                    ExpectedArrivals{"mooncake_conversation_0_2400s.jsonl.gz",
                                                     2400,
                                                     7851,
                                                     7051,
                                                     3.27125,
                                                     0.3053503185,
                                                     2.970653372,
                                                     7.659459464,
                                                     2.04039772,
                                                     23,
                                                     1600,
                                                     56,
                                                     0,
                                                     {7284, 27991, 89869},
                                                     {356, 606, 1170},
                                                     12427.96077,
                                                     347.0771876},
                                    ExpectedArrivals{"mooncake_synthetic_0_680s.jsonl.gz",
                                                     680,
                                                     2597,
                                                     10,
                                                     3.819117647,
                                                     0.261827812,
                                                     1.014225078,
                                                     1.089238148,
                                                     1.213136198,
                                                     12,
                                                     22,
                                                     55,
                                                     0,
                                                     {5824, 36762, 60161},
                                                     {135, 436, 777},
                                                     13190.69272,
                                                     183.948402}}) {
    INFO(e.file);
    const auto read = read_arrivals(support::gunzipped_file(arrival_recordings() / e.file), 1'000'000);
    REQUIRE(read);
    CHECK(read->rows_left_out == 0);
    CHECK(window_of_arrivals(read->arrivals) == e.window_s * 1'000'000);
    const ArrivalFigures f = arrival_figures(read->arrivals, e.window_s * 1'000'000);
    check_arrivals(f, e);
    CHECK(f.failed == (e.count == 264 ? 11 : 0));
  }
}

TEST_CASE("arrivals: a row that cannot be read is left out and named by its line, and the clock of the file stays") {
  const auto read =
      read_arrivals("arrival_s,input_tokens,output_tokens\n5.000001,100,20\n9,x,1\n12.5,0,0\n7,30,4\n", 100);
  REQUIRE(read);
  CHECK(read->rows_left_out == 1);
  CHECK(read->first_fault.starts_with("Line 3 of the arrivals has the prompt \"x\""));
  CHECK(read->arrivals == std::vector<RequestArrival>{{5'000'001, 100, 20}, {7'000'000, 30, 4}, {12'500'000, 0, 0}});
  // A clock that began long before, and dates, count from the first request.
  CHECK(read_arrivals("1700000000,10,2\n1700000001.5,10,2\n", 9)->arrivals.back().at_us == 1'500'000);
  CHECK(read_arrivals("time,prompt,output\n2023-11-16 18:15:46.5,1,2\n2023-11-16 18:15:47,3,4\n", 9)
            ->arrivals.front()
            .at_us == 0);
  const auto lines = read_arrivals("{\"timestamp\": 1500, \"input_length\": 5, \"output_length\": 6}\n[]\n", 9);
  REQUIRE(lines);
  CHECK(lines->arrivals.front().at_us == 1'500'000);
  CHECK(lines->first_fault.starts_with("Line 2 of the arrivals is no JSON object"));
  CHECK(read_arrivals("1,two,3\n", 9).error.starts_with("Line 1 of the arrivals has the prompt \"two\""));
  CHECK(read_arrivals("", 9).error.starts_with("The arrivals hold no request"));
}

// ServeGen's five clients: what oracles beside the profile say of a day, and what a drawn day comes to.
TEST_CASE("arrivals: a client's profile has its counts and means, and a drawn day has them within what chance leaves") {
  struct Case {
    std::string_view name;
    double requests, mean_cv;
    std::array<double, 4> prompt, output;
  };
  const std::array<Case, 5> cases{{
      {"deepseek-r1-5",
       16558,
       1.163434614,
       {1217.259269, 952.5745489, 300.0046719, 83.17624274},
       {2695.384496, 2545.317506, 1140.414585, 1104.34603}},
      {"deepseek-r1-20",
       13376,
       1.041554875,
       {2136.061466, 2134.930812, 2172.036814, 2135.34973},
       {992.3093063, 981.7417275, 995.3946892, 1030.76973}},
      {"deepseek-r1-66",
       41230,
       1.913043218,
       {77.91256471, 73.38403893, 75.27677888, 75.53139558},
       {9387.443482, 7769.737713, 8072.910482, 8596.315374}},
      {"m-large-0",
       54126,
       8.389990218,
       {427.5322301, 353.3185102, 307.0053904, 337.9813601},
       {147.4685579, 110.8337493, 104.0124505, 112.5791982}},
      {"m-large-113",
       85102,
       2.338820321,
       {1891.316187, 1666.492651, 1365.518202, 913.3464136},
       {132.0007078, 131.0332675, 123.3219747, 37.38565455}},
  }};
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const ClientProfile& profile = client_profile(c);
    INFO(cases[c].name);
    CHECK(profile.name == cases[c].name);
    CHECK(profile.requests_in_day() == cases[c].requests);
    CHECK(near(profile.mean_cv_active(), cases[c].mean_cv, 1e-4));
    for (std::size_t q = 0; q < 4; ++q) {
      CHECK(near(profile.mean_prompt(q), cases[c].prompt[q], 1e-3));
      CHECK(near(profile.mean_output(q), cases[c].output[q], 1e-3));
    }
    // Counts of a renewal process vary with the square of its gaps' variation; five standard deviations are allowed.
    double variance = 0;
    for (std::size_t w = 0; w < servegen_windows; ++w) variance += profile.requests[w] * profile.cv[w] * profile.cv[w];
    const auto day = draw_client_day(profile, 7);
    CHECK(std::abs(static_cast<double>(day.size()) - cases[c].requests) < 5 * std::sqrt(variance));
    std::array<double, 4> sum{}, square{}, number{};
    std::int64_t before_us = 0;
    for (const RequestArrival& a : day) {
      REQUIRE(a.at_us >= before_us);
      before_us = a.at_us;
      const auto q = static_cast<std::size_t>(a.at_us / (servegen_day_us / 4));
      const auto tokens = static_cast<double>(a.prompt_tokens);
      sum[q] += tokens;
      square[q] += tokens * tokens;
      ++number[q];
    }
    for (std::size_t q = 0; q < 4; ++q) {
      if (number[q] < 100) continue;
      const double mean = sum[q] / number[q], deviation = std::sqrt(square[q] / number[q] - mean * mean);
      // Lengths are rounded to whole tokens.
      CHECK(std::abs(mean - cases[c].prompt[q]) < 5 * deviation / std::sqrt(number[q]) + 0.5);
    }
    CHECK(day == draw_client_day(profile, 7));
  }
}
