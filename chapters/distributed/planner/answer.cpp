#include <cmath>

#include "chapters/distributed/planner/lab.h"
#include "widgets/number/number.h"

/// The sentence that names the fastest plan, and says how far yours is from it.
namespace chapters::distributed::planner {
namespace {

using widgets::figure;

constexpr std::size_t longest_line = 130;

/// Where no plan fits: how much memory the leanest needs.
std::string none_text(const Outputs& out) {
  const std::string help =
      "\nMore GPUs, chips with more memory, shorter sequences or a model in fewer bits would help.";
  if (out.plans_total == 1)
    return "The one plan that can run does not fit into the " + figure(out.wall_bytes, "B") + " of a GPU: it needs " +
           figure(out.least_memory_bytes, "B") + "." + help;
  return "None of " + figure(static_cast<double>(out.plans_total), "", 9) + " plans fits into the " +
         figure(out.wall_bytes, "B") + " of a GPU; the leanest needs " + figure(out.least_memory_bytes, "B") + "." +
         help;
}

/// Your plan next to the fastest.
std::string yours_text(const Outputs& out) {
  if (!out.plan_problem.empty()) {
    const std::string named = "Your plan: " + out.plan_problem;
    return named.size() <= longest_line ? named : out.plan_problem;
  }
  const std::string yours = "Your plan takes " + figure(out.yours.step_s, "s");
  if (!out.fits) return yours + ", but needs " + figure(out.yours.memory_bytes, "B") + " and does not fit.";
  std::string text =
      out.behind_best < 1e-9 ? "Your plan is as fast" : yours + ", " + figure(out.behind_best, "%") + " longer";
  if (std::isfinite(out.beyond_step_s))
    return text + "; without the memory limit " + figure(out.beyond_step_s, "s") + " would be possible.";
  return text + "; more memory would not make the step shorter.";
}

}  // namespace

std::string answer_of(const Outputs& out, const Run& run) {
  if (run.best.name.empty()) return none_text(out);
  return run.best.name + " is fastest: a step takes " + figure(out.best_step_time_s, "s") +
         ", and the fullest GPU needs " + figure(out.best_memory_bytes, "B") + " of its " +
         figure(out.wall_bytes, "B") + ".\n" +
         (out.chip_compared ? yours_text(out)
                            : "No run of this chip was compared: what it reaches of its peaks is assumed.");
}

}  // namespace chapters::distributed::planner
