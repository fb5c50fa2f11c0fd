#include <cmath>

#include "chapters/kernels/lab/arrange_parts.h"
#include "widgets/number/number.h"

namespace chapters::kernels::lab {
namespace {

using models::KernelLimit;
using widgets::figure;

std::string name_of(std::size_t rung) { return "rung " + figure(std::to_string(rung + 1)); }

/// What holds a rung that cannot reach its roof.
std::string_view holder(KernelLimit limit) {
  switch (limit) {
    case KernelLimit::arithmetic:
      return "too few lanes";
    case KernelLimit::latency:
      return "waiting";
    case KernelLimit::loads:
      return "its loads";
    case KernelLimit::stores:
      return "its stores";
    case KernelLimit::memory:
      return "the bytes that it moves";
    case KernelLimit::sectors:
      return "sectors at the L2";
    case KernelLimit::shared_memory:
      return "the pipe of L1 and shared memory";
    case KernelLimit::issue:
      return "its instructions";
  }
  return {};
}

/// What the rung after the selected one does, against it.
std::string next_of(const Run& run) {
  const std::size_t next = run.selected + 1;
  if (next >= run.rungs.size()) return "it is the last rung";
  const RatedRung &now = run.rungs[run.selected], &after = run.rungs[next];
  const bool both = shown(now) && shown(after);
  const double gain = both                                           ? now.run->time_s / after.run->time_s
                      : now.predicted_s > 0 && after.predicted_s > 0 ? now.predicted_s / after.predicted_s
                                                                     : 0;
  if (!(gain > 0)) return name_of(next) + " has no bound to compare with";
  const bool same = std::abs(gain - 1) < 0.015;
  if (both) {
    if (same) return name_of(next) + " measured the same";
    return name_of(next) + " measured " + figure(gain, "") + " times as fast";
  }
  if (same) return name_of(next) + " is held to the same rate";
  if (gain < 1) return name_of(next) + " is held to " + figure(gain, "") + " of that rate";
  return name_of(next) + " may be " + figure(gain, "") + " times as fast";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run, double amount, std::string_view unit) {
  const RatedRung& now = run.rungs[run.selected];
  std::string text = "R" + name_of(run.selected).substr(1);
  if (in.rung > out.rungs)
    text = "There is no rung " + figure(std::to_string(in.rung)) + ": the last, " + name_of(run.selected) + ",";
  if (now.failed) return text + " failed here: the sentence under its source says why.";
  const bool bound = now.predicted > 0 && now.floor_s > 0;
  const bool free = bound && now.limit.share > 0.985;
  if (shown(now) && now.above_roof)
    return text + " measured " + figure(percent_text(now.measured)) +
           " of its roof: " + std::string(above_roof_text(now)) + ".";
  if (shown(now) && now.measured >= 0) {
    text += " reached " + figure(percent_text(now.measured)) + " of its roof";
    if (bound && !free)
      text += "; " + std::string(holder(now.limit.limit)) + " allowed " + figure(percent_text(now.limit.share));
  } else if (bound) {
    text += " can reach " + figure(percent_text(now.limit.share)) + " of its roof, " +
            figure(amount / now.predicted_s, unit);
    if (!free) text += ", held by " + std::string(holder(now.limit.limit));
  } else if (shown(now)) {
    text += " took " + figure(now.run->time_s, "s");
  } else {
    text += " has no bound here: its roof must be measured first";
  }
  return text + "; " + next_of(run) + ".";
}

}  // namespace chapters::kernels::lab
