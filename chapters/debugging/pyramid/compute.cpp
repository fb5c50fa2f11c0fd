#include <algorithm>
#include <cmath>
#include <utility>

#include "chapters/debugging/pyramid/lab.h"

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

/// % of cases that a check convicts when it is the first.
double convicts_first(const SearchCase& c, const Check& check) {
  double found = 0;
  for (std::size_t i = 0; i < c.causes.size(); ++i) found += c.causes[i].likelihood * check.sees[i];
  return 100 * found;
}

void fill_rows(const Run& run, Outputs& out) {
  const SearchCase& c = run.search;
  for (std::size_t k = 0; k < c.checks.size(); ++k) {
    const Check& check = c.checks[k];
    const double convicts = convicts_first(c, check);
    out.checks.push_back({.id = std::string(check.id),
                          .name = std::string(check.name),
                          .layer = check.layer,
                          .minutes = check.minutes,
                          .convicts = convicts,
                          .rate = convicts / check.minutes,
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
  out.best_first = best.name;
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

/// What each check of a dealt case says, and what is left after any set of them.
void deal(const DealtCase& dealt, Run& run) {
  const SearchCase& c = run.search;
  run.dealt = true;
  run.cause = cause_of_draw(c, dealt.cause_draw);
  for (std::size_t k = 0; k < c.checks.size(); ++k) {
    const bool found = dealt.check_draws[k] < c.checks[k].sees[run.cause];
    const bool alarm = dealt.alarm_draws[k] < c.false_alarm;
    run.verdicts.push_back(found ? Verdict::found : alarm ? Verdict::alarm : Verdict::nothing);
  }
  bool found = false;
  for (const SearchStep& s : run.best.steps) {
    if (s.skipped || found) continue;
    run.best_would_take += c.checks[s.check].minutes;
    found = run.verdicts[s.check] == Verdict::found;
    if (run.verdicts[s.check] == Verdict::alarm) run.best_would_take += c.chase_minutes;
  }
  if (!found) run.best_would_take += c.escalation_minutes;
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
        const std::vector<double> left = left_after(c, set);
        run->left.emplace_back(left.begin(), left.end());
      }
  }
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::debugging::pyramid
