#include <cmath>

#include "chapters/debugging/pyramid/lab.h"
#include "widgets/number/number.h"

namespace chapters::debugging::pyramid {
namespace {

using widgets::figure;

std::string minutes(double value) { return figure(value, "min"); }

/// Cheapest first is said where that rule takes as long.
std::string name_of_yours(const Outputs& out) {
  if (std::abs(out.mean_minutes - out.rule_minutes[0]) < 1e-9) return "Cheapest first,";
  return "Starting with " + out.first + ",";
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string takes = " the cause is found after " + minutes(out.mean_minutes) + " on average";
  const std::string yours = name_of_yours(out) + takes;
  const double against = out.against_minutes;
  const std::string rule(rule_name(in.against, out.exact));
  if (std::abs(against - out.mean_minutes) < 1e-9)
    return out.is_best ? yours + "; no order " + (out.exact ? "is" : "that was found is") + " faster."
                       : yours + ", as with " + rule + ".";
  if (in.against == Rule::best)
    return yours + ", " + figure(out.factor, widgets::times_unit) + " as long as in the best order" +
           (out.exact ? "." : " found.");
  return yours + "; " + rule + " takes " + minutes(against) + ".";
}

std::string why_of(const Outputs& out) {
  if (out.is_best) {
    if (!std::isfinite(out.pays_up_to))
      return "No order that was found is faster: with " + figure(out.checks_count, "") +
             " checks the best is not proven.";
    if (out.best_first_points_at > 0)
      return "The first check, " + out.best_first + ", convicts nobody: in " + figure(out.best_first_points_at, "%") +
             " of cases it points at a group. It stays first up to " + minutes(out.pays_up_to) + ".";
    return "The best first check, " + out.best_first + ", convicts in " + figure(out.best_first_convicts, "%") +
           " of cases in " + minutes(out.best_first_minutes) + "; it stays first up to " + minutes(out.pays_up_to) +
           ".";
  }
  const std::string best = out.exact ? "The best order takes " : "The best order found takes ";
  if (out.first == out.best_first)
    return best + minutes(out.best_minutes) + ": it begins with the same check and goes on with others.";
  if (out.best_first_points_at > 0)
    return best + minutes(out.best_minutes) + " and begins with " + out.best_first + ", which points at a group in " +
           figure(out.best_first_points_at, "%") + " of cases.";
  return best + minutes(out.best_minutes) + " and begins with " + out.best_first + ", which convicts in " +
         figure(out.best_first_convicts, "%") + " of cases and takes " + minutes(out.best_first_minutes) + ".";
}

}  // namespace

std::string_view rule_name(Rule rule, bool exact) {
  if (rule == Rule::best && !exact) return "the best order found";
  static constexpr std::array<std::string_view, rule_count> names{
      "cheapest first", "likeliest first", "most per minute first", "the pyramid's order", "the best order"};
  return names[static_cast<std::size_t>(rule)];
}

std::string answer_of(const Inputs& in, const Outputs& out) { return verdict_of(in, out) + "\n" + why_of(out); }

}  // namespace chapters::debugging::pyramid
