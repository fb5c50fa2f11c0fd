#include <algorithm>
#include <cmath>

#include "chapters/compression/playground/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::playground {
namespace {

using widgets::format_text;
using widgets::Tint;

void write_headings(const Inputs& in, const Outputs& out, Picture& p) {
  p.verdict = format_text(out.size_bytes, "B") + ", " + format_text(out.compression, "") + " times smaller: reads " +
              format_text(out.accuracy, "%") + ", goal of " + format_text(in.goal, "%") +
              (out.goal_met ? " met" : " missed");
  p.story =
      "Float32: " + format_text(out.original_bytes, "B") + " and " + format_text(out.original_accuracy, "%") + ". ";
  p.story += out.goal_bytes > 0 ? "Smallest of the sweep above the goal: " + format_text(out.goal_bytes, "B") + " at " +
                                      format_text(out.goal_accuracy, "%") + "."
                                : "Nothing in the sweep is above the goal.";
  if (out.goal_met && (out.goal_bytes <= 0 || out.size_bytes < out.goal_bytes)) p.story += " Yours is smaller.";
  p.digits_line = "the first forty held out; red: misread, and as what";
  p.weights_line = std::to_string(out.hidden) + " units; blue above zero, orange below, empty: zero";
}

void place_sweep(const Outputs& out, Picture& p) {
  for (const auto& point : out.study->sweep) {
    Points& points = p.sweep[static_cast<std::size_t>(point.plan.pruning)];
    points.bytes.push_back(point.bytes);
    points.accuracy.push_back(100 * point.accuracy);
  }
  for (const FrontRow& row : out.front) {
    p.front.bytes.push_back(row.bytes);
    p.front.accuracy.push_back(row.accuracy);
  }
}

void stack_bytes(const Outputs& out, Picture& p) {
  const models::PackedSize& size = out.compressed.size;
  p.before = {{{
      .label = "float32",
      .value = out.original_bytes,
      .tint = Tint{},
      .info = "four bytes a weight and a bias",
  }}};
  p.after = {{{
                  .label = "values",
                  .value = size.values_bytes,
                  .tint = Tint::series(0),
                  .info = "weights kept, packed",
              },
              {
                  .label = "indices",
                  .value = size.indices_bytes,
                  .tint = Tint::series(1),
                  .info = "where they belong",
              },
              {
                  .label = "scales",
                  .value = size.scales_bytes,
                  .tint = Tint::series(2),
                  .info = "float32, per channel or layer, and of activations",
              },
              {
                  .label = "biases",
                  .value = size.biases_bytes,
                  .tint = Tint::series(3),
                  .info = "float32",
              }}};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty() || !out.study) return p;
  write_headings(in, out, p);
  place_sweep(out, p);
  stack_bytes(out, p);
  for (const float w : out.compressed.network.layers.front().weights)
    p.largest_weight = std::max(p.largest_weight, std::abs(w));
  return p;
}

}  // namespace chapters::compression::playground
