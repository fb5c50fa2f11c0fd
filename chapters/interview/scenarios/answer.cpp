#include <cmath>

#include "chapters/interview/scenarios/lab.h"
#include "widgets/number/number.h"

namespace chapters::interview::scenarios {
namespace {

using widgets::figure;

std::string count(std::int64_t n, std::string_view one, std::string_view many) {
  return figure(widgets::format_text(static_cast<double>(n), "", 4)) + " " + std::string(n == 1 ? one : many);
}

std::string whole_of(std::int64_t n) { return figure(widgets::format_text(static_cast<double>(n), "", 4)); }

std::string board_answer(const Outputs& out, const WhyWrong& why) {
  if (out.ended) {
    const std::string first = "The board is over: " + whole_of(out.told) + " of " + count(out.cards, "case", "cases") +
                              " told, score " + figure(out.score, "%") + ".";
    const std::string second =
        out.wrong > 0 ? count(out.wrong, "thread was", "threads were") + " wrong on the way." : "No thread was wrong.";
    return first + "\n" + second + " The cause left over: " + out.left_over + ".";
  }
  if (out.state == "not begun")
    return "The board has " + count(out.cards, "symptom", "symptoms") + " and " + count(out.causes, "cause", "causes") +
           ": one cause is left over.\nDraw a thread from each symptom to its cause, to its evidence, and to its fix.";
  std::string said = whole_of(out.told) + " of " + count(out.cards, "case", "cases") + " told, " + whole_of(out.right) +
                     " threads right and " + whole_of(out.wrong) + " wrong so far.";
  said = "The board: " + said;
  if (why.says.empty()) return said + "\nGo on from where a thread ends: cause, evidence, fix.";
  return said + "\nThe dashed thread is wrong; the picture says why. Draw it anew: the clock goes on.";
}

std::string branching_answer(const Outputs& out) {
  if (out.ended) {
    const std::string verdict = out.told > 0    ? "The cause is found after "
                                : out.wrong > 0 ? "The wrong cause was named after "
                                                : "The case was given up after ";
    return verdict + figure(out.spent_minutes, "min") +
           (out.wrong > 0 ? "; the best plan finds the right one in " : "; the best plan finds it in ") +
           figure(out.best_here_minutes, "min") + ". Score " + figure(out.score, "%") +
           ".\nIt was this: " + out.left_over + ". The best plan begins with: " + out.best_first + ".";
  }
  if (out.checks == 0)
    return "The case has " + count(out.causes, "possible cause", "possible causes") +
           "; the best plan of checks takes " + figure(out.best_mean_minutes, "min") +
           " on average.\nAlways the cheapest check first takes " + figure(out.cheapest_mean_minutes, "min") +
           " on average. Which check do you run first?";
  return "After " + count(out.checks, "check", "checks") + " and " + figure(out.spent_minutes, "min") + ", " +
         count(out.possible, "cause is", "causes are") + " still possible.\n" +
         (out.possible == 1 ? "Name it: one cause explains all that the checks showed."
                            : "Run another check, or name a cause if you dare.");
}

std::string points_answer(const Inputs& in, const Outputs& out) {
  const bool design = in.kind == ScenarioKind::design;
  if (out.ended)
    return (design ? "The design made " : "The talk made ") + whole_of(out.right) + " of " +
           count(out.of, "point", "points") + " in time: score " + figure(out.score, "%") + ".\n" +
           (out.right == out.of ? "Nothing was left out."
                                : "Look at the points without a mark: they are what was left out.");
  if (design)
    return "The design has " + count(out.of, "point", "points") + " and a clock of " + figure(out.limit_s, "s") + "; " +
           whole_of(out.right) + (out.right == 1 ? " is" : " are") +
           " ticked.\nSay each point aloud, then tick it: the model answer opens with figures of the labs.";
  return "The talk has " + count(out.of, "point", "points") + " and " + figure(out.limit_s, "s") + ": about " +
         figure(out.words, "", 2) + " words. " + whole_of(out.right) + (out.right == 1 ? " is" : " are") +
         " said.\nStart the clock, speak, and tick each point as you make it.";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out, const Run&, const WhyWrong& why) {
  if (in.kind == ScenarioKind::board) return board_answer(out, why);
  if (in.kind == ScenarioKind::branching) return branching_answer(out);
  return points_answer(in, out);
}

}  // namespace chapters::interview::scenarios
