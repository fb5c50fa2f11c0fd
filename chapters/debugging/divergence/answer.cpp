#include <array>

#include "chapters/debugging/divergence/lab.h"
#include "widgets/number/number.h"

namespace chapters::debugging::divergence {
namespace {

using models::debugging::EccOutcome, models::debugging::SearchEnd;
using widgets::figure;

std::string whole(double n) { return figure(std::to_string(static_cast<std::int64_t>(n))); }
std::string counted(double n, std::string_view one, std::string_view many) {
  return n == 1 ? "one " + std::string(one) : whole(n) + " " + std::string(many);
}

/// What happens, as the subject and verb of a sentence.
std::string event_of(const Inputs& in, const Outputs& out) {
  const std::string layer = "layer " + whole(static_cast<double>(in.layer)), at = " at step " + whole(out.first_step);
  static constexpr std::array<std::string_view, 5> flipped{"", "One bit", "Two bits", "Three bits", "Four bits"};
  switch (in.fault) {
    case PlantedFault::none:
      return "The runs differ" + at;
    case PlantedFault::flipped_bit:
      return std::string(flipped[static_cast<std::size_t>(in.upsets)]) + " of " +
             (in.tensor == TwinTensor::activation ? "an " : "a ") + std::string(tensor_name(in.tensor)) +
             (in.upsets == 1 ? " flips" : " flip") + " in " + layer + at;
    case PlantedFault::stuck_bit:
      return "A stuck bit on one rank first shows in " + layer + at;
    case PlantedFault::sum_order:
      return "From step " + whole(out.first_step) + " the sums of " + layer + " have another order";
    case PlantedFault::ranks:
      return "From step " + whole(out.first_step) + ", two ranks sum instead of four";
    case PlantedFault::skipped_batch:
      return "The loader skips a batch" + at;
    case PlantedFault::dropout_seed:
      return "From step " + whole(out.first_step) + " the dropout of " + layer + " has another seed";
    case PlantedFault::lost_gradient:
      return "One rank's gradient of " + layer + " is lost" + at;
    case PlantedFault::doubled_gradient:
      return "One rank's gradient of " + layer + " is counted twice" + at;
    case PlantedFault::learning_rate:
      return "The learning rate is " + figure(in.factor, widgets::times_unit) + " its value" + at;
    case PlantedFault::stale_weights:
      return "One rank computes " + layer + " with old weights" + at;
  }
  return {};
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  if (out.not_a_number && out.silent_steps == 0) return event_of(in, out) + ", and the loss is no number at once.";
  if (std::isnan(out.loss_parts_step) && out.silent_steps == 0)
    return event_of(in, out) + ", the last one: no loss comes after it.";
  if (std::isnan(out.silent_steps))
    return event_of(in, out) + ", and nothing reads it: the weights of both runs stay equal bit for bit.";
  if (std::isnan(out.loss_parts_step))
    return event_of(in, out) + ", and the loss never shows it: " + counted(out.silent_steps, "step", "steps") +
           " of silence.";
  if (out.silent_steps == 0) return event_of(in, out) + ", and the loss parts at that very step.";
  return event_of(in, out) + "; the loss shows it at step " + whole(out.loss_parts_step) + ": " +
         counted(out.silent_steps, "step", "steps") + " later.";
}

std::string search_of(const Outputs& out) {
  const std::string comparisons = counted(out.comparisons, "comparison", "comparisons") + " of hashes";
  switch (out.search_end) {
    case SearchEnd::nothing:
      return "It leaves no trace in weights and moments: " + comparisons + (out.comparisons == 1 ? " finds" : " find") +
             " nothing.";
    case SearchEnd::interval:
      return comparisons + " leave " + counted(out.left_steps, "step", "steps") +
             "; a second run of them is healthy, so the code is not to blame.";
    case SearchEnd::cell:
      return comparisons + " find step and layer; read in order, it takes " + whole(out.in_order) + ".";
  }
  return {};
}

std::string answer_of_equal(const Inputs& in, const Outputs& out) {
  const std::string steps = whole(static_cast<double>(in.steps)) + " steps";
  if (out.stopped)
    return "ECC sees " + counted(static_cast<double>(in.upsets), "flipped bit", "flipped bits") +
           " that it cannot correct and stops the run before step " + whole(static_cast<double>(in.step)) +
           ".\nNo hash is needed: the machine reports the address, and the checkpoint before it is sound.";
  if (out.ecc_outcome == EccOutcome::corrected)
    return "ECC gives the flipped bit back: the runs are equal bit for bit for " + steps +
           ".\nThe machine counts a corrected error, and training never knows.";
  if (in.fault == PlantedFault::none)
    return "Trained twice, the runs are equal bit for bit: every tensor of every layer for " + steps + ".\n" +
           (out.comparisons == 1 ? "One comparison" : "Comparison") +
           " of the last chained hash proves it. Fixed sums are what makes it so.";
  return "The fault changes nothing here: every bit of every tensor is equal for " + steps +
         ".\nA fault needs a number that it can change; this one met none.";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (in.runs != Runs::trained) return answer_of_logs(in, out);
  if (out.equal) return answer_of_equal(in, out);
  if (!in.fixed_order)
    return "With sums in order of arrival the runs part at step " + whole(out.first_step) +
           ", fault or no fault: equality means nothing.\nAt the end the weights are " + figure(out.apart_end, "%") +
           " apart. First fix the order, then compare.";
  return verdict_of(in, out) + "\n" + search_of(out);
}

}  // namespace chapters::debugging::divergence
