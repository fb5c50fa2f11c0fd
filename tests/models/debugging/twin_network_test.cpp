#include "models/debugging/twin_network.h"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include "models/debugging/twin_run.h"

using namespace models::debugging;

namespace {

/// The mean loss of a step's batch, for the weights given, dropout as in that step.
double loss_at(TwinState state, int step) {
  TwinPass pass;
  twin_step(1, step, {}, state, pass);
  return pass.loss;
}

}  // namespace

TEST_CASE("twin network: e^x by products is that of the library, and a NaN stays one") {
  double worst = 0;
  for (double x = 0; x > -60; x -= 0.0137) worst = std::max(worst, std::abs(exp_by_products(x) / std::exp(x) - 1));
  CHECK(worst <= 1e-14);
  CHECK(exp_by_products(0) == 1);
  CHECK(exp_by_products(-1000) == 0);
  CHECK(std::isnan(exp_by_products(std::nan(""))));
}

TEST_CASE("twin network: the gradient is that of the loss, by differences, in every layer") {
  TwinState state = twin_start(1);
  TwinPass pass;
  for (int s = 0; s < 30; ++s) twin_step(1, s, {}, state, pass);
  const TwinState here = state;
  twin_step(1, 30, {}, state, pass);
  for (std::size_t l = 0; l < twin_layers; ++l) {
    std::size_t steepest = 0;
    for (std::size_t k = 0; k < twin_parameters; ++k)
      if (std::abs(pass.gradients[l][k]) > std::abs(pass.gradients[l][steepest])) steepest = k;
    for (const std::size_t k : {steepest, std::size_t{twin_entries + 3}}) {
      TwinState above = here, below = here;
      above[l].weights[k] += 0.002f;
      below[l].weights[k] -= 0.002f;
      const double step = static_cast<double>(above[l].weights[k]) - static_cast<double>(below[l].weights[k]);
      const double expected = (loss_at(above, 30) - loss_at(below, 30)) / step;
      INFO("layer " << l << " entry " << k);
      CHECK(std::abs(static_cast<double>(pass.gradients[l][k]) - expected) <= 0.03 * std::abs(expected) + 2e-3);
    }
  }
}

TEST_CASE("twin network: it learns: the loss of all four seeds falls from above 2.5 to below 0.8 on average") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto losses = healthy_losses(seed);
    double late = 0;
    for (std::size_t s = losses.size() - 32; s < losses.size(); ++s) late += losses[s] / 32;
    CHECK(losses.front() > 2.5);
    CHECK(late < 0.8);
  }
}

TEST_CASE("twin network: the same seed gives the same bits in every cell of every step, another seed does not") {
  const auto a = train_healthy(2), b = train_healthy(2), c = train_healthy(3);
  CHECK(a->hashes == b->hashes);
  CHECK(a->states == b->states);
  CHECK(a->hashes.front() != c->hashes.front());
}

// One step from the same weights: what the order of the additions leaves, and nothing else.
TEST_CASE(
    "twin network: on two ranks, in pairs or in order of arrival the gradients agree to rounding and not in bits") {
  const TwinState start = twin_start(1);
  const auto gradients = [&](const StepFault& how) {
    TwinState state = start;
    TwinPass pass;
    twin_step(1, 5, how, state, pass);
    return pass;
  };
  const TwinPass four = gradients({});
  StepFault pairs, arrival;
  for (StepFault how : {StepFault{.ranks = 2}, StepFault{.ranks = 8}, StepFault{.other_order_layer = 4},
                        StepFault{.arrival_order = true}}) {
    const TwinPass other = gradients(how);
    CHECK(other.activations == four.activations);
    const double apart = cell_difference(four.gradients[4], other.gradients[4]);
    CHECK(apart > 0);
    CHECK(apart < 1e-6);
  }
  CHECK(gradients({.other_order_layer = 4}).gradients[3] == four.gradients[3]);
}

TEST_CASE("twin network: a gradient that is lost and doubled moves the sum by just that rank's part") {
  const auto gradient = [](float by) {
    TwinState state = twin_start(1);
    TwinPass pass;
    twin_step(1, 5, {.scaled_layer = 2, .scaled_rank = 1, .scaled_by = by}, state, pass);
    return pass.gradients;
  };
  const auto lost = gradient(0), healthy = gradient(1), doubled = gradient(2);
  CHECK(lost[3] == healthy[3]);
  double most = 0;
  for (std::size_t k = 0; k < twin_parameters; ++k) {
    const double up = static_cast<double>(doubled[2][k]) - static_cast<double>(healthy[2][k]),
                 down = static_cast<double>(healthy[2][k]) - static_cast<double>(lost[2][k]);
    most = std::max(most, std::abs(up));
    CHECK(std::abs(up - down) <= 1e-6);
  }
  CHECK(most > 1e-4);
}
