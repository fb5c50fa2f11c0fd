#include <algorithm>
#include <cmath>

#include "chapters/compression/shared/hues.h"
#include "chapters/compression/sparsity/lab.h"
#include "chapters/mechanism/catalog.h"
#include "widgets/number/number.h"

namespace chapters::compression::sparsity {
namespace {

using models::SparsePattern;
using widgets::format_text;

/// The speed-up of every pattern from 1 token to 65,536.
void trace_speedups(const Inputs& in, const models::Chip& chip, Picture& p) {
  const std::array<std::string_view, pattern_count> names{"unstructured", p.two_four_name, "whole rows"};
  for (std::size_t k = 0; k < pattern_count; ++k) {
    const bool chosen = all_patterns[k] == in.pattern;
    p.speedups[k] = {.label = std::string(names[k]),
                     .info = "dense roofline time / sparse roofline time",
                     .tint = hue(k),
                     .width = chosen ? 3.0f : 1.5f,
                     .dashed = !chosen,
                     .named = false};
    for (int i = 0; i <= 32; ++i) {
      const double tokens = std::exp2(0.5 * i);
      const auto time = models::sparse_time(chip, sparse_layer(in, all_patterns[k], tokens));
      p.speedups[k].add(tokens, time ? time->speedup : 1);
      p.largest_speedup = std::max(p.largest_speedup, p.speedups[k].y.back());
    }
  }
}

Skips skips_of(const Inputs& in, const Outputs& out) {
  if (in.pattern == SparsePattern::structured) return Skips::rows;
  if (in.pattern == SparsePattern::two_four) return out.two_four_rate > 1 ? Skips::products : Skips::nothing;
  return in.packed ? Skips::bytes : Skips::nothing;
}

/// What sets the layer's time, and what the zeros cost.
std::string price_of(const Inputs& in, const Outputs& out) {
  const bool one = in.tokens == 1;
  const std::string tokens = "`" + format_text(in.tokens, "") + (one ? "` token" : "` tokens");
  const std::string sets = out.time.placement.regime == models::Regime::memory ? "the bytes read set the time"
                                                                               : "the multiplications set the time";
  return "\nWith " + tokens + " " + sets + "; the error in the weights is " + widgets::figure(out.error, "%") + ".";
}

std::string answer_of(const Inputs& in, const Outputs& out, Skips skips) {
  if (out.kept >= 100) return "No weight is pruned: there is nothing to skip, and the error is `0 %`.";
  const bool faster = std::round(100 * out.time.speedup) > 100;
  const std::string at_most =
      faster ? "at most " + widgets::figure(out.time.speedup, widgets::times_unit) + " as fast as dense"
             : std::string("no faster than dense");
  const std::string bytes = widgets::figure(out.bytes_read, "%", 4) + " of the weight bytes", price = price_of(in, out);
  switch (skips) {
    case Skips::nothing:
      if (in.pattern == SparsePattern::two_four)
        return "This chip has no 2:4 units for the format: every zero is stored and multiplied, " + at_most + "." +
               price;
      return "Zeros that are stored are multiplied like any weight: the layer is " + at_most + "." + price;
    case Skips::bytes:
      return "Packed zeros leave " + bytes + " to read, but each is still multiplied: the layer is " + at_most + "." +
             price;
    case Skips::products:
      return "The hardware skips half of the multiplications and reads " + bytes + ": the layer is " + at_most + "." +
             price;
    case Skips::rows:
      break;
  }
  return "The hardware skips all of these zeros, since whole rows are gone: the layer is " + at_most + "." + price;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!out.reason.empty() || run.weights.empty() || !chip) return p;
  p.skips = skips_of(in, out);
  p.answer = answer_of(in, out, p.skips);
  p.speed_words = out.regime + "-bound";
  p.error_words = "error";
  p.cost_words = "kept " + format_text(out.kept, "%") + " of the weights; error " + format_text(out.error, "%");
  if (p.skips == Skips::rows) {
    const auto gone = static_cast<std::size_t>(std::lround((1 - out.kept / 100) * mask_rows));
    p.rows_words = std::to_string(gone) + " of " + std::to_string(mask_rows) +
                   " rows are gone: nothing of them is read or multiplied";
  }
  p.pruned = out.patterns[static_cast<std::size_t>(in.pattern)].share;
  p.value_bits = 8 * models::format_bytes(sparse_formats[static_cast<std::size_t>(in.format)]);
  p.pairs = zeros_in_pairs(in);
  if (models::in_pairs(sparse_formats[static_cast<std::size_t>(in.format)])) p.two_four_name = "4:8 in pairs";
  p.errors = {widgets::Curve{.label = "unstructured",
                             .info = "the smallest weights",
                             .tint = widgets::Tint::series(0),
                             .named = false,
                             .x = run.shares,
                             .y = run.unstructured_curve},
              widgets::Curve{.label = "whole rows",
                             .info = "the rows of least energy",
                             .tint = widgets::Tint::series(4),
                             .named = false,
                             .x = run.shares,
                             .y = run.structured_curve}};
  trace_speedups(in, *chip, p);
  return p;
}

}  // namespace chapters::compression::sparsity
