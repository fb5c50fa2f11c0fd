#include "models/training/scaling.h"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>

#include "models/training/step_simulation.h"
#include "tests/support/base/near.h"

using namespace models;
using support::near;

namespace {

ScalingSetup ideal_setup() {
  ScalingSetup s;
  s.sequence_gpu_s = 0.5;
  s.sequences = 1024;
  s.gradient_bytes = 0;
  s.links = {1e11, 1e11, 0, 0, 0};
  s.slowness.spread = 0;
  return s;
}

}  // namespace

TEST_CASE("scaling: without losses N GPUs are N times as fast, and a fixed part is Amdahl's law") {
  ScalingSetup s = ideal_setup();
  for (const std::int64_t n : {1, 2, 64, 1024}) CHECK(near(scaled_step(s, n)->speedup, static_cast<double>(n)));
  // 1,025 GPUs for 1,024 sequences: one has nothing to do.
  CHECK(scaled_step(s, 1025)->speedup == 1024);
  CHECK(near(scaled_step(s, 1000)->efficiency, 0.512));  // 24 of them have two sequences, and all wait for these
  s.fixed_s = 512.0 / 9;                                 // a tenth of the step on one GPU
  const double serial = 0.1;
  for (const std::int64_t n : {2, 16, 1024})
    CHECK(near(scaled_step(s, n)->speedup, 1 / (serial + (1 - serial) / static_cast<double>(n)), 1e-9));
  s.rule = BatchRule::own_batch;
  CHECK(scaled_step(s, 1024)->efficiency == 1);  // with a batch each, nothing has to be shared out
}

TEST_CASE("scaling: useful time and losses add up to the step, in every setting") {
  for (const BatchRule rule : {BatchRule::shared_batch, BatchRule::own_batch})
    for (const std::int64_t replica : {1, 3, 128})
      for (const double overlap : {0.0, 0.5, 1.0})
        for (const std::int64_t replicas : {1, 2, 7, 64}) {
          ScalingSetup s;
          s.rule = rule;
          s.replica_gpus = replica;
          s.overlap = overlap;
          s.fixed_s = 0.05;
          s.buckets = 10;
          s.slowness = {SlownessKind::exponential, 0.02, 0};
          const auto step = scaled_step(s, replica * replicas);
          REQUIRE(step);
          const double losses = std::accumulate(step->loss_s.begin(), step->loss_s.end(), 0.0);
          CHECK(near(step->useful_s + losses, step->step_s, 1e-12));
          CHECK(near(step->hidden_s + step->exposed_s, step->all_reduce.total_s(), 1e-12));
          CHECK(step->efficiency <= 1 + 1e-12);
          if (replicas == 1) CHECK(near(step->speedup, static_cast<double>(replica), 1e-12));
        }
  CHECK(scaled_step({.replica_gpus = 128}, 100).error ==
        "One copy of the model takes 128 GPUs: choose a whole multiple of that.");
  CHECK_FALSE(scaled_step({.sequence_gpu_s = std::nan("")}, 1));
}

TEST_CASE("scaling: past some number of GPUs a flat ring's latency makes the step longer") {
  ScalingSetup s;
  s.sequences = 1 << 20;
  s.sequence_gpu_s = 1e-4;
  s.links = {240e9, 47e9, 5e-6, 20e-6, 0};
  s.gradient_bytes = 1e9;
  const auto best = fastest_step(s, 16384);
  REQUIRE(best);
  CHECK(best->gpus > 64);
  CHECK(best->gpus < 16384);
  CHECK(scaled_step(s, 2 * best->gpus)->step_s > best->step_s);
  s.algorithm = AllReduceAlgorithm::tree;  // whose depth is a logarithm
  CHECK(fastest_step(s, 16384)->gpus == 16384);
}

TEST_CASE("scaling: the simulated step's all-reduce is this ring") {
  StepSetup step;
  step.ranks = 64;
  step.hop_latency_s = 3e-6;
  const ScalingSetup s{.gradient_bytes = step.gradient_bytes,
                       .buckets = step.buckets,
                       .links = {step.bus_bytes_per_s, 1e15, 3e-6, 3e-6, 0},
                       .gpus_per_node = 64};
  CHECK(near(scaled_step(s, 64)->all_reduce.total_s(), bucket_time_s(step) * static_cast<double>(step.buckets), 1e-12));
}

// gpt-fast, README at 0f925b5: Llama-2-7B, 104.9, 168.84, 254.02 and 328.43 tokens/s on 1, 2, 4 and 8 A100.
TEST_CASE("scaling: Amdahl's law through measured steps") {
  const std::array<MeasuredStep, 4> decode{{{1, 1 / 104.9}, {2, 1 / 168.84}, {4, 1 / 254.02}, {8, 1 / 328.43}}};
  const auto fit = fit_amdahl(decode);
  REQUIRE(fit);
  CHECK(near(fit->serial_share, 0.22, 0.03));
  CHECK(fit->rms_error < 0.015);
  for (const MeasuredStep& p : decode) CHECK(near(fit->at(p.gpus), p.step_s, 0.02));
  // Points on a curve give its parts back; points that get worse than 1/N on no curve of this kind give limits.
  const std::array<MeasuredStep, 3> exact{{{1, 10}, {4, 4}, {16, 2.5}}};
  CHECK(near(fit_amdahl(exact)->serial_share, 0.2, 1e-9));
  CHECK(fit_amdahl(std::array<MeasuredStep, 2>{{{1, 10}, {2, 4}}})->serial_share == 0);
  CHECK(fit_amdahl(std::array<MeasuredStep, 2>{{{1, 4}, {2, 5}}})->serial_share == 1);
  CHECK_FALSE(fit_amdahl(std::array<MeasuredStep, 2>{{{2, 4}, {2, 5}}}));
  CHECK_FALSE(fit_amdahl({}));
}
