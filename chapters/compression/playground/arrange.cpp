#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/compression/playground/lab.h"
#include "chapters/compression/shared/hues.h"
#include "models/compression/distillation.h"
#include "widgets/number/number.h"

namespace chapters::compression::playground {
namespace {

using widgets::format_text;
using widgets::Tint;

std::string answer_of(const Inputs& in, const Outputs& out) {
  using widgets::figure;
  const std::string yours = "The network, compressed `" + format_text(out.compression, "") + "\xC3\x97` to " +
                            figure(out.size_bytes, "B") + ", reads " + figure(out.accuracy, "%") +
                            " of new digits; the original " + figure(out.original_accuracy, "%") + ".\n";
  if (!(out.goal_bytes > 0)) return yours + "No compression in the sweep reads more than " + figure(in.goal, "%") + ".";
  if (out.goal_met && out.size_bytes < out.goal_bytes)
    return yours + "No compression in the sweep that reads more than " + figure(in.goal, "%") + " is as small.";
  return yours + "The smallest in the sweep that reads more than " + figure(in.goal, "%") + " takes " +
         figure(out.goal_bytes, "B") + ".";
}

/// The first point of the recipe that is nearest to the learner's: same network and pruning, nearest share.
std::size_t nearest_recipe(const Inputs& in, const std::vector<models::SweepPoint>& sweep) {
  const auto pruning = in.pruning != Zeros::two_four && !(in.sparsity > 0)
                           ? models::Pruning::none
                           : static_cast<models::Pruning>(1 + static_cast<int>(in.pruning));
  std::size_t best = sweep.size();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    if (sweep[i].width != static_cast<std::size_t>(in.student) || sweep[i].plan.pruning != pruning) continue;
    const double off = std::abs(sweep[i].plan.share - in.sparsity / 100);
    if (off >= least) continue;
    least = off;
    best = i;
  }
  return best;
}

bool same_recipe(const models::SweepPoint& a, const models::SweepPoint& b) {
  return a.width == b.width && a.plan.pruning == b.plan.pruning && a.plan.share == b.plan.share;
}

/// Every compression of the sweep, and each recipe over its bits as a faint line, without their points.
void name_sweep(Picture& p) {
  struct Kind {
    std::string_view name;
    widgets::Marker marker;
  };
  static constexpr std::array<Kind, pruning_count> kinds{{{"rounded only", widgets::Marker::circle},
                                                          {"rounded, smallest weights pruned", widgets::Marker::square},
                                                          {"rounded, 2 of 4 pruned", widgets::Marker::triangle},
                                                          {"rounded, units removed", widgets::Marker::diamond}}};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    p.sweep[k] = {.kind = widgets::Curve::Kind::dots,
                  .label = std::string(kinds[k].name),
                  .info = "teacher and students, 2 to 16 bits, not tuned again",
                  .tint = hue(k),
                  .alpha = 0.6f,
                  .marker = kinds[k].marker,
                  .radius = 3.5f};
    p.recipes[k] = {.label = p.sweep[k].label,
                    .info = "one recipe over its bits",
                    .tint = hue(k),
                    .alpha = 0.3f,
                    .width = 1,
                    .named = false,
                    .legend = false};
  }
}

void place_sweep(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  const auto& sweep = run.study->sweep;
  const std::size_t mine = nearest_recipe(in, sweep);
  name_sweep(p);
  p.recipe_bits = {.kind = widgets::Curve::Kind::dots,
                   .label = "bits",
                   .info = "bits per weight",
                   .tint = Tint::yours(),
                   .radius = 3,
                   .legend = false};
  p.recipe = {.label = "your recipe over bits",
              .info = "the sweep's nearest to yours",
              .tint = Tint::yours(),
              .width = 1.5f,
              .named = false};
  p.front = {.kind = widgets::Curve::Kind::steps,
             .label = "best so far",
             .info = "nothing in the sweep is smaller and as accurate",
             .width = 1.5f,
             .named = false};
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    const auto& point = sweep[i];
    const double accuracy = 100 * point.accuracy;
    const auto kind = static_cast<std::size_t>(point.plan.pruning);
    p.sweep[kind].add(point.bytes, accuracy);
    widgets::Curve& lines = p.recipes[kind];
    if (!lines.x.empty() && i > 0 && !same_recipe(point, sweep[i - 1])) lines.add(gap, gap);
    lines.add(point.bytes, accuracy);
    if (mine < sweep.size() && same_recipe(point, sweep[mine])) {
      p.recipe.add(point.bytes, accuracy);
      p.recipe_bits.add(point.bytes, accuracy);
      p.recipe_bits.labels.push_back(std::to_string(point.plan.weights.bits));
    }
  }
  for (const FrontRow& row : out.front) p.front.add(row.bytes, row.accuracy);
}

void part_bytes(const Outputs& out, Picture& p) {
  const models::PackedSize& size = out.size;
  p.parts = {{{"values", "weights kept, packed", size.values_bytes, Tint::ramp(3, 4)},
              {"indices", "where they belong", size.indices_bytes, Tint::ramp(2, 4)},
              {"scales", "float32, per channel or layer, and of activations", size.scales_bytes, Tint::ramp(1, 4)},
              {"biases", "float32", size.biases_bytes, Tint::ramp(0, 4)}}};
  p.before_line = "float32: " + format_text(out.original_bytes, "B");
  p.yours_figure = format_text(out.accuracy, "%");
  if (out.goal_bytes > 0) p.smallest_figure = format_text(out.goal_bytes, "B");
  p.after_line = "yours: " + format_text(out.size_bytes, "B");
}

/// Misread digits first, at most half of the place, then right ones.
void choose_digits(const Outputs& out, const Run& run, Picture& p) {
  const auto& digits = run.study->held_out;
  const std::size_t n = std::min(digits.size(), run.guesses.size());
  for (const bool misread : {true, false})
    for (std::size_t i = 0; i < n && p.shown.size() < (misread ? shown_digits / 2 : shown_digits); ++i)
      if ((run.guesses[i] != digits.labels[i]) == misread) p.shown.push_back(i);
  p.misread_line = format_text(static_cast<double>(out.wrong), "") + " of " + format_text(static_cast<double>(n), "") +
                   " misread; framed, with what it reads instead";
}

void inspect_layer(const Run& run, Picture& p) {
  const models::DenseLayer& layer = run.compressed.network.layers.front();
  for (const float w : layer.weights) p.largest_weight = std::max(p.largest_weight, std::abs(w));
  for (std::size_t u = 0; u < layer.outputs; ++u) {
    bool gone = true;
    for (std::size_t i = 0; i < layer.inputs; ++i) gone = gone && layer.at(i, u) == 0.0f;
    p.gone.push_back(gone ? 1 : 0);
  }
}

/// Probabilities in percent, and the class of the largest.
std::size_t read(const models::SmallNetwork& network, const models::ActivationGrid& grid, std::span<const float> ink,
                 std::array<double, models::digit_classes>& percent) {
  models::Pass pass(network);
  models::forward(network, ink, pass, grid);
  std::array<double, models::digit_classes> logits{};
  for (std::size_t c = 0; c < logits.size(); ++c) logits[c] = static_cast<double>(pass.logits[c]);
  const std::vector<double> says = models::softened(logits, 1);
  for (std::size_t c = 0; c < percent.size(); ++c) percent[c] = 100 * says[c];
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace

Reading read_ink(const Run& run, std::span<const float> ink) {
  Reading reading;
  reading.original_says = read(run.study->networks[0], {}, ink, reading.original);
  reading.your_says = read(run.compressed.network, run.compressed.activations, ink, reading.yours);
  return reading;
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || !run.study) return p;
  p.answer = answer_of(in, out);
  place_sweep(in, out, run, p);
  part_bytes(out, p);
  choose_digits(out, run, p);
  inspect_layer(run, p);
  return p;
}

}  // namespace chapters::compression::playground
