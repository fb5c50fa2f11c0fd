#include "chapters/fleet/sharing/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::fleet::sharing {

using models::as_double;
using widgets::figure;

/// Where fewer jobs wait, in %, hardly anybody does.
constexpr double few_wait = 5;

namespace {

std::string gpu_answer(const Inputs& in, const Outputs& out) {
  const std::string first =
      "Your step takes " + figure(out.step_s, "s") + " and alone on the whole GPU " + figure(out.alone_s, "s") + ".\n";
  const std::string placed = figure(as_double(out.placed), ""), unplaced = figure(as_double(out.unplaced), "");
  if (out.placed < 2 && out.unplaced > 0)
    return first + "Your job has the one MIG instance that fits; for " + unplaced +
           (out.unplaced == 1 ? " other there is none." : " others there is none.");
  if (out.placed < 2) return first + "Nobody else is on the GPU.";
  const std::string together =
      "together they get as much done as " + figure(out.throughput, "") + " GPUs with one job each.";
  if (out.unplaced > 0)
    return first + placed + " of " + figure(as_double(in.tenants), "") +
           " jobs have a MIG instance and feel no neighbour; " + together;
  if (in.way == models::fleet::SharingWay::mig)
    return first + "In a MIG instance the neighbours take nothing; " + together;
  return first + "The noisy neighbour's takes " + figure(out.noisy_slowdown, widgets::times_unit) + " as long; " +
         together;
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (in.focus == Focus::gpu) return gpu_answer(in, out);
  const bool slices = in.mix == models::fleet::Mix::slices;
  const std::string first = figure(out.used, "%") + " of the " + (slices ? "memory slices" : "GPUs") +
                            " are used, and a job waits " + figure(out.mean_wait_s, "s") + " on average.\n";
  if (out.waited <= 0) return first + "Nobody waits: there is room for every job when it comes.";
  if (out.in_pieces + out.held_back + out.stranded < 0.05)
    return first + "No GPU stands empty while a job waits, and " + figure(out.waited, "%") + " of the jobs wait.";
  const bool grows = out.growth >= 1;
  const std::string second = grows ? "The line grows: " : "";
  if (out.in_pieces > 5)
    return first + second + (grows ? "for " : "For ") + figure(out.in_pieces, "%") +
           " of the time the first in line has enough " + (slices ? "memory slices" : "GPUs") + " free, in pieces.";
  if (out.waited < few_wait && !grows)
    return first + "Hardly anybody waits, " + figure(out.waited, "%") + " of the jobs; " + figure(out.idle, "%") +
           " stand empty while nobody does.";
  if (out.held_back > out.stranded)
    return first + second + figure(out.held_back, "%") +
           " stand empty where a later job would fit: the order does not allow it.";
  return first + second + figure(out.stranded, "%") + " stand empty where no job that waits fits.";
}

}  // namespace chapters::fleet::sharing
