#include "chapters/capstone/perception/lab.h"
#include "widgets/number/number.h"

namespace chapters::capstone::perception {

std::string answer_of(const Outputs& out, const Run& run) {
  using widgets::figure;
  const Round& last = run.played.now();
  if (out.score.rounds == 0 && out.arrives)
    return "As found, 99 frames in 100 arrive within " + figure(out.p99_s, "s") + ", due in " +
           figure(out.deadline_s, "s") + ".";
  if (out.score.rounds == 0)
    return "As found, 99 frames in 100 have a plan after " + figure(out.p99_s, "s") + ", and it is due in " +
           figure(out.deadline_s, "s") + ". Take a card.";
  std::string first = out.arrives ? "99 frames in 100 arrive within " + figure(out.p99_s, "s") + ", due in " +
                                        figure(out.deadline_s, "s") + "."
                                  : "Half of the frames take " + figure(out.p50_s, "s") + "; 99 in 100 need " +
                                        figure(out.p99_s, "s") + ", too late by " + figure(out.late_by_s, "s") + ".";
  if (last.bounced) return first + " The last card came back.";
  if (out.score.nothing_won) return first + " The last round won nothing.";
  return first + (out.score.won_s > 0 ? " The last round won " + figure(out.score.won_s, "s") + "."
                                      : " The last round lost: look at the tail.");
}

}  // namespace chapters::capstone::perception
