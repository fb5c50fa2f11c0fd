#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/serving/arrivals/serving_requests.h"

/// What recorded or drawn arrivals are like: how many, how bursty, how long.
namespace models {

/// One request as it was recorded: whole microseconds since the window began. 0 tokens out: it failed.
struct RequestArrival {
  std::int64_t at_us = 0, prompt_tokens = 0, output_tokens = 0;
  bool operator==(const RequestArrival&) const = default;
};

/// Percentiles by nearest rank: the value at place ceil(p n / 100) of the sorted list, counted from 1.
struct LengthFigures {
  std::int64_t sum = 0, p50 = 0, p90 = 0, p99 = 0, min = 0, max = 0;
  double mean = 0;
};

/// Arrivals counted in bins of equal length.
struct CountFigures {
  double index_of_dispersion = 0;  ///< population variance over mean: 1 for Poisson arrivals; NaN without a whole bin
  std::int64_t peak = 0, empty_bins = 0, bins = 0;
};

struct ArrivalFigures {
  std::int64_t count = 0, failed = 0, zero_gaps = 0;
  double window_s = 0, rate_per_s = 0;  ///< rate: count / window
  double gap_mean_s = 0, gap_cv = 0;    ///< differences between neighbours; NaN for fewer than two
  CountFigures in_1s, in_10s;           ///< bins [k w, (k + 1) w) that lie wholly in the window
  LengthFigures prompt, output;
};

/// Figures of arrivals that are sorted by time, in the window [0, window_us); those behind it are left out.
ArrivalFigures arrival_figures(std::span<const RequestArrival> arrivals, std::int64_t window_us);

/// The same arrivals counted in bins of any length.
CountFigures arrivals_in_bins(std::span<const RequestArrival> arrivals, std::int64_t window_us, std::int64_t bin_us);

/// Arrivals a second in the fullest stretch of this length; stretches begin at multiples of a tenth of it.
double busiest_rate_per_s(std::span<const RequestArrival> arrivals, std::int64_t window_us, std::int64_t stretch_us);

/// Where a window ends of which nobody says so: at the next multiple of ten seconds behind the last arrival.
std::int64_t window_of_arrivals(std::span<const RequestArrival> arrivals);

/// What a file of requests gives.
struct ArrivalFile {
  std::vector<RequestArrival> arrivals;
  std::int64_t rows_left_out = 0;
  std::string first_fault;  ///< what is wrong with the first of these, and in which line
};

/// The formats of parse_requests. Rows that cannot be read are left out and counted; failed requests stay, with 0
/// tokens out. Times count from the file's own zero where its first request comes within ten minutes of it, else (and
/// for dates) from the first request. The error is one sentence: no row can be read, or there are more than `most`.
Result<ArrivalFile> read_arrivals(std::string_view text, std::size_t most);

}  // namespace models
