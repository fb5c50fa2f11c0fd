#include "models/numerics/loss_scaler.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

using Catch::Approx;
using models::ScalerInputs;
using models::ScalerPolicy;
using models::StepFate;

namespace {

/// All gradients alike, so that every step is known by hand.
ScalerInputs flat(double log2_magnitude) {
  ScalerInputs in;
  in.centre_log2 = log2_magnitude;
  in.spread_log2 = in.drift_log2 = in.spike_rate = 0;
  return in;
}
std::vector<std::int64_t> skipped(const models::ScalerRun& run) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < run.history.fate.size(); ++i)
    if (run.history.fate[i] != StepFate::applied) out.push_back(static_cast<std::int64_t>(i));
  return out;
}
double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

}  // namespace

// torch.amp.GradScaler: scale x 0.5 and tracker 0 on inf; tracker + 1 otherwise, and scale x 2 with tracker 0 when it
// reaches 2,000.
TEST_CASE("the scaler follows GradScaler's rule step by step") {
  // 2^4 x 2^16 = 2^20 overflows until the scale is 2^11: 2^15 is the largest power of two below 65,520.
  const auto run = models::run_loss_scaler(flat(4));
  REQUIRE(run);
  CHECK(skipped(*run) ==
        std::vector<std::int64_t>{0, 1, 2, 3, 4, 2005, 4006, 6007, 8008, 10009, 12010, 14011, 16012, 18013});
  CHECK(run->history.scale_log2[0] == 16);
  CHECK(run->history.scale_log2[5] == 11);
  CHECK(run->history.scale_log2[2004] == 11);
  CHECK(run->history.scale_log2[2005] == 12);
  CHECK(run->history.scale_log2[2006] == 11);
  CHECK(run->early_skips == 5);
  CHECK(run->longest_skip_run == 5);
  CHECK(run->growths == 9);
  CHECK(run->late_skip_rate == Approx(9.0 / 18000));
  CHECK(run->balance_rate == Approx(1.0 / 2001));
  CHECK(models::health_of(*run, flat(4)) == models::ScalerHealth::healthy);
}

TEST_CASE("overflow begins at 65,520, where nearest even rounds to infinity, not at 65,504") {
  auto in = flat(0);
  in.policy = ScalerPolicy::fixed;
  in.steps = 10;
  in.init_scale = 65519;
  CHECK(models::run_loss_scaler(in)->skips() == 0);
  in.init_scale = 65520;
  CHECK(models::run_loss_scaler(in)->skips() == 10);
}

// Errata 36: with 2,000 clean steps to a doubling a healthy run skips about one step in 2,000; one in fifty cannot
// last.
TEST_CASE("overflow alone never skips one step in fifty for long, broken steps do and sink the scale") {
  ScalerInputs in;
  in.drift_log2 = 0;
  in.spike_rate = 0.02;  // one step in fifty is 64 times as large
  const auto spiky = models::run_loss_scaler(in);
  CHECK(spiky->late_skip_rate <= 2.0 / 2000);
  in.spike_rate = 0;
  in.bad_rate = 0.02;
  const auto broken = models::run_loss_scaler(in);
  CHECK(broken->late_skip_rate == Approx(0.02).epsilon(0.2));
  CHECK(broken->growths == 0);              // (1 - 0.02)^2000 = 3e-18
  CHECK(broken->final_scale_log2 == -126);  // 400 halvings and more, down to FP32's smallest normal
  CHECK(models::health_of(*broken, in) == models::ScalerHealth::collapsed);
  CHECK(broken->worst_zero_scaled == Approx(1));
  CHECK(1000 * models::scale_drift_log2(in, 0.02) == Approx(-20).epsilon(0.01));
  CHECK(1000 * models::scale_drift_log2(in, 0) == Approx(0.5));
  CHECK(std::abs(models::scale_drift_log2(in, 1 - std::exp2(-1.0 / 2000))) <=
        1e-12);  // half of all runs of 2,000 are clean: balance
}

TEST_CASE("a run within the first interval says nothing of the rate later") {
  auto in = flat(4);
  in.steps = 2000;
  const auto run = models::run_loss_scaler(in);
  CHECK(run->skips() == 5);
  CHECK(run->late_skip_rate == 0);
  CHECK(models::health_of(*run, in) == models::ScalerHealth::searching);
}

TEST_CASE("shares below, within and above a format's range are normal tails") {
  const auto s = models::magnitude_shares(models::fp16_magnitudes(), -22, 4);
  CHECK(s.zero == Approx(normal_below(-0.75)).epsilon(1e-12));  // 22.66 %
  CHECK(s.zero + s.subnormal == Approx(normal_below(2)).epsilon(1e-12));
  CHECK(s.overflow == Approx(normal_below((-22 - std::log2(65520.0)) / 4)).epsilon(1e-9));
  CHECK(s.zero + s.subnormal + s.normal + s.overflow == Approx(1));
  const auto b = models::magnitude_shares(models::bf16_magnitudes(), -22, 4);
  CHECK(b.zero == Approx(normal_below(-28)).epsilon(1e-9));  // 1e-172: its digits are kept
  CHECK(b.normal == Approx(1));
  const auto alike = models::magnitude_shares(models::fp16_magnitudes(), -25, 0);
  CHECK(alike.zero == 1);  // exactly half the smallest subnormal ties to the even zero
  CHECK(models::magnitude_shares(models::fp16_magnitudes(), -24.999, 0).subnormal == 1);
}

// E[g^2; g < t] / E[g^2] of a log-normal, by adding up a fine grid.
TEST_CASE("the squared norm below a limit agrees with integration") {
  const double centre = -3, spread = 1.5, limit = -2;
  double below = 0, all = 0;
  for (double z = -12; z <= 12; z += 1e-3) {
    const double x = centre + spread * z, w = std::exp(-z * z / 2) * std::exp2(2 * x);
    all += w;
    if (x < limit) below += w;
  }
  CHECK(models::squared_norm_below(limit, centre, spread) == Approx(below / all).epsilon(2e-3));
}

TEST_CASE("the largest of n gradients has the distribution of a maximum, and luck does not depend on the policy") {
  ScalerInputs in;
  in.drift_log2 = in.spike_rate = 0;
  in.gradients = 1e6;
  const auto run = models::run_loss_scaler(in);
  // Median of the maximum: all below it with probability 1/2, each with 2^(-1/n); its upper tail is 6.93e-7, z = 4.829
  // (tables: 4.83).
  double above = 0;
  for (const float x : run->history.largest_log2) above += static_cast<double>(x) > -22 + 4 * 4.829;
  CHECK(std::abs(above / 20000 - 0.5) <= 0.02);
  in.policy = ScalerPolicy::none;
  CHECK(models::run_loss_scaler(in)->history.largest_log2 == run->history.largest_log2);
  in.seed = 2;
  CHECK(models::run_loss_scaler(in)->history.largest_log2 != run->history.largest_log2);
}

TEST_CASE("what a loss scaler cannot run is one sentence") {
  ScalerInputs in;
  in.backoff = 1;
  CHECK(models::run_loss_scaler(in).error == "The backoff is a factor between 0 and 1, both left out.");
  in = {};
  in.steps = 0;
  CHECK(models::run_loss_scaler(in).error == "A run has from 1 to 1,000,000 steps.");
  in = {};
  in.bad_rate = std::nan("");
  CHECK(models::run_loss_scaler(in).error == "A rate is a share from 0 to 1.");
}
