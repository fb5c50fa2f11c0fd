#include <cmath>

#include "chapters/serving/capacity/lab.h"
#include "widgets/number/number.h"

/// The sentence that says how many chips there must be, which wall decides, and what tokens cost on them.
namespace chapters::serving::capacity {
namespace {

using models::CapacityWall;
using widgets::figure;

std::string chips_text(const Outputs& out) {
  return figure(static_cast<double>(out.chips), "", 9) + (out.chips == 1 ? " chip" : " chips");
}

std::string rate_text(const Outputs& out) {
  return figure(out.planned_rate_per_s, "") +
         (out.planned_rate_per_s == 1 ? " request a second" : " requests a second");
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  if (!out.late.empty())
    return std::isfinite(out.chips_for_tpot)
               ? "No number of chips keeps the limits: even alone, 1 in 100 prompts takes over " +
                     figure(in.ttft_limit_s, "s") + " to its first token."
               : "No number of chips keeps the limits: even alone, a request waits over " +
                     figure(in.tpot_limit_s, "s") + " for each token.";
  const std::string serve = out.chips == 1 ? " serves " : " serve ", who = chips_text(out) + serve + rate_text(out);
  if (out.now.replicas == 1 && out.binds == CapacityWall::memory) return who + ": the weights alone need as many.";
  if (out.binds == CapacityWall::memory) return who + ": memory for the users asks for the most.";
  if (out.binds == CapacityWall::rate) return who + ": the work asks for the most.";
  return who + (out.chips_for_ttft > out.chips_for_tpot ? ": the first token asks for the most."
                                                        : ": the time between tokens asks for the most.");
}

std::string money_of(const Outputs& out) {
  const double yours = out.now.dollars_per_million_tokens;
  if (!(yours > 0)) return "What tokens cost is not known: no price of this chip is carried, so set one.";
  const std::string million = "A million output tokens cost " + figure(yours, "$");
  const bool alone = out.plans.size() < 2;
  if (alone) return million + ".";
  double dearest = 0;
  for (const PlanRow& row : out.plans)
    if (row.dollars_per_million_tokens > dearest) dearest = row.dollars_per_million_tokens;
  if (out.cheapest_dollars >= dearest && out.cheapest_dollars > 1.01 * yours)
    return million + "; the cheapest chip by the hour, at " + figure(out.cheapest_price, "$/h") + ", makes them for " +
           figure(out.cheapest_dollars, "$") + ".";
  if (out.best_dollars < 0.99 * yours)
    return million + "; of the other chips drawn the best makes them for " + figure(out.best_dollars, "$") + ".";
  return million + "; no other chip that is drawn makes them for less.";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (out.chips == 0) return {};
  if (!out.late.empty()) return verdict_of(in, out) + "\nMemory and work alone ask for " + chips_text(out) + ".";
  return verdict_of(in, out) + "\n" + money_of(out);
}

}  // namespace chapters::serving::capacity
