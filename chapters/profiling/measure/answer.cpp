#include <cmath>
#include <string>

#include "chapters/profiling/measure/lab.h"
#include "widgets/number/number.h"

namespace chapters::profiling::measure {

using widgets::figure;

namespace {

std::string percent(double value) { return figure(value, "%", 2); }

std::string count(std::int64_t value) { return figure(static_cast<double>(value), ""); }

std::string really(double gain) {
  return gain < 0 ? "really B takes " + percent(-gain) + " longer" : "really B saves " + percent(gain);
}

std::string of_measured(const Inputs& in, const Outputs& out) {
  if (in.source == Source::machine && in.timed_runs.empty())
    return "Nothing was timed here yet: these runs were recorded elsewhere.";
  if (out.real_gain == 0)
    return "A and B are the same code: what differs is the machine, and B really saves " + percent(out.real_gain) + ".";
  const std::string runs = count(out.runs_used);
  if (in.test != Test::t)
    return "Two equal versions, drawn from these " + runs + " runs, are called different in " +
           percent(out.alarm_simulated) + " of trials.";
  if (std::isnan(out.smallest))
    return "A t test of " + runs + " such runs would show no gain at all: A's runs spread by " + percent(out.a_spread) +
           ".";
  return "A t test of " + runs + " such runs shows a gain of " + percent(out.smallest) + " in four of five trials.";
}

std::string of_drawn(const Inputs& in, const Outputs& out) {
  if (std::isnan(out.smallest)) return "A t test of a budget of " + count(in.runs) + " runs would show no gain at all.";
  if (std::abs(out.order_bias) > 0.3 * out.smallest) {
    const std::string order = out.order_bias > 0 ? "makes " + percent(out.order_bias) + " of gain"
                                                 : "makes B look " + percent(-out.order_bias) + " slower";
    return "The order of the runs alone " + order + "; " + really(in.gain) + ".";
  }
  if (out.clock_spread > in.noise)
    return "The clock alone spreads runs by " + percent(out.clock_spread) + ": this budget shows a gain of " +
           percent(out.smallest) + "; " + really(in.gain) + ".";
  if (in.gain > 0 && in.test != Test::t)
    return "This method calls B faster in " + percent(out.power_simulated) + " of such trials, a t test in " +
           percent(out.power_computed) + ".";
  // What both versions share (cold starts, heat, slow noise) swells the spread of each and not that of their pairs.
  if (!in.paired && out.smallest_other < 0.7 * out.smallest)
    return "Pairs share what spreads the runs: kept together they would show a gain of " + percent(out.smallest_other) +
           ", read apart " + percent(out.smallest) + ".";
  const std::string budget = "a budget of " + count(in.runs) + " runs";
  if (in.gain > 0 && out.verdict == Verdict::undecided)
    return "B really saves " + percent(in.gain) + "; in four of five trials " + budget + " shows gains of " +
           percent(out.smallest) + " or more.";
  if (out.peeking > 15 && in.gain == 0 && out.looks > 1)
    return "Looking " + count(out.looks) + " times calls a difference of equals in " + percent(out.peeking) +
           " of trials.";
  return "In four of five trials " + budget + " shows a gain of " + percent(out.smallest) + "; " + really(in.gain) +
         ".";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string range = "between " + percent(out.found_lo) + " and " + percent(out.found_hi);
  std::string first;
  switch (out.verdict) {
    case Verdict::faster:
      first = "B looks " + percent(out.found_size) + " faster: by the runs its gain lies " + range + ".";
      break;
    case Verdict::slower:
      first = "B looks " + percent(out.found_size) + " slower: by the runs its gain lies " + range + ".";
      break;
    case Verdict::undecided:
      first = "The runs show no difference: the gain of B lies " + range + ".";
      break;
  }
  return first + "\n" + (in.source == Source::drawn ? of_drawn(in, out) : of_measured(in, out));
}

}  // namespace chapters::profiling::measure
