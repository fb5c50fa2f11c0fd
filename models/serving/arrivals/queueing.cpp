#include "models/serving/arrivals/queueing.h"

#include <cmath>

namespace models {

std::optional<double> erlang_c(std::int64_t servers, double erlangs) {
  const double c = static_cast<double>(servers);
  if (!(servers >= 1 && erlangs > 0 && erlangs < c)) return std::nullopt;
  double blocked = 1;
  for (double k = 1; k <= c; ++k) blocked = erlangs * blocked / (k + erlangs * blocked);
  return blocked / (1 - (1 - blocked) * erlangs / c);
}

std::optional<double> mmc_wait_s(std::int64_t servers, double rate_per_s, double service_s) {
  const auto waits = erlang_c(servers, rate_per_s * service_s);
  if (!waits) return std::nullopt;
  return *waits / (static_cast<double>(servers) / service_s - rate_per_s);
}

std::optional<double> mg1_wait_s(double rate_per_s, double service_s, double scv) {
  const double load = rate_per_s * service_s;
  if (!(load > 0 && load < 1 && scv >= 0)) return std::nullopt;
  return load * service_s * (1 + scv) / (2 * (1 - load));
}

std::optional<double> gamma_m1_wait_s(double rate_per_s, double service_s, double gap_cv) {
  const double load = rate_per_s * service_s, scv = gap_cv * gap_cv;
  if (!(load > 0 && load < 1 && gap_cv > 0)) return std::nullopt;
  // sigma - transform(sigma) is below 0 at 0, above 0 just under 1, and has one root between.
  double lo = 0, hi = 1;
  for (int i = 0; i < 100; ++i) {
    const double sigma = (lo + hi) / 2, transform = std::pow(1 + (1 - sigma) * scv / load, -1 / scv);
    (transform > sigma ? lo : hi) = sigma;
  }
  return lo * service_s / (1 - lo);
}

}  // namespace models
