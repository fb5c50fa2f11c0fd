#include "chapters/serving/paged_kv/lab.h"
#include "widgets/number/number.h"

/// The sentence that says what both pools hold, and what would help.
namespace chapters::serving::paged_kv {
namespace {

using widgets::figure;

std::string whole(std::int64_t n) { return figure(static_cast<double>(n), "", 9); }
std::string percent(double value) { return figure(value, "%"); }
std::string mean_requests(double n) { return figure(n, "") + (n == 1 ? " request" : " requests"); }

/// The second line: what happened when blocks ran out, or what is saved by sharing.
std::string aside_of(const Inputs& in, const Outputs& out) {
  if (!in.trace.text.empty() && out.cut > 0)
    return "\n" + whole(out.cut) + (out.cut == 1 ? " request of the file is" : " requests of the file are") +
           " cut to " + whole(in.longest_tokens) + " tokens, the longest that is set.";
  if (out.left_bytes < 0)
    return "\nNext to weights of " + figure(out.weights_bytes, "B") + " the chips have no room for a pool of " +
           figure(out.pool_bytes, "B") + ".";
  if (std::isfinite(out.paged_first_wait_s) && std::isfinite(out.reserved_first_wait_s))
    return "\nRequest " + whole(out.first_request) + " is served first: it waits " +
           figure(out.paged_first_wait_s, "s") + " for blocks, and " + figure(out.reserved_first_wait_s, "s") +
           " for a run of slots.";
  if (in.kind != Answers::one && in.share && out.saved > 0)
    return "\nAnswers share the blocks of their prompt: that saves " + percent(out.saved) + " of the blocks, and " +
           whole(out.copies) + (out.copies == 1 ? " was" : " were") + " copied on write.";
  if (out.preemptions > 0 && in.when_full == models::PoolFull::swap)
    return "\nFor lack of a block " + whole(out.preemptions) + (out.preemptions == 1 ? " time" : " times") +
           " a request was sent back, and " + figure(out.swapped_bytes, "B") + " swapped to the host.";
  if (out.preemptions > 0)
    return "\nFor lack of a block " + whole(out.preemptions) + (out.preemptions == 1 ? " time" : " times") +
           " a request was sent back, and " + whole(out.recomputed_tokens) +
           (out.recomputed_tokens == 1 ? " token was recomputed." : " tokens were recomputed.");
  if (out.reserved.never > 0.05)
    return "\nReserved and never filled: " + percent(out.reserved.never) +
           " of the pool; ends of blocks that hold nothing: " + percent(out.paged.never) + ".";
  return {};
}

std::string stands_still(const Outputs& out) {
  return "From " + figure(out.stuck_s, "s") + " on the pool in blocks stands still: " + whole(out.stuck_requests) +
         (out.stuck_requests == 1 ? " request needs" : " requests need") +
         " a block that nobody gives back.\nSending one back would free its blocks; of " + whole(out.asked) +
         " requests " + whole(out.paged.served) + (out.paged.served == 1 ? " was served." : " were served.");
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (std::isfinite(out.stuck_s)) return stands_still(out);
  if (out.paged.refused == out.asked)
    return "Neither pool serves anybody: each of " + whole(out.asked) + (out.asked == 1 ? " request" : " requests") +
           " needs more than all of its slots.";
  if (out.reserved.refused == out.asked)
    return "No reservation fits, so nobody is served ahead; in blocks " + mean_requests(out.paged.running) +
           " run on average." + aside_of(in, out);
  if (out.reserved.waiting < 0.05 && out.paged.waiting < 0.05)
    return "Nobody waits for either pool. Reserved ahead, " + percent(out.reserved.spare) +
           " of it is free for others; in blocks, " + percent(out.paged.spare) + "." + aside_of(in, out);
  if (figure(out.paged.running, "") == figure(out.reserved.running, ""))
    return "Blocks win nothing here: " + mean_requests(out.paged.running) +
           (out.paged.running == 1 ? " runs" : " run") + " in either pool; reserved ahead, " +
           percent(out.reserved.empty) + " of it holds nothing." + aside_of(in, out);
  return "Reserved ahead, " + percent(out.reserved.empty) + " of the pool holds nothing; in blocks, " +
         percent(out.paged.empty) + ": " + mean_requests(out.paged.running) + " run, not " +
         figure(out.reserved.running, "") + "." + aside_of(in, out);
}

}  // namespace chapters::serving::paged_kv
