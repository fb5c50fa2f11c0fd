#include <cmath>

#include "chapters/debugging/hang/lab.h"
#include "widgets/number/number.h"

/// The sentence that says who holds the job up.
namespace chapters::debugging::hang {
namespace {

using models::hang::HangFault;
using widgets::figure;

std::string count(std::int64_t n) { return figure(static_cast<double>(n), "", 9); }
std::string number(double n) { return figure(n, "", 9); }
std::string ranks_text(std::int64_t n) { return count(n) + (n == 1 ? " rank" : " ranks"); }

/// "Rank 2" or "4 ranks".
std::string who(const Outputs& out) {
  return out.culprits == 1 ? "Rank " + number(out.first_culprit) : ranks_text(out.culprits);
}
std::string place(const Outputs& out) {
  const bool all = out.divergence_group == "default_pg";
  const std::string group = all ? "the default group" : "group " + out.divergence_group;
  if (std::isnan(out.first_divergence)) return " a message of " + group;
  return " call " + number(out.first_divergence) + " of " + group;
}

/// The second line: who makes the noise.
std::string alarm(const Outputs& out) {
  if (out.waiting_ranks == 0) return {};
  const bool guilty = out.culprits > 0 && [&] {
    for (const double rank : out.culprit_ranks)
      if (rank == out.rings_first) return true;
    return false;
  }();
  const std::string text = "\nThe watchdog of rank " + number(out.rings_first) + " would ring first";
  if (!out.decidable) return text + ": that says who waited longest, and not why.";
  if (!guilty) return text + ": it waited longest, and is not to blame.";
  return text + (out.culprits == 1 ? ", and this time it is the right one."
                                   : ": it is one of them, no more to blame than the others.");
}

/// What is done differently, of one rank and of several.
std::string differs(const Outputs& out, const char* one, const char* several) {
  return who(out) + (out.culprits == 1 ? one : several) + place(out) + "." + alarm(out);
}

}  // namespace

std::string answer_of(const Inputs&, const Outputs& out) {
  switch (out.fault) {
    case HangFault::none:
      return "Nothing hangs: " + count(out.records) + " records of " + ranks_text(out.ranks) +
             " match, and no rank was late in several calls.";
    case HangFault::straggler:
      return "Nothing hangs, but rank " + number(out.first_culprit) + " came last by up to " + figure(out.late_s, "s") +
             ", in " + number(out.late_calls) + " calls.\nOnly the times of the records show it: every call matches.";
    case HangFault::skipped_collective:
      return differs(out, " left out", " left out");
    case HangFault::extra_collective:
      return differs(out, " made an extra call instead of", " made an extra call instead of");
    case HangFault::shape:
      return differs(out, " gave another number of elements to", " gave another number of elements to");
    case HangFault::dtype:
      return differs(out, " gave another type of number to", " gave another type of number to");
    case HangFault::order:
      return differs(out, " made another call of the step in place of", " made another call of the step in place of");
    case HangFault::split_sizes:
      return differs(out, " gave or took other amounts than expected in",
                     " gave or took other amounts than expected in");
    case HangFault::uneven_inputs:
      return differs(out, " ended its steps and did not make", " ended their steps and did not make");
    case HangFault::not_arrived:
      return differs(out, " never made", " never made");
    case HangFault::died:
      return who(out) + (out.culprits == 1 ? " left no dump while " : " left no dumps while ") +
             ranks_text(out.waiting_ranks) + (out.waiting_ranks == 1 ? " waits" : " wait") + " in" + place(out) + "." +
             alarm(out);
    case HangFault::group_order:
      return ranks_text(out.culprits) +
             " wait for each other in a circle, since they use two groups in different orders." + alarm(out);
    case HangFault::p2p_order:
      return who(out) + " sent or received in an order that does not fit the others'." + alarm(out);
    case HangFault::undecided:
      break;
  }
  if (out.waiting_ranks == 0) return "Two records differ, and the records do not decide which is right.";
  if (2 * out.missing_dumps > out.ranks)
    return ranks_text(out.waiting_ranks) + (out.waiting_ranks == 1 ? " waits" : " wait") + ", and " +
           count(out.missing_dumps) + " of " + ranks_text(out.ranks) +
           " left no dump.\nToo few are here to say who is to blame: give the dumps of all ranks.";
  return ranks_text(out.waiting_ranks) + (out.waiting_ranks == 1 ? " waits" : " wait") +
         ", and the records do not decide who is to blame." + alarm(out);
}

}  // namespace chapters::debugging::hang
