#include <array>
#include <cmath>

#include "chapters/distributed/collectives/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

/// The sentence that says which algorithm is fastest for the message, and why.
namespace chapters::distributed::collectives {
namespace {

using namespace models::parallel;
using models::as_double;
using widgets::figure, widgets::format_text;

std::string ratio_text(double factor) { return figure(format_text(factor, "") + "×"); }
std::string capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

std::string step_count(double steps) { return figure(steps, "") + (steps == 1 ? " step" : " steps"); }
std::string said(const Inputs& in, CollectiveAlgorithm algorithm) { return std::string(algorithm_said(in, algorithm)); }

/// The fastest of all, and what the two that are shown take.
std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string at = "At " + figure(in.bytes, "B") + " ", own = said(in, in.algorithm), other = said(in, in.beside);
  const bool alone = std::isnan(out.beside_s);
  const std::string theirs = alone ? "" : ", " + other + " " + figure(out.beside_s, "s");
  const double shown_s = alone ? out.time_s : std::min(out.time_s, out.beside_s);
  const auto same = [](double a, double b) { return format_text(a, "s") == format_text(b, "s"); };
  if (out.fastest != in.algorithm && out.fastest != in.beside && out.fastest_s < 0.9999 * shown_s &&
      !same(out.fastest_s, shown_s))
    return at + said(in, out.fastest) + " is fastest, " + figure(out.fastest_s, "s") + "; " + own + " takes " +
           figure(out.time_s, "s") + theirs + ".";
  if (alone)
    return at + own + (in.algorithm == out.fastest ? " is fastest: " : " takes as long as the fastest: ") +
           figure(out.time_s, "s") + " on " + figure(as_double(in.ranks), "") + " ranks.";
  if (same(out.time_s, out.beside_s))
    return at + own + " takes " + figure(out.time_s, "s") + ", and so does " + other + ".";
  const bool other_wins = out.beside_s < out.time_s;
  return at + (other_wins ? other : own) + " is fastest: " + figure(std::min(out.time_s, out.beside_s), "s") +
         " instead of the " + figure(std::max(out.time_s, out.beside_s), "s") + " of " + (other_wins ? own : other) +
         ".";
}

/// Steps of the one that wins next to those of the other, and what it pays for fewer.
std::string steps_of(const Inputs& in, const Outputs& out, bool other_wins) {
  const double own_steps = as_double(out.steps);
  const double won = other_wins ? out.beside_steps : own_steps, lost = other_wins ? own_steps : out.beside_steps;
  const std::string more =
      " the bytes " + std::string(out.crosses_nodes ? "cross the slower links" : "one after another");
  const double factor = other_wins ? out.beside_serial_times : out.serial_times;
  std::string text =
      won == lost ? step_count(won) + " like the other" : step_count(won) + " instead of " + figure(lost, "");
  if (is_chain(in, other_wins ? in.algorithm : in.beside) && won < lost)
    text = step_count(won) + " instead of the " + figure(lost, "") + " of the chain's first piece";
  if (std::abs(factor - 1) < 5e-3) return text + ", and as many bytes one after another";
  if (out.crosses_nodes) return text + (factor > 1 ? ", although " : ", and ") + ratio_text(factor) + more;
  return text + (factor > 1 ? ", although it sends " : ", and it sends ") + ratio_text(factor) + more;
}

std::string reason_of(const Inputs& in, const Outputs& out) {
  if (in.nccl_start && in.algorithm == CollectiveAlgorithm::ring)
    return "Started as NCCL starts, a rank owns the chunk of its own number half-way; steps and time stay the same.";
  if (std::isnan(out.beside_s))
    return capital(said(in, in.algorithm)) + " takes " + step_count(as_double(out.steps)) +
           ", and its busiest rank sends " + figure(out.bytes_sent_per_rank, "B") + ".";
  if (std::abs(out.times_faster - 1) < 1e-9) return "They cost the same at every size.";
  if (out.latency_percent < 0.1 && format_text(out.time_s, "s") == format_text(out.beside_s, "s"))
    return "At this size bytes are everything: latency is " + figure(out.latency_percent, "%") + " of the time.";
  if (std::isnan(out.crossing_bytes)) {
    const bool other_wins = out.beside_s < out.time_s;
    return capital(said(in, other_wins ? in.beside : in.algorithm)) +
           " wins at every size: " + steps_of(in, out, other_wins) + ".";
  }
  // Below the crossing the one with less latency wins, which is seen a little below it.
  const AlphaBetaLinks links = links_of(in);
  const double below = out.crossing_bytes / 1.1;
  const bool other_below = collective_time(spec_of(in, in.beside), below, links).total_s() <
                           collective_time(spec_of(in, in.algorithm), below, links).total_s();
  const double won = other_below ? out.beside_steps : as_double(out.steps),
               lost = other_below ? as_double(out.steps) : out.beside_steps;
  std::string text = "Below " + figure(out.crossing_bytes, "B") + " " +
                     said(in, other_below ? in.beside : in.algorithm) + " beats " +
                     said(in, other_below ? in.algorithm : in.beside) + ": ";
  if (won >= lost) return text + "its steps cost less latency.";
  return text + step_count(won) + " instead of " + figure(lost, "") + ", and small messages cost mostly latency.";
}

}  // namespace

bool is_chain(const Inputs& in, CollectiveAlgorithm algorithm) {
  return algorithm == CollectiveAlgorithm::ring &&
         (in.primitive == Primitive::broadcast || in.primitive == Primitive::reduce);
}

std::string_view algorithm_said(const Inputs& in, CollectiveAlgorithm algorithm) {
  static constexpr std::array<std::string_view, collective_algorithm_count> names{
      "the ring",
      "the tree",
      "the double binary tree",
      "halving and doubling",
      "recursive doubling",
      "the hierarchical algorithm",
      "scatter and all-gather",
      "pairwise exchange",
      "Bruck's algorithm",
      "adding in the switch",
  };
  return is_chain(in, algorithm) ? "the chain" : names[static_cast<std::size_t>(algorithm)];
}

std::string answer_of(const Inputs& in, const Outputs& out) { return verdict_of(in, out) + "\n" + reason_of(in, out); }

}  // namespace chapters::distributed::collectives
