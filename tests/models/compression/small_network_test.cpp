#include "models/compression/small_network_study.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

SmallNetwork network_of(std::size_t hidden, std::uint64_t seed) { return make_network({&hidden, 1}, seed); }

/// (L(w + e) - L(w - e)) / 2e for one weight, in the network's own float arithmetic.
double slope_by_difference(SmallNetwork network, std::size_t layer, std::size_t index, bool bias,
                           const DigitSet& digits, const Training& how) {
  constexpr float e = 0.001f;
  SmallNetwork ignored;
  float& w = bias ? network.layers[layer].biases[index] : network.layers[layer].weights[index];
  const float before = w;
  w = before + e;
  const double above = loss_and_gradient(network, digits, digits.size(), how, ignored);
  w = before - e;
  const double below = loss_and_gradient(network, digits, digits.size(), how, ignored);
  return (above - below) / (2 * static_cast<double>(e));
}

/// The steepest weights and biases of every layer against differences.
void check_gradient(const SmallNetwork& network, const DigitSet& digits, const Training& how) {
  SmallNetwork gradient;
  loss_and_gradient(network, digits, digits.size(), how, gradient);
  for (std::size_t l = 0; l < network.layers.size(); ++l)
    for (const bool bias : {false, true}) {
      const std::vector<float>& g = bias ? gradient.layers[l].biases : gradient.layers[l].weights;
      std::vector<std::size_t> order(g.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::sort(order.begin(), order.end(),
                [&](std::size_t a, std::size_t b) { return std::abs(g[a]) > std::abs(g[b]); });
      for (std::size_t k = 0; k < 6; ++k) {
        const double expected = slope_by_difference(network, l, order[k], bias, digits, how);
        INFO("layer " << l << (bias ? " bias " : " weight ") << order[k] << ": " << static_cast<double>(g[order[k]])
                      << " against " << expected);
        // Float sums of a loss near 2.3 leave some 2e-7 of noise, over 2e-3: a ten-thousandth.
        CHECK(std::abs(static_cast<double>(g[order[k]]) - expected) <= 0.02 * std::abs(expected) + 5e-4);
      }
    }
}

}  // namespace

TEST_CASE(
    "digits: the same seed draws the same pixels; training and held-out sets share none; a shorter set is the start of "
    "a longer") {
  const DigitSet a = make_digits(3, DigitSplit::training, 200), again = make_digits(3, DigitSplit::training, 200),
                 longer = make_digits(3, DigitSplit::training, 300);
  CHECK(a.pixels == again.pixels);
  CHECK(std::equal(a.pixels.begin(), a.pixels.end(), longer.pixels.begin()));
  std::set<std::vector<float>> seen;
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const DigitSplit split : {DigitSplit::training, DigitSplit::held_out}) {
      const DigitSet set = make_digits(seed, split, 200);
      for (std::size_t i = 0; i < set.size(); ++i) {
        const auto p = set.picture(i);
        CHECK(seen.emplace(p.begin(), p.end()).second);
        CHECK(set.labels[i] == i % 10);
        CHECK(std::all_of(p.begin(), p.end(), [](float v) { return v >= 0 && v <= 1; }));
      }
    }
}

TEST_CASE("small network: the gradient is that of the loss, by labels, by teacher, and by both") {
  const DigitSet digits = make_digits(1, DigitSplit::training, 20);
  const std::array<std::size_t, 2> hidden{12, 7};
  const SmallNetwork network =
      make_network(hidden, 7);  // none of whose units is within 0.006 of its kink on these digits
  check_gradient(network, digits, {});
  const std::vector<float> teacher = logits_of(network_of(16, 9), digits);
  check_gradient(network, digits, {.teacher = {.teacher_logits = teacher, .temperature = 3, .alpha = 0}});
  check_gradient(network, digits, {.teacher = {.teacher_logits = teacher, .temperature = 5, .alpha = 0.4}});
}

TEST_CASE("small network: training lowers the loss, to the last bit the same for a seed and another for another") {
  const DigitSet digits = make_digits(1, DigitSplit::training, 400);
  const Training how{.epochs = 4, .seed = 2};
  const Trained a = train(network_of(16, 1), digits, how), b = train(network_of(16, 1), digits, how);
  CHECK(a.network == b.network);
  CHECK(a.epoch_loss == b.epoch_loss);
  REQUIRE(a.epoch_loss.size() == 4);
  CHECK(a.epoch_loss[0] < std::log(10.0) * 1.2);  // a network that knows nothing pays log 10
  for (std::size_t e = 1; e < 4; ++e) CHECK(a.epoch_loss[e] < a.epoch_loss[e - 1]);
  CHECK_FALSE(train(network_of(16, 1), digits, {.epochs = 4, .seed = 3}).network == a.network);
}

TEST_CASE("small network: training stops when it is told to") {
  const DigitSet digits = make_digits(1, DigitSplit::training, 40);
  int asked = 0;
  const Trained t = train(network_of(8, 1), digits, {.epochs = 10, .go_on = [&](double) { return ++asked < 3; }});
  CHECK(t.stopped);
  CHECK(t.epoch_loss.size() == 2);
  CHECK(make_study(1, {}, 4, true, [](double) { return false; }) == nullptr);
}

TEST_CASE(
    "small network: the teacher reads 90 to 97 % of held-out digits, and compression costs accuracy that can be seen") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto study = make_study(seed, {});
    REQUIRE(study);
    INFO("seed " << seed);
    CHECK((study->accuracies[0] >= 0.90 && study->accuracies[0] <= 0.97));
    CHECK(study->teacher_training_accuracy > study->accuracies[0]);
    CHECK(near(study->original_bytes, 9640, 1e-12));  // 4 (64 x 32 + 32 x 10 + 42)
    const auto measured = [&](const Plan& plan) {
      return compress(study->networks[0], study->training, study->held_out, plan).accuracy;
    };
    const double eight = measured({.weights = {.bits = 8}, .activation_bits = 8}),
                 two = measured({.weights = {.bits = 2}, .activation_bits = 8});
    CHECK(std::abs(eight - study->accuracies[0]) <= 0.01);
    CHECK(two < study->accuracies[0] - 0.25);
    CHECK(measured({
              .weights = {.bits = 2},
              .activation_bits = 8,
              .fine_tune = true,
              .seed = seed,
          }) > two + 0.15);  // straight through
    CHECK(measured({.pruning = Pruning::neurons, .share = 0.75}) < study->accuracies[0] - 0.2);
    // Some compression keeps 70 % in a thirtieth of the bytes.
    CHECK(std::any_of(study->sweep.begin(), study->sweep.end(),
                      [&](const SweepPoint& p) { return p.accuracy > 0.7 && p.bytes < study->original_bytes / 30; }));
    CHECK(study->sweep.size() == 4 * 6 * 7);
  }
}

TEST_CASE("small network: magnitude pruning zeroes as many as asked, the smallest, and tuning leaves them zero") {
  const DigitSet digits = make_digits(2, DigitSplit::training, 200);
  const SmallNetwork dense = train(network_of(16, 2), digits, {.epochs = 2}).network,
                     pruned = prune(dense, Pruning::magnitude, 0.6);
  CHECK(pruned.zero_weights() == 710);  // 0.6 x 1,184 = 710.4
  float largest_gone = 0, smallest_kept = 1e9f;
  for (std::size_t l = 0; l < dense.layers.size(); ++l)
    for (std::size_t i = 0; i < dense.layers[l].inputs; ++i)
      for (std::size_t o = 0; o < dense.layers[l].outputs; ++o) {
        const float w = std::abs(dense.layers[l].at(i, o));
        if (pruned.layers[l].at(i, o) == 0.0f)
          largest_gone = std::max(largest_gone, w);
        else
          smallest_kept = std::min(smallest_kept, w);
      }
  CHECK(largest_gone <= smallest_kept);
  const SmallNetwork tuned = train(pruned, digits, {.epochs = 2, .keep_zeros = true}).network;
  CHECK(tuned.zero_weights() == 710);
  CHECK_FALSE(tuned == pruned);
}

TEST_CASE("small network: 2:4 keeps the two largest of every four inputs of each output") {
  const SmallNetwork dense = network_of(16, 4), pruned = prune(dense, Pruning::two_four, 0);
  for (std::size_t l = 0; l < dense.layers.size(); ++l) {
    const DenseLayer &d = dense.layers[l], &p = pruned.layers[l];
    for (std::size_t first = 0; first < d.inputs; first += 4)
      for (std::size_t o = 0; o < d.outputs; ++o) {
        std::array<float, 4> all{}, kept{};
        for (std::size_t k = 0; k < 4; ++k) {
          all[k] = std::abs(d.at(first + k, o));
          kept[k] = std::abs(p.at(first + k, o));
        }
        std::sort(all.begin(), all.end());
        std::sort(kept.begin(), kept.end());
        CHECK(kept == std::array<float, 4>{0, 0, all[2], all[3]});
      }
  }
}

TEST_CASE("small network: a network without its least units computes what one with those units silenced computes") {
  const DigitSet digits = make_digits(2, DigitSplit::held_out, 30);
  const SmallNetwork dense = network_of(16, 6), small = prune(dense, Pruning::neurons, 0.5);
  REQUIRE(small.layers[0].outputs == 8);
  REQUIRE(small.layers[1].inputs == 8);
  std::vector<std::pair<double, std::size_t>> worth;
  for (std::size_t u = 0; u < 16; ++u) {
    double in2 = 0, out2 = 0;
    for (std::size_t i = 0; i < 64; ++i) in2 += std::pow(static_cast<double>(dense.layers[0].at(i, u)), 2);
    for (std::size_t o = 0; o < 10; ++o) out2 += std::pow(static_cast<double>(dense.layers[1].at(u, o)), 2);
    worth.emplace_back(in2 * out2, u);
  }
  std::sort(worth.begin(), worth.end());
  SmallNetwork silenced = dense;
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t o = 0; o < 10; ++o) silenced.layers[1].at(worth[k].second, o) = 0;
  const auto a = logits_of(small, digits), b = logits_of(silenced, digits);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= 1e-4f);
  CHECK(prune(dense, Pruning::neurons, 1).layers[0].outputs == 1);  // one stays
}

TEST_CASE("small network: rounded weights lie on the grid of their channel, within half a step of what they were") {
  const SmallNetwork dense = network_of(16, 8);
  for (const int bits : {2, 3, 4, 8}) {
    const SmallNetwork rounded = quantize_weights(dense, {.bits = bits});
    const float codes = static_cast<float>((1 << (bits - 1)) - 1);
    for (std::size_t o = 0; o < 16; ++o) {
      float largest = 0;
      for (std::size_t i = 0; i < 64; ++i) largest = std::max(largest, std::abs(dense.layers[0].at(i, o)));
      const float step = largest / codes;
      std::set<long> used;
      for (std::size_t i = 0; i < 64; ++i) {
        const float q = rounded.layers[0].at(i, o) / step;
        CHECK(std::abs(q - std::round(q)) <= 1e-3f);
        CHECK(std::abs(q) <= codes + 1e-3f);
        CHECK(std::abs(rounded.layers[0].at(i, o) - dense.layers[0].at(i, o)) <= 0.501f * step);
        used.insert(std::lround(q));
      }
      if (bits == 2) CHECK(used == std::set<long>{-1, 0, 1});
    }
  }
}

TEST_CASE("small network: bytes are counted with indices, scales and biases") {
  const SmallNetwork n = network_of(32, 1);
  const auto total = [&](Pruning how, WeightGrid grid, int activations) {
    return packed_size(prune(n, how, 0.5), how, grid, activations);
  };
  CHECK(total(Pruning::none, {}, 0).total_bytes() == 9640);
  const PackedSize four = total(Pruning::none, {.bits = 4}, 8);
  CHECK(four.values_bytes == 1184);  // 2,368 / 2
  CHECK(four.scales_bytes == 4 * 42 + 4 * 2);
  CHECK(four.biases_bytes == 4 * 42);
  CHECK(total(Pruning::none, {.bits = 4, .per_channel = false}, 8).scales_bytes == 4 * 2 + 4 * 2);
  const PackedSize pairs = total(Pruning::two_four, {.bits = 4}, 0);
  CHECK(pairs.values_bytes == 592);
  CHECK(pairs.indices_bytes == 296);  // 1,184 kept x 2 bits
  const PackedSize bitmap = total(Pruning::magnitude, {.bits = 8}, 0);
  CHECK(bitmap.values_bytes == 1184);
  CHECK(bitmap.indices_bytes == 296);  // a bit for each of 2,368
  CHECK(total(Pruning::neurons, {.bits = 8}, 0).values_bytes == 74 * 16);
  // A tenth of two-bit weights saves 474 bits and a bitmap costs 2,368: stored dense.
  CHECK(packed_size(prune(n, Pruning::magnitude, 0.1), Pruning::magnitude, {.bits = 2}, 0).indices_bytes == 0);
}

TEST_CASE("small network: the front holds what no other beats in both") {
  const std::vector<SweepPoint> points{{.bytes = 10, .accuracy = 0.5},
                                       {.bytes = 20, .accuracy = 0.4},
                                       {.bytes = 20, .accuracy = 0.8},
                                       {.bytes = 15, .accuracy = 0.5},
                                       {.bytes = 30, .accuracy = 0.9}};
  CHECK(pareto_front(points) == std::vector<std::size_t>{0, 2, 4});
}
