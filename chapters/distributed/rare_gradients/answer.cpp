#include <algorithm>
#include <array>

#include "chapters/distributed/rare_gradients/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "widgets/number/number.h"

namespace chapters::distributed::rare_gradients {

using widgets::figure;

namespace {

/// Some of the nine, in the order of their places.
struct Named {
  std::string names;
  std::size_t many = 0;
  std::string verb(const char* of_one, const char* of_many) const { return names + (many == 1 ? of_one : of_many); }
};
template <class Is>
Named named(const Outputs& out, Is is) {
  Named n;
  const auto all = static_cast<std::size_t>(std::count_if(out.runners.begin(), out.runners.end(), is));
  for (const RunnerRow& row : out.runners) {
    if (!is(row)) continue;
    n.names += (n.many == 0 ? "" : n.many + 1 == all ? " and " : ", ") + row.method;
    ++n.many;
  }
  return n;
}

/// Who is first and who sends least; those that are level are all named.
std::string race_of(const Inputs& in, const Outputs& out) {
  const std::string goal = "a loss of " + figure(in.target, "");
  if (out.first == Runner::none)
    return "No method falls to " + goal + " within its 96 steps: the goal is too low for this training.";
  const Named first = named(out, [&](const RunnerRow& r) { return r.time_s == out.first_s; });
  const Named least = named(out, [&](const RunnerRow& r) { return r.bytes == out.least_bytes; });
  const std::string bytes = figure(out.least_bytes, "B");
  if (out.least_is_first)
    return least.verb(" sends", " send") + " least to " + goal + ", " + bytes + ", and " +
           (first.names == least.names ? first.many == 1 ? "is" : "are" : first.verb(" is", " are")) +
           " also first, after " + figure(out.first_s, "s") + ".";
  return first.verb(" is", " are") + " first to " + goal + ", after " + figure(out.first_s, "s") + "; " +
         least.verb(" sends", " send") + " least, " + bytes + ", and " +
         (least.many == 1 ? "takes " : "take at least ") + figure(out.least_s, "s") + ".";
}

constexpr auto rare_doors = std::to_array<DoorTo>({
    {"open the ring", "The all-reduce, message by message", "distributed/collectives"},
    {"open the overlap", "Hide the gradients behind the backward pass", "distributed/overlap"},
    {"open the batch", "What a larger batch saves", "training/batch"},
});

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string race = race_of(in, out);
  const std::string yours = "Yours, " + std::string(runner_name(static_cast<std::size_t>(in.method))) + ", ";
  if (!std::isfinite(out.time_s))
    return race + "\n" + yours + "ends above the goal, at " + figure(out.end_loss, "") + " after " +
           figure(out.end_s, "s") + " and " + figure(out.end_bytes, "B") + ".";
  return race + "\n" + yours + "takes " + figure(out.time_s, "s") + " and " + figure(out.bytes, "B") +
         (out.silence_s > 0 ? "; between syncs it sends nothing for " + figure(out.silence_s, "s") + "."
                            : "; its link is never silent.");
}

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(rare_doors, [&](std::string_view lab) {
    LinkWriter w(lab);
    if (lab == "distributed/collectives") {
      if (in.method == RareMethod::top_k)
        return models::Result<std::string>::fail("Top-k gathers lists of values with their places: nothing is summed.");
      if (models::rare::rare_method_bits(in.method) > 0)
        return models::Result<std::string>::fail(
            "Sums of codes are no codes: no ring sums rounded values on their way.");
      w.choice("primitive", "all_reduce");
      w.choice("algorithm", "ring");
      w.exactly("ranks", static_cast<double>(in.workers));
      w.exactly("bytes", 4 * in.parameters / out.ratio);
      w.exactly("latency_s", in.message_s);
      w.exactly("bandwidth_bytes_per_s", *link_rate(in));
    } else if (lab == "distributed/overlap") {
      if (in.link == RareLink::line)
        return models::Result<std::string>::fail("The overlap is priced on a network; yours is a line of its own.");
      w.choice("network", in.network);
      w.choice("chip", in.chip);
    } else {
      w.number("batch", 8 * static_cast<double>(in.workers));
    }
    return w.link();
  });
}

}  // namespace chapters::distributed::rare_gradients
