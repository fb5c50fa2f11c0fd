#pragma once
#include <cstdint>

/// What a million tokens cost in dollars, energy and carbon, and what the hour that was paid for was spent on.
namespace models::fleet {

/// Dollars for a million tokens: price / (3600 rate) x 10^6. `tokens_per_s` is over all hours that are paid.
double dollars_per_million_tokens(double price_per_hour, double tokens_per_s);
/// Kilowatt-hours for a million tokens: power x PUE / (3.6e6 rate) x 10^6. PUE is power of the data centre over that of
/// the machines.
double kwh_per_million_tokens(double power_w, double pue, double tokens_per_s);
/// Kilograms of CO2 equivalent for so many kilowatt-hours.
inline double kg_co2(double kwh, double carbon_g_per_kwh) { return kwh * carbon_g_per_kwh / 1000; }

/// An hour that is paid for, and the steps that fill it. A step reads weights and cache, and computes under that: its
/// bound is the longer of both, and it reaches a share of it.
struct PaidHour {
  double price_per_hour = 0;
  double filled = 1;                                 ///< share of the hour in which steps run, 0 to 1
  double reach = 1;                                  ///< bound / step, 0 to 1
  double weights_s = 0, cache_s = 0, compute_s = 0;  ///< one step at full bandwidth and at full peak
  double tokens_per_step = 1;

  bool computes() const { return compute_s > weights_s + cache_s; }
  double bound_s() const { return computes() ? compute_s : weights_s + cache_s; }
  double step_s() const { return bound_s() / reach; }
  double busy_tokens_per_s() const { return tokens_per_step / step_s(); }
  double tokens_per_s() const { return filled * busy_tokens_per_s(); }
  double dollars_per_million() const { return dollars_per_million_tokens(price_per_hour, tokens_per_s()); }
};

/// The price of a million tokens by cause, in dollars; the parts sum to the price.
struct PriceParts {
  double weights = 0, cache = 0, computing = 0;  ///< at full bandwidth or at full peak; the shorter is hidden, and 0
  double not_reached = 0;                        ///< time of the steps beyond their bound
  double empty = 0;                              ///< hours in which nothing ran
};
PriceParts price_parts(const PaidHour& hour);

/// A change of an hour: factors of what a step moves and computes, of the tokens in a step, and of its bounds.
struct PriceLever {
  double weights = 1, cache = 1, compute = 1;
  double tokens = 1;             ///< more of them in a step: cache and arithmetic grow with them, weights do not
  double filled = 0, reach = 0;  ///< added to the shares, which stay at most 1
};
PaidHour pull(const PaidHour& hour, const PriceLever& lever);

}  // namespace models::fleet
