#include <string>
#include <string_view>
#include <utility>

#include "chapters/fleet/scaling_tax/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::fleet::scaling_tax {

using widgets::figure;

namespace {

/// "`204` GPUs", "`1` point".
std::string counted_figure(double n, std::string_view one) {
  std::string text = figure(n, "");
  const bool single = text == "`1`";
  return std::move(text) + " " + std::string(one) + (single ? "" : "s");
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string words = "A large matmul reaches " + figure(out.kernel_mfu, "%") + " of the peak, a node " +
                            figure(out.node_mfu, "%") + ", the fleet " + figure(out.fleet_mfu, "%") +
                            (in.published && out.published_name.empty() ? " by this model alone" : "") +
                            ", a month of it " + figure(out.effective_mfu, "%") + ".\n";
  if (!out.plan_problem.empty())
    return words + "The plan as set cannot run; the nearest that " + (out.fits ? "can" : "divides") +
           " has a batch of " + figure(models::as_double(out.batch_used), "") + " on " +
           counted_figure(models::as_double(out.used_gpus), "GPU") +
           (out.fits ? "." : ": " + figure(out.memory_bytes, "B") + " each do not fit.");
  if (out.won_mfu > 0.005)
    return words + "What you take away saves the work of " + counted_figure(out.won_gpus, "GPU") + ", " +
           figure(out.won_dollars_per_month, "$") + " a month.";
  if (in.slow_node > 0)
    return words + "One slow node costs " +
           (out.nodes > 1 ? "all " + figure(models::as_double(out.nodes), "") + " nodes " : std::string()) +
           counted_figure(out.slow_points, "point") + "; failures, with the " +
           (in.goodput > 0 ? "goodput" : "saves and restarts") + " that " + (in.goodput > 0 ? "is" : "are") +
           " set, cost " + figure(out.failure_points, "") + ".";
  return words + "The largest riser loses " + counted_figure(out.largest_points, "point") + ", the work of " +
         counted_figure(out.largest_gpus, "GPU") + ": " + out.largest + ".";
}

}  // namespace chapters::fleet::scaling_tax
