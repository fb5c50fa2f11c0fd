#include <algorithm>
#include <cmath>

#include "chapters/compression/sparsity/lab.h"
#include "chapters/mechanism/catalog.h"
#include "widgets/number/number.h"

namespace chapters::compression::sparsity {
namespace {

using models::SparsePattern;
using widgets::format_text;

constexpr std::array<SparsePattern, 3> all_patterns{SparsePattern::unstructured, SparsePattern::two_four,
                                                    SparsePattern::structured};

std::string_view name_of(SparsePattern p) {
  if (p == SparsePattern::two_four) return "2:4";
  return p == SparsePattern::unstructured ? "Unstructured" : "Whole rows";
}

std::string_view skips_of(SparsePattern p, bool packed, double rate, double bytes_each) {
  if (p == SparsePattern::structured) return "rows: bytes and products";
  if (p == SparsePattern::two_four)
    return rate > 1 ? (bytes_each > 1 ? "half the products, 7/16 of the bytes" : "half the products, 3/8 of the bytes")
                    : "nothing: this chip has no 2:4 units";
  return packed ? "bytes alone, after unpacking" : "nothing: zeros are stored and multiplied";
}

models::SparseLayer layer_of(const Inputs& in, SparsePattern pattern, double tokens) {
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

std::shared_ptr<const Example> make_example(const ExampleKey& key) {
  const auto out = std::make_shared<Example>();
  out->weights =
      models::sparse_example(static_cast<std::uint64_t>(key.seed), mask_rows, mask_cols, key.heavy, key.row_spread);
  for (const double w : out->weights) out->largest = std::max(out->largest, std::abs(w));
  for (std::size_t k = 0; k < all_patterns.size(); ++k) {
    out->masks[k] = models::sparse_mask(out->weights, mask_rows, mask_cols, all_patterns[k], key.share / 100);
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

void take_curves(Outputs& out, const Inputs& in, const models::Chip& chip) {
  for (int i = 0; i <= 32; ++i) out.tokens.push_back(std::exp2(0.5 * i));
  for (std::size_t k = 0; k < all_patterns.size(); ++k)
    for (const double tokens : out.tokens) {
      const auto t = models::sparse_time(chip, layer_of(in, all_patterns[k], tokens));
      out.speed_curves[k].push_back(t ? t->speedup : 1);
    }
}

void tell(Outputs& out, const Inputs& in, const models::Chip& chip) {
  const PatternRow& row = out.patterns[static_cast<std::size_t>(in.pattern)];
  out.mask_text = std::to_string(mask_rows) + " outputs by " + std::to_string(mask_cols) +
                  " inputs; coloured: kept, empty: dropped";
  out.verdict = row.name + ": " + format_text(out.speedup, "") + " times as fast, " +
                format_text(out.memory_ratio, "") + " of the weight bytes, error " + format_text(out.error, "%");
  out.story =
      (chip.short_name.empty() ? chip.name : chip.short_name) + " skips " + row.skips + "; " +
      (out.dense_regime == out.regime ? out.regime + " binds." : out.dense_regime + " bound, now " + out.regime + ".");
}

}  // namespace

Outputs compute(const Inputs& in, Examples& examples) {
  Outputs out;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!chip) {
    out.reason = "There is no chip called '" + in.chip + "'.";
    return out;
  }
  out.example = examples.get({in.seed, in.heavy, in.row_spread, in.share}, make_example);
  out.two_four_rate = models::two_four_rate(*chip, sparse_formats[static_cast<std::size_t>(in.format)]);
  for (const SparsePattern pattern : all_patterns) {
    const auto time = models::sparse_time(*chip, layer_of(in, pattern, in.tokens));
    if (!time) {
      out.reason = chip->name + " states no dense " +
                   std::string(models::format_label(sparse_formats[static_cast<std::size_t>(in.format)])) +
                   " peak: choose another format or chip.";
      return out;
    }
    const double share = pattern == SparsePattern::two_four ? two_four_share : in.share;
    const auto k = static_cast<std::size_t>(pattern);
    const double error = out.example->errors[k];
    out.patterns.push_back(
        {std::string(name_of(pattern)),
         std::string(skips_of(pattern, in.packed, out.two_four_rate,
                              models::format_bytes(sparse_formats[static_cast<std::size_t>(in.format)]))),
         share, error, time->weight_bytes, time->weight_bytes / time->dense_weight_bytes, time->placement.time_s,
         time->speedup, std::string(models::regime_id(time->placement.regime))});
    if (pattern != in.pattern) continue;
    out.error = error;
    out.pruned = share;
    const auto& mask = out.example->masks[k];
    out.kept = 100 * static_cast<double>(std::count(mask.begin(), mask.end(), std::uint8_t{1})) /
               static_cast<double>(mask.size());
    out.weight_bytes = time->weight_bytes;
    out.dense_weight_bytes = time->dense_weight_bytes;
    out.memory_ratio = time->weight_bytes / time->dense_weight_bytes;
    out.time_s = time->placement.time_s;
    out.dense_time_s = time->dense.time_s;
    out.speedup = time->speedup;
    out.regime = out.patterns.back().regime;
    out.dense_regime = models::regime_id(time->dense.regime);
    out.flops_skipped = 100 * (1 - time->flops_done / (2 * in.tokens * in.inputs * in.outputs));
  }
  out.error_unstructured = out.patterns[0].error;
  out.error_two_four = out.patterns[1].error;
  out.error_structured = out.patterns[2].error;
  out.speedup_unstructured = out.patterns[0].speedup;
  out.speedup_two_four = out.patterns[1].speedup;
  out.speedup_structured = out.patterns[2].speedup;
  take_curves(out, in, *chip);
  tell(out, in, *chip);
  widgets::Fingerprint mark;
  for (const auto& row : out.patterns) mark.add(row.error), mark.add(row.time_s), mark.add(row.bytes);
  for (const auto& curve : out.speed_curves) mark.add(curve.front()), mark.add(curve.back());
  out.version = mark.value | 1;
  return out;
}

}  // namespace chapters::compression::sparsity
