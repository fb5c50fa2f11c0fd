#include "models/debugging/twin_run.h"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include "models/base/counter_random.h"
#include "models/debugging/twin_search.h"

using namespace models::debugging;

namespace {

const TwinHealthy& healthy_one() {
  static const auto run = train_healthy(1);
  return *run;
}

TwinSecond second_of(const TwinFault& fault, int steps = twin_steps) {
  static const std::vector<double> spread = healthy_spread();
  return run_second(healthy_one(), fault, steps, {spread, 1}, false);
}

/// Number of comparisons at a level.
int probes_at(const HashSearch& found, ProbeLevel level) {
  int n = 0;
  for (const HashProbe& p : found.probes) n += p.level == level;
  return n;
}

}  // namespace

TEST_CASE("twin runs: without a fault the second training, made again from the start, is equal bit for bit") {
  const TwinSecond again = second_of({});
  CHECK_FALSE(again.first);
  CHECK(again.hashes == healthy_one().hashes);
  CHECK(again.apart_end == 0);
  const TwinSecond unordered = second_of({.fixed_order = false});
  REQUIRE(unordered.first);
  CHECK(unordered.first->step == 0);
  CHECK(unordered.first->cell.tensor == TwinTensor::gradient);
}

TEST_CASE("twin runs: before its step a fault changes nothing, so that starting there is starting at the beginning") {
  // Order of arrival makes the second run begin at step 0; a fault at step 0 too. Both see the same steps from 40 on.
  const TwinFault fault{.kind = PlantedFault::lost_gradient, .layer = 5, .step = 40};
  TwinState state = healthy_one().states[0];
  TwinPass pass;
  const TwinSecond quick = second_of(fault, 60);
  for (int s = 0; s < 60; ++s) {
    twin_step(1, s, step_fault(fault, s, nullptr), state, pass);
    CHECK(hashes_of(pass, state) == quick.hashes[static_cast<std::size_t>(s)]);
  }
}

TEST_CASE("twin runs: every fault is first seen where it is planted, in the tensor that it touches") {
  struct Case {
    PlantedFault kind;
    TwinTensor tensor;
    int layer;
  };
  for (const Case& c :
       {Case{PlantedFault::flipped_bit, TwinTensor::activation, 3},
        Case{PlantedFault::sum_order, TwinTensor::gradient, 3}, Case{PlantedFault::ranks, TwinTensor::gradient, 7},
        Case{PlantedFault::skipped_batch, TwinTensor::activation, 0},
        Case{PlantedFault::dropout_seed, TwinTensor::activation, 3},
        Case{PlantedFault::lost_gradient, TwinTensor::gradient, 3},
        Case{PlantedFault::doubled_gradient, TwinTensor::gradient, 3},
        Case{PlantedFault::learning_rate, TwinTensor::weight, 0},
        Case{PlantedFault::stale_weights, TwinTensor::activation, 3}}) {
    const TwinSecond run = second_of({.kind = c.kind, .layer = 3, .step = 60, .entry = 37}, 64);
    INFO(static_cast<int>(c.kind));
    REQUIRE(run.first);
    CHECK(run.first->step == 60);
    CHECK(run.first->cell.layer == c.layer);
    CHECK(run.first->cell.tensor == c.tensor);
    CHECK(run.layers_next == (c.kind == PlantedFault::sum_order ? run.layers_next : twin_layers));
  }
}

TEST_CASE("twin runs: a bit that sticks is silent until the number would have had the other value") {
  const TwinSecond run = second_of({.kind = PlantedFault::stuck_bit, .layer = 3, .step = 60, .entry = 37, .bit = 28});
  REQUIRE(run.first);
  CHECK(run.first->step > 60);
}

TEST_CASE("twin runs: the halving finds the first cell in 1 + log2 256 + log2 32 comparisons, and where it truly is") {
  for (const auto kind : {PlantedFault::flipped_bit, PlantedFault::lost_gradient, PlantedFault::ranks})
    for (const int step : {1, 60, 255}) {
      const TwinFault fault{.kind = kind, .layer = 2, .step = step, .entry = 37, .bit = 24};
      const TwinSecond run = second_of(fault);
      const HashSearch found = search_hashes(healthy_one(), run, fault, twin_steps, 1);
      REQUIRE(run.first);
      CHECK(found.end == SearchEnd::cell);
      CHECK(found.from_step == run.first->step);
      CHECK(found.cell.layer == run.first->cell.layer);
      CHECK(found.cell.tensor == run.first->cell.tensor);
      CHECK(found.probes.size() == 1 + 8 + 5);
      CHECK(found.in_order == step + 1 + twin_cell_index(run.first->cell) + 1);
    }
}

TEST_CASE(
    "twin runs: logged every 16 steps, a lasting fault is found by running again, one that lasted a step is not") {
  const TwinFault lasting{.kind = PlantedFault::dropout_seed, .layer = 2, .step = 60},
      passing{.kind = PlantedFault::lost_gradient, .layer = 2, .step = 60};
  const HashSearch a = search_hashes(healthy_one(), second_of(lasting), lasting, twin_steps, 16),
                   b = search_hashes(healthy_one(), second_of(passing), passing, twin_steps, 16);
  CHECK(a.end == SearchEnd::cell);
  CHECK((a.from_step == 60 && a.cell.layer == 2 && a.cell.tensor == TwinTensor::activation));
  CHECK(probes_at(a, ProbeLevel::logged) == 1 + 4);
  CHECK(probes_at(a, ProbeLevel::replayed) == 1 + 4);
  CHECK(probes_at(a, ProbeLevel::cell) == 5);
  CHECK(b.end == SearchEnd::interval);
  CHECK((b.from_step == 48 && b.to_step == 63 && b.replayed_steps == 16));
  CHECK(b.probes.size() == 1 + 4 + 1);
}

TEST_CASE("twin runs: an output that no weight depends on leaves no trace in the hashes of the weights") {
  // Unit 12 of the last layer is no class: its logit is computed and read by nobody.
  const TwinFault fault{.kind = PlantedFault::flipped_bit,
                        .layer = 7,
                        .step = 60,
                        .tensor = TwinTensor::activation,
                        .entry = 12,
                        .bit = 22};
  const TwinSecond run = second_of(fault);
  REQUIRE(run.first);
  CHECK((run.first->step == 60 && run.first->cell.layer == 7));
  CHECK(run.apart_end == 0);
  CHECK(search_hashes(healthy_one(), run, fault, twin_steps, 1).end == SearchEnd::nothing);
}

TEST_CASE("twin runs: ECC gives a single flip back, stops the run at a pair, and passes some triples on as corrected") {
  TwinFault fault{.kind = PlantedFault::flipped_bit, .layer = 3, .step = 60, .entry = 37, .bit = 24, .ecc = true};
  const TwinSecond one = second_of(fault);
  CHECK_FALSE(one.first);
  CHECK(one.flipped->ecc == EccOutcome::corrected);
  CHECK(one.flipped->before == one.flipped->after);
  fault.upsets = 2;
  const TwinSecond two = second_of(fault);
  CHECK(two.stopped);
  CHECK(two.losses.size() == 60);
  CHECK(two.flipped->ecc == EccOutcome::detected);
  fault.upsets = 3;
  int missed = 0;
  for (fault.bit = 0; fault.bit < 32; ++fault.bit) {
    const TwinSecond three = second_of(fault, 61);
    missed += three.flipped->ecc == EccOutcome::miscorrected;
    CHECK(three.first.has_value() == (three.flipped->ecc == EccOutcome::miscorrected));
  }
  CHECK(missed > 0);
  fault = {.kind = PlantedFault::flipped_bit, .tensor = TwinTensor::activation, .entry = 37, .bit = 24, .ecc = true};
  CHECK(second_of(fault).first);  // it flips behind the memory: no check bits are there
}

TEST_CASE("twin runs: a hash differs after any one bit, and for 0 and -0") {
  std::vector<float> numbers(2 * twin_parameters);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<float>(models::normal_draw(5, k));
  const std::uint64_t whole = hash_of(numbers);
  int same = 0;
  for (std::size_t k = 0; k < numbers.size(); k += 7)
    for (int bit = 0; bit < 32; ++bit) {
      std::vector<float> other = numbers;
      other[k] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(other[k]) ^ (1u << bit));
      same += hash_of(other) == whole;
    }
  CHECK(same == 0);
  CHECK(hash_of(std::vector<float>{0.0f}) != hash_of(std::vector<float>{-0.0f}));
  std::swap(numbers[3], numbers[200]);
  CHECK(hash_of(numbers) != whole);
}

TEST_CASE("twin runs: halving asks ceil(log2 n) times at most and finds every place") {
  for (int n = 1; n <= 70; ++n)
    for (int place = 0; place < n; ++place) {
      int asked = 0;
      CHECK(first_by_halving(n, [&](int at, int, int) {
              ++asked;
              return at >= place;
            }) == place);
      CHECK(asked <= static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))));
    }
}
