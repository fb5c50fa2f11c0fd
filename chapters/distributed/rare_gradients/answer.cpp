#include <array>

#include "chapters/distributed/rare_gradients/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "widgets/number/number.h"

namespace chapters::distributed::rare_gradients {

using widgets::figure;

namespace {

std::string runner_text(Runner r) { return std::string(runner_name(static_cast<std::size_t>(r))); }

constexpr auto rare_doors = std::to_array<DoorTo>({
    {"open the ring", "The all-reduce, message by message", "distributed/collectives"},
    {"open the overlap", "Hide the gradients behind the backward pass", "distributed/overlap"},
    {"open the batch", "What a larger batch saves", "training/batch"},
});

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string goal = "a loss of " + figure(in.target, "");
  std::string race;
  if (out.first == Runner::none)
    race = "No method falls to " + goal + " within its 96 steps: the goal is too low for this training.";
  else if (out.least_is_first)
    race = runner_text(out.first) + " sends least to " + goal + ", " + figure(out.least_bytes, "B") +
           ", and is also first, after " + figure(out.first_s, "s") + ".";
  else
    race = runner_text(out.first) + " is first to " + goal + ", after " + figure(out.first_s, "s") + "; " +
           runner_text(out.least) + " sends least, " + figure(out.least_bytes, "B") + ", and takes " +
           figure(out.least_s, "s") + ".";
  const std::string yours = "Yours, " + std::string(runner_name(static_cast<std::size_t>(in.method))) + ", ";
  if (!std::isfinite(out.time_s))
    return race + "\n" + yours + "ends above the goal, at " + figure(out.end_loss, "") + " after " +
           figure(out.end_s, "s") + " and " + figure(out.end_bytes, "B") + ".";
  return race + "\n" + yours + "takes " + figure(out.time_s, "s") + " and " + figure(out.bytes, "B") +
         "; between syncs it sends nothing for " + figure(out.silence_s, "s") + ".";
}

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(rare_doors, [&](std::string_view lab) {
    LinkWriter w(lab);
    if (lab == "distributed/collectives") {
      if (in.method == RareMethod::top_k)
        return models::Result<std::string>::fail("Top-k gathers lists of values with their places: nothing is summed.");
      w.choice("primitive", "all_reduce");
      w.choice("algorithm", "ring");
      w.number("ranks", static_cast<double>(in.workers));
      w.number("bytes", 4 * in.parameters / out.ratio);
    } else if (lab == "distributed/overlap") {
      w.choice("network", in.network);
      w.choice("chip", in.chip);
    } else {
      w.number("batch", 8 * static_cast<double>(in.workers));
    }
    return w.link();
  });
}

}  // namespace chapters::distributed::rare_gradients
