#include <algorithm>
#include <cmath>

#include "chapters/training/checkpointing/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::checkpointing {
namespace {

using models::memory::LayerKeep;
using widgets::format_text;

std::string layers_text(double count) { return format_text(count, "") + (count == 1 ? " layer" : " layers"); }

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string peak = widgets::figure(format_text(out.peak_bytes, "B"));
  std::string budget = widgets::figure(format_text(out.budget, "B"));
  if (out.budget > out.chip_bytes)
    budget += ", more than the chip's " + widgets::figure(format_text(out.chip_bytes, "B"));
  if (in.plan == Plan::best && std::isnan(out.best_share))
    return "No plan is within " + budget + ": the smallest peak of all is " + peak + ", " +
           widgets::figure(layers_text(out.recomputed)) + " again.";
  if (out.recomputed == 0 && out.again_s == 0)
    return "Nothing runs again, and the peak is " + peak + (out.fits ? ", within " : ", over ") + budget + ".";
  if (out.recomputed == 0)
    return "No layer runs again; bringing back what layers dropped takes " +
           widgets::figure(format_text(out.again_share, "%", 3)) + " more time, and the peak is " + peak +
           (out.fits ? ", within " : ", over ") + budget + ".";
  std::string says = "Running " + widgets::figure(layers_text(out.recomputed)) + " again takes " +
                     widgets::figure(format_text(out.again_share, "%", 3)) + " more time; the peak is " + peak +
                     (out.fits ? ", within " : ", over ") + budget;
  if (in.plan != Plan::best && out.excess_bytes > 0.005 * out.peak_bytes)
    says +=
        "; the best plan of that time takes " + widgets::figure(format_text(out.peak_bytes - out.excess_bytes, "B"));
  if (in.plan == Plan::best)
    says += "; pieces of \xE2\x88\x9AL would take " + widgets::figure(format_text(out.every_layer_share, "%", 3)) +
            " and " + widgets::figure(format_text(out.square_root_bytes, "B"));
  return says + ".";
}

void arrange_pieces(const Run& run, Picture& p) {
  widgets::Curve model{.label = "this model", .tint = widgets::Meaning::forward, .named = false};
  widgets::Curve chain{.label = "a chain of single tensors",
                       .info = "Chen et al. 2016: an input is as large as all that a layer keeps",
                       .dashed = true};
  for (std::size_t k = 0; k < run.piece_bytes.size(); ++k) {
    model.add(static_cast<double>(k + 1), run.piece_bytes[k]);
    chain.add(static_cast<double>(k + 1), run.chain_bytes[k]);
  }
  p.by_piece = {std::move(model), std::move(chain)};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  const Setting& s = run.setting;
  if (!out.reason.empty() || s.costs.layers.empty()) return p;
  p.answer = answer_of(in, out);
  p.budget_words = "budget " + format_text(out.budget, "B") + ", to be dragged";
  p.letters = models::memory::plan_letters(s.plan);
  double most = 0;
  for (const auto& l : s.costs.layers) most = std::max(most, l.saved);
  for (std::size_t i = 0; i < s.costs.layers.size(); ++i) {
    const LayerKeep keep = s.plan[i];
    const auto& l = s.costs.layers[i];
    const bool hollow = keep == LayerKeep::again || keep == LayerKeep::joined;
    const bool after = i > 0 && p.pillars.back().hollow;
    p.pillars.push_back({.kept = hollow ? 0 : (keep == LayerKeep::selective ? l.selective : l.kept) / most,
                         .hollow = hollow,
                         .joined = keep == LayerKeep::joined && after});
  }
  p.low_share = s.costs.layers.front().checkpoint / most;
  p.full_words = format_text(most, "B");
  p.low_words = format_text(s.costs.layers.front().checkpoint, "B");
  p.count_words = layers_text(out.recomputed) + " again; press or drag the pillars";
  p.frontier = {.kind = widgets::Curve::Kind::steps,
                .label = run.exact ? "best of every plan" : "best plans found",
                .info = "dynamic programming: kept, without scores, or in pieces that run again once",
                .tint = widgets::Meaning::forward,
                .named = false};
  for (const auto& point : s.frontier)
    p.frontier.add(100 * point.recompute_s / s.costs.step_s, s.costs.states + point.peak_bytes);
  p.used = {.kind = widgets::Curve::Kind::dots, .label = "plans that people use", .marker = widgets::Marker::diamond};
  for (const PlanRow& row : out.plans) {
    if (row.name == "scores only" && in.fused_attention) continue;  // the same point as nothing again
    p.used.add(row.again_share, row.peak_bytes);
    p.used.labels.push_back(row.name);
    // Pieces of sqrt(L) run the same layers again as every layer alone, and hold more meanwhile.
    if (row.peak_bytes == out.square_root_bytes && row.name.starts_with("pieces of \xE2\x88\x9A"))
      p.used.labels.back() += ": " + format_text(std::abs(row.peak_bytes - out.every_layer_bytes), "B") +
                              (row.peak_bytes >= out.every_layer_bytes ? " more" : " less") + " than every layer";
  }
  arrange_pieces(run, p);
  return p;
}

}  // namespace chapters::training::checkpointing
