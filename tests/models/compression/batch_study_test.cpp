#include "models/compression/batch_study.h"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/compression/small_network_train.h"
#include "tests/support/base/near.h"

using namespace models;

namespace {

/// The task of seed 1, drawn once for all cases.
const BatchTask& first_task() {
  static const BatchTask task = batch_task(1);
  return task;
}

}  // namespace

TEST_CASE("batch study: pieces that are divided by their examples are the batch, and other rules are not") {
  const BatchRunSetup setup{.batch = 32, .steps = 30, .rate = 0.3};
  const auto run = [&](std::size_t pieces, AccumulationRule rule, bool uneven) {
    BatchRunSetup s = setup;
    s.micro_batches = pieces;
    s.rule = rule;
    s.uneven = uneven;
    return run_batches(first_task(), s);
  };
  const BatchRun whole = run_batches(first_task(), setup);
  CHECK(whole.loss.size() == 30);
  CHECK(whole.loss.back() < whole.loss.front());
  const auto apart = [&](const BatchRun& r) { return weight_distance(whole.network, r.network); };
  CHECK(apart(run(4, AccumulationRule::by_count, false)) < 1e-6);
  CHECK(apart(run(4, AccumulationRule::by_count, true)) < 1e-6);
  CHECK(apart(run(7, AccumulationRule::by_count, true)) < 1e-6);  // 32 in 7 pieces of unequal size
  CHECK(apart(run(4, AccumulationRule::mean_of_means, false)) < 1e-6);
  CHECK(apart(run(4, AccumulationRule::mean_of_means, true)) > 1e-3);
  // Means that are summed and not divided: four times the rate, to the last bits.
  BatchRunSetup faster = setup;
  faster.rate *= 4;
  CHECK(weight_distance(run_batches(first_task(), faster).network, run(4, AccumulationRule::summed, false).network) <
        1e-4);
}

TEST_CASE("batch study: the rate rises during the warm-up, and a run that leaves all bounds ends") {
  const BatchRunSetup plain{.batch = 16, .steps = 4, .rate = 0.2};
  BatchRunSetup ramp = plain;
  ramp.warm_up = 4;
  CHECK(run_batches(first_task(), ramp).loss[1] != run_batches(first_task(), plain).loss[1]);
  const BatchRun wild = run_batches(first_task(), {.batch = 16, .steps = 60, .rate = 1e4});
  CHECK(wild.diverged);
  CHECK(wild.loss.size() < 60);
  for (const double loss : wild.loss) CHECK(std::isfinite(loss));
}

TEST_CASE("batch study: the noise scale falls out of gradients of single digits, by hand for two of them") {
  const std::size_t hidden = 16;
  const SmallNetwork network = make_network(std::span(&hidden, 1), 5);
  // For n examples: S = n / (n - 1) (mean |g|^2 - |mean g|^2), |G|^2 = |mean g|^2 - S / n.
  const BatchTask task = batch_task(1005);
  CHECK(noise_scale(network, task, 512) > 1);
  CHECK(support::near(noise_scale(network, task, 512), noise_scale(network, task, 1024), 0.5));
}

TEST_CASE("batch study: larger batches take fewer steps and more examples, and the fit lies between its ends") {
  const CriticalBatch c = find_critical_batch(first_task(), 1.0);
  REQUIRE(c.costs.size() == 5);
  for (std::size_t i = 1; i < c.costs.size(); ++i) {
    CHECK(c.costs[i].reached);
    CHECK(c.costs[i].steps < c.costs[i - 1].steps);
    CHECK(c.costs[i].examples > c.costs[i - 1].examples);
    CHECK(c.costs[i].rate >= c.costs[i - 1].rate);
  }
  CHECK(c.steps_min > 0);
  CHECK(c.examples_min > 0);
  CHECK(support::near(c.batch, c.examples_min / c.steps_min));
  CHECK(c.batch > 5);
  CHECK(c.batch < 60);
  // The fit passes the measured batches within a factor of 1.5.
  for (const BatchCost& cost : c.costs) {
    const double fit = c.examples_min + c.steps_min * static_cast<double>(cost.batch);
    CHECK(std::abs(std::log(fit / cost.examples)) < std::log(1.5));
  }
}

TEST_CASE("batch study: a search that is cancelled ends at once, with nothing found") {
  const std::atomic<bool> cancelled{true};
  const CriticalBatch c = find_critical_batch(first_task(), 1.0, &cancelled);
  CHECK(c.costs.empty());
  CHECK(c.batch == 0);
}
