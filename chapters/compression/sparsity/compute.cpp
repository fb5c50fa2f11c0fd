#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "chapters/compression/sparsity/lab.h"
#include "chapters/mechanism/catalog.h"

namespace chapters::compression::sparsity {
namespace {

using models::SparsePattern;

std::string_view name_of(SparsePattern p, bool pairs) {
  if (p == SparsePattern::two_four) return pairs ? "4:8 in pairs" : "2:4";
  return p == SparsePattern::unstructured ? "Unstructured" : "Whole rows";
}

std::string_view skips_of(SparsePattern p, bool packed, double rate, models::Format format) {
  if (p == SparsePattern::structured) return "rows: bytes and multiplications";
  if (p == SparsePattern::two_four)
    return rate > 1 ? (models::format_bytes(format) > 1 ? "half the multiplications, 7/16 of the bytes"
                                                        : "half the multiplications, 3/8 of the bytes")
                    : "nothing: this chip has no such units for the format";
  return packed ? "bytes alone, after unpacking" : "nothing: zeros are stored and multiplied";
}

std::shared_ptr<const Run> make_example(const ExampleKey& key) {
  const auto out = std::make_shared<Run>();
  out->weights =
      models::sparse_example(static_cast<std::uint64_t>(key.seed), mask_rows, mask_cols, key.heavy, key.row_spread);
  for (const double w : out->weights) out->largest = std::max(out->largest, std::abs(w));
  for (std::size_t k = 0; k < all_patterns.size(); ++k) {
    out->masks[k] =
        models::sparse_mask(out->weights, mask_rows, mask_cols, all_patterns[k], key.share / 100, key.pairs);
    out->errors[k] = 100 * models::mask_error(out->weights, out->masks[k]);
  }
  std::vector<double> parts;
  for (int i = 0; i <= 48; ++i) {
    out->shares.push_back(2.0 * i);
    parts.push_back(0.02 * i);
  }
  out->unstructured_curve = models::error_curve(out->weights, mask_rows, mask_cols, SparsePattern::unstructured, parts);
  out->structured_curve = models::error_curve(out->weights, mask_rows, mask_cols, SparsePattern::structured, parts);
  for (auto* curve : {&out->unstructured_curve, &out->structured_curve})
    for (double& e : *curve) e *= 100;
  return out;
}

/// Percent of the weights that a mask keeps.
double kept_percent(const std::vector<std::uint8_t>& mask) {
  return 100 * static_cast<double>(std::count(mask.begin(), mask.end(), std::uint8_t{1})) /
         static_cast<double>(mask.size());
}

}  // namespace

bool zeros_in_pairs(const Inputs& in) {
  return in.pattern == SparsePattern::two_four && models::in_pairs(sparse_formats[static_cast<std::size_t>(in.format)]);
}

models::SparseLayer sparse_layer(const Inputs& in, SparsePattern pattern, double tokens) {
  return {
      .tokens = tokens,
      .inputs = in.inputs,
      .outputs = in.outputs,
      .format = sparse_formats[static_cast<std::size_t>(in.format)],
      .pattern = pattern,
      .share = pattern == SparsePattern::two_four ? 0.5 : in.share / 100,
      .packed = in.packed,
  };
}

chapters::Computed<Outputs, Run> compute(const Inputs& in, Examples& examples) {
  const auto chip = find_chip(in.chip);
  if (!chip) return {.facts = {.reason = chip.error}};
  const models::Format format = sparse_formats[static_cast<std::size_t>(in.format)];
  Outputs out;
  auto example = examples.get({in.seed, in.heavy, in.row_spread, in.share, models::in_pairs(format)}, make_example);
  out.two_four_rate = models::two_four_rate(**chip, format);
  for (const SparsePattern pattern : all_patterns) {
    const auto time = models::sparse_time(**chip, sparse_layer(in, pattern, in.tokens));
    if (!time)
      return {.facts = {.reason = (*chip)->name + " states no dense " + std::string(models::format_label(format)) +
                                  " peak: choose another format or chip."}};
    const auto k = static_cast<std::size_t>(pattern);
    out.errors[k] = example->errors[k];
    out.speedups[k] = time->speedup;
    out.patterns.push_back({
        .name = std::string(name_of(pattern, models::in_pairs(format))),
        .skips = std::string(skips_of(pattern, in.packed, out.two_four_rate, format)),
        .share = pattern == SparsePattern::two_four ? two_four_share : in.share,
        .error = out.errors[k],
        .time = *time,
        .ratio = time->weight_bytes / time->dense_weight_bytes,
        .regime = std::string(models::regime_id(time->placement.regime)),
    });
  }
  const auto chosen = static_cast<std::size_t>(in.pattern);
  out.time = out.patterns[chosen].time;
  out.error = out.errors[chosen];
  out.kept = kept_percent(example->masks[chosen]);
  out.memory_ratio = out.patterns[chosen].ratio;
  out.bytes_read = 100 * out.memory_ratio;
  out.regime = out.patterns[chosen].regime;
  out.dense_regime = models::regime_id(out.time.dense.regime);
  out.flops_skipped = 100 * (1 - out.time.flops_done / (2 * in.tokens * in.inputs * in.outputs));
  return {std::move(out), std::move(example)};
}

}  // namespace chapters::compression::sparsity
