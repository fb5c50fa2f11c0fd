#include <algorithm>
#include <cmath>

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
                     .tint = widgets::Tint::series(k),
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

std::string answer_of(const Outputs& out, Skips skips) {
  if (out.kept >= 100) return "No weight is pruned: there is nothing to skip, and the error is `0 %`.";
  const bool faster = std::round(100 * out.time.speedup) > 100;
  const std::string speed = widgets::figure(format_text(out.time.speedup, "") + "\xC3\x97"),
                    at_most = faster ? "at most " + speed + " as fast" : std::string("no faster than dense"),
                    error = "an error of " + widgets::figure(out.error, "%"),
                    bytes = widgets::figure(100 * out.memory_ratio, "%") + " of the weight bytes";
  switch (skips) {
    case Skips::nothing:
      return "None: these zeros are stored and multiplied, " + at_most + ", for " + error + " in the weights.";
    case Skips::bytes:
      if (out.memory_ratio >= 1)
        return "None: with the bitmap " + bytes + " are read, and every zero is multiplied; " + at_most + ", for " +
               error + ".";
      return "Bytes alone: " + bytes + " are read and every zero is multiplied; " + at_most + ", for " + error + ".";
    case Skips::products:
      return "It skips half of the products and reads " + bytes + ": " + at_most + ", for " + error + ".";
    case Skips::rows:
      break;
  }
  return "All of them, since whole rows are gone: " + at_most + ", for " + error + " in the weights.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!out.reason.empty() || run.weights.empty() || !chip) return p;
  p.skips = skips_of(in, out);
  p.answer = answer_of(out, p.skips);
  p.speed_words = out.regime + "-bound";
  p.error_words = "error";
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
                             .tint = widgets::Tint::series(2),
                             .named = false,
                             .x = run.shares,
                             .y = run.structured_curve}};
  trace_speedups(in, *chip, p);
  return p;
}

}  // namespace chapters::compression::sparsity
