#include "models/debugging/search_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/base/counter_random.h"
#include "models/debugging/search_group.h"

namespace models::debugging {
namespace {

/// Less than this is a sum's rounding, not a chance.
constexpr double no_chance = 1e-13;

double sum_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::vector<double> likelihoods(const SearchCase& c) {
  std::vector<double> left;
  left.reserve(c.causes.size());
  for (const Cause& cause : c.causes) left.push_back(cause.likelihood);
  return left;
}

/// What a check would find of what is left.
double convicts(const Check& check, std::span<const double> left) {
  double found = 0;
  for (std::size_t i = 0; i < left.size(); ++i) found += left[i] * check.sees[i];
  return found;
}

void miss(const Check& check, std::span<double> left) {
  for (std::size_t i = 0; i < left.size(); ++i) left[i] *= 1 - check.sees[i];
}

/// The probability that a cause is left after each set of checks.
std::vector<double> survival(const SearchCase& c) {
  const std::size_t sets = std::size_t{1} << c.checks.size();
  std::vector<double> left(sets, 0.0), one(sets);
  for (std::size_t i = 0; i < c.causes.size(); ++i) {
    one[0] = c.causes[i].likelihood;
    for (std::size_t k = 0; k < c.checks.size(); ++k)
      for (std::size_t set = 0; set < std::size_t{1} << k; ++set)
        one[set | std::size_t{1} << k] = one[set] * (1 - c.checks[k].sees[i]);
    for (std::size_t set = 0; set < sets; ++set) left[set] += one[set];
  }
  return left;
}

/// What is known when all checks of a set have missed and one has pointed.
Known pointed_at(std::size_t missed, std::size_t check) {
  return {.missed = static_cast<std::uint32_t>(missed), .pointed = std::uint32_t{1} << check};
}

/// The least expected minutes from each set of checks that have missed, and the check to run next.
struct Plan {
  std::vector<double> minutes;
  std::vector<std::uint8_t> next;
};

/// `not_first`: a check that may not be the first; none where it is beyond the last.
Plan plan_of(const SearchCase& c, std::span<const double> left, std::size_t not_first, GroupPlans& groups) {
  const std::size_t checks = c.checks.size(), sets = left.size();
  Plan plan{std::vector<double>(sets), std::vector<std::uint8_t>(sets)};
  plan.minutes[sets - 1] = c.escalation_minutes * left[sets - 1];
  for (std::size_t set = sets - 1; set-- > 0;) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < checks; ++k) {
      const std::size_t then = set | std::size_t{1} << k;
      if (then == set || (set == 0 && k == not_first)) continue;
      const bool runs = left[set] - left[then] > no_chance;
      double minutes = plan.minutes[then] + (runs ? c.checks[k].minutes * left[set] + c.chased() * left[then] : 0);
      if (runs && c.checks[k].points) minutes += groups.plan(pointed_at(set, k)).minutes;
      if (minutes < best - 1e-12) {
        best = minutes;
        plan.next[set] = static_cast<std::uint8_t>(k);
      }
    }
    plan.minutes[set] = best;
  }
  return plan;
}

/// Some chance to convict, and of a check that points none.
double convicted_by(const Check& check, std::span<const double> left) {
  return check.points ? 0 : convicts(check, left);
}

CheckOrder order_of(const Plan& plan) {
  CheckOrder order;
  for (std::size_t set = 0; set + 1 < plan.next.size(); set |= std::size_t{1} << order.back())
    order.push_back(plan.next[set]);
  return order;
}

/// Each next check is the one of which `worth`, given what is left, is largest; ties go to the cheaper, then the first.
template <class Worth>
CheckOrder each_best(const SearchCase& c, const Worth& worth) {
  std::vector<double> left = likelihoods(c);
  CheckOrder order, rest(c.checks.size());
  std::iota(rest.begin(), rest.end(), std::uint8_t{0});
  while (!rest.empty()) {
    auto best = rest.begin();
    double most = -1;
    for (auto at = rest.begin(); at != rest.end(); ++at) {
      const double w = worth(c.checks[*at], left);
      const double slack = 1e-12 * std::max(1.0, std::abs(most));
      if (w > most + slack || (w > most - slack && c.checks[*at].minutes < c.checks[*best].minutes)) {
        best = at;
        most = w;
      }
    }
    miss(c.checks[*best], left);
    order.push_back(*best);
    rest.erase(best);
  }
  return order;
}

/// Moves single checks to other places as long as one such move shortens the mean.
void improve(const SearchCase& c, CheckOrder& order) {
  double minutes = mean_minutes(c, order);
  for (bool better = true; better;) {
    better = false;
    for (std::size_t from = 0; from < order.size(); ++from)
      for (std::size_t to = 0; to < order.size(); ++to) {
        CheckOrder moved = order;
        moved.erase(moved.begin() + static_cast<std::ptrdiff_t>(from));
        moved.insert(moved.begin() + static_cast<std::ptrdiff_t>(to), order[from]);
        const double then = mean_minutes(c, moved);
        if (then >= minutes - 1e-9) continue;
        minutes = then;
        order = std::move(moved);
        better = true;
      }
  }
}

}  // namespace

SearchWalk walk_order(const SearchCase& c, std::span<const std::uint8_t> order) {
  SearchWalk walk;
  std::vector<double> left = likelihoods(c);
  walk.cause_minutes.assign(left.size(), 0.0);
  walk.missed.assign(left.size(), 1.0);
  walk.steps.reserve(order.size());
  double clock = 0;
  GroupPlans groups(c);
  std::uint32_t ran = 0;
  std::vector<double> escalated(left.size(), 0.0);  // within groups
  for (const std::uint8_t k : order) {
    const Check& check = c.checks[k];
    SearchStep step{
        .check = k, .start = clock, .end = clock, .reached = sum_of(left), .convicts = convicts(check, left)};
    step.skipped = step.convicts <= no_chance;
    if (!step.skipped) {
      step.end = clock + check.minutes;
      std::vector<double> found(walk.missed);
      for (std::size_t i = 0; i < left.size(); ++i) found[i] *= check.sees[i];
      if (check.points)
        groups.follow(pointed_at(ran, k), step.end, found, walk.cause_minutes, escalated);
      else
        for (std::size_t i = 0; i < left.size(); ++i) walk.cause_minutes[i] += found[i] * step.end;
      for (std::size_t i = 0; i < left.size(); ++i) walk.missed[i] *= 1 - check.sees[i];
      miss(check, left);
      ran |= std::uint32_t{1} << k;
      walk.end_minutes = step.end;
      clock = step.end + c.chased();
    }
    walk.steps.push_back(step);
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    walk.cause_minutes[i] += walk.missed[i] * (clock + c.escalation_minutes);
    walk.missed[i] += escalated[i];
    walk.mean_minutes += c.causes[i].likelihood * walk.cause_minutes[i];
    walk.escalated += c.causes[i].likelihood * walk.missed[i];
  }
  return walk;
}

double mean_minutes(const SearchCase& c, std::span<const std::uint8_t> order) {
  std::vector<double> left = likelihoods(c);
  double minutes = 0, reached = sum_of(left);
  GroupPlans groups(c);
  std::uint32_t ran = 0;
  for (const std::uint8_t k : order) {
    const double found = convicts(c.checks[k], left);
    if (found <= no_chance) continue;
    miss(c.checks[k], left);
    minutes += c.checks[k].minutes * reached;
    if (c.checks[k].points) minutes += groups.plan(pointed_at(ran, k)).minutes;
    ran |= std::uint32_t{1} << k;
    reached = sum_of(left);
    minutes += c.chased() * reached;
  }
  return minutes + c.escalation_minutes * reached;
}

std::vector<double> left_after(const SearchCase& c, std::uint32_t missed, std::uint32_t pointed) {
  std::vector<double> left = left_with(c, {.missed = missed, .pointed = pointed});
  const double all = sum_of(left);
  for (double& p : left) p = all > no_chance ? p / all : 0;
  return left;
}

CheckOrder cheapest_first(const SearchCase& c) {
  return each_best(c, [](const Check& check, std::span<const double>) { return 1 / check.minutes; });
}

CheckOrder likeliest_first(const SearchCase& c) {
  return each_best(c, [](const Check& check, std::span<const double> left) {
    // The likeliest that any check could still convict is the largest over all checks, so that each says its own.
    double most = 0;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (check.sees[i] > 0 && !check.points) most = std::max(most, left[i]);
    return most;
  });
}

CheckOrder rate_first(const SearchCase& c) {
  return each_best(
      c, [](const Check& check, std::span<const double> left) { return convicted_by(check, left) / check.minutes; });
}

CheckOrder pyramid_order(const SearchCase& c) {
  CheckOrder order(c.checks.size());
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::uint8_t a, std::uint8_t b) {
    const Check &x = c.checks[a], &y = c.checks[b];
    return x.layer != y.layer ? x.layer < y.layer : x.minutes < y.minutes;
  });
  return order;
}

BestOrder best_order(const SearchCase& c, std::size_t max_exact) {
  if (c.checks.size() <= std::min(max_exact, max_checks)) {
    GroupPlans groups(c);
    const Plan plan = plan_of(c, survival(c), c.checks.size(), groups);
    return {order_of(plan), plan.minutes[0], true};
  }
  BestOrder best{rate_first(c), 0, false};
  improve(c, best.order);
  best.minutes = mean_minutes(c, best.order);
  return best;
}

double pays_up_to(const SearchCase& given, std::uint8_t check) {
  if (given.checks.size() > max_exact_checks) return std::numeric_limits<double>::quiet_NaN();
  SearchCase c = given;
  const std::vector<double> left = survival(c);
  const std::size_t alone = std::size_t{1} << check;
  // With the check first: its minutes, and a rest in which they do not occur. With another one first: the least over
  // orders, each a straight line in the minutes, hence concave. Newton from the right comes down to where both meet.
  double& minutes = c.checks[check].minutes;
  minutes = 1e6;
  for (int i = 0; i < 64; ++i) {
    GroupPlans groups(c);
    const Plan other = plan_of(c, left, check, groups);
    const double group = c.checks[check].points ? groups.plan(pointed_at(0, check)).minutes : 0;
    const double rest = other.minutes[alone] + c.chased() * left[alone] + group;
    double reached = 0;
    std::size_t set = 0;
    for (const std::uint8_t k : order_of(other)) {
      const std::size_t then = set | std::size_t{1} << k;
      const bool runs = left[set] - left[then] > no_chance;
      if (k == check && runs) reached += left[set];
      if (k != check && runs && c.checks[k].points) reached += groups.runs(pointed_at(set, k), check);
      set = then;
    }
    const double gap = other.minutes[0] - minutes * left[0] - rest;  // how much longer it takes with another one first
    if (gap >= -1e-9) break;
    const double slope = reached - left[0];
    if (slope >= -no_chance) break;
    minutes = std::max(0.0, minutes - gap / slope);
    if (minutes <= 0) break;
  }
  return minutes;
}

double simulate_order(const SearchCase& c, std::span<const std::uint8_t> order, std::int64_t draws, std::int64_t seed) {
  double total = 0;
  std::uint64_t draw = 0;
  const std::uint64_t stream = random_stream(seed, 77);
  // Which checks are skipped is known before the search begins.
  const SearchWalk walk = walk_order(c, order);
  GroupPlans groups(c);
  for (std::int64_t n = 0; n < draws; ++n) {
    double at = unit_draw(stream, draw++);
    std::size_t cause = 0;
    while (cause + 1 < c.causes.size() && at >= c.causes[cause].likelihood) at -= c.causes[cause++].likelihood;
    bool found = false;
    Known known;
    const auto play = [&](std::size_t k) {  // true where the check finds something
      total += c.checks[k].minutes;
      const bool hit = unit_draw(stream, draw++) < c.checks[k].sees[cause];
      if (!hit && unit_draw(stream, draw++) < c.false_alarm) total += c.chase_minutes;
      (hit ? known.pointed : known.missed) |= std::uint32_t{1} << k;
      return hit;
    };
    for (const SearchStep& s : walk.steps) {
      if (s.skipped || !play(s.check)) continue;
      found = !c.checks[s.check].points;
      break;
    }
    while (known.pointed != 0 && !found) {
      const int next = groups.plan(known).next;
      if (next < 0) break;
      found = play(static_cast<std::size_t>(next)) && !c.checks[static_cast<std::size_t>(next)].points;
    }
    // One cause alone is left of a group.
    found = found || (known.pointed != 0 && possible(left_with(c, known)) <= 1);
    if (!found) total += c.escalation_minutes;
  }
  return total / static_cast<double>(draws);
}

}  // namespace models::debugging
