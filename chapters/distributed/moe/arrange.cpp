#include <algorithm>

#include "chapters/distributed/moe/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::moe {
namespace {

using namespace models::parallel;
using widgets::format_text;

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
  p.answer = answer_of(in, out);
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
