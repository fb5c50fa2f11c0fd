#include <cmath>

#include "chapters/practice/drill.h"
#include "widgets/number/estimate.h"

namespace chapters {
namespace {

bool within(double said, double target, double tolerance) {
  return std::abs(said - target) <= tolerance * std::abs(target);
}

/// What an answer that is off by a plain factor most often comes from.
std::string factor_slip(const DrillQuestion& q, double said) {
  const double tolerance = q.drill->tolerance;
  const auto by = [&](double factor) { return within(said, q.answer * factor, tolerance); };
  if (q.unit == "%" && by(0.01)) return " That is the share as a fraction; per cent is asked.";
  if (by(-1)) return " The sign is the other way round.";
  for (int power = 1; power <= 12; ++power) {
    const double factor = std::pow(10.0, power);
    if (!by(factor) && !by(1 / factor)) continue;
    // Prefixes are thousands, and neither shares nor counts have one.
    const bool prefix = power % 3 == 0 && !q.unit.empty() && q.unit != "%";
    return std::string(" The digits are right: ") + (prefix ? "check the prefix, it is " : "it is ") +
           widgets::format_text(factor, "") + " times too " + (by(factor) ? "much." : "little.");
  }
  const bool bytes = q.unit.starts_with("B"), operations = q.unit.starts_with("FLOP");
  if (by(8)) return bytes ? " Eight times too much: bits where bytes were meant?" : " Eight times too much.";
  if (by(0.125)) return bytes ? " Eight times too little: bytes where bits were meant?" : " Eight times too little.";
  if (by(2)) return " Twice the answer: is something counted both ways?";
  if (by(0.5))
    return bytes        ? " Half the answer: keys and values are two tensors, 16 bits are two bytes."
           : operations ? " Half the answer: a multiply-add is two operations."
                        : " Half the answer: is a factor of two missing?";
  return {};
}

std::string time_text(double seconds) {
  const double whole = std::round(seconds);
  return widgets::format_text(whole, "") + (whole == 1 ? " second" : " seconds");
}

/// What the slip is that the figure comes from, or "".
std::string known_slip(const DrillQuestion& q, double said) {
  for (const auto& [value, says] : q.slips)
    if (within(said, value, q.drill->tolerance)) return " " + says;
  return {};
}

}  // namespace

bool takes_near(const Drill& drill) { return drill.tolerance >= exact_tolerance && drill.tolerance < near_tolerance; }

DrillMark grade(const DrillQuestion& q, std::string_view text, double seconds, double limit_s) {
  DrillMark mark;
  const auto parsed = widgets::parse_estimate(text, q.unit);
  if (!parsed.error.empty()) {
    mark.verdict = parsed.error + ".";
    return mark;
  }
  mark.read = true;
  mark.said = parsed.value;
  const bool good = within(mark.said, q.answer, q.drill->tolerance);
  const std::string slip = good ? std::string() : known_slip(q, mark.said);
  const bool beside = !good && slip.empty() && takes_near(*q.drill) && within(mark.said, q.answer, near_tolerance);
  mark.late = limit_s > 0 && !(seconds <= limit_s);
  mark.right = good && !mark.late;
  mark.near = beside && !mark.late;
  const auto prefix = q.binary ? widgets::Prefix::binary : widgets::Prefix::si;
  const std::string answer = widgets::format_text(q.answer, q.unit, 4, prefix),
                    said = widgets::format_text(mark.said, q.unit, 4, prefix);
  const double off = std::abs(mark.said / q.answer - 1) * 100;
  mark.verdict = answer + ", and you said " + said;
  if (good || beside)
    mark.verdict +=
        ": " + (off < 0.05 ? std::string("exact") : widgets::format_text(std::round(off * 10) / 10, "%", 2) + " off");
  mark.verdict += mark.near ? ", fine on a whiteboard, counts half." : ".";
  if (seconds > 0)
    mark.verdict +=
        " " + time_text(seconds) + (mark.late ? ": right needs to be within " + time_text(limit_s) + "." : ".");
  if (!good && !beside) mark.verdict += slip.empty() ? factor_slip(q, mark.said) : slip;
  return mark;
}

}  // namespace chapters
