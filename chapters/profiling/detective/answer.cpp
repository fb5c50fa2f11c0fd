#include <cmath>

#include "chapters/profiling/detective/lab.h"
#include "widgets/number/number.h"

namespace chapters::profiling::detective {
namespace {

using models::trace::Cause, widgets::figure;

std::string on_rank(double rank, std::int64_t ranks) {
  if (ranks < 2 || std::isnan(rank)) return "";
  return rank < 0 ? " on all ranks" : " on rank " + figure(rank, "");
}

/// What a cause is called where nobody planted it: a silent host may do more than collect garbage, and what is held up
/// may be so by more than another process.
std::string_view words_of_own(const Run& run) {
  const models::trace::JobDiagnosis& d = run.diagnosis;
  if (d.cause == Cause::garbage_collection) return "time in which nothing of the host was recorded";
  const models::trace::Witness& w = d.witness();
  const auto row = static_cast<std::size_t>(w.event_row);
  if (d.cause == Cause::contention && row < run.recorded.size() && w.event != models::trace::none) {
    const auto& trace = run.recorded[row]->trace;
    return models::trace::on_device(trace.events[w.event].cls) ? "kernels that take far longer than their like"
                                                               : "calls that take far longer than others";
  }
  return cause_words(d.cause);
}

std::string own_answer(const Outputs& out, const Run& run) {
  const std::string graded = " Nobody planted anything, so nothing is graded.";
  if (run.diagnosis.cause == Cause::nothing)
    return "Nothing stands out in a run of " + figure(out.length_s, "s") + "." + graded;
  if (run.diagnosis.cause == Cause::late_rank)
    return "Rank " + figure(out.diagnosed_rank, "") + " comes last: each of the others waits " +
           figure(out.diagnosed_s, "s") + " of " + figure(out.length_s, "s") + " for it." + graded;
  return "What costs most is " + std::string(words_of_own(run)) + on_rank(out.diagnosed_rank, out.ranks) + ": " +
         figure(out.diagnosed_s, "s") + " of " + figure(out.length_s, "s") + "." + graded;
}

std::string charged_answer(const Inputs& in, const Outputs& out, const Run& run) {
  const auto& dealt = *run.dealt;
  const std::size_t at = std::min(static_cast<std::size_t>(in.accused), out.suspects.size()) - 1;
  const models::trace::Suspect& accused = dealt.line_up[at];
  const std::string taken = "without its spans of up to " + figure(out.accused_s, "s") + " the run of " +
                            figure(out.length_s, "s") + " wins " + figure(out.accused_won_s, "s") + ".";
  return std::string("Suspect ") + out.suspects[at].letter + " is " + (accused.guilty ? "guilty" : "innocent") + ": " +
         taken;
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  if (!run.dealt) return own_answer(out, run);
  if (!run.open)
    return "Somebody may be guilty: the longest span takes " + figure(out.longest_s, "s") + ", a step " +
           figure(out.step_s, "s") + ". Accuse one, or say that nothing is wrong.";
  if (in.accused > 0 && !out.suspects.empty()) return charged_answer(in, out, run);
  const Cause cause = run.dealt->played.spec().cause;
  const std::string wins =
      "The longest span, " + figure(out.longest_s, "s") + ", costs " + figure(std::max(0.0, out.longest_won_s), "s");
  if (cause == Cause::nothing) return wins + ": nothing is wrong with this run of " + figure(out.length_s, "s") + ".";
  return wins + ". The culprit is " + std::string(cause_words(cause)) + on_rank(out.culprit_rank, out.ranks) +
         ": it costs " + figure(out.won_s, "s") + ".";
}

}  // namespace chapters::profiling::detective
