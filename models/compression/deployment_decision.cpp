#include <array>

#include "models/compression/deployment.h"

namespace models {
namespace {

enum Node {
  loses,
  fits,
  memory_bound,
  cache_larger,
  four_bits,
  has_fp4,
  has_fp8,
  has_int8,
  leaf_bf16,
  leaf_more,
  leaf_kv,
  leaf_eight,
  leaf_w8a16,
  leaf_w4a16,
  leaf_nvfp4,
  leaf_fp8,
  leaf_w8a8,
  node_count
};
using Tree = std::array<DecisionNode, node_count>;

/// `fp8`: the chip multiplies FP8.
constexpr Tree tree_of(bool fp8) {
  return {{
      {"Any loss allowed?", memory_bound, fits},
      {"BF16 fits?", leaf_bf16, leaf_more},
      {"Memory-bound?", cache_larger, has_fp8},
      {"Cache > weights?", leaf_kv, four_bits},
      {"4-bit loss allowed?", has_fp4, leaf_eight},
      {"FP4 units?", leaf_nvfp4, leaf_w4a16},
      {"FP8 units?", leaf_fp8, has_int8},
      {"INT8 usable?", leaf_w8a8, leaf_w8a16},
      {"BF16", -1, -1, "bf16"},
      {"BF16 on more chips", -1, -1, "bf16"},
      fp8 ? DecisionNode{"FP8, FP8 cache", -1, -1, "fp8", "fp8"}
          : DecisionNode{"W8A16, FP8 cache", -1, -1, "w8a16", "fp8"},
      fp8 ? DecisionNode{"FP8", -1, -1, "fp8"} : DecisionNode{"W8A16", -1, -1, "w8a16"},
      {"W8A16", -1, -1, "w8a16"},
      {"W4A16", -1, -1, "w4a16"},
      {"NVFP4", -1, -1, "nvfp4"},
      {"FP8, FP8 cache", -1, -1, "fp8", "fp8"},
      {"W8A8 INT8", -1, -1, "w8a8"},
  }};
}

constexpr Tree with_fp8 = tree_of(true), without_fp8 = tree_of(false);

/// May as much be lost as the recipe cost where it cost least?
void ask_loss(std::string_view recipe, double may_lose, DecisionStep& step) {
  step.figure = DecisionFigure::allowed_loss;
  step.value = may_lose;
  step.against = find_recipe(recipe)->published_loss_low;
  step.yes = may_lose >= step.against;
}

/// Does the chip multiply the format?
void ask_units(const Chip& chip, Format format, DecisionStep& step) {
  step.figure = DecisionFigure::peak;
  step.value = chip.peak_flops_per_s(format).value_or(0);
  step.yes = chip.peak_flops_per_s(format).has_value();
}

}  // namespace

std::span<const DecisionNode> decision_nodes(const Chip& chip) {
  return chip.peak_flops_per_s(Format::fp8) ? with_fp8 : without_fp8;
}

Result<Decision> decide_recipe(const Architecture& a, const Deployment& d, double may_lose) {
  using Outcome = Result<Decision>;
  const auto wide = estimate_deployment(a, deployment_recipes().front(), *find_kv_recipe("bf16"), d);
  if (!wide) return Outcome::fail(wide.error);
  const std::span<const DecisionNode> tree = decision_nodes(*d.chip);
  Decision out;
  int at = loses;
  while (tree[static_cast<std::size_t>(at)].yes >= 0) {
    DecisionStep step{.node = at};
    switch (at) {
      case loses:
        step.figure = DecisionFigure::allowed_loss;
        step.value = may_lose;
        step.yes = may_lose > 0;
        break;
      case four_bits:
        ask_loss("w4a16", may_lose, step);
        break;
      case fits:
        step.figure = DecisionFigure::fit_bytes;
        step.value = wide->weights_bytes + wide->cache_bytes;
        step.against = wide->memory_bytes;
        step.yes = wide->fits;
        break;
      case memory_bound:
        step.figure = DecisionFigure::memory_share;
        step.value = wide->decode_memory_share;
        step.yes = wide->decode_memory_share > 0.5;
        break;
      case cache_larger:
        step.figure = DecisionFigure::cache_bytes;
        step.value = wide->cache_bytes;
        step.against = wide->weights_bytes;
        step.yes = wide->cache_bytes > wide->weights_bytes;
        break;
      case has_fp4:
        ask_units(*d.chip, Format::fp4, step);
        break;
      case has_fp8:
        ask_units(*d.chip, Format::fp8, step);
        break;
      default:  // INT8 on both sides: there are units, and what it costs is allowed
        ask_loss("w8a8", may_lose, step);
        if (step.yes || !d.chip->peak_flops_per_s(Format::int8)) ask_units(*d.chip, Format::int8, step);
    }
    const DecisionNode& node = tree[static_cast<std::size_t>(at)];
    at = step.yes ? node.yes : node.no;
    out.steps.push_back(step);
  }
  out.leaf = at;
  out.recipe = tree[static_cast<std::size_t>(at)].recipe;
  out.kv = tree[static_cast<std::size_t>(at)].kv;
  return Outcome::ok(std::move(out));
}

}  // namespace models
