#include "models/serving/arrivals/arrival_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace models {
namespace {

constexpr double arrivals_none = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t arrivals_second_us = 1'000'000;

std::span<const RequestArrival> arrivals_inside(std::span<const RequestArrival> arrivals, std::int64_t window_us) {
  const auto end = std::lower_bound(arrivals.begin(), arrivals.end(), window_us,
                                    [](const RequestArrival& a, std::int64_t until_us) { return a.at_us < until_us; });
  return arrivals.first(static_cast<std::size_t>(end - arrivals.begin()));
}

LengthFigures arrival_lengths_of(std::vector<std::int64_t> values) {
  LengthFigures out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  for (const std::int64_t v : values) out.sum += v;
  out.mean = static_cast<double>(out.sum) / static_cast<double>(values.size());
  const auto rank = [&](std::size_t percent) { return values[(percent * values.size() + 99) / 100 - 1]; };
  out.p50 = rank(50);
  out.p90 = rank(90);
  out.p99 = rank(99);
  out.min = values.front();
  out.max = values.back();
  return out;
}

CountFigures arrival_counts_of(std::span<const RequestArrival> arrivals, std::int64_t window_us, std::int64_t bin_us) {
  CountFigures out{.index_of_dispersion = arrivals_none, .bins = window_us / bin_us};
  if (out.bins == 0) return out;
  // Bins without an arrival are not written down: a week of seconds would be as long as the file.
  double square = 0;
  std::int64_t counted = 0, taken = 0;
  for (std::size_t i = 0; i < arrivals.size();) {
    const std::int64_t bin = arrivals[i].at_us / bin_us;
    std::int64_t in_bin = 0;
    while (i < arrivals.size() && arrivals[i].at_us / bin_us == bin) {
      ++in_bin;
      ++i;
    }
    if (bin >= out.bins) break;
    ++taken;
    counted += in_bin;
    out.peak = std::max(out.peak, in_bin);
    square += static_cast<double>(in_bin) * static_cast<double>(in_bin);
  }
  out.empty_bins = out.bins - taken;
  const double bins = static_cast<double>(out.bins), mean = static_cast<double>(counted) / bins;
  if (mean > 0) out.index_of_dispersion = (square / bins - mean * mean) / mean;
  return out;
}

}  // namespace

ArrivalFigures arrival_figures(std::span<const RequestArrival> all, std::int64_t window_us) {
  const auto arrivals = arrivals_inside(all, window_us);
  ArrivalFigures out;
  out.count = static_cast<std::int64_t>(arrivals.size());
  out.window_s = static_cast<double>(window_us) / 1e6;
  out.rate_per_s = static_cast<double>(out.count) / out.window_s;
  std::vector<std::int64_t> prompts, outputs;
  for (const RequestArrival& a : arrivals) {
    prompts.push_back(a.prompt_tokens);
    outputs.push_back(a.output_tokens);
    out.failed += a.output_tokens == 0;
  }
  out.prompt = arrival_lengths_of(std::move(prompts));
  out.output = arrival_lengths_of(std::move(outputs));
  out.in_1s = arrival_counts_of(arrivals, window_us, arrivals_second_us);
  out.in_10s = arrival_counts_of(arrivals, window_us, 10 * arrivals_second_us);
  out.gap_mean_s = out.gap_cv = arrivals_none;
  if (out.count < 2) return out;
  const double gaps = static_cast<double>(out.count - 1),
               mean_us = static_cast<double>(arrivals.back().at_us - arrivals.front().at_us) / gaps;
  double square = 0;
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    const auto gap_us = static_cast<double>(arrivals[i].at_us - arrivals[i - 1].at_us);
    square += (gap_us - mean_us) * (gap_us - mean_us);
    out.zero_gaps += gap_us == 0;
  }
  out.gap_mean_s = mean_us / 1e6;
  if (mean_us > 0) out.gap_cv = std::sqrt(square / gaps) / mean_us;
  return out;
}

CountFigures arrivals_in_bins(std::span<const RequestArrival> all, std::int64_t window_us, std::int64_t bin_us) {
  return arrival_counts_of(arrivals_inside(all, window_us), window_us, bin_us);
}

double busiest_rate_per_s(std::span<const RequestArrival> all, std::int64_t window_us, std::int64_t stretch_us) {
  const auto arrivals = arrivals_inside(all, window_us);
  stretch_us = std::min(stretch_us, window_us);
  const std::int64_t step_us = std::max<std::int64_t>(1, stretch_us / 10);
  std::size_t first = 0, end = 0, most = 0;
  for (const RequestArrival& a : arrivals) {
    const std::int64_t begin_us = std::clamp<std::int64_t>(a.at_us / step_us * step_us, 0, window_us - stretch_us);
    while (first < arrivals.size() && arrivals[first].at_us < begin_us) ++first;
    while (end < arrivals.size() && arrivals[end].at_us < begin_us + stretch_us) ++end;
    most = std::max(most, end - first);
  }
  return static_cast<double>(most) / (static_cast<double>(stretch_us) / 1e6);
}

std::int64_t window_of_arrivals(std::span<const RequestArrival> arrivals) {
  constexpr std::int64_t tens_us = 10 * arrivals_second_us;
  return arrivals.empty() ? tens_us : (arrivals.back().at_us / tens_us + 1) * tens_us;
}

Result<ArrivalFile> read_arrivals(std::string_view text, std::size_t most) {
  using Outcome = Result<ArrivalFile>;
  constexpr double own_zero_within_s = 600;
  auto read = parse_requests(text, most, {.skip_bad_rows = true, .keep_failed = true, .keep_clock = true});
  if (!read) return Outcome::fail(std::move(read.error));
  ArrivalFile out;
  out.rows_left_out = read->bad_rows;
  out.first_fault = std::move(read->first_fault);
  const double first_s = read->requests.front().arrival_s,
               zero_s = read->dated || first_s >= own_zero_within_s ? first_s : 0;
  out.arrivals.reserve(read->requests.size());
  for (const ServingRequest& r : read->requests)
    out.arrivals.push_back({std::llround((r.arrival_s - zero_s) * 1e6), r.prompt_tokens, r.output_tokens});
  return Outcome::ok(std::move(out));
}

}  // namespace models
