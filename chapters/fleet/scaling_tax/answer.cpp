#include "chapters/fleet/scaling_tax/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::fleet::scaling_tax {

using widgets::figure;

std::string answer_of(const Inputs& in, const Outputs& out) {
  std::string words = "A large matmul reaches " + figure(out.kernel_mfu, "%") + " of the peak, a node " +
                      figure(out.node_mfu, "%") + ", the fleet " + figure(out.fleet_mfu, "%") + ", a month of it " +
                      figure(out.effective_mfu, "%") + ".\n";
  if (out.won_gpus > 0.5)
    return words + "What you take away saves the work of " + figure(out.won_gpus, "") + " GPUs, " +
           figure(out.won_dollars_per_month, "$") + " a month.";
  if (in.slow_node > 0)
    return words + "One node that is " + figure(in.slow_node, "%") + " slow costs all " +
           figure(models::as_double(out.nodes), "") + " nodes " + figure(out.slow_points, "") +
           " points; all failures cost " + figure(out.failure_points, "") + ".";
  return words + "The largest riser loses " + figure(out.largest_points, "") + " points, the work of " +
         figure(out.largest_gpus, "") + " GPUs: " + out.largest + ".";
}

}  // namespace chapters::fleet::scaling_tax
