#include <cmath>

#include "chapters/distributed/moe/lab.h"
#include "widgets/number/number.h"

/// The sentence that says what the fullest expert costs its layer, and what balancing changes.
namespace chapters::distributed::moe {
namespace {

using models::parallel::MoeBalance, models::parallel::MoePlacementRule, models::parallel::MoeRule;
using widgets::figure, widgets::format_text;

std::string share_text(double times) { return figure(format_text(times, "") + "×"); }

/// What the layer takes, and with an even load where that is another time.
std::string layer_text(const Outputs& out) {
  std::string text = "the layer takes " + figure(out.layer.layer_s, "s");
  if (out.slowdown > 1.005) text += " instead of " + figure(out.even.layer_s, "s");
  return text;
}

/// The load, and what comes of it first: a rank that works longer, drops, experts without work.
std::string load_text(const Inputs& in, const Outputs& out) {
  if (in.rule == MoeRule::dealt)
    return "Experts are dealt out evenly: the layer takes " + figure(out.layer.layer_s, "s") + ", and " +
           figure(out.exchange_share, "%") + " of it is dispatch and combine.";
  if (out.load_max < 1.005) return "Every expert takes its even share: " + layer_text(out) + ".";
  const std::string full = "The fullest expert is asked for " + share_text(out.load_max) + " its even share: ";
  if (in.placement >= MoePlacementRule::by_load)
    return full + "its layer takes " + figure(out.layer.layer_s, "s") + ", and the fullest rank works on " +
           share_text(out.rank_max) + " the mean.";
  if (out.dropped > 0) return full + layer_text(out) + ", and " + figure(out.dropped, "%") + " of copies are dropped.";
  if (out.idle_experts > 0)
    return full + layer_text(out) + ", and " + figure(out.idle_experts, "") +
           (out.idle_experts == 1 ? " expert gets nothing." : " experts get nothing.");
  return full + layer_text(out) + ".";
}

/// The loss next to the balancing that says most: the unbalanced one, or the bias where yours is that.
std::string loss_text(const Inputs& in, const Outputs& out) {
  const std::string loss = figure(out.loss, "%");
  if (in.rule == MoeRule::dealt) return "Experts that see every topic learn little: the test loss is " + loss + ".";
  if (!std::isfinite(out.plain_loss)) return "The test loss is " + loss + ".";
  if (in.rule != MoeRule::top_k)
    return "The test loss is " + loss + "; top-k that is not balanced reaches " + figure(out.plain_loss, "%") +
           " with a layer of " + figure(out.plain_layer_s, "s") + ".";
  if (in.balance == MoeBalance::none)
    return "The test loss is " + loss + "; with a bias it would be " + figure(out.bias_loss, "%") +
           ", and the layer would take " + figure(out.bias_layer_s, "s") + ".";
  return "The test loss is " + loss + " instead of " + figure(out.plain_loss, "%") +
         " without balancing, where the layer takes " + figure(out.plain_layer_s, "s") + ".";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) { return load_text(in, out) + "\n" + loss_text(in, out); }

}  // namespace chapters::distributed::moe
