#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "models/compression/method_study.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

const MethodError& of(const MethodStudy& s, Method m) { return s.errors[static_cast<std::size_t>(m)]; }

}  // namespace

TEST_CASE("SmoothQuant: before rounding the product is the same, to rounding of doubles") {
  const Layer layer = sample_layer({
      .inputs = 64,
      .outputs = 24,
      .tokens = 50,
      .outlier_size = 100,
  });
  const Matrix truth = times_transposed(layer.calibration, layer.weights);
  for (const double alpha : {0.0, 0.5, 0.8, 1.0}) {
    const auto s =
        smooth(layer.calibration, layer.weights,
               smoothing_scales(largest_abs_columns(layer.calibration), largest_abs_columns(layer.weights), alpha));
    CHECK(squared_norm(difference(times_transposed(s.x, s.w), truth)) <= 1e-28 * squared_norm(truth));
  }
}

// s_j = max|x_j|^a / max|w_j|^(1-a); at a = 1/2 both sides have the range sqrt(max|x_j| max|w_j|).
TEST_CASE("SmoothQuant: at alpha 1/2 an input and its weights end up with the same range") {
  CHECK(smoothing_scales({16, 0}, {4, 1}, 0.5) == std::vector<double>{2, 1});
  const Layer layer = sample_layer({.inputs = 16, .outputs = 8, .tokens = 30});
  const auto s =
      smooth(layer.calibration, layer.weights,
             smoothing_scales(largest_abs_columns(layer.calibration), largest_abs_columns(layer.weights), 0.5));
  const auto x = largest_abs_columns(s.x), w = largest_abs_columns(s.w);
  for (std::size_t j = 0; j < 16; ++j) CHECK(near(x[j], w[j], 1e-12));
}

TEST_CASE("AWQ: alpha 0 is round to nearest, the best alpha is kept, and outlying inputs get finer weights") {
  const Layer layer = sample_layer({
      .inputs = 64,
      .outputs = 24,
      .tokens = 96,
      .outlier_inputs = 2,
      .outlier_size = 30,
  });
  const Matrix g = gram(layer.calibration);
  const QuantSpec spec{.format = QuantFormat::int4, .grain = QuantGrain::group, .group = 32};
  const auto mean = mean_abs_columns(layer.calibration);
  const AwqResult r = awq(layer.weights, mean, g, spec);
  CHECK(r.tried.size() == 21);
  CHECK(near(r.tried[0].output_error, output_error(layer.weights, quantize(layer.weights, spec).weights, g), 1e-9));
  CHECK(r.alpha > 0.1);
  CHECK(near(output_error(layer.weights, r.weights, g),
             r.tried[static_cast<std::size_t>(std::lround(r.alpha * 20))].output_error, 1e-9));
  CHECK(r.tried[static_cast<std::size_t>(std::lround(r.alpha * 20))].output_error < 0.3 * r.tried[0].output_error);
  CHECK(r.scale[16] > 2 * r.scale[3]);  // 16 is an outlier: (2 x 0 + 1) 64 / 4
}

TEST_CASE(
    "methods: on one layer with correlated inputs and outliers GPTQ and AWQ beat rounding, and SmoothQuant mends "
    "activations") {
  int gptq_wins = 0, awq_wins = 0, smooth_wins = 0;
  for (std::int64_t seed = 1; seed <= 10; ++seed) {
    const auto study = study_methods(sample_layer({
                                         .inputs = 64,
                                         .outputs = 24,
                                         .tokens = 128,
                                         .seed = seed,
                                     }),
                                     {.weights = {.grain = QuantGrain::group, .group = 32}});
    REQUIRE(study);
    gptq_wins += of(*study, Method::gptq).held_out < of(*study, Method::rtn).held_out;
    awq_wins += of(*study, Method::awq).held_out < of(*study, Method::rtn).held_out;
    smooth_wins += of(*study, Method::smooth).held_out < 0.5 * of(*study, Method::both).held_out;
    CHECK(of(*study, Method::rtn).weight_bits == 4.5);
    CHECK(of(*study, Method::gptq).weight_bits == 4.5);
    CHECK(of(*study, Method::smooth).activation_bits == 8);
  }
  CHECK(gptq_wins == 10);
  CHECK(awq_wins == 10);
  CHECK(smooth_wins == 10);
}

// The calibration objective is what GPTQ minimizes. With hardly more tokens than inputs, and nothing in common between
// inputs, it fits noise.
TEST_CASE("methods: GPTQ overfits a small calibration set: better on it, worse than rounding on other tokens") {
  double calibration = 0, held_out = 0;
  for (std::int64_t seed = 1; seed <= 5; ++seed) {
    const auto study = study_methods(sample_layer({
                                         .inputs = 64,
                                         .outputs = 24,
                                         .tokens = 80,
                                         .seed = seed,
                                         .correlation = 0,
                                         .outlier_inputs = 0,
                                     }),
                                     {.weights = {.grain = QuantGrain::group, .group = 32}});
    calibration += of(*study, Method::gptq).calibration / of(*study, Method::rtn).calibration / 5;
    held_out += of(*study, Method::gptq).held_out / of(*study, Method::rtn).held_out / 5;
  }
  CHECK(calibration < 0.7);
  CHECK(held_out > 1.1);
}

TEST_CASE("methods: the history ends where the methods end, and rounds one column a step") {
  const Layer layer = sample_layer({.inputs = 32, .outputs = 8, .tokens = 64});
  for (const bool act_order : {false, true}) {
    const auto study =
        study_methods(layer, {.weights = {.grain = QuantGrain::group, .group = 16}, .act_order = act_order});
    REQUIRE(study);
    const MethodHistory& h = study->history;
    CHECK(near(h.gptq_error.back(), of(*study, Method::gptq).calibration, 1e-9));
    CHECK(near(h.rtn_error.back(), of(*study, Method::rtn).calibration, 1e-9));
    // After step 5 the sixth column in order is rounded for good; a later one still moves.
    const auto change = [&](std::size_t step, std::size_t row, std::size_t col) {
      return h.change[(step * 8 + row) * 32 + col];
    };
    CHECK(std::abs(change(5, 3, h.order[5]) - change(31, 3, h.order[5])) <= 1e-15);
    CHECK(change(5, 3, h.order[20]) != change(31, 3, h.order[20]));
    CHECK(change(5, 3, h.order[20]) != 0);
  }
}

TEST_CASE("methods: a study that is stopped says so") {
  CHECK(study_methods(sample_layer({.inputs = 16, .outputs = 4, .tokens = 20}), {}, [](double) {
          return false;
        }).error == "The study was stopped before its end.");
}

// Dettmers et al. 2022: with the inputs that reach 6 in 16 bits, W8A8 with a scale for each token and output loses next
// to nothing, and 99.9 % of a large layer is multiplied in INT8 (7 inputs of 5,120).
TEST_CASE("LLM.int8(): outliers alone stay in 16 bits, the rest is W8A8") {
  const LayerSample sample{.inputs = 64, .outputs = 24, .tokens = 96, .outlier_inputs = 3, .outlier_size = 30};
  const Layer layer = sample_layer(sample);
  const Matrix truth = times_transposed(layer.calibration, layer.weights);
  const MixedInt8 mixed = mixed_int8_product(layer.calibration, layer.weights, mixed_int8_threshold, truth);
  CHECK(mixed.kept_inputs == 3);
  CHECK(near(mixed.int8_share, 61.0 / 64, 1e-12));
  CHECK(near(mixed.weight_bits, 61.0 / 64 * 8.25 + 3.0 / 64 * 16, 1e-12));
  const QuantSpec each_row{.format = QuantFormat::int8};
  const double all_in_8 = rounded_product_error(layer.calibration, layer.weights, each_row, each_row, truth);
  CHECK(mixed.error < 0.1 * all_in_8);
  // Nothing reaches a threshold without end: plain W8A8. Everything reaches 0: nothing is rounded.
  CHECK(near(mixed_int8_product(layer.calibration, layer.weights, HUGE_VAL, truth).error, all_in_8, 1e-12));
  const MixedInt8 whole = mixed_int8_product(layer.calibration, layer.weights, 0, truth);
  CHECK(whole.int8_share == 0);
  CHECK(whole.error < 1e-25);
}
