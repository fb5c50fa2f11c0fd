#include <algorithm>

#include "chapters/distributed/overlap/lab.h"
#include "widgets/number/number.h"

/// The sentence that says how much of the communication is hidden, and what the rest is.
namespace chapters::distributed::overlap {
namespace {

using widgets::figure;

std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string step = "; the step takes " + figure(out.step.makespan_s, "s") + ".";
  const bool ddp = in.method == models::parallel::OverlapMethod::ddp;
  const std::string compute = ddp ? "The backward pass" : "Compute";
  if (out.step.exposed_s > 0.995 * out.step.network_s)
    return compute + " hides nothing of " + figure(out.step.network_s, "s") + " of communication" + step;
  if (out.step.exposed_s < 1e-9)
    return compute + " hides all " + figure(out.step.network_s, "s") + " of communication" + step;
  return compute + " hides all but " + figure(out.step.exposed_s, "s") + " of " + figure(out.step.network_s, "s") +
         " of communication" + step;
}

/// What is said under DDP: the last bucket, and what other buckets would change.
std::string buckets_text(const Outputs& out) {
  const std::string better = "buckets of " + figure(out.best_bucket_bytes, "B", 3, widgets::Prefix::binary) +
                             " would save " + figure(out.best_gain_s, "s") + ".";
  const bool last = out.last_s > 0.5 * out.step.exposed_s;
  if (out.best_gain_s > 0.002 * out.step.makespan_s)
    return last ? "Most of that is the last bucket, " + figure(out.last_s, "s") + "; " + better
                : "Its " + figure(static_cast<double>(out.collectives), "") + " all-reduces run one after another; " +
                      better;
  if (out.collectives == 1)
    return "Its one bucket of " + figure(out.last_bytes, "B") + " is full only when the backward pass ends.";
  return std::string("The last bucket (") + figure(out.last_bytes, "B") + ") takes " + figure(out.last_s, "s") +
         "; no other bucket size that was tried is much better.";
}

/// What is said under FSDP: where compute waits, or why a layer does.
std::string waits_text(const Outputs& out) {
  const bool latency = out.work.tokens >= out.critical_tokens && out.work.tokens < out.balance_tokens;
  if (latency && out.forward_wait_s + out.backward_wait_s > 0.05 * out.step.makespan_s &&
      out.layer_gather_s > out.layer_forward_s)
    return "Gathering a layer takes " + figure(out.layer_gather_s, "s") + ", its forward pass " +
           figure(out.layer_forward_s, "s") + ": latency, not bytes, holds it up.";
  std::vector<std::string> waits;
  const auto add = [&](double wait_s, const char* where) {
    if (wait_s > 1e-9) waits.push_back(figure(wait_s, "s") + where);
  };
  add(out.forward_wait_s, " in the forward pass");
  add(out.backward_wait_s, " in the backward pass");
  add(out.tail_wait_s, " after the backward pass");
  if (waits.empty()) return "It never waits for the network.";
  std::string text = "It waits " + waits.front();
  for (std::size_t i = 1; i < waits.size(); ++i) text += (i + 1 == waits.size() ? " and " : ", ") + waits[i];
  return text + ".";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (out.collectives == 0)
    return "One GPU exchanges nothing: its step takes " + figure(out.step.makespan_s, "s") + ", all of it compute.";
  const std::string verdict = verdict_of(in, out) + "\n";
  const bool ddp = in.method == models::parallel::OverlapMethod::ddp;
  if (ddp && !in.beside_backward)
    return verdict +
           (out.collectives > 1 ? "All " + figure(static_cast<double>(out.collectives), "") : std::string("The one")) +
           " all-reduces start after the backward pass: nothing overlaps.";
  if (out.saved_s < -1e-9)
    return verdict + "Overlap costs more than it hides: with nothing overlapped the step would take " +
           figure(out.apart_s, "s") + ".";
  return verdict + (ddp ? buckets_text(out) : waits_text(out));
}

}  // namespace chapters::distributed::overlap
