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

/// That the case on the table is not the one that was asked for; empty where it is.
std::string not_as_asked(const Inputs& in, std::string_view id, std::string_view topic) {
  if (in.which != "dealt")
    return id == in.which ? std::string() : "You asked for a case of another kind: this one was dealt.";
  if (in.topic != "any" && topic != in.topic)
    return "There is no such case of the topic: this one is of another topic.";
  return {};
}

std::string board_answer(const Inputs& in, const Outputs& out, const WhyWrong& why) {
  if (out.ended) {
    const std::string first = "It is over: " + whole_of(out.told) + " of " + count(out.cards, "case", "cases") +
                              " told, score " + figure(out.score, "%") + ".";
    const std::string second =
        out.wrong > 0 ? count(out.wrong, "thread was", "threads were") + " wrong on the way." : "No thread was wrong.";
    return first + "\n" + second + " The cause left over: " + out.left_over + ".";
  }
  if (out.state == "not begun")
    return "There are " + count(out.cards, "symptom", "symptoms") +
           (out.of_topic < out.cards
                ? ", " + whole_of(out.of_topic) + " of the topic" + (in.level == CaseLevel::any ? "," : " and level,")
                : std::string()) +
           " and " + count(out.causes, "cause", "causes") + ": one cause is left over.\n" +
           (in.which == "dealt" ? "Draw a thread from each symptom to its cause, to its evidence, and to its fix."
                                : "The case that you asked for is no board, so this one was dealt. "
                                  "Choose the kind of that case to see it.");
  const std::string said = "So far " + whole_of(out.told) + " of " + count(out.cards, "case", "cases") + " told, " +
                           count(out.right, "thread", "threads") + " right and " + whole_of(out.wrong) + " wrong.";
  if (why.says.empty()) return said + "\nGo on from where a thread ends: cause, evidence, fix.";
  return said + "\nThe dashed thread is wrong; the picture says why. Draw it again: the clock goes on.";
}

std::string branching_answer(const Outputs& out, const std::string& other) {
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
           "; the best plan of checks takes " + figure(out.best_mean_minutes, "min") + " on average.\n" +
           (other.empty() ? "Always the cheapest check first takes " + figure(out.cheapest_mean_minutes, "min") +
                                " on average. Choose your first check."
                          : other);
  return "After " + count(out.checks, "check", "checks") + " and " + figure(out.spent_minutes, "min") + ", " +
         count(out.possible, "cause is", "causes are") + " still possible.\n" +
         (out.possible == 1 ? "Name it: one cause explains all that the checks showed."
                            : "Run another check, or name a cause if you dare.");
}

std::string points_answer(const Inputs& in, const Outputs& out, const std::string& other) {
  const bool design = in.kind == ScenarioKind::design;
  if (out.ended)
    return (design ? "The plan made " : "You made ") + whole_of(out.right) + " of " + count(out.of, "point", "points") +
           " in time: score " + figure(out.score, "%") + ".\n" +
           (out.right == out.of ? "Nothing was left out."
                                : "Look at the points without a mark: they are what was left out.");
  if (design)
    return "The plan has " + count(out.of, "point", "points") + " and a clock of " + figure(out.limit_s, "s") + "; " +
           whole_of(out.right) + (out.right == 1 ? " is" : " are") + " said.\n" +
           (other.empty() ? "Say a point, then mark it: what it should hold opens, with figures that are computed here."
                          : other);
  return "There are " + count(out.of, "point", "points") + " for " + figure(out.limit_s, "s") + ": about " +
         figure(out.words, "", 2) + " words. " + whole_of(out.right) + (out.right == 1 ? " is" : " are") + " said.\n" +
         (other.empty() ? "Start the clock, and mark each point when you have said it: then it opens." : other);
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run, const WhyWrong& why) {
  if (in.kind == ScenarioKind::board) return board_answer(in, out, why);
  if (run.branching) return branching_answer(out, not_as_asked(in, run.branching->id, run.branching->topic));
  std::string other;
  if (out.state == "not begun" && run.design) other = not_as_asked(in, run.design->id, run.design->topic);
  if (out.state == "not begun" && run.pitch) other = not_as_asked(in, run.pitch->id, run.pitch->topic);
  return points_answer(in, out, other);
}

}  // namespace chapters::interview::scenarios
