#include "chapters/fleet/frontier/lab.h"
#include "widgets/number/number.h"

namespace chapters::fleet::frontier {
namespace {

using widgets::figure;

/// At most so many letters of a name that somebody else wrote.
std::string short_name(const std::string& name, std::size_t most) {
  return name.size() <= most ? name : name.substr(0, most - 3) + "...";
}

/// A value with its axis's unit behind the figure.
std::string value_words(const SeenAxis& axis, double value) {
  const std::string unit = axis.column->unit.size() > 8 ? "" : axis.column->unit;
  return figure(value, "") + (unit.empty() ? "" : " " + unit);
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  const std::string quality = run.set->qualities[run.quality].empty() ? "" : short_name(out.quality_used, 26) + ": ";
  std::string text = "For you " + quality + short_name(out.winner, 36) + " is best, with " +
                     value_words(run.x, out.winner_x) + " and " + value_words(run.y, out.winner_y) + ".\n";
  if (run.has_more) {
    const SeenAxis& asked = run.x.column->log ? run.y : run.x;
    const std::string unit = asked.column->unit.size() > 8 ? "" : asked.column->unit;
    return text + figure(in.more, "") + (unit.empty() ? "" : " " + unit) + (asked.high ? " more" : " less") +
           " would cost " + figure(out.more_times, widgets::times_unit) + " on the other axis.";
  }
  if (run.has_against && !std::isnan(out.against_times))
    text += short_name(out.against_used, 30) + " costs " + figure(out.against_times, widgets::times_unit) +
            " as much at the same exchange rate. ";
  if (std::isnan(out.rate_to))
    text += "It stays the best from a rate of " + figure(out.rate_from, "") + " on.";
  else
    text += "It stays the best from " + figure(out.rate_from, "") + " to " + figure(out.rate_to, "") + ".";
  return text;
}

}  // namespace chapters::fleet::frontier
