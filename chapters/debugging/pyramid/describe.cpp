#include "chapters/debugging/pyramid/lab.h"
#include "chapters/mechanism/choices_in_order.h"

namespace chapters::debugging::pyramid {
namespace {

const Choices layers =
    choices_in_order<Layer::code>({{"hardware", "hardware", "GPUs, hosts, links: what breaks by itself."},
                                   {"system", "system", "Drivers, settings, placement, other jobs."},
                                   {"data", "data", "What is read, and how fast it comes."},
                                   {"code", "code", "Model, optimizer, numerics, the loop."}});
const Choices rules = choices_in_order<Rule::best>(
    {{"cheapest", "cheapest first", "By minutes alone."},
     {"likeliest", "likeliest first", "Each time a check that convicts the likeliest cause that is left."},
     {"rate", "most per minute", "Each time the check that convicts most of what is left per minute."},
     {"pyramid", "the pyramid", "Hardware, then system, data and code; the cheapest first in each."},
     {"best", "the best order", "Searched over all orders up to nine checks; more are not proven."}});

const Choices cases = [] {
  Choices out;
  for (const auto& c : models::debugging::fixed_cases())
    out.push_back({std::string(c.id), std::string(c.name), std::string(c.symptom)});
  out.push_back({"dealt", "Deal me a case",
                 "A case with likelihoods and minutes of its own and a cause that is hidden until you find it."});
  return out;
}();

/// "merge|idle": the fixed cases that have a check. A dealt one may have any.
const std::vector<std::string>& cases_with_checks() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out;
    for (const auto& name : models::debugging::check_names()) {
      std::string in = "dealt";
      for (const auto& c : models::debugging::fixed_cases())
        for (const auto& check : c.search.checks)
          if (check.id == name.id) in += "|" + std::string(c.id);
      out.push_back(std::move(in));
    }
    return out;
  }();
  return all;
}

const Choices checks = [] {
  Choices out;
  const auto names = models::debugging::check_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    out.push_back({std::string(names[i].id),
                   std::string(names[i].name),
                   std::string(names[i].what),
                   {"case", cases_with_checks()[i]}});
  return out;
}();

constexpr std::array<std::string_view, rule_count> rule_keys{"cheapest_minutes", "likeliest_minutes", "rate_minutes",
                                                             "pyramid_minutes", "rule_best_minutes"};
constexpr std::string_view ratio = "chance to convict / minutes";

void describe_first(Fields& f, Outputs& o) {
  f.group("The first check");
  f.text("first", o.first, "Yours");
  f.real("first_minutes", o.first_minutes, {"... takes", "min"}, "As the case has it.");
  f.real("first_convicts", o.first_convicts, {"... convicts", "%"}, "Share of cases that it ends.");
  f.real("first_rate", o.first_rate, {"... per minute", "%/min"}, {.formula = ratio});
  f.real("first_points_at", o.first_points_at, {"... points at a group", "%"},
         "Share of cases in which it says only that the cause is one of several.");
  f.text("best_first", o.best_first, "The best order's");
  f.real("best_first_minutes", o.best_first_minutes, {"... takes", "min"}, "As the case has it.");
  f.real("best_first_convicts", o.best_first_convicts, {"... convicts", "%"}, "Share of cases that it ends.");
  f.real("best_first_rate", o.best_first_rate, {"... per minute", "%/min"}, {.formula = ratio});
  f.real("best_first_points_at", o.best_first_points_at, {"... points at a group", "%"},
         "Share of cases in which it says only that the cause is one of several.");
  f.real("next_rate", o.next_rate, {"Best of the others", "%/min"}, "Each run as the first.", {.formula = ratio});
  f.real("pays_up_to", o.pays_up_to, {"... pays up to", "min"},
         "The longest that it may take and still stand first in a best order.",
         {.absent = "With more than nine checks no order is proven the best."});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The case");
  f.choice("case", in.which, cases, "Symptom",
           "What is wrong. Each case has causes, likelihoods and checks of its own.", {.headline = true});
  f.integer("seed", in.seed, "Seed", "Another number is another case.",
            {.range = {1, 9999}, .when = {"case", "dealt"}});
  f.choices("order", in.order, checks, "Order of the checks",
            "What is run first. Checks of the case that are not listed follow, the cheapest first; those that it does "
            "not have are named and left out.",
            {.headline = true});
  f.choice("against", in.against, rules, "Compare with", "The order that is drawn above yours.", {.headline = true});
  f.group("What if");
  f.real("dear_minutes", in.dear_minutes, {"Longest check (0: as given)", "min"},
         "Minutes of the check that takes longest in the case as dealt, at least 0.001. 0: the case's own.",
         {.range = {0, 240}, .typical = {0, 60}});
  f.real("likely", in.likely, {"Likeliest cause (0: as given)", "%"},
         "Its likelihood; the others keep their proportions. 0: the case's own.", {.range = {0, 95}});
  f.real("sees", in.sees, {"Checks see", "%"},
         "Scales every check's chance to convict a cause that is there. 100 %: the case's own.", {.range = {20, 100}});
  f.group("False alarms");
  f.real("false_alarm", in.false_alarm, {"False alarms", "%"},
         "How often a check that convicts nothing accuses something all the same.", {.range = {0, 50}});
  f.real("chase_minutes", in.chase_minutes, {"To chase one", "min"}, "What a false alarm costs. Assumed.",
         {.range = {0, 120}});
  f.real("escalation_minutes", in.escalation_minutes, {"Escalation (0: as given)", "min"},
         "Minutes until others find it, after the last check. 0: the case's own.", {.range = {0, 1000}});
}

void describe(Fields& f, CheckRow& r) {
  f.text("id", r.id, "Id");
  f.text("name", r.name, "Check");
  f.choice("layer", r.layer, layers, "Layer");
  f.real("minutes", r.minutes, {"Minutes", "min"});
  f.real("convicts", r.convicts, {"Convicts", "%"});
  f.real("rate", r.rate, {"Per minute", "%/min"});
  f.real("points_at", r.points_at, {"Points", "%"});
  f.integer("place", r.place, "Your place");
  f.integer("best_place", r.best_place, "Best place");
}

void describe(Fields& f, CauseRow& r) {
  f.text("name", r.name, "Cause");
  f.choice("layer", r.layer, layers, "Layer");
  f.real("likelihood", r.likelihood, {"Likelihood", "%"});
  f.real("minutes", r.minutes, {"Found after", "min"});
  f.real("best_minutes", r.best_minutes, {"Best order", "min"});
  f.real("missed", r.missed, {"All miss it", "%"});
}

void describe(Fields& f, Outputs& o) {
  f.real("mean_minutes", o.mean_minutes, {"Mean", "min"}, "Until the cause is found, over all causes.",
         {.headline = true,
          .against = {"best", "best_minutes"},
          .formula = "sum of likelihood * minutes until found",
          .source = "definition of the mean"});
  f.real("best_minutes", o.best_minutes, {"Best order", "min"},
         "Over all orders up to nine checks, by dynamic programming over sets of checks; with more the best that was "
         "found.",
         {.headline = true});
  f.real("against_minutes", o.against_minutes, {"Compared with", "min"}, "The order that is drawn above yours.",
         {.headline = true});
  f.real("score", o.score, {"Score", "%"}, {.headline = true, .formula = "best mean / your mean"});
  f.real("factor", o.factor, {"Times the best", "\xC3\x97"}, {.formula = "your mean / best mean"});
  f.choices("best_order", o.best_order, checks, "Best order", "Ids of the checks.");
  f.choices("order_run", o.order_run, checks, "Your order", "Ids of the checks, those that you did not list included.");
  f.toggle("is_best", o.is_best, "No order is faster");
  f.toggle("exact", o.exact, "Proven", "Up to nine checks every order is covered; with more it is greedy and moves.");
  f.text("not_in_case", o.not_in_case, "Not in this case", "Checks of your list that the case does not have.");
  describe_first(f, o);
  f.group("Orders by rule");
  static constexpr std::array<std::string_view, rule_count> labels{"Cheapest first", "Likeliest first",
                                                                   "Most per minute", "The pyramid", "The best"};
  for (std::size_t i = 0; i < rule_count; ++i) f.real(rule_keys[i], o.rule_minutes[i], {labels[i], "min"}, "Mean.");
  f.group("The case");
  f.text("likeliest_cause", o.likeliest_cause, "Likeliest cause");
  f.real("likeliest", o.likeliest, {"... likelihood", "%"}, "Before any check.");
  static constexpr std::array<std::string_view, models::debugging::layer_count> shares{"hardware_share", "system_share",
                                                                                       "data_share", "code_share"};
  static constexpr std::array<std::string_view, models::debugging::layer_count> names{"Hardware", "System", "Data",
                                                                                      "Code"};
  for (std::size_t i = 0; i < shares.size(); ++i)
    f.real(shares[i], o.layers[i], {names[i], "%"}, "Share of cases whose cause lies there.");
  f.text("dearest", o.dearest, "Longest check");
  f.real("checks_count", o.checks_count, "Checks", "That the case has.");
  f.real("last_minutes", o.last_minutes, {"Last check ends", "min"}, "When nothing convicts before.");
  f.real("missed", o.missed, {"All checks miss", "%"}, "Then it is escalated.");
  f.real("escalation_takes", o.checks_missed_minutes, {"Escalation", "min"}, "After the last check.");
  f.table("checks", o.checks, "Checks", {.max_items = models::debugging::max_checks});
  f.table("causes", o.causes, "Causes", {.max_items = models::debugging::max_checks});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"debugging/pyramid", "Pyramid", "What do you check first, when each check costs minutes?"}, compute, arrange,
      draw);
}

}  // namespace chapters::debugging::pyramid
