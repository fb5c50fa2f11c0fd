#include <algorithm>

#include "chapters/serving/slo/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::slo {
namespace {

using widgets::figure;

std::string fleet_words(const Inputs& in) {
  static constexpr std::array<std::string_view, 5> counts{"", "One", "Two", "Three", "Four"};
  const bool queue = in.service != Service::llm;
  if (in.replicas == 1 && queue && in.servers == 1) return "One server";
  const std::string count =
      in.replicas < 5 ? std::string(counts[static_cast<std::size_t>(in.replicas)]) : std::to_string(in.replicas);
  return count + (in.replicas == 1 ? " replica" : " replicas");
}

/// What most of those that are not in time lack, and what would help.
std::string why_of(const Inputs& in, const Outputs& out) {
  if (out.sent_away_percent > std::max(out.late_percent, out.slow_percent))
    return "\nMost of the others are sent away, which keeps the queue short for the rest.";
  if (out.late_percent >= out.slow_percent)
    return in.service == Service::llm
               ? "\nMost of the others wait too long for their first token: more replicas would take the queue away."
               : "\nThe others wait too long in the queue: more servers would take it away.";
  return "\nMost of the others get their tokens too slowly: the batch is so large that each step takes longer.";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  const bool one = in.replicas == 1;
  const std::string served = figure(out.throughput_per_s, ""), good = figure(out.goodput_per_s, ""),
                    load = figure(in.arrival_rate, ""), fleet = fleet_words(in);
  if (!std::isfinite(out.knee_rate_per_s))
    return fleet + (one ? " keeps" : " keep") + " the limits at no load: at " + load + " requests per second " +
           figure(out.in_time_percent, "%") + " are in time.";
  const std::string head = fleet + (one ? " serves " : " serve ") + served + " of " + load + " requests per second, ",
                    tail = "; the limits hold up to " + figure(out.knee_rate_per_s, "") + ".";
  if (in.arrival_rate > out.knee_rate_per_s) return head + "but only " + good + " in time" + tail + why_of(in, out);
  return head + good + " of them in time" + tail;
}

}  // namespace chapters::serving::slo
