#include "models/fleet/token_cost.h"

#include <algorithm>

namespace models::fleet {

double dollars_per_million_tokens(double price_per_hour, double tokens_per_s) {
  return price_per_hour / (3600 * tokens_per_s) * 1e6;
}

double kwh_per_million_tokens(double power_w, double pue, double tokens_per_s) {
  return power_w * pue / (3.6e6 * tokens_per_s) * 1e6;
}

PriceParts price_parts(const PaidHour& hour) {
  const double all = hour.dollars_per_million(), busy = all * hour.filled, step = hour.step_s();
  PriceParts parts{.empty = all * (1 - hour.filled)};
  if (hour.computes()) {
    parts.computing = busy * hour.compute_s / step;
  } else {
    parts.weights = busy * hour.weights_s / step;
    parts.cache = busy * hour.cache_s / step;
  }
  parts.not_reached = busy * (1 - hour.reach);
  return parts;
}

PaidHour pull(const PaidHour& hour, const PriceLever& lever) {
  PaidHour pulled = hour;
  pulled.weights_s *= lever.weights;
  pulled.cache_s *= lever.cache * lever.tokens;
  pulled.compute_s *= lever.compute * lever.tokens;
  pulled.tokens_per_step *= lever.tokens;
  pulled.filled = std::clamp(hour.filled + lever.filled, 0.0, 1.0);
  pulled.reach = std::clamp(hour.reach + lever.reach, 0.0, 1.0);
  return pulled;
}

}  // namespace models::fleet
