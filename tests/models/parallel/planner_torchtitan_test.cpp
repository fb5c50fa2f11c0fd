#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "models/base/integer_math.h"
#include "models/memory/gathered_units.h"
#include "models/memory/loss_peak.h"
#include "models/memory/state_bytes.h"
#include "models/parallel/planner/planner_search.h"
#include "models/parallel/planner/planner_traffic.h"
#include "tests/models/parallel/planner_jobs.h"
#include "tests/support/base/near.h"

// What torchtitan of 2024 could run, and what its stages and its loss keep.

using support::chosen_job, support::near, support::priced;
using namespace models;
using namespace models::parallel;
using memory::TrainingPlan;

// torchtitan until the end of 2024: no gradients are summed over micro-batches, layers are compiled, and PyTorch's
// stages take no fewer micro-batches than there are of them under 1F1B.
TEST_CASE("planner of torchtitan: that of 2024 runs a replica's sequences as one micro-batch, or as stages of 1F1B") {
  PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 64}, 3072, StackId::fsdp_compiled_2024);
  const PlannerSearch found = search_plans(job, {});
  REQUIRE(found.points.size() > 1000);
  std::size_t alone = 0, stages = 0, larger = 0;
  for (const PlanPoint& p : found.points) {
    const std::int64_t micro_batches = job.global_batch / (std::int64_t{p.data} * p.micro_batch);
    CHECK(software_problem(job.stack, plan_of(job, p)).empty());
    // States are split by fully_shard: no ZeRO-1, and no whole copies beside another axis.
    CHECK(p.zero_stage != 1);
    if (p.zero_stage == 0) CHECK(p.data == 64);
    if (p.pipeline == 1) {
      CHECK(micro_batches == 1);
      larger += p.micro_batch > 16 ? 1 : 0;
      ++alone;
      continue;
    }
    ++stages;
    CHECK(p.micro_batch <= 16);
    CHECK(p.zero_stage == 3);  // ZeRO-2 keeps no more whole than stages do with ZeRO-3
    const bool plain = p.schedule == PipelineSchedule::one_f_one_b && p.virtual_pipeline == 1;
    if (plain) CHECK(micro_batches >= p.pipeline);
    CHECK((p.schedule == PipelineSchedule::one_f_one_b || p.schedule == PipelineSchedule::breadth_first));
  }
  // 3,072 sequences on 64 replicas are 48 each, 24 x 2^i with context or tensor parallelism: no power of two.
  CHECK(alone > 50);
  CHECK(larger == alone);
  CHECK(stages > 1000);
  // A plan of the search costs what it costs alone; one of two micro-batches is refused, and its sentence says what to
  // set.
  const PlanPoint& fastest = found.points.front();
  CHECK(priced(job, plan_of(job, fastest)).step_s == fastest.step_s);
  TrainingPlan p{.batch = 24, .data = 64, .zero_stage = 3};
  CHECK(price_plan(job, planned(job, p)).error ==
        "Without a pipeline this software runs one micro-batch a step, all 48 sequences of a replica: set it to 48, or "
        "take stages.");
  p.batch = 48;
  CHECK(price_plan(job, planned(job, p)));
  p = {.batch = 16, .pipeline = 32, .data = 2, .zero_stage = 3};
  CHECK(price_plan(job, planned(job, p)));  // 96 micro-batches
  job.global_batch = 32;
  p.batch = 1;
  CHECK(price_plan(job, planned(job, p)).error.find("16 do not fill 32 stages") != std::string::npos);
  // From June 2025 on gradients are summed.
  job.stack = planner_stack(StackId::fsdp_compiled);
  p = {.batch = 1, .tensor = 2, .data = 32, .sequence_parallel = true, .zero_stage = 3};
  job.global_batch = 64;
  CHECK(price_plan(job, planned(job, p)));
}

// torch.distributed.pipelining until May 2025 (pytorch/pytorch, pull request 153383).
TEST_CASE("planner of torchtitan: stages of 2024 keep what they sent on until the step ends") {
  PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 64}, 256, StackId::fsdp_compiled_2024);
  TrainingPlan p{
      .tensor = 2, .pipeline = 4, .virtual_pipeline = 2, .data = 8, .sequence_parallel = true, .zero_stage = 3};
  // 32 micro-batches of 8,192 tokens: two chunks of hidden states split over two GPUs, or one and the logits.
  const double stream = 8192.0 * 4096 * 2 / 2, logits = 8192.0 * 128256 * 2 / 2;
  for (p.stage = 0; p.stage < 4; ++p.stage) {
    const auto held = [&](bool kept) {
      job.stack.kept_outputs = kept;
      return memory::training_memory(job.architecture, planned(job, p))->total();
    };
    CHECK(near(held(true) - held(false), 32 * (stream + (p.stage < 3 ? stream : logits)), 1e-9));
  }
}

// PyTorch's loss_parallel holds four FP32 tensors of the local logits where one GPU's fused kernels hold three.
TEST_CASE("planner of torchtitan: an eager loss of split words holds 16 bytes a logit, and gathered inputs are kept") {
  const PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 8}, 8, StackId::fsdp_compiled_2024);
  const auto loss_of = [&](TrainingPlan p) { return memory::loss_peak(job.architecture, planned(job, p), true).spike; };
  const double logits = 8192.0 * 128256;
  CHECK(loss_of({.batch = 1, .data = 8}) == 12 * logits);
  CHECK(loss_of({.batch = 2, .tensor = 2, .data = 4, .sequence_parallel = true}) == 16 * logits);
  CHECK(planned(job, {.tensor = 2, .data = 4}).gathered_inputs);
  CHECK(!planned(chosen_job("llama", "llama-3-8b", {.gpus = 8}, 8, StackId::megatron_core), {}).gathered_inputs);
}
