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

/// Said before what would be won, where the recording does not hold all that the run waited for.
bool is_incomplete(const Outputs& out) { return out.replay_percent < 99.5; }

std::string charged_answer(const Inputs& in, const Outputs& out, const Run& run) {
  const std::size_t at = std::min(static_cast<std::size_t>(in.accused), out.suspects.size()) - 1;
  const std::string verdict =
      std::string("Suspect ") + out.suspects[at].letter + " is " + (run.guilty(at) ? "guilty" : "innocent") + ": ";
  if (is_incomplete(out))
    return verdict + "a replay that explains " + figure(out.replay_percent, "%") + " of the run of " +
           figure(out.length_s, "s") + " wins " + figure(out.accused_won_s, "s") + " without it.";
  if (run.real && run.real->line_up()[at].work == models::trace::RecordedWork::rank)
    return verdict + "the run of " + figure(out.length_s, "s") + " wins " + figure(out.accused_won_s, "s") +
           " when it comes to its collectives with the others.";
  return verdict + "without its spans of up to " + figure(out.accused_s, "s") + " the run of " +
         figure(out.length_s, "s") + " wins " + figure(out.accused_won_s, "s") + ".";
}

std::string real_answer(const Outputs& out, const Run& run) {
  const Cause cause = run.real_facts->cause;
  const std::string costs = figure(out.won_s, "s");
  if (is_incomplete(out) && cause != Cause::nothing)
    return "A replay that explains " + figure(out.replay_percent, "%") + " of this run of " +
           figure(out.length_s, "s") + " says: the culprit is " + std::string(cause_words(cause)) + ", which costs " +
           costs + ".";
  const std::string wins =
      "The longest span, " + figure(out.longest_s, "s") + ", costs " + figure(std::max(0.0, out.longest_won_s), "s");
  if (cause == Cause::nothing) return wins + ": nothing is wrong with this run of " + figure(out.length_s, "s") + ".";
  if (cause == Cause::late_rank)
    return wins + ". The culprit is rank " + figure(out.culprit_rank, "") + ", which comes last: it costs " + costs +
           ".";
  const bool many = cause == Cause::slow_first_launch;
  return std::string(many ? "The culprits are " : "The culprit is ") + std::string(cause_words(cause)) + ": without " +
         (many ? "them" : "it") + " the run of " + figure(out.length_s, "s") + " is " + costs + " shorter.";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  if (!run.played()) return own_answer(out, run);
  if (!run.open)
    return "Somebody may be guilty: the longest span takes " + figure(out.longest_s, "s") + ", a step " +
           figure(out.step_s, "s") + ". Accuse one, or say that nothing is wrong.";
  if (in.accused > 0 && !out.suspects.empty()) return charged_answer(in, out, run);
  if (run.real) return real_answer(out, run);
  const Cause cause = run.dealt->played.spec().cause;
  const std::string wins =
      "The longest span, " + figure(out.longest_s, "s") + ", costs " + figure(std::max(0.0, out.longest_won_s), "s");
  if (cause == Cause::nothing) return wins + ": nothing is wrong with this run of " + figure(out.length_s, "s") + ".";
  return wins + ". The culprit is " + std::string(cause_words(cause)) + on_rank(out.culprit_rank, out.ranks) +
         ": it costs " + figure(out.won_s, "s") + ".";
}

}  // namespace chapters::profiling::detective
