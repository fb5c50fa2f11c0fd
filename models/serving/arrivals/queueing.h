#pragma once
#include <cstdint>
#include <optional>

/// Queues that have a formula: what a simulation is held to. Times are in the unit of the service time.
namespace models {

/// Probability that an arrival waits in M/M/c at an offered load of `erlangs` = rate x mean service. Erlang 1917, by
/// the stable recursion B(k) = a B(k-1) / (k + a B(k-1)), C = B / (1 - (1 - B) a / c). Nothing unless 0 < a < c.
std::optional<double> erlang_c(std::int64_t servers, double erlangs);

/// Mean wait before service, seconds. M/M/c: C / (c / s - rate). Nothing when the queue has no steady state.
std::optional<double> mmc_wait_s(std::int64_t servers, double rate_per_s, double service_s);

/// Mean wait of M/G/1 with squared coefficient of variation `scv` of the service (1 exponential, 0 fixed): Pollaczek
/// 1930, Khinchin 1932.
std::optional<double> mg1_wait_s(double rate_per_s, double service_s, double scv);

/// Mean wait of GI/M/1 with gamma gaps of this coefficient of variation: sigma s / (1 - sigma), where sigma is the root
/// below 1 of sigma = E exp(-(1 - sigma) gap / s) (Kleinrock 1975, section 6.4). Nothing without a steady state.
std::optional<double> gamma_m1_wait_s(double rate_per_s, double service_s, double gap_cv);

}  // namespace models
