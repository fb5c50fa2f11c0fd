#include <algorithm>

#include "chapters/distributed/moe/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::moe {
namespace {

using namespace models::parallel;
using widgets::figure, widgets::format_text;

/// The load, what comes of it first (a rank that works longer, drops, experts without work), and the layer's time
/// beside an even one.
std::string cost_text(const Inputs& in, const Outputs& out) {
  const bool even = out.load_max < 1.005;
  std::string text = even ? "Every expert is asked for its even share"
                          : "The fullest expert is asked for " + figure(out.load_max, "") + " times its even share";
  if (in.placement >= MoePlacementRule::by_load && !even)
    text += ", the fullest rank works on " + figure(out.rank_max, "") + " times the mean";
  else if (out.dropped > 0)
    text += ", " + figure(out.dropped, "%") + " of the copies are dropped";
  else if (out.idle_experts > 0)
    text += ", " + figure(out.idle_experts, "") + (out.idle_experts == 1 ? " gets nothing" : " get nothing");
  text += "; a layer takes " + figure(out.layer.layer_s, "s");
  if (out.slowdown > 1.005) text += ", with an even load " + figure(out.even.layer_s, "s");
  return text + ". ";
}

/// Nothing is routed by what a token is: what is left is what the exchange takes.
std::string dealt_text(const Outputs& out) {
  return "Experts are dealt out evenly: a layer takes " + figure(out.layer.layer_s, "s") + ", dispatch and combine " +
         figure(out.exchange_share, "%") + " of it. Experts that see every topic learn little: test loss " +
         figure(out.loss, "%") + ".";
}

/// The loss, beside the top-k run that says most: the unbalanced one, or the bias where yours is that.
std::string loss_text(const Inputs& in, const Outputs& out) {
  const std::string text = "Test loss " + figure(out.loss, "%");
  if (out.balances.size() < 3) return text + ".";
  const bool plain = in.rule == MoeRule::top_k && in.balance == MoeBalance::none;
  const BalanceRow& other = out.balances[plain ? 2 : 0];
  return text +
         (plain                       ? "; with a bias "
          : in.rule == MoeRule::top_k ? "; not balanced "
                                      : "; top-k, not balanced, ") +
         figure(other.loss, "%") + ".";
}

/// Training loss and load by step, means over a few: single batches are noisy. Yours is accent; the others have no hue,
/// since hues are topics here.
void add_curves(const Run& run, Picture& p) {
  constexpr std::size_t window = 5;
  const auto add = [&](const MoeTrained& trained, const std::string& name, std::size_t balance) {
    const bool mine = balance == p.mine;
    widgets::Curve loss{.label = name,
                        .info = "mean of five steps",
                        .tint = mine           ? widgets::Tint::yours()
                                : balance == 0 ? widgets::Tint()
                                               : widgets::Tint::strong(),
                        .width = mine ? 3.0f : 1.5f,
                        .dashed = balance == 2,
                        .named = false};
    widgets::Curve load = loss;
    for (std::size_t i = 0; i < trained.steps.size(); ++i) {
      double l = 0, m = 0;
      const std::size_t from = i + 1 >= window ? i + 1 - window : 0;
      for (std::size_t j = from; j <= i; ++j) {
        l += trained.steps[j].loss;
        m += trained.steps[j].max_over_mean;
      }
      const auto count = static_cast<double>(i + 1 - from), step = static_cast<double>(i + 1);
      loss.add(step, 100 * l / count);
      load.add(step, m / count);
      p.most_load = std::max(p.most_load, m / count);
    }
    p.loss.push_back(std::move(loss));
    p.load.push_back(std::move(load));
  };
  for (std::size_t b = 0; b < run.by_balance.size(); ++b)
    if (run.by_balance[b]) add(*run.by_balance[b], p.names[b], b);
  if (p.mine == 3) add(*run.mine, "yours", 3);
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || !run.mine) return p;
  p.answer = in.rule == MoeRule::dealt ? dealt_text(out) : cost_text(in, out) + loss_text(in, out);
  arrange_rain(in, out, run, p);
  p.mine = in.rule == MoeRule::top_k ? static_cast<std::size_t>(in.balance) : 3;
  for (std::size_t b = 0; b < p.names.size(); ++b)
    p.names[b] = (in.rule == MoeRule::top_k ? "" : "top-k, ") + std::string(balance_name(b));
  add_curves(run, p);
  p.rain_even = out.copies / static_cast<double>(in.experts);
  if (in.rule == MoeRule::expert_choice)
    p.rain_even =
        static_cast<double>(moe_test_tokens) * static_cast<double>(in.top_k) / static_cast<double>(in.experts);
  p.path = {.label = "auxiliary loss, by its weight", .width = 1.2f, .dashed = true, .named = false};
  p.path_weights = {.kind = widgets::Curve::Kind::dots, .label = "weights", .radius = 3};
  for (const AlphaRow& row : out.alphas) {
    p.path.add(row.layer_s, row.loss);
    p.path_weights.add(row.layer_s, row.loss);
    p.path_weights.labels.push_back(format_text(row.alpha, ""));
  }
  return p;
}

}  // namespace chapters::distributed::moe
