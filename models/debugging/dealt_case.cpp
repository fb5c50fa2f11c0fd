#include <algorithm>
#include <cmath>

#include "models/base/counter_random.h"
#include "models/debugging/search_cases.h"

namespace models::debugging {

std::size_t cause_of_draw(const SearchCase& c, double draw) {
  std::size_t i = 0;
  while (i + 1 < c.causes.size() && draw >= c.causes[i].likelihood) draw -= c.causes[i++].likelihood;
  return i;
}

DealtCase deal_case(std::int64_t seed) {
  const auto& cases = fixed_cases();
  const std::uint64_t stream = random_stream(seed, 26);
  const FixedCase& from = cases[counter_hash(stream, 0) % cases.size()];
  DealtCase dealt{.name = from.name, .symptom = from.symptom, .prior = from.prior, .search = from.search};
  SearchCase& c = dealt.search;
  double all = 0;
  for (std::size_t i = 0; i < c.causes.size(); ++i) {
    c.causes[i].likelihood *= std::exp(0.7 * normal_draw(stream, 100 + i));
    all += c.causes[i].likelihood;
  }
  for (Cause& cause : c.causes) cause.likelihood /= all;
  for (std::size_t k = 0; k < c.checks.size(); ++k) {
    double& minutes = c.checks[k].minutes;
    minutes = std::max(1.0, std::round(minutes * std::exp(0.5 * normal_draw(stream, 200 + k))));
    dealt.check_draws.push_back(unit_draw(stream, 300 + k));
    dealt.alarm_draws.push_back(unit_draw(stream, 400 + k));
  }
  dealt.cause_draw = unit_draw(stream, 1);
  return dealt;
}

}  // namespace models::debugging
