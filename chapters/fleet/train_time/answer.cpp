#include "chapters/fleet/train_time/lab.h"
#include "widgets/number/number.h"

namespace chapters::fleet::train_time {

using widgets::figure;

std::string answer_of(const Outputs& out) {
  const std::string every = figure(out.interval_used_s, "s"), wall = figure(out.wall_s, "s"),
                    kept = figure(out.efficiency, "%");
  if (out.interval_used_s >= out.flat_from_s && out.interval_used_s <= out.flat_to_s)
    return "With a checkpoint every " + every + " the run takes " + wall + ": " + kept +
           " of the clock counts, within a point of the best.\nAny time from " + figure(out.flat_from_s, "s") + " to " +
           figure(out.flat_to_s, "s") + " between checkpoints is as good.";
  const bool seldom = out.interval_used_s > out.exact_s;
  const Shares& s = out.shares;
  std::string first =
      "With a checkpoint every " + every + " the run takes " + wall + ": only " + kept + " of the clock counts.\n";
  if (seldom && s.restarting > s.redone)
    first += "Restarts take " + figure(s.restarting, "%") + ". ";
  else if (seldom)
    first += "Failures waste " + figure(s.redone, "%") + ". ";
  else
    first += "Saving takes " + figure(s.saving, "%") + ". ";
  return first + "One every " + figure(out.exact_s, "s") + " makes it " + figure(out.best_wall_s, "s") + ".";
}

}  // namespace chapters::fleet::train_time
