#include <algorithm>
#include <array>

#include "chapters/serving/slo/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::slo {
namespace {

using widgets::figure;

/// Who serves, as the sentence's subject; `many`: it is more than one.
std::string fleet_words(const Inputs& in, bool& many) {
  static constexpr std::array<std::string_view, 13> counts{"",      "One",   "Two",  "Three", "Four",   "Five",  "Six",
                                                           "Seven", "Eight", "Nine", "Ten",   "Eleven", "Twelve"};
  const bool queue = in.service != ServiceKind::llm, scaled = !queue && in.scale_on != models::ScaleSignal::none;
  const std::int64_t most = scaled ? std::max(in.most_replicas, in.replicas) : in.replicas;
  many = most > 1;
  if (!many) return queue && in.servers == 1 ? "One server" : "One replica";
  if (most >= static_cast<std::int64_t>(counts.size())) return scaled ? "The scaled replicas" : "All replicas together";
  std::string count(counts[static_cast<std::size_t>(most)]);
  if (scaled) count = "Up to " + std::string(1, static_cast<char>(count[0] - 'A' + 'a')) + count.substr(1);
  return count + " replicas";
}

/// What most of those that are not in time lack, and what would help.
std::string why_of(const Inputs& in, const Outputs& out) {
  if (out.sent_away_percent > std::max(out.late_percent, out.slow_percent))
    return "\nMost of the others are sent away, which keeps the queue short for the rest.";
  if (out.late_percent >= out.slow_percent && in.service == ServiceKind::llm &&
      in.scale_on != models::ScaleSignal::none)
    return "\nMost of the others wait too long for their first token: new replicas serve only after their cold start.";
  if (out.late_percent >= out.slow_percent)
    return in.service == ServiceKind::llm
               ? "\nMost of the others wait too long for their first token: more replicas would take the queue away."
               : "\nThe others wait too long in the queue: another server would take it away.";
  return "\nMost of the others get their tokens too slowly: the batch is so large that each step takes longer.";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  bool many = false;
  const std::string fleet = fleet_words(in, many), served = figure(out.throughput_per_s, ""),
                    good = figure(out.goodput_per_s, ""), load = figure(out.arrivals_per_s, "");
  if (!std::isfinite(out.knee_rate_per_s))
    return fleet + (many ? " keep" : " keeps") + " the limits at no load: at " + load + " requests per second " +
           figure(out.in_time_percent, "%") + " are in time.";
  const std::string head = fleet + (many ? " serve " : " serves ") + served + " of " + load + " requests per second, ",
                    tail = "; the limits hold up to " + figure(out.knee_rate_per_s, "") + ".";
  if (in.arrival_rate <= out.knee_rate_per_s) return head + good + " of them in time" + tail;
  if (out.in_time_percent < 100 * in.share) {
    const bool many_missed = out.goodput_per_s < 0.9 * out.throughput_per_s;
    return head + (many_missed ? "but only " + good : good + " of them") + " in time" + tail + why_of(in, out);
  }
  return head + good + " of them still in time" + tail +
         "\nMore come than leave: the longer they come, the fewer are in time.";
}

}  // namespace chapters::serving::slo
