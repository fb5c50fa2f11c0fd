#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/serving/arrivals/arrival_stats.h"

/// Recorded requests and profiles of clients that come with the program.
namespace models {

/// Rows of the recordings as they are kept: "gap_us,prompt,output", parted by blanks and line feeds.
std::string_view azure_conversation_rows();
std::string_view azure_code_rows();
inline constexpr std::int64_t azure_conversation_window_us = 300'000'000, azure_code_window_us = 600'000'000;
std::vector<RequestArrival> sample_arrivals(std::string_view rows);

/// Rows of ServeGen's profiles; see servegen_rates.cpp and servegen_lengths.cpp.
std::string_view servegen_rate_rows();
std::string_view servegen_length_rows();

inline constexpr std::size_t servegen_clients = 5, servegen_windows = 144, servegen_quarters = 4;
inline constexpr std::int64_t servegen_window_us = 600'000'000, servegen_day_us = 144 * servegen_window_us;

/// One client of a service, over a day: a profile, from which requests are drawn.
struct ClientProfile {
  std::string_view name;
  std::vector<double> requests, cv;  ///< by window of ten minutes: expected requests, and how gaps vary
  /// By quarter of the day: mean lengths of shares of the requests, from the shortest on; see client_shares.
  std::vector<double> prompts[servegen_quarters], outputs[servegen_quarters];

  double requests_in_day() const;
  double mean_cv_active() const;  ///< over the windows with requests
  double mean_prompt(std::size_t quarter) const;
  double mean_output(std::size_t quarter) const;
};
/// Shares of the requests that the lengths of a profile stand for; they add up to 1.
const std::vector<double>& client_shares();
const ClientProfile& client_profile(std::size_t client);

/// A day of requests. Gaps are gamma times with the window's coefficient of variation, on a clock that runs as fast as
/// the window's rate, and begin in the middle of one, so that the expected number is the profile's. Lengths are those
/// of shares that are drawn; prompt and answer do not depend on each other, of which the profile says nothing.
std::vector<RequestArrival> draw_client_day(const ClientProfile& profile, std::uint64_t seed);

}  // namespace models
