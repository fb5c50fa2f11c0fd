#include <algorithm>
#include <cmath>
#include <utility>

#include "chapters/debugging/pyramid/lab.h"
#include "models/debugging/search_group.h"

namespace chapters::debugging::pyramid {
namespace {

/// A thousandth of a minute: less counts as that, and so says the help.
constexpr double least_minutes = 1e-3;

using namespace models::debugging;

void set_likeliest(SearchCase& c, double likelihood) {
  const auto most = std::max_element(c.causes.begin(), c.causes.end(),
                                     [](const auto& a, const auto& b) { return a.likelihood < b.likelihood; });
  const double others = (1 - likelihood) / (1 - most->likelihood);
  for (auto& cause : c.causes) cause.likelihood *= others;
  most->likelihood = likelihood;
}

std::size_t dearest_check(const SearchCase& c) {
  const auto at = std::max_element(c.checks.begin(), c.checks.end(),
                                   [](const Check& a, const Check& b) { return a.minutes < b.minutes; });
  return static_cast<std::size_t>(at - c.checks.begin());
}

/// Those of the case in the order asked for, then the others, the cheapest first.
CheckOrder asked_order(const Inputs& in, const SearchCase& c, std::string& not_in_case) {
  CheckOrder order;
  for (const std::string& id : in.order) {
    const auto at = std::find_if(c.checks.begin(), c.checks.end(), [&](const Check& k) { return k.id == id; });
    if (at != c.checks.end())
      order.push_back(static_cast<std::uint8_t>(at - c.checks.begin()));
    else
      (not_in_case += not_in_case.empty() ? "" : ", ") += id;
  }
  for (const std::uint8_t k : cheapest_first(c))
    if (std::find(order.begin(), order.end(), k) == order.end()) order.push_back(k);
  return order;
}

std::vector<std::string> ids_of(const SearchCase& c, const CheckOrder& order) {
  std::vector<std::string> ids;
  for (const std::uint8_t k : order) ids.emplace_back(c.checks[k].id);
  return ids;
}

std::int64_t place_of(const CheckOrder& order, std::size_t check) {
  return std::find(order.begin(), order.end(), check) - order.begin() + 1;
}

/// % of cases in which a check finds something when it is the first.
double finds_first(const SearchCase& c, const Check& check) {
  double found = 0;
  for (std::size_t i = 0; i < c.causes.size(); ++i) found += c.causes[i].likelihood * check.sees[i];
  return 100 * found;
}

void fill_rows(const Run& run, Outputs& out) {
  const SearchCase& c = run.search;
  for (std::size_t k = 0; k < c.checks.size(); ++k) {
    const Check& check = c.checks[k];
    const double finds = finds_first(c, check), convicts = check.points ? 0 : finds;
    out.checks.push_back({.id = std::string(check.id),
                          .name = std::string(check.name),
                          .layer = check.layer,
                          .minutes = check.minutes,
                          .convicts = convicts,
                          .rate = convicts / check.minutes,
                          .points_at = check.points ? finds : 0,
                          .place = place_of(run.order, k),
                          .best_place = place_of(run.best_order, k)});
  }
  for (std::size_t i = 0; i < c.causes.size(); ++i) {
    out.causes.push_back({.name = std::string(c.causes[i].name),
                          .layer = c.causes[i].layer,
                          .likelihood = 100 * c.causes[i].likelihood,
                          .minutes = run.yours.cause_minutes[i],
                          .best_minutes = run.best.cause_minutes[i],
                          .missed = 100 * run.yours.missed[i]});
    out.layers[static_cast<std::size_t>(c.causes[i].layer)] += 100 * c.causes[i].likelihood;
    if (out.causes[i].likelihood > out.likeliest) {
      out.likeliest = out.causes[i].likelihood;
      out.likeliest_cause = out.causes[i].name;
    }
  }
}

void fill_facts(const Run& run, Outputs& out) {
  const CheckRow &first = out.checks[run.order.front()], &best = out.checks[run.best_order.front()];
  out.mean_minutes = run.yours.mean_minutes;
  out.best_minutes = run.best.mean_minutes;
  out.against_minutes = run.against.mean_minutes;
  out.is_best = out.mean_minutes <= out.best_minutes + 1e-9;
  out.factor = out.is_best ? 1 : out.mean_minutes / out.best_minutes;
  out.score = out.is_best ? 100 : 100 * out.best_minutes / out.mean_minutes;
  out.best_order = ids_of(run.search, run.best_order);
  out.order_run = ids_of(run.search, run.order);
  out.first = first.name;
  out.first_convicts = first.convicts;
  out.first_rate = first.rate;
  out.first_minutes = first.minutes;
  out.first_points_at = first.points_at;
  out.best_first = best.name;
  out.best_first_points_at = best.points_at;
  out.best_first_convicts = best.convicts;
  out.best_first_rate = best.rate;
  out.best_first_minutes = best.minutes;
  for (const CheckRow& r : out.checks)
    if (&r != &best) out.next_rate = std::max(out.next_rate, r.rate);
  out.pays_up_to = pays_up_to(run.search, run.best_order.front());
  out.last_minutes = run.yours.end_minutes;
  out.missed = 100 * run.yours.escalated;
  out.checks_missed_minutes = run.search.escalation_minutes;
  out.checks_count = static_cast<double>(run.search.checks.size());
}

/// What is known when a set of a dealt case's checks was run.
Known known_after(const Run& run, std::uint32_t set) {
  Known known{.missed = set};
  for (std::size_t k = 0; k < run.verdicts.size(); ++k)
    if ((set >> k & 1) != 0 && run.verdicts[k] == Verdict::points) {
      known.missed &= ~(std::uint32_t{1} << k);
      known.pointed |= std::uint32_t{1} << k;
    }
  return known;
}

/// Minutes in which the best order finds the dealt cause, by what the checks say.
double best_minutes_of(const Run& run) {
  const SearchCase& c = run.search;
  GroupPlans groups(c);
  double minutes = 0;
  std::uint32_t ran = 0;
  const auto play = [&](std::size_t k) {
    minutes += c.checks[k].minutes;
    if (run.verdicts[k] == Verdict::alarm) minutes += c.chase_minutes;
    ran |= std::uint32_t{1} << k;
    return run.verdicts[k];
  };
  for (const SearchStep& s : run.best.steps) {
    if (s.skipped) continue;
    const Verdict says = play(s.check);
    if (says == Verdict::found) return minutes;
    if (says != Verdict::points) continue;
    for (int next = groups.plan(known_after(run, ran)).next; next >= 0; next = groups.plan(known_after(run, ran)).next)
      if (play(static_cast<std::size_t>(next)) == Verdict::found) return minutes;
    if (possible(left_with(c, known_after(run, ran))) <= 1) return minutes;
    break;
  }
  return minutes + c.escalation_minutes;
}

/// What each check of a dealt case says.
void deal(const DealtCase& dealt, Run& run) {
  const SearchCase& c = run.search;
  run.dealt = true;
  run.cause = cause_of_draw(c, dealt.cause_draw);
  for (std::size_t k = 0; k < c.checks.size(); ++k) {
    const bool found = dealt.check_draws[k] < c.checks[k].sees[run.cause];
    const bool alarm = dealt.alarm_draws[k] < c.false_alarm;
    run.verdicts.push_back(found   ? (c.checks[k].points ? Verdict::points : Verdict::found)
                           : alarm ? Verdict::alarm
                                   : Verdict::nothing);
  }
  run.best_would_take = best_minutes_of(run);
}

}  // namespace

ReadCase read_case(const Inputs& in, DealtCase* dealt) {
  ReadCase out;
  if (in.which == "dealt") {
    DealtCase made = deal_case(in.seed);
    out = {made.search, "Case " + std::to_string(in.seed), std::string(made.symptom), made.prior};
    if (dealt) *dealt = std::move(made);
  } else {
    const auto& cases = fixed_cases();
    auto at = std::find_if(cases.begin(), cases.end(), [&](const FixedCase& c) { return c.id == in.which; });
    if (at == cases.end()) at = cases.begin();
    out = {at->search, std::string(at->name), std::string(at->symptom), at->prior};
  }
  SearchCase& c = out.search;
  if (in.likely > 0) set_likeliest(c, in.likely / 100);
  // What is found per minute has no bound for a check that takes no time.
  if (in.dear_minutes > 0) c.checks[dearest_check(c)].minutes = std::max(in.dear_minutes, least_minutes);
  for (Check& check : c.checks)
    for (double& sees : check.sees) sees *= in.sees / 100;
  c.false_alarm = in.false_alarm / 100;
  c.chase_minutes = in.chase_minutes;
  if (in.escalation_minutes > 0) c.escalation_minutes = in.escalation_minutes;
  return out;
}

CheckOrder rule_order(const SearchCase& c, Rule rule) {
  switch (rule) {
    case Rule::cheapest:
      return cheapest_first(c);
    case Rule::likeliest:
      return likeliest_first(c);
    case Rule::rate:
      return rate_first(c);
    case Rule::pyramid:
      return pyramid_order(c);
    case Rule::best:
      break;
  }
  return best_order(c).order;
}

chapters::Computed<Outputs, Run> compute(const Inputs& in, const Progress& progress) {
  Outputs out;
  auto run = std::make_shared<Run>();
  DealtCase dealt;
  ReadCase read = read_case(in, &dealt);
  run->search = std::move(read.search);
  run->symptom = std::move(read.symptom);
  run->prior = read.prior;
  const SearchCase& c = run->search;
  out.dearest = c.checks[dearest_check(read_case({.which = in.which, .seed = in.seed}).search)].name;
  run->order = asked_order(in, c, out.not_in_case);
  BestOrder best = models::debugging::best_order(c);
  out.exact = best.exact;
  run->best_order = std::move(best.order);
  run->yours = walk_order(c, run->order);
  run->best = walk_order(c, run->best_order);
  for (std::size_t i = 0; i < rule_count; ++i) {
    const auto rule = static_cast<Rule>(i);
    const CheckOrder order = rule == Rule::best ? run->best_order : rule_order(c, rule);
    out.rule_minutes[i] = mean_minutes(c, order);
    if (rule == in.against) run->against_order = order;
  }
  // Where the best is only the best found, an order that beats it is the best found.
  if (run->yours.mean_minutes < run->best.mean_minutes - 1e-9) {
    run->best_order = run->order;
    run->best = run->yours;
    out.rule_minutes[static_cast<std::size_t>(Rule::best)] = run->yours.mean_minutes;
    if (in.against == Rule::best) run->against_order = run->order;
  }
  run->against = walk_order(c, run->against_order);
  fill_rows(*run, out);
  fill_facts(*run, out);
  if (in.which == "dealt") {
    deal(dealt, *run);
    if (!progress.facts_alone)
      for (std::uint32_t set = 0; set < std::uint32_t{1} << c.checks.size(); ++set) {
        const Known known = known_after(*run, set);
        const std::vector<double> left = left_after(c, known.missed, known.pointed);
        run->left.emplace_back(left.begin(), left.end());
        run->named.push_back(known.pointed != 0 && possible(left) <= 1);
      }
  }
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::debugging::pyramid
