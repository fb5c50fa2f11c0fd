#include "models/debugging/search_group.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace models::debugging {
namespace {

/// Less than this is a sum's rounding, not a chance.
constexpr double no_group_chance = 1e-13;

Known with_miss(Known known, std::size_t k) {
  known.missed |= std::uint32_t{1} << k;
  return known;
}

Known with_finding(Known known, std::size_t k) {
  known.pointed |= std::uint32_t{1} << k;
  return known;
}

double all_of(std::span<const double> left) { return std::accumulate(left.begin(), left.end(), 0.0); }

/// The part of what is left that a check finds.
double found_by(const Check& check, std::span<const double> left) {
  double found = 0;
  for (std::size_t i = 0; i < left.size(); ++i) found += left[i] * check.sees[i];
  return found;
}

}  // namespace

std::vector<double> left_with(const SearchCase& c, Known known) {
  std::vector<double> left;
  left.reserve(c.causes.size());
  for (std::size_t i = 0; i < c.causes.size(); ++i) {
    double p = c.causes[i].likelihood;
    for (std::size_t k = 0; k < c.checks.size(); ++k) {
      if (known.missed >> k & 1) p *= 1 - c.checks[k].sees[i];
      if (known.pointed >> k & 1) p *= c.checks[k].sees[i];
    }
    left.push_back(p);
  }
  return left;
}

std::size_t possible(std::span<const double> left) {
  return static_cast<std::size_t>(
      std::count_if(left.begin(), left.end(), [](double p) { return p > no_group_chance; }));
}

/// A check that points helps only where it clears one of those that are left.
bool GroupPlans::helps(std::size_t k, std::span<const double> left) const {
  const Check& check = case_.checks[k];
  if (found_by(check, left) <= no_group_chance) return false;
  if (!check.points) return true;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i] > no_group_chance && check.sees[i] <= 0) return true;
  return false;
}

const GroupPlans::Plan& GroupPlans::plan(Known known) {
  const std::uint64_t key = std::uint64_t{known.pointed} << 32 | known.missed;
  if (const auto at = plans_.find(key); at != plans_.end()) return at->second;
  const std::vector<double> left = left_with(case_, known);
  Plan best;
  if (possible(left) > 1) {
    const double all = all_of(left);
    best.minutes = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < case_.checks.size(); ++k) {
      const Check& check = case_.checks[k];
      if (known.ran(k) || !helps(k, left)) continue;
      double minutes = check.minutes * all + case_.chased() * (all - found_by(check, left));
      minutes += plan(with_miss(known, k)).minutes;
      if (check.points) minutes += plan(with_finding(known, k)).minutes;
      if (minutes < best.minutes - 1e-12) best = {minutes, static_cast<int>(k)};
    }
    if (best.next < 0) best.minutes = case_.escalation_minutes * all;
  }
  return plans_.emplace(key, best).first->second;
}

double GroupPlans::runs(Known known, std::size_t check) {
  const int next = plan(known).next;
  if (next < 0) return 0;
  const auto k = static_cast<std::size_t>(next);
  if (k == check) return all_of(left_with(case_, known));
  return runs(with_miss(known, k), check) + (case_.checks[k].points ? runs(with_finding(known, k), check) : 0);
}

void GroupPlans::follow(Known known, double clock, const std::vector<double>& reached, std::vector<double>& minutes,
                        std::vector<double>& missed) {
  const int next = plan(known).next;
  if (next < 0) {
    const bool found = possible(left_with(case_, known)) <= 1;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      minutes[i] += reached[i] * (found ? clock : clock + case_.escalation_minutes);
      if (!found) missed[i] += reached[i];
    }
    return;
  }
  const auto k = static_cast<std::size_t>(next);
  const Check& check = case_.checks[k];
  const double end = clock + check.minutes;
  std::vector<double> hit(reached), miss(reached);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    hit[i] *= check.sees[i];
    miss[i] *= 1 - check.sees[i];
    if (!check.points) minutes[i] += hit[i] * end;
  }
  if (check.points) follow(with_finding(known, k), end, hit, minutes, missed);
  follow(with_miss(known, k), end + case_.chased(), miss, minutes, missed);
}

}  // namespace models::debugging
