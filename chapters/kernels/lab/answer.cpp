#include <cmath>

#include "chapters/kernels/lab/arrange_parts.h"
#include "widgets/number/number.h"

namespace chapters::kernels::lab {
namespace {

using models::KernelLimit;
using widgets::figure;

std::string name_of(std::size_t rung) { return "Rung " + std::to_string(rung + 1); }
/// The same within a sentence.
std::string lower(std::string name) {
  name.front() = 'r';
  return name;
}

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
    case KernelLimit::threads:
      return "too few threads";
  }
  return {};
}

/// "12.3 %" of a share.
std::string share_text(double share) { return figure(percent_text(share)); }

/// What the rung after the selected one does, against it: measured here, else measured elsewhere, else by the model.
std::string next_of(const Outputs& out, const Run& run) {
  const std::size_t next = run.selected + 1;
  if (next >= run.rungs.size()) return "It is the last rung of the ladder.";
  const RatedRung& after = run.rungs[next];
  const std::string name = name_of(next), as_fast = "\xC3\x97";
  const auto times = [&](double gain) { return figure(widgets::format_text(gain, "", 3) + as_fast) + " as fast."; };
  const auto same = [](double gain) { return std::abs(gain - 1) < 0.015; };
  const RungFigures& now = out.rung;
  if (now.next_measured_gain > 0)
    return name + (same(now.next_measured_gain) ? " measured the same here."
                                                : ", measured here, is " + times(now.next_measured_gain));
  if (now.next_published_gain > 0)
    return name + (same(now.next_published_gain) ? " measured the same there."
                                                 : ", measured there, is " + times(now.next_published_gain));
  if (!(run.rungs[run.selected].predicted_s > 0) || !(after.predicted_s > 0))
    return name + " has no bound to compare with.";
  if (same(now.next_gain)) return "By the model " + lower(name) + " is held to the same rate.";
  if (now.next_gain < 1)
    return "By the model " + lower(name) + " is at most " +
           figure(widgets::format_text(now.next_gain, "", 3) + as_fast) + " as fast, held by " +
           std::string(holder(after.limit.limit)) + ".";
  return "By the model " + lower(name) + " may be " + times(now.next_gain);
}

}  // namespace

std::string machine_of(const RatedRung& rung) {
  const std::string_view source = rung.prediction->published_source;
  return std::string(source.substr(0, source.find(',')));
}

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  const RatedRung& now = run.rungs[run.selected];
  const std::string name = name_of(run.selected);
  std::string next = next_of(out, run);
  if (in.rung > out.rungs)
    next = "There is no rung " + std::to_string(in.rung) + ": " + lower(name) + " is the last of the ladder.";
  if (now.failed) return name + " failed here: the sentence under its source says why.\n" + next;
  const bool bound = now.predicted > 0 && now.floor_s > 0;
  const bool free = bound && now.limit.share > 0.985;
  const std::string allows = exceeded(now) ? "the model estimates " : "the model allows ";
  const std::string held =
      bound && !free ? allows + share_text(now.limit.share) + ", held by " + std::string(holder(now.limit.limit)) + "."
                     : "the model allows all of it.";
  const std::string checked_bound = "the model allows " + share_text(now.limit.share) + " of its roof, held by " +
                                    std::string(holder(now.limit.limit)) + ".";
  std::string verdict = name;
  if (now.checked)
    verdict += " is right here and was not timed" +
               (bound ? "; " + (free ? "the model allows all of its roof." : checked_bound) : std::string("."));
  else if (shown(now) && now.above_roof)
    verdict += " measured " + share_text(now.measured) + " of its roof: " + std::string(above_roof_text(now)) + ".";
  else if (shown(now) && now.measured >= 0)
    verdict += " reached " + share_text(now.measured) + " of its roof here" + (bound ? "; " + held : std::string("."));
  else if (bound && now.published > 0)
    verdict += " reached " + share_text(now.published) + " of its roof on an " + machine_of(now) + "; " + held;
  else if (free)
    verdict += " can reach its roof of " +
               (run.rung().roof == "gpu_launch" ? figure(now.floor_s, "s") + " a launch"
                : now.bandwidth                 ? figure(out.roof.bytes_per_s, "B/s")
                                                : figure(out.roof.flops_per_s, "FLOP/s")) +
               ".";
  else if (bound)
    verdict += " can reach at most " + share_text(now.limit.share) + " of its roof, held by " +
               std::string(holder(now.limit.limit)) + ".";
  else if (shown(now))
    verdict += " took " + figure(now.run->time_s, "s") + ".";
  else if (!now.prediction)
    verdict += " has no bound here: the model has no rule for it.";
  else
    verdict += " has no bound here: its roof must be measured first.";
  return verdict + "\n" + next;
}

}  // namespace chapters::kernels::lab
