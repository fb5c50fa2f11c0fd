#include <cmath>
#include <string>

#include "chapters/profiling/measure/lab.h"
#include "widgets/number/number.h"

namespace chapters::profiling::measure {

using widgets::figure;

namespace {

std::string percent(double value) { return figure(value, "%", 2); }

std::string second_line(const Inputs& in, const Outputs& out) {
  const bool drawn_runs = in.source == Source::drawn;
  if (in.source == Source::machine && in.timed_runs.empty())
    return "Nothing was timed here yet: these runs were recorded elsewhere.";
  if (!drawn_runs && out.real_gain == 0)
    return "A and B are the same code: what differs is the machine, and B really saves " + percent(out.real_gain) + ".";
  if (!drawn_runs && in.test != Test::t)
    return "Repeated on equals, as many runs call a difference in " + percent(out.alarm_simulated) + " of trials.";
  if (std::isnan(out.smallest))
    return drawn_runs ? "As few runs as these would show no gain at all."
                      : "A few runs took far longer: a t test of as many would show no gain at all.";
  const std::string shown = "As many runs show a gain of " + percent(out.smallest) + " in four of five trials";
  if (!drawn_runs) return shown + ".";
  if (std::abs(out.order_bias) > 0.3 * out.smallest)
    return "The order of the runs alone makes " + percent(out.order_bias) + " of gain; really B saves " +
           percent(in.gain) + ".";
  if (out.clock_spread > in.noise)
    return "The clock alone spreads runs by " + percent(out.clock_spread) + ": as many show a gain of " +
           percent(out.smallest) + "; really B saves " + percent(in.gain) + ".";
  if (in.gain > 0 && in.test != Test::t)
    return "This method calls B faster in " + percent(out.power_simulated) + " of such trials, a t test in " +
           percent(out.power_computed) + ".";
  if (in.gain > 0 && out.verdict == Verdict::undecided)
    return "B really saves " + percent(in.gain) + "; as many runs show gains of " + percent(out.smallest) + " or more.";
  if (out.peeking > 15 && in.gain == 0 && out.looks > 1)
    return "Looking " + figure(static_cast<double>(out.looks), "") + " times calls a difference of equals in " +
           percent(out.peeking) + " of trials.";
  return shown + "; really B saves " + percent(in.gain) + ".";
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
  return first + "\n" + second_line(in, out);
}

}  // namespace chapters::profiling::measure
