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
  if (out.first_divergence == 0) return " a message of " + group;
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
  std::string text = "\nThe first alarm comes from rank " + number(out.rings_first);
  if (!out.decidable) return text + "; that says who has waited longest, and not why.";
  return text + (guilty ? ", and this time it is to blame." : ", which has only waited longest and is innocent.");
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
             " match, and no rank comes late again and again.";
    case HangFault::straggler:
      return "Nothing hangs, but rank " + number(out.first_culprit) + " comes last by up to " +
             figure(out.late_s, "s") + ", in " + number(out.late_calls) +
             " calls.\nOnly the times of the records show it: every call matches.";
    case HangFault::skipped_collective:
      return differs(out, " left out", " left out");
    case HangFault::extra_collective:
      return differs(out, " makes an extra call instead of", " make an extra call instead of");
    case HangFault::shape:
      return differs(out, " gives another number of elements to", " give another number of elements to");
    case HangFault::dtype:
      return differs(out, " gives another type of number to", " give another type of number to");
    case HangFault::order:
      return differs(out, " makes another call of the step in place of", " make another call of the step in place of");
    case HangFault::split_sizes:
      return differs(out, " gives or takes other amounts than expected in",
                     " give or take other amounts than expected in");
    case HangFault::uneven_inputs:
      return differs(out, " has ended its steps and does not make", " have ended their steps and do not make");
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
      return who(out) + (out.culprits == 1 ? " sends" : " send") + " or " +
             (out.culprits == 1 ? "receives" : "receive") + " in an order that does not fit the others'." + alarm(out);
    case HangFault::undecided:
      break;
  }
  if (out.waiting_ranks == 0) return "Two records differ, and the records do not decide which is right.";
  return ranks_text(out.waiting_ranks) + (out.waiting_ranks == 1 ? " waits" : " wait") +
         ", and the records do not decide who is to blame." + alarm(out);
}

}  // namespace chapters::debugging::hang
