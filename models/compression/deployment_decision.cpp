#include <array>

#include "models/compression/deployment.h"

namespace models {
namespace {

enum Node {
  loses,
  fits,
  memory_bound,
  cache_larger,
  one_percent,
  has_fp4,
  has_fp8,
  has_int8,
  leaf_bf16,
  leaf_more,
  leaf_kv,
  leaf_w8a16,
  leaf_w4a16,
  leaf_nvfp4,
  leaf_fp8,
  leaf_w8a8
};

constexpr std::array<DecisionNode, 16> tree{{
    {"Any loss allowed?", memory_bound, fits},
    {"BF16 fits?", leaf_bf16, leaf_more},
    {"Memory-bound?", cache_larger, has_fp8},
    {"Cache > weights?", leaf_kv, one_percent},
    {"1 % loss allowed?", has_fp4, leaf_w8a16},
    {"FP4 units?", leaf_nvfp4, leaf_w4a16},
    {"FP8 units?", leaf_fp8, has_int8},
    {"INT8 units?", leaf_w8a8, leaf_w8a16},
    {"BF16", -1, -1, "bf16"},
    {"BF16 on more chips", -1, -1, "bf16"},
    {"W8A16, FP8 cache", -1, -1, "w8a16", "fp8"},
    {"W8A16", -1, -1, "w8a16"},
    {"W4A16", -1, -1, "w4a16"},
    {"NVFP4", -1, -1, "nvfp4"},
    {"FP8, FP8 cache", -1, -1, "fp8", "fp8"},
    {"W8A8 INT8", -1, -1, "w8a8"},
}};

}  // namespace

std::span<const DecisionNode> decision_nodes() { return tree; }

Result<Decision> decide_recipe(const Architecture& a, const Deployment& d, double may_lose) {
  using Outcome = Result<Decision>;
  const auto wide = estimate_deployment(a, deployment_recipes().front(), *find_kv_recipe("bf16"), d);
  if (!wide) return Outcome::fail(wide.error);
  Decision out;
  int at = loses;
  while (tree[static_cast<std::size_t>(at)].yes >= 0) {
    DecisionStep step{.node = at};
    const auto peak = [&](Format format) {
      step.figure = DecisionFigure::peak;
      step.value = d.chip->peak_flops_per_s(format).value_or(0);
      step.yes = d.chip->peak_flops_per_s(format).has_value();
    };
    switch (at) {
      case loses:
      case one_percent:
        step.figure = DecisionFigure::allowed_loss;
        step.value = may_lose;
        step.yes = at == loses ? may_lose > 0 : may_lose >= 1;
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
        peak(Format::fp4);
        break;
      case has_fp8:
        peak(Format::fp8);
        break;
      default:
        peak(Format::int8);
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
