#include "chapters/fleet/frontier/lab.h"
#include "chapters/mechanism/short_name.h"
#include "widgets/number/number.h"

namespace chapters::fleet::frontier {
namespace {

using widgets::figure;

/// "images per second" of "images per second, RTX 4090".
std::string first_words(const std::string& label) { return label.substr(0, label.find(',')); }

}  // namespace

/// What the learner did not say: a direction that is guessed, or a wall that keeps nothing out; empty where neither is.
std::string remark_of(const Run& run) {
  const bool both = run.x.guessed && run.y.guessed;
  std::string guessed;
  for (const SeenAxis* axis : {&run.x, &run.y})
    if (axis->guessed) guessed += (guessed.empty() ? "" : " and ") + short_name(axis->column->label, 18);
  if (!guessed.empty())
    return (both ? "By their names less " : "By its name less ") + guessed + " is better, a guess; y";
  if (run.x.wall_is_beyond && run.y.wall_is_beyond) return "Both walls lie beyond all points and do nothing; y";
  if (run.x.wall_is_beyond) return "The wall across lies beyond all points and does nothing; y";
  return run.y.wall_is_beyond ? "The wall up lies beyond all points and does nothing; y" : "";
}

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  const std::string quality = run.set->qualities[run.quality].empty() ? "" : short_name(out.quality_used, 24) + ": ";
  const std::string best = quality + short_name(out.winner, 30) + " is best, with " + figure(out.winner_across) +
                           " and " + figure(out.winner_up) + ".\n";
  if (run.none_passes)
    return "Without the walls " + best + "No point of this quality passes them: move a wall back, or set it to 0.";
  std::string text = "For you " + best;
  std::string remark = remark_of(run);
  if (run.has_more && remark.empty()) {
    const SeenAxis &asked = run.x.column->log ? run.y : run.x, &pays = run.x.column->log ? run.x : run.y;
    const std::string& unit = asked.column->unit;
    const std::string more = figure(in.more, "");
    return text + more +
           (unit == "%"                       ? more == "`1`" ? " point " : " points "
            : unit.empty() || unit.size() > 8 ? " "
                                              : " " + unit + " ") +
           (asked.high ? "more " : "less ") + short_name(first_words(asked.column->label), 26) +
           (pays.high ? " divides " : " multiplies ") + short_name(first_words(pays.column->label), 26) + " by " +
           figure(out.more_times, widgets::times_unit) + ".";
  }
  if (!remark.empty())
    text += std::move(remark);
  else if (run.has_against && !std::isnan(out.against_times))
    text += "At the same exchange rate " + short_name(out.against_used, 26) +
            (run.y.high ? " is worse by " : " costs ") + figure(out.against_times, widgets::times_unit) +
            (run.y.high ? "; y" : " as much; y");
  else if (!out.against_used.empty() && !run.has_against)
    text += "No point of " + short_name(out.against_used, 30) + " passes; y";
  else
    text += "Y";
  text += "ours stays the best ";
  if (std::isnan(out.rate_to)) return text + "at any higher rate.";
  return text + "up to a rate of " + figure(out.rate_to, "") + ".";
}

}  // namespace chapters::fleet::frontier
