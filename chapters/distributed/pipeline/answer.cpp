#include <algorithm>
#include <cmath>

#include "chapters/distributed/pipeline/lab.h"
#include "widgets/number/number.h"

/// The sentence that says which of the two schedules is faster, and what it costs.
namespace chapters::distributed::pipeline {
namespace {

using widgets::figure;

std::string kept_text(double kept) { return figure(kept, "") + (kept == 1 ? " micro-batch" : " micro-batches"); }

bool same_time(double a_s, double b_s) { return std::abs(a_s - b_s) <= 1e-9 * std::max(a_s, b_s); }

/// The schedule above or below; of one schedule in both with its chunks, where those differ.
std::string name_of(const Run& run, bool beside) {
  const Side& side = beside ? run.beside : run.now;
  std::string name(models::parallel::schedule_name(side.spec.schedule));
  if (run.now.spec.schedule == run.beside.spec.schedule && run.now.plan.chunks != run.beside.plan.chunks)
    name += " with " + std::to_string(side.plan.chunks) + (side.plan.chunks == 1 ? " chunk" : " chunks");
  return name;
}

/// Which schedule is faster, by how much, and how long ranks idle in both.
std::string clock_text(const Outputs& out, const Run& run) {
  const SideFigures &above = out.beside, &below = out.now;
  const std::string theirs = name_of(run, true), own = name_of(run, false);
  const double above_s = above.totals.makespan_s, below_s = below.totals.makespan_s;
  if (own == theirs)
    return own + " stands in both pictures: it takes " + figure(below_s, "s") + ", and its ranks idle " +
           figure(below.idle_percent, "%") + " of that.";
  if (same_time(above_s, below_s))
    return own + " takes " + figure(below_s, "s") + ", as long as " + theirs + ", and ranks idle " +
           figure(below.idle_percent, "%") + " of that in both.";
  return own + (below_s < above_s ? " takes " : " is slower and takes ") + figure(below_s, "s") + " instead of the " +
         figure(above_s, "s") + " of " + theirs + ": ranks idle " + figure(below.idle_percent, "%") +
         " of it instead of " + figure(above.idle_percent, "%") + ".";
}

/// What the fullest ranks keep, or where those keep as much, the emptiest.
std::string memory_text(const Outputs& out) {
  const SideFigures &above = out.beside, &below = out.now;
  if (above.peak != below.peak)
    return std::string(below.peak > above.peak ? "Price" : "Saved") + ": the fullest rank keeps " +
           kept_text(below.peak) + " in memory instead of " + figure(above.peak, "");
  if (above.least == below.least) return "Both keep at most " + kept_text(below.peak) + " in a rank's memory";
  return std::string(below.least > above.least ? "Price" : "Saved") + ": the emptiest rank keeps " +
         kept_text(below.least) + " in memory instead of " + figure(above.least, "");
}

/// What the faster schedule costs, or what else decides.
std::string price_text(const Outputs& out) {
  const SideFigures &above = out.beside, &below = out.now;
  if (out.busiest_rank >= 0)
    return "Rank " + figure(static_cast<double>(out.busiest_rank), "") + " is the slowest and works for " +
           figure(out.busiest_s, "s") + ": no order of operations takes less.";
  std::string text = memory_text(out);
  const std::string copies = figure(below.weights, "") + (below.weights == 1 ? " copy" : " copies") + " of its weights";
  if (below.weights != above.weights && above.peak == below.peak && above.least == below.least)
    return text + "; each holds " + copies + " instead of " + figure(above.weights, "") + ".";
  if (below.weights != above.weights) return text + ", and each rank " + copies + ".";
  if (below.idle_percent - below.idle_without_barrier > 0.5)
    return text + ". Without a barrier after the step ranks would idle " + figure(below.idle_without_barrier, "%") +
           ".";
  return text + ".";
}

/// The learner's own order, next to the schedule's.
std::string edited_text(const Outputs& out) {
  const SideFigures& own = out.now;
  const double gain_s = out.generated_s - own.totals.makespan_s;
  std::string text = "Your order takes " + figure(own.totals.makespan_s, "s");
  text += same_time(out.generated_s, own.totals.makespan_s)
              ? ", as long as the schedule's own"
              : std::string(gain_s > 0 ? ", less than " : " instead of ") + "the schedule's own " +
                    figure(out.generated_s, "s");
  text += "; its fullest rank keeps " + kept_text(own.peak);
  return text +
         (own.peak == out.generated_peak ? ", as before." : " instead of " + figure(out.generated_peak, "") + ".");
}

std::string left_out_text(const Outputs& out) {
  const auto count = static_cast<double>(out.moves_left_out);
  return figure(count, "") + (count == 1 ? " of your moves names a block" : " of your moves name blocks") +
         " that this schedule does not have.";
}

/// The sentence that names the ranks that wait for each other, cut in two.
std::string stuck_text(std::string stuck) {
  const std::size_t cut = stuck.find("; ");
  if (cut == std::string::npos) return stuck;
  stuck.replace(cut, 2, ".\n");
  const std::size_t first = cut + 2;
  if (stuck[first] >= 'a' && stuck[first] <= 'z') stuck[first] = static_cast<char>(stuck[first] - 'a' + 'A');
  return stuck;
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  if (!out.now.stuck.empty()) return stuck_text(out.now.stuck);
  const bool edited = !run.now.moves.empty();
  const std::string verdict = edited ? edited_text(out) : clock_text(out, run);
  if (out.crowded_rank >= 0) {
    const auto rank = static_cast<std::size_t>(out.crowded_rank);
    return "Rank " + figure(static_cast<double>(rank), "") + " runs out of memory: it would keep " +
           kept_text(out.ranks[rank].keeps) + " and has room for " + figure(static_cast<double>(in.room), "") + ".\n" +
           (out.moves_left_out > 0 ? left_out_text(out)
                                   : (edited ? "Your order" : name_of(run, false)) + " would take " +
                                         figure(out.now.totals.makespan_s, "s") + " with the room, " +
                                         name_of(run, true) + " " + figure(out.beside.totals.makespan_s, "s") + ".");
  }
  if (out.moves_left_out > 0) return verdict + "\n" + left_out_text(out);
  return edited ? verdict + "\n" + name_of(run, true) + ", the schedule above, takes " +
                      figure(out.beside.totals.makespan_s, "s") + "."
                : verdict + "\n" + price_text(out);
}

}  // namespace chapters::distributed::pipeline
