#include <algorithm>
#include <cmath>

#include "chapters/compression/sparsity/lab.h"
#include "chapters/mechanism/catalog.h"
#include "widgets/number/number.h"

namespace chapters::compression::sparsity {
namespace {

using widgets::format_text;

/// The speed-up of every pattern from 1 token to 65,536.
void trace_speedups(const Inputs& in, const models::Chip& chip, Picture& p) {
  for (int i = 0; i <= 32; ++i) p.tokens.push_back(std::exp2(0.5 * i));
  for (std::size_t k = 0; k < pattern_count; ++k)
    for (const double tokens : p.tokens) {
      const auto time = models::sparse_time(chip, sparse_layer(in, all_patterns[k], tokens));
      p.speedups[k].push_back(time ? time->speedup : 1);
      p.largest_speedup = std::max(p.largest_speedup, p.speedups[k].back());
    }
}

std::string story_of(const Outputs& out, const PatternRow& row, const models::Chip& chip) {
  const std::string bound =
      out.dense_regime == out.regime ? out.regime + " binds." : out.dense_regime + " bound, now " + out.regime + ".";
  return (chip.short_name.empty() ? chip.name : chip.short_name) + " skips " + row.skips + "; " + bound;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!out.reason.empty() || !out.example || !chip) return p;
  const PatternRow& row = out.patterns[static_cast<std::size_t>(in.pattern)];
  p.verdict = row.name + ": " + format_text(out.time.speedup, "") + " times as fast, " +
              format_text(out.memory_ratio, "") + " of the weight bytes, error " + format_text(out.error, "%");
  p.story = story_of(out, row, *chip);
  p.mask_text = std::to_string(mask_rows) + " outputs by " + std::to_string(mask_cols) +
                " inputs; coloured: kept, empty: dropped";
  p.pruned = row.share;
  trace_speedups(in, *chip, p);
  return p;
}

}  // namespace chapters::compression::sparsity
