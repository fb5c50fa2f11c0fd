#include <algorithm>
#include <cmath>

#include "chapters/training/checkpointing/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::checkpointing {
namespace {

using models::memory::LayerKeep;
using widgets::format_text;

std::string layers_text(double count) { return format_text(count, "") + (count == 1 ? " layer" : " layers"); }

using widgets::figure;

std::string bytes(double value) { return figure(value, "B"); }
std::string share(double percent) { return figure(percent, "%"); }
/// "`14` of `32` layers", or in words where there is one alone.
std::string of_layers(double count, double all) {
  if (all == 1) return "the only layer";
  return figure(count, "") + " of " + figure(all, "") + " layers";
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string budget = bytes(out.budget), peak = bytes(out.peak_bytes),
                    within = (out.fits ? " is within " : " is over ") + ("the budget of " + budget) + ".";
  if (in.plan == Plan::best && std::isnan(out.best_share))
    return "No plan fits " + budget + ": the smallest peak is " + peak + ", with " +
           of_layers(out.recomputed, out.layers) + " recomputed.";
  if (out.recomputed == 0 && out.again_s == 0) return "Nothing is recomputed, and the peak of " + peak + within;
  if (out.recomputed == 0)
    return "No whole layer is recomputed, single operations are, for " + share(out.again_share) +
           " more time; the peak of " + peak + within;
  const std::string layers = "Recomputing " + of_layers(out.recomputed, out.layers);
  if (!out.fits) return layers + " is not enough for " + budget + ": the peak is " + peak + ".";
  return layers + " fits the step into " + budget + " for " + share(out.again_share) + " more time.";
}

/// What the verdict is to be compared with.
std::string why_of(const Inputs& in, const Outputs& out) {
  if (out.peak_bytes > out.chip_bytes && out.fits)
    return "That budget is above the chip's " + bytes(out.chip_bytes) + ": the step would not run there.";
  if (!out.fits) {
    if (std::isnan(out.best_share)) return "A smaller micro-batch, a shorter sequence or more GPUs would help.";
    return "The fastest plan that fits recomputes " + of_layers(out.best_recomputed, out.layers) + ", for " +
           share(out.best_share) + " more time.";
  }
  if (out.recomputed == 0 && out.again_s == 0) return "All activations are kept until the backward pass reads them.";
  std::string says = "The peak is " + bytes(out.peak_bytes);
  if (out.recomputed == 0) says = "Keeping everything would peak at " + bytes(out.kept_peak_bytes);
  if (in.plan == Plan::best)
    return says + ". The textbook's pieces of \xE2\x88\x9AL would cost " + share(out.every_layer_share) +
           " and peak at " + bytes(out.square_root_bytes) + ".";
  if (out.excess_bytes > 0.005 * out.peak_bytes)
    return says + "; the best plan of the same time peaks at " + bytes(out.best_same_bytes) + ".";
  if (out.best_recomputed < out.recomputed)
    return says + "; recomputing " + of_layers(out.best_recomputed, out.layers) + " would fit the budget too.";
  return says + ", and no plan of the same time needs less.";
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
  p.answer = verdict_of(in, out) + "\n" + why_of(in, out);
  p.budget_words = "budget " + format_text(out.budget, "B") + ": drag it";
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
  p.full_words = "all " + format_text(most, "B");
  p.low_words = "input " + format_text(s.costs.layers.front().checkpoint, "B");
  p.count_words = layers_text(out.recomputed) + " recomputed; press or drag the pillars";
  p.frontier = {.kind = widgets::Curve::Kind::steps,
                .label = run.exact ? "best of every plan" : "best plans found",
                .info = "dynamic programming: kept, without scores, or in pieces that are recomputed once",
                .tint = widgets::Meaning::forward,
                .named = false};
  for (const auto& point : s.frontier)
    p.frontier.add(100 * point.recompute_s / s.costs.step_s, s.costs.states + point.peak_bytes);
  p.used = {.kind = widgets::Curve::Kind::dots, .label = "plans that people use", .marker = widgets::Marker::diamond};
  for (const PlanRow& row : out.plans) {
    if (row.name == "scores only" && in.fused_attention) continue;  // the same point as nothing recomputed
    p.used.add(row.again_share, row.peak_bytes);
    // Pieces of two are hardly apart from every layer alone, whose name stands there.
    const bool crowded =
        row.name == "pieces of 2" && std::abs(row.peak_bytes - out.every_layer_bytes) < 0.04 * out.kept_peak_bytes;
    p.used.labels.push_back(crowded ? std::string() : row.name);
    // Pieces of sqrt(L) recompute the same layers as every layer alone, and hold more meanwhile.
    if (row.peak_bytes == out.square_root_bytes && row.name.starts_with("pieces of \xE2\x88\x9A"))
      p.used.labels.back() += ": " + format_text(std::abs(row.peak_bytes - out.every_layer_bytes), "B") +
                              (row.peak_bytes >= out.every_layer_bytes ? " more" : " less") + " than every layer";
  }
  arrange_pieces(run, p);
  return p;
}

}  // namespace chapters::training::checkpointing
