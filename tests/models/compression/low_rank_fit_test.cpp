#include "models/compression/low_rank_fit.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/near.h"

using namespace models;
using namespace models::adapters;
using support::near;

namespace {

/// A network of one layer, 64 to 10, so that little is computed.
FitTask small_task() {
  FitTask task;
  task.base = make_network({}, 3);
  task.training = shifted_digits(5, DigitSplit::training, 48, TaskShift::mirrored);
  task.held_out = shifted_digits(5, DigitSplit::held_out, 40, TaskShift::mirrored);
  task.first_held_out = make_digits(5, DigitSplit::held_out, 40);
  models::Pass pass(task.base);
  task.base_loss = models::mean_loss(task.base, task.held_out, pass);
  return task;
}

}  // namespace

TEST_CASE("low rank fit: the second task is the first one's digits, changed as its name says") {
  const DigitSet plain = make_digits(7, DigitSplit::training, 10);
  const DigitSet mirrored = shifted_digits(7, DigitSplit::training, 10, TaskShift::mirrored);
  const DigitSet renamed = shifted_digits(7, DigitSplit::training, 10, TaskShift::relabelled);
  CHECK(mirrored.labels == plain.labels);
  CHECK(mirrored.picture(3)[8 + 1] == plain.picture(3)[8 + 6]);
  CHECK(renamed.pixels == plain.pixels);
  CHECK(renamed.labels[9] == 0);
  CHECK(shifted_digits(7, DigitSplit::training, 10, TaskShift::turned).pixels != plain.pixels);
}

TEST_CASE("low rank fit: the change has the rank that was asked for, and the base stays as it was") {
  const FitTask task = small_task();
  const SmallNetwork before = task.base;
  const FineTuned two = fine_tune(task, {.rank = 2, .epochs = 3});
  CHECK(task.base == before);
  CHECK(two.network.layers[0].biases == before.layers[0].biases);
  CHECK(two.network.layers[0].weights != before.layers[0].weights);
  CHECK(two.trained == 2 * (64 + 10));
  CHECK(near(rank_share(before, two.network, 2), 1, 1e-5));
  CHECK(rank_share(before, two.network, 1) < 0.999);
  CHECK(two.loss < task.base_loss);
  models::Pass pass(two.network);
  CHECK(two.training_loss == models::mean_loss(two.network, task.training, pass));
  const FineTuned again = fine_tune(task, {.rank = 2, .epochs = 3});
  CHECK(again.network == two.network);
}

TEST_CASE("low rank fit: all weights are trained at rank 0, and a rank beyond the smaller side is that side") {
  const FitTask task = small_task();
  const FineTuned full = fine_tune(task, {.rank = 0, .epochs = 3});
  CHECK(full.trained == 64 * 10 + 10);
  CHECK(full.network.layers[0].biases != task.base.layers[0].biases);
  CHECK(low_rank_parameters(task.base, 10) == 740);
  CHECK(low_rank_parameters(task.base, 32) == 740);
  CHECK(rank_share(task.base, full.network, 1) < 0.9);
  CHECK(near(rank_share(task.base, full.network, 10), 1, 1e-9));
}

TEST_CASE("low rank fit: no epochs change nothing, and the share of an unchanged network is whole") {
  const FitTask task = small_task();
  const FineTuned none = fine_tune(task, {.rank = 4, .epochs = 0});
  CHECK(none.network.layers[0].weights == task.base.layers[0].weights);
  CHECK(near(none.loss, task.base_loss));
  CHECK(rank_share(task.base, task.base, 1) == 1);
}
