#include "chapters/fleet/scaling_tax/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::fleet::scaling_tax {

using widgets::figure;

std::string answer_of(const Inputs& in, const Outputs& out) {
  std::string words = "A large matmul reaches " + figure(out.kernel_mfu, "%") + " of the peak, a node " +
                      figure(out.node_mfu, "%") + ", the fleet " + figure(out.fleet_mfu, "%") + ", a month of it " +
                      figure(out.effective_mfu, "%") + ".\n";
  if (!out.plan_problem.empty())
    return words + "The plan as set cannot run; this is the nearest that can, with a batch of " +
           figure(models::as_double(out.batch_used), "") + " on " + figure(models::as_double(out.used_gpus), "") +
           " GPUs.";
  if (out.won_mfu > 0.005)
    return words + "What you take away saves the work of " + figure(out.won_gpus, "") + " GPUs, " +
           figure(out.won_dollars_per_month, "$") + " a month.";
  const std::string slow = figure(in.slow_node, "%") + " slow costs ", points = figure(out.slow_points, "") + " points";
  const std::string failures = "; all failures cost " + figure(out.failure_points, "") + ".";
  if (in.slow_node > 0 && out.nodes == 1) return words + "That the node is " + slow + points + failures;
  if (in.slow_node > 0)
    return words + "One node that is " + slow + "all " + figure(models::as_double(out.nodes), "") + " nodes " + points +
           failures;
  return words + "The largest riser loses " + figure(out.largest_points, "") + " points, the work of " +
         figure(out.largest_gpus, "") + " GPUs: " + out.largest + ".";
}

}  // namespace chapters::fleet::scaling_tax
