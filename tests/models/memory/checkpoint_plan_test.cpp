#include "models/memory/checkpoint_plan.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "models/memory/step_timeline.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using models_test::shipped_model;
using support::near;
using namespace models;
using namespace models::memory;

namespace {

constexpr Machine h100{.peak_flops_per_s = 989.4e12, .bandwidth_bytes_per_s = 3.35e12};

/// Every plan of kept layers and pieces, written as a number with three digits a layer.
template <class Visit>
void for_each_plan(std::size_t layers, const Visit& visit) {
  std::vector<LayerKeep> plan(layers);
  std::size_t all = 1;
  for (std::size_t i = 0; i < layers; ++i) all *= 3;
  for (std::size_t code = 0; code < all; ++code) {
    std::size_t rest = code;
    for (LayerKeep& keep : plan) {
      constexpr LayerKeep digits[] = {LayerKeep::kept, LayerKeep::again, LayerKeep::joined};
      keep = digits[rest % 3];
      rest /= 3;
    }
    visit(plan);
  }
}

std::vector<LayerCost> random_layers(std::mt19937_64& random, std::size_t count, std::size_t kinds) {
  std::vector<LayerCost> of_kind;
  const auto any = [&](double lo, double hi) { return std::uniform_real_distribution<>(lo, hi)(random); };
  for (std::size_t k = 0; k < kinds; ++k) {
    const double saved = any(2, 20);
    of_kind.push_back({
        .saved = saved,
        .kept = saved - any(0, 1),
        .selective = saved,
        .checkpoint = any(0.1, 2),
        .gradient = any(0, 3),
        .backward = any(0, 4),
        .forward_s = any(1, 3),
        .kept_s = any(0, 0.1),
        .selective_s = 0,
        .kind = k,
    });
  }
  std::vector<LayerCost> layers;
  for (std::size_t i = 0; i < count; ++i) layers.push_back(of_kind[random() % kinds]);
  return layers;
}

}  // namespace

TEST_CASE("the frontier is that of all plans, tried one by one") {
  std::mt19937_64 random(12);
  for (int round = 0; round < 60; ++round) {
    const std::size_t count = 1 + random() % 6, kinds = 1 + random() % 2;
    const auto layers = random_layers(random, count, kinds);
    const CheckpointEnds ends{.loss = static_cast<double>(random() % 30),
                              .head_gradient = static_cast<double>(random() % 5)};
    const auto frontier = checkpoint_frontier(layers, ends);
    REQUIRE(!frontier.empty());
    for (const FrontierPoint& p : frontier) {
      const CheckpointCost cost = checkpoint_cost(layers, p.plan, ends);
      REQUIRE(near(cost.peak_bytes, p.peak_bytes));
      REQUIRE(near(cost.recompute_s, p.recompute_s));
      REQUIRE(cost.recomputed == p.recomputed);
    }
    for_each_plan(count, [&](const std::vector<LayerKeep>& plan) {
      const CheckpointCost cost = checkpoint_cost(layers, plan, ends);
      // Some point of the frontier is no larger and no slower.
      REQUIRE(std::any_of(frontier.begin(), frontier.end(), [&](const FrontierPoint& p) {
        return p.peak_bytes <= cost.peak_bytes * (1 + 1e-12) && p.recompute_s <= cost.recompute_s + 1e-9;
      }));
    });
  }
}

TEST_CASE("with scores to drop no mixture at all beats the frontier of layers of one kind") {
  std::mt19937_64 random(5);
  const auto any = [&](double lo, double hi) { return std::uniform_real_distribution<>(lo, hi)(random); };
  for (int round = 0; round < 40; ++round) {
    const double saved = any(5, 20);
    const LayerCost one{.saved = saved,
                        .kept = saved,
                        .selective = saved * any(0.3, 0.9),
                        .checkpoint = any(0.1, 2),
                        .gradient = any(0, 3),
                        .backward = any(0, 4),
                        .forward_s = any(1, 3),
                        .selective_s = any(0.05, 0.5)};
    const std::size_t count = 1 + random() % 5;
    const std::vector<LayerCost> layers(count, one);
    const CheckpointEnds ends{.loss = any(0, 30), .head_gradient = any(0, 5)};
    const auto frontier = checkpoint_frontier(layers, ends);
    std::size_t all = 1;
    for (std::size_t i = 0; i < count; ++i) all *= 4;
    REQUIRE(frontier_is_exact(layers));
    std::vector<LayerKeep> plan(count);
    for (std::size_t code = 0; code < all; ++code) {
      std::size_t rest = code;
      for (LayerKeep& keep : plan) {
        keep = static_cast<LayerKeep>(rest % 4);
        rest /= 4;
      }
      const CheckpointCost cost = checkpoint_cost(layers, plan, ends);
      REQUIRE(std::any_of(frontier.begin(), frontier.end(), [&](const FrontierPoint& p) {
        return p.peak_bytes <= cost.peak_bytes * (1 + 1e-12) && p.recompute_s <= cost.recompute_s + 1e-9;
      }));
    }
    for (const FrontierPoint& p : frontier) {
      const CheckpointCost cost = checkpoint_cost(layers, p.plan, ends);
      REQUIRE(near(cost.peak_bytes, p.peak_bytes));
      REQUIRE(near(cost.recompute_s, p.recompute_s));
    }
  }
}

TEST_CASE("layers of two kinds, and more than are affordable, are said to have no exact frontier with scores") {
  LayerCost one{.saved = 10, .kept = 10, .selective = 6, .checkpoint = 1, .forward_s = 1, .selective_s = 0.1};
  std::vector<LayerCost> layers(81, one);
  CHECK_FALSE(frontier_is_exact(layers));
  layers.pop_back();
  CHECK(frontier_is_exact(layers));
  layers.back().kind = 1;
  CHECK_FALSE(frontier_is_exact(layers));
  for (LayerCost& l : layers) l.selective = l.kept;
  CHECK(frontier_is_exact(layers));
}

TEST_CASE(
    "in a chain of equal layers without inner tensors pieces of sqrt L are the best, in a transformer they are not") {
  // Chen et al. 2016 count one tensor a layer: the input is as large as what a layer keeps.
  const auto peak = [](const std::vector<LayerCost>& layers, std::size_t k) {
    return checkpoint_cost(layers, every_k(layers.size(), k), {}).peak_bytes;
  };
  const std::vector<LayerCost> chain(36, {.saved = 1, .kept = 1, .selective = 1, .checkpoint = 1, .forward_s = 1});
  CHECK(peak(chain, 6) == 11);  // five inputs before the last piece, and its six tensors
  for (const std::size_t k : {1, 2, 3, 4, 9, 12, 18, 36}) CHECK(peak(chain, k) >= 11);
  const std::vector<LayerCost> transformer(36,
                                           {.saved = 17, .kept = 17, .selective = 17, .checkpoint = 1, .forward_s = 1});
  CHECK(peak(transformer, 6) == 5 + 6 * 17);
  CHECK(peak(transformer, 1) == 35 + 17);
  CHECK(peak(transformer, 2) == 17 + 2 * 17);  // sqrt(36 / 17) is 1.46: one or two layers a piece
}

TEST_CASE("letters say a plan and read back; another letter is refused") {
  const auto plan = plan_of_letters("rrcksk", 6);
  REQUIRE(plan);
  CHECK(plan_letters(*plan) == "rrcksk");
  CHECK(plan_letters(*plan_of_letters("r", 3)) == "rkk");
  CHECK(plan_of_letters("kkx", 3).error ==
        "Letter 3 of the plan is none of k (kept), s (selective), r (runs again), c (with the layer before it); write "
        "one of them for each layer.");
}

TEST_CASE("the timeline's peak is the plan's cost, operation by operation, whatever runs again") {
  const Architecture a = shipped_model("llama-3-8b").architecture;
  for (const StateRecipe recipe : {StateRecipe::no_master, StateRecipe::megatron})
    for (const LossKind loss : {LossKind::eager, LossKind::fused})
      for (const char* letters : {"", "rrrrrrrr", "rcccrcccrcccrcccrcccrcccrcccrccc",
                                  "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr", "kkkkkkkkkkkkkkkkkkkkkkkkrccccccc"}) {
        TimelineSetting s;
        s.plan = {.recipe = recipe, .batch = 2, .sequence = 4096, .loss = loss};
        s.layers = *plan_of_letters(letters, 32);
        const auto timeline = step_timeline(a, s, h100);
        const auto setting = checkpoint_setting(a, s.plan, h100, s.roof_share, 0);
        REQUIRE(timeline);
        REQUIRE(setting);
        const CheckpointCost cost = checkpoint_cost(setting->layers, s.layers, setting->ends);
        INFO(letters << " recipe " << static_cast<int>(recipe) << " loss " << static_cast<int>(loss));
        CHECK(near(timeline->peak_bytes, setting->states + cost.peak_bytes, 0.004));
        CHECK(near(timeline->recompute_s + 1, cost.recompute_s + 1, 1e-9));
      }
}

TEST_CASE("running every layer again costs a third of the products, and somewhat more of the time") {
  const auto setting = checkpoint_setting(shipped_model("llama-3-8b").architecture, {.sequence = 4096}, h100, 1, 0);
  REQUIRE(setting);
  double again = 0;
  for (const LayerCost& l : setting->layers) again += l.forward_s;
  CHECK(again / setting->step_s > 0.28);
  CHECK(again / setting->step_s < 0.35);
}
