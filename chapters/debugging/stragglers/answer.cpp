#include "chapters/debugging/stragglers/lab.h"
#include "widgets/number/number.h"

namespace chapters::debugging::stragglers {
namespace {

using models::fleet::Fault;
using models::trace::StragglerCause;
using widgets::figure;

std::string rank_words(double rank) { return "Rank " + figure(rank, "", 6); }

std::string ranks_answer(const Outputs& out, const Run& run) {
  if (run.blame.culprit < 0)
    return "No rank waits for another in `" + std::to_string(run.calls.calls.size()) + "` collectives.";
  const RankFigures& r = out.ranks;
  std::string text = rank_words(out.culprit_rank) + " is blamed for " + figure(out.blamed_s, "s") + " of " +
                     figure(out.waits_s, "s") + " of waiting; on time it would save " + figure(out.won_s, "s") +
                     " of that.\n";
  if (r.computes_longest_rank == out.culprit_rank) return text + "It is also the rank that computes longest.";
  const std::string longest = "Computing takes longest on rank " + figure(r.computes_longest_rank, "", 6);
  if (r.computes_longest_rank == r.waits_longest_rank)
    return text + longest + ", which waits longest, too: it comes early and is not to blame.";
  return text + longest + ", which is not the one that the others wait for.";
}

std::string pipeline_answer(const Outputs& out, const Run& run) {
  const std::string slow = figure(out.slowdown, widgets::times_unit, 4), step = figure(out.length_s, "s");
  const PipelineFigures& p = out.pipeline;
  switch (run.pipeline->what_if.cause) {
    case StragglerCause::healthy:
      return "No straggler: this job takes " + slow + " its ideal step of " + figure(p.ideal_s, "s") + ".";
    case StragglerCause::sequence_lengths:
      return "Uneven samples slow this job " + slow + ": even micro-batches would save " + figure(out.won_s, "s") +
             " of a step of " + step + ".\nNo worker is at fault: the worst 3 % explain only " +
             figure(p.worst_workers_share, "%") + " of the slowdown.";
    case StragglerCause::stage_split:
      return "The last stage slows this job " + slow + ": an even split would save " + figure(out.won_s, "s") +
             " of a step of " + step + ".\nEvery worker of the last stage is slow: the model is cut unevenly.";
    case StragglerCause::slow_workers:
      return "A few workers slow this job " + slow + ": without the worst 3 % a step of " + step + " would save " +
             figure(out.won_s, "s") + ".";
    case StragglerCause::other:
      break;
  }
  return "This job runs at " + slow + " its ideal step of " + figure(p.ideal_s, "s") +
         ", and no single cause explains it.";
}

/// "Rank 930", or how many there are.
std::string guilty_words(const Outputs& out, const Run& run) {
  if (run.guilt.ranks == 1) return rank_words(out.fleet.guilty_rank);
  return "A node of " + figure(out.fleet.guilty, "") + " GPUs";
}

std::string detector_words(const Outputs& out) {
  const std::string alarms = figure(out.fleet.false_alarms_per_day, "");
  return "\nThe rule raises " + alarms + " false alarms per day on a healthy fleet.";
}

std::string fleet_answer(const Inputs& in, const Outputs& out, const Run& run) {
  const FleetFigures& f = out.fleet;
  const std::string rule = detector_words(out), adds = figure(f.added_share, "%");
  const bool accuses = f.wrong > 0;
  const std::string accused = figure(f.wrong, "") + (f.wrong == 1 ? " healthy GPU" : " healthy GPUs");
  if (in.fault == Fault::none || in.slower == 0)
    return accuses ? "Nobody is slow, yet the rule accuses " + accused + "." + rule
                   : "Nobody is slow, and the rule accuses nobody: noise alone adds " + figure(f.barrier_share, "%") +
                         " to a step." + rule;
  if (in.fault == Fault::uneven_data)
    return "Uneven data adds " + adds + " to a step, and no GPU is to blame: the rule accuses " +
           (accuses ? accused : std::string("nobody")) + "." + rule;
  std::string head = guilty_words(out, run) + " is slow: it adds " + adds + " to the step of the fleet, ";
  if (f.caught == 0) return head + "and the rule misses it." + rule;
  head += "and is found after " + figure(f.delay_steps, "") + (f.delay_steps == 1 ? " step" : " steps");
  return head + (accuses ? ", with " + accused + "." : ".") + rule;
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  switch (run.shown) {
    case Shown::ranks:
      return ranks_answer(out, run);
    case Shown::pipeline:
      return pipeline_answer(out, run);
    case Shown::fleet:
      return fleet_answer(in, out, run);
    case Shown::nothing:
      break;
  }
  return {};
}

}  // namespace chapters::debugging::stragglers
