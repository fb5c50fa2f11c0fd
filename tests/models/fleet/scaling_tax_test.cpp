#include "models/fleet/scaling_tax.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/fleet/canary.h"
#include "models/training/slowest_rank.h"
#include "tests/support/base/near.h"

// The planner's step as stairs: every riser is one of its parts, and all of them add up to it.

using namespace models::fleet;
using models::parallel::PlannerJob;
using support::near;

namespace {

/// A dense model of eight layers on chips whose figures are round.
PlannerJob tax_job(std::int64_t gpus) {
  PlannerJob job;
  models::Architecture& a = job.architecture;
  a.layers = 8;
  a.hidden = 4096;
  a.heads = a.kv_heads = 32;
  a.head_dim = 128;
  a.ffn = 11'008;
  a.vocab = 32'000;
  models::parallel::PlannerCluster& c = job.cluster;
  c.gpus = gpus;
  c.peak_flops_per_s = c.fast_peak_flops_per_s = 1e15;
  c.memory_bytes = 80e9;
  c.memory_bandwidth_bytes_per_s = 3e12;
  c.link_inside_bytes_per_s = 450e9;
  c.link_between_bytes_per_s = 50e9;
  c.curve = models::parallel::planner_curve(models::parallel::ChipGeneration::hopper);
  job.stack = models::parallel::planner_stack(models::parallel::StackId::megatron_core);
  job.sequence = 4096;
  job.global_batch = gpus;
  return job;
}

models::memory::TrainingPlan tax_plan(const PlannerJob& job, std::int64_t tensor, std::int64_t pipeline) {
  models::memory::TrainingPlan p;
  p.tensor = tensor;
  p.pipeline = pipeline;
  p.data = job.cluster.gpus / tensor / pipeline;
  p.zero_stage = 1;
  p.sequence_parallel = tensor > 1;
  return models::parallel::planned(job, p);
}

double sum_of(const TaxParts& parts) {
  double sum = parts.ideal_s;
  for (const double s : parts.found_s) sum += s;
  return sum;
}

}  // namespace

TEST_CASE("scaling tax: risers add up to the planner's step, whatever the plan", "[fleet]") {
  for (const auto& [tensor, pipeline] : {std::pair{1, 1}, {2, 1}, {4, 2}, {8, 4}}) {
    const PlannerJob job = tax_job(64);
    auto plan = tax_plan(job, tensor, pipeline);
    if (tensor == 4) plan.recompute = models::Recompute::full;
    const auto parts = tax_parts(job, plan);
    REQUIRE(parts);
    CHECK(near(sum_of(*parts), parts->price.step_s, 1e-12));
    const TaxStairs stairs = tax_stairs(job, *parts, {});
    CHECK(near(stairs.of(TaxCause::failures), models::parallel::planner_mfu(job, parts->price.step_s), 1e-12));
    CHECK(near(stairs.of(TaxCause::kernel), 0.7 * 1.1, 1e-12));  // share of the generation, factor of the software
    for (std::size_t i = 1; i < tax_cause_count; ++i) CHECK(stairs.before[i] == stairs.mfu[i - 1]);
    CHECK((stairs.found_s[place_of(TaxCause::tensor)] > 0) == (tensor > 1));
    CHECK((stairs.found_s[place_of(TaxCause::pipeline)] > 0) == (pipeline > 1));
    CHECK((stairs.found_s[place_of(TaxCause::recompute)] > 0) == (tensor == 4));
    CHECK((stairs.found_s[place_of(TaxCause::near_copies)] > 0) == (pipeline == 1));
  }
}

// Scaling tax and goodput by their definitions: MegaScale's and Llama 3's published treads (oracle rows stair.*).
TEST_CASE("scaling tax: a published end leaves its riser, goodput multiplies, a lift takes its part", "[fleet]") {
  const PlannerJob job = tax_job(64);
  const auto parts = tax_parts(job, tax_plan(job, 8, 2));
  REQUIRE(parts);
  TaxSetup setup{.published_mfu = 0.404244568, .goodput = 0.8553978687};
  TaxStairs stairs = tax_stairs(job, *parts, setup);
  CHECK(near(stairs.of(TaxCause::unexplained), 0.404244568, 1e-12));
  CHECK(near(stairs.of(TaxCause::failures), 0.3457899419, 1e-9));
  setup.published_mfu = 0.99;  // faster than the model: the riser goes up
  CHECK(tax_stairs(job, *parts, setup).points(TaxCause::unexplained) < 0);
  setup = {.goodput = 0.9};
  const double before = tax_stairs(job, *parts, setup).of(TaxCause::failures);
  setup.lifted[place_of(TaxCause::pipeline)] = 1;
  stairs = tax_stairs(job, *parts, setup);
  CHECK(stairs.points(TaxCause::pipeline) == 0);
  CHECK(near(1 / stairs.of(TaxCause::failures),
             1 / before - parts->found_s[place_of(TaxCause::pipeline)] / parts->ideal_s / 0.9, 1e-12));
  CHECK(stairs.untouched[place_of(TaxCause::failures)] == before);
}

TEST_CASE("scaling tax: one slow node of many hides in their spread, then costs all of them what it is late",
          "[fleet]") {
  using models::SlownessKind;
  CHECK(near(expected_slowest_with(0.01, 4096, 0, 0.1), 0.01 * 3.626082, 1e-4));
  CHECK(near(expected_slowest_with(0.01, 1024, 8, 1e-9), models::expected_slowest({SlownessKind::normal, 0.01}, 1024),
             1e-5));
  CHECK(expected_slowest_with(0, 1024, 8, 0.1) == 0.1);
  // Far out only the slow ranks count: their own maximum.
  CHECK(near(expected_slowest_with(0.01, 1024, 8, 0.2), 0.2 + 0.01 * 1.4236, 1e-4));
  CHECK(near(expected_slowest_with(0.01, 1024, 8, 0.1), 0.1 + 0.01 * 1.4236, 1e-4));
  const PlannerJob job = tax_job(64);
  const auto parts = tax_parts(job, tax_plan(job, 8, 2));
  REQUIRE(parts);
  const TaxStairs stairs = tax_stairs(job, *parts, {.slower = 0.1});
  CHECK(stairs.found_s[place_of(TaxCause::slow_node)] < 0.1 * parts->work_s);
  CHECK(stairs.found_s[place_of(TaxCause::slow_node)] > 0.09 * parts->work_s);
}

TEST_CASE("scaling tax: a plan that cannot run gives way to the nearest, and GPUs that are left over are a riser",
          "[fleet]") {
  PlannerJob job = tax_job(64);
  CHECK(runnable_plan(job, tax_plan(job, 8, 2))->problem.empty());
  job.cluster.gpus = 72;  // four copies of 16, and eight GPUs more
  auto plan = tax_plan(job, 8, 2);
  auto run = runnable_plan(job, plan);
  REQUIRE(run);
  CHECK_FALSE(run->problem.empty());
  CHECK(run->plan.data == 4);
  CHECK(run->job.cluster.gpus == 64);
  const auto parts = tax_parts(run->job, run->plan);
  REQUIRE(parts);
  const TaxStairs all = tax_stairs(run->job, *parts, {}), some = tax_stairs(run->job, *parts, {.used = 64 / 72.0});
  CHECK(near(some.of(TaxCause::failures), all.of(TaxCause::failures) * 64 / 72, 1e-12));
  CHECK(some.of(TaxCause::copies) == all.of(TaxCause::copies));
  CHECK(near(some.points(TaxCause::left_over), 100 * all.of(TaxCause::copies) * 8 / 72, 1e-9));
  // 32 heads, 8 layers, no experts: each axis shrinks to what there is.
  plan.tensor = 7;
  plan.pipeline = 100;
  plan.virtual_pipeline = 9;
  plan.expert = 3;
  plan.batch = 1000;
  run = runnable_plan(job, plan);
  REQUIRE(run);
  CHECK(run->plan.tensor == 4);
  CHECK(run->plan.pipeline == 8);
  CHECK(run->plan.virtual_pipeline == 1);
  CHECK(run->plan.expert == 1);
  CHECK(tax_parts(run->job, run->plan));
}

TEST_CASE("canary: rare pauses show on many GPUs alone, slower kernels on one copy", "[fleet]") {
  const PlannerJob job = tax_job(1024);
  const auto plan = tax_plan(job, 8, 1);
  CanarySetup setup{.rule = {.rule = Rule::several, .threshold = 2, .hits = 2, .window = 3}};
  const auto rare = canary_rungs(job, plan, setup);
  REQUIRE(rare.size() == 8);
  CHECK(rare.front().gpus == 8);
  CHECK(rare.back().gpus == 1024);
  CHECK(rare.front().shortfall < 1e-3);
  CHECK(rare.back().shortfall > 0.015);
  CHECK(rare.back().found > rare.front().found + 0.1);
  setup.release = Release::slower_kernels;
  const auto slower = canary_rungs(job, plan, setup);
  CHECK(slower.front().found > 0.9);
  CHECK(slower.front().shortfall < slower_kernel_share);
  setup.release = Release::as_before;
  const auto same = canary_rungs(job, plan, setup);
  CHECK(same.back().shortfall == 0);
  CHECK(same.back().past_mfu == rare.back().past_mfu);
  CHECK(grown_to(job, plan, 12).error.find("no whole number of copies") != std::string::npos);
  // One look, one-sided: 1 - (1 - 0.02275)^10.
  CHECK(near(canary_false_alarm({.rule = {.rule = Rule::deviation, .threshold = 2}}), 0.2056, 1e-3));
}
