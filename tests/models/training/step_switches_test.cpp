#include "models/training/step_switches.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/memory/operation_times.h"
#include "models/training/mixed_precision.h"
#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using models_test::shipped_model;
using support::near;

namespace {

SwitchedJob job_of(const char* model = "llama-3.2-1b", const char* chip = "h100_sxm") {
  SwitchedJob job;
  job.architecture = shipped_model(model).architecture;
  job.chip = &bundled_chip(chip);
  job.host.loader.workers = 2;
  job.host.loader.samples = job.batch;
  job.host.loader.decode_s = 1e-6;
  job.host.loader.sample_bytes = job.host.loader.request_latency_s = 0;
  job.host.copy = BatchCopy::copy_stream;
  return job;
}
SwitchSet set_of(std::initializer_list<StepSwitch> on) {
  SwitchSet out;
  for (const StepSwitch s : on) out = out.with(s);
  return out;
}
double part(const SwitchedStep& step, KernelWork work) { return step.kernel_s[static_cast<std::size_t>(work)]; }
double kernels(const SwitchedStep& step) {
  double sum = 0;
  for (const double s : step.kernel_s) sum += s;
  return sum;
}

}  // namespace

TEST_CASE("step switches: the fused 16-bit step has the times of the memory timeline's operations") {
  const SwitchedJob job = job_of();
  const auto step = switched_step(job, set_of({StepSwitch::bf16, StepSwitch::compile, StepSwitch::flash}));
  REQUIRE(step);
  const auto machine = machine_of(*job.chip, Format::bf16);
  const auto times = memory::operation_times(job.architecture, step->plan, *machine, job.roof_share);
  REQUIRE(times);
  double forward_s = times->ends_forward_s, backward_s = times->ends_backward_s;
  for (const memory::KindTimes& kind : times->kinds)
    for (std::size_t i = 0; i < kind.operations.size(); ++i) {
      forward_s += as_double(kind.kind.count) * kind.forward_s[i];
      backward_s += as_double(kind.kind.count) * kind.backward_s[i];
    }
  CHECK(near(step->setup.forward_s, forward_s, 1e-12));
  CHECK(near(step->setup.backward_s, backward_s, 1e-12));
}

TEST_CASE("step switches: FP8 products and casts are those of the recipe study") {
  SwitchedJob job = job_of();
  job.roof_share = 1;
  const auto on = set_of({StepSwitch::bf16, StepSwitch::compile, StepSwitch::flash, StepSwitch::fp8});
  const auto step = switched_step(job, on);
  REQUIRE(step);
  const auto study = mixed_precision_step(
      job.architecture, *job.chip,
      {.recipe = PrecisionRecipe::fp8, .keeping = StateKeeping::zero, .batch = job.batch, .sequence = job.sequence});
  REQUIRE(study);
  // The study times forward and backward of an operation together, so its longer of two is no more than the sum here.
  const double studied_s = study->part_s[static_cast<std::size_t>(StepPart::products)];
  CHECK(part(*step, KernelWork::products) >= studied_s * (1 - 1e-9));
  CHECK(near(part(*step, KernelWork::products), studied_s, 0.05));
  CHECK(near(part(*step, KernelWork::casts), study->part_s[static_cast<std::size_t>(StepPart::casts)], 1e-9));
  CHECK(near(step->fp8_copies, study->memory.copies, 1e-9));
  const auto wide = mixed_precision_step(job.architecture, *job.chip,
                                         {.recipe = PrecisionRecipe::amp_bf16,
                                          .keeping = StateKeeping::zero,
                                          .batch = job.batch,
                                          .sequence = job.sequence});
  CHECK(near(step->fp8_layer_bytes, study->memory.activations - wide->memory.activations, 1e-9));
}

TEST_CASE("step switches: each acts on what it is about, and on nothing else") {
  const SwitchedJob job = job_of();
  const auto found = switched_step(job, {});
  REQUIRE(found);
  const auto with = [&](StepSwitch s) { return *switched_step(job, SwitchSet().with(s)); };
  CHECK(with(StepSwitch::loader).setup.loader.workers == 8);
  CHECK(with(StepSwitch::loader).kernel_s == found->kernel_s);
  // 495 to 989 TFLOP/s: products of matrices that are bound by arithmetic take half the time.
  const SwitchedStep narrow = with(StepSwitch::bf16);
  CHECK(near(part(narrow, KernelWork::products) / part(*found, KernelWork::products), 0.5, 0.01));
  CHECK(narrow.setup.gradient_bytes * 2 == found->setup.gradient_bytes);
  CHECK(narrow.setup.update_bytes == 92);  // 80 in FP32; a gradient is widened, and weights are written once more
  const SwitchedStep compiled = with(StepSwitch::compile);
  CHECK(part(compiled, KernelWork::products) == part(*found, KernelWork::products));
  CHECK(part(compiled, KernelWork::attention) == part(*found, KernelWork::attention));
  CHECK(part(compiled, KernelWork::elementwise) < 0.7 * part(*found, KernelWork::elementwise));
  CHECK(compiled.setup.kernels_per_layer < found->setup.kernels_per_layer / 2);
  const SwitchedStep flash = with(StepSwitch::flash);
  CHECK(part(flash, KernelWork::attention) < 0.25 * part(*found, KernelWork::attention));
  CHECK(part(flash, KernelWork::products) == part(*found, KernelWork::products));
  CHECK(with(StepSwitch::fused_optimizer).setup.update_bytes == 28);
  CHECK(with(StepSwitch::fused_optimizer).kernel_s == found->kernel_s);
  CHECK(with(StepSwitch::overlap).setup.overlap);
  CHECK_FALSE(found->setup.overlap);
  const SwitchedStep again = with(StepSwitch::checkpoint);
  CHECK(near(kernels(again) - kernels(*found), again.setup.recompute_s, 1e-9));
  CHECK(again.setup.recompute_s < found->setup.forward_s);  // the loss and the output matrix do not run again
  const SwitchedStep pieces = with(StepSwitch::accumulate);
  CHECK(pieces.setup.micro_batches == 2);
  CHECK(pieces.plan.batch == 2);
  CHECK(near(kernels(pieces), kernels(*found), 0.02));
}

TEST_CASE("step switches: a norm by hand moves nine times the bytes, and LayerNorm is a kernel anyway") {
  SwitchedJob job = job_of();
  const auto elementwise = [&] {
    return part(*switched_step(job, set_of({StepSwitch::bf16})), KernelWork::elementwise);
  };
  const double by_hand = elementwise();
  job.by_hand = false;
  const double one_kernel = elementwise();
  // Four norms' worth of traffic forward and backward: 8 * (4 + 6) B of 2048 hidden units, 16 layers and the last one.
  const double tokens = 4 * 2048.0, bytes = 33 * tokens * 2048 * (4 + 6);
  const double rotation = 16 * tokens * (32 + 8) * 64 * (4 + 6);
  CHECK(near(by_hand - one_kernel, (8 * bytes + 4 * rotation) / (0.7 * 3.35e12), 0.05));
  job = job_of("gpt2-xl");
  job.sequence = 1024;
  const double layer_norm = elementwise();
  job.by_hand = false;
  CHECK(elementwise() == layer_norm);
}

TEST_CASE("step switches: memory is that of the training-memory model, and FP8 adds copies of weights") {
  const SwitchedJob job = job_of();
  for (const SwitchSet on :
       {SwitchSet(), set_of({StepSwitch::bf16}), set_of({StepSwitch::bf16, StepSwitch::checkpoint}),
        set_of({StepSwitch::flash, StepSwitch::accumulate})}) {
    const auto step = switched_step(job, on);
    const auto mine = switched_memory(job, *step);
    const auto theirs = memory::training_memory(
        job.architecture, step->plan, {.count = memory::ActivationCount::operations, .fixed_bytes = job.fixed_bytes});
    REQUIRE(mine);
    CHECK(mine->held == theirs->held);
  }
  const auto wide = switched_step(job, set_of({StepSwitch::bf16})),
             narrow = switched_step(job, set_of({StepSwitch::bf16, StepSwitch::fp8}));
  const auto before = switched_memory(job, *wide), after = switched_memory(job, *narrow);
  using memory::MemoryOwner;
  CHECK(near(after->held[MemoryOwner::weights] - before->held[MemoryOwner::weights], narrow->fp8_copies, 1e-9));
  CHECK(after->held[MemoryOwner::activations] < before->held[MemoryOwner::activations]);
}

TEST_CASE("step switches: what cannot be pressed says so") {
  SwitchedJob job = job_of();
  job.micro_batches = 3;
  const auto pieces = switched_step(job, set_of({StepSwitch::accumulate}));
  REQUIRE_FALSE(pieces);
  CHECK(pieces.error == "3 micro-batches do not divide the 4 sequences of a GPU; choose a divisor.");
  job = job_of("llama-3.2-1b", "a100_80_sxm");
  const auto fp8 = switched_step(job, set_of({StepSwitch::fp8}));
  REQUIRE_FALSE(fp8);
  CHECK(fp8.error.find("FP8") != std::string::npos);
  job.roof_share = 0;
  CHECK_FALSE(switched_step(job, {}));
}
