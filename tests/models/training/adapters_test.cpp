#include "models/training/adapters.h"
#include "models/base/units.h"

#include <catch2/catch_test_macros.hpp>

#include "models/base/integer_math.h"
#include "models/memory/training_memory.h"
#include "models/training/adapter_serving.h"
#include "tests/support/base/near.h"
#include "tests/support/models/decoders.h"

using namespace models;
using namespace models::adapters;
using support::near;

namespace {

const Machine h100{989.5e12, 3.35e12, 0};

TunedStep step_of(const Architecture& a, const adapters::Job& job, const Machine& machine = h100) {
  const auto step = tuned_step(a, job, machine);
  REQUIRE(step);
  return *step;
}

const Architecture llama_2_7b = support::decoder({4096, 32, 32, 32, 128, 11008, 32000}),
                   llama_2_13b = support::decoder({5120, 40, 40, 40, 128, 13824, 32000}),
                   llama_3_8b = support::llama_3_8b(),
                   llama_3_70b = support::decoder({8192, 80, 64, 8, 128, 28672, 128256});

/// GPT-3's widths; its feed-forward is not gated, which counts of pairs do not see.
Architecture gpt_3() {
  Architecture a = support::decoder({12288, 96, 96, 96, 128, 49152, 50257});
  a.gated = false;
  return a;
}

}  // namespace

TEST_CASE("adapters: as many numbers are trained as the papers print") {
  const Architecture gpt = gpt_3();
  const auto trained = [&](Method method, double rank) {
    return step_of(gpt, {.method = method, .rank = rank, .sequence = 128}).trained;
  };
  // Hu et al. 2021, table 4: 4.7 M and 37.7 M by pairs on queries and values, 7.1 M and 40.1 M by bottlenecks.
  CHECK(trained(Method::lora, 1) == 4'718'592);
  CHECK(trained(Method::lora, 8) == 37'748'736);
  CHECK(near(trained(Method::bottleneck, 1), 7.1e6, 0.005));
  CHECK(near(trained(Method::bottleneck, 8), 40.1e6, 0.005));
  // Table 5's budget of 18 M, the same for every choice of matrices: rank 4 on two of them, rank 2 on four.
  CHECK(trained(Method::lora, 4) == 18'874'368);
  CHECK(step_of(gpt, {.targets = Targets::attention, .rank = 2, .sequence = 128}).trained == 18'874'368);
  // LitGPT's table of 2023-10-20: rank 8 on queries and values.
  CHECK(step_of(llama_2_7b, {.rank = 8}).trained == 4'194'304);
  CHECK(step_of(llama_2_13b, {.rank = 8}).trained == 6'553'600);
  CHECK(trained(Method::full, 8) == static_cast<double>(count_parameters(gpt).total));
}

TEST_CASE("adapters: scales of 4-bit weights are half a bit, and an eighth with double quantization") {
  CHECK(scale_bits(false) == 0.5);
  CHECK(near(scale_bits(true), 0.127, 0.001));
  // LitGPT measured 14.14 and 13.84 GB for Llama 2 7B, 23.14 and 22.55 GB for 13B.
  const auto saved = [](const Architecture& a) {
    adapters::Job job{.method = Method::qlora, .rank = 8};
    const double twice = step_of(a, job).held.base;
    job.double_quantized = false;
    return step_of(a, job).held.base - twice;
  };
  CHECK(near(saved(llama_2_7b), 0.30e9, 0.02));
  CHECK(near(saved(llama_2_13b), 0.59e9, 0.02));
}

TEST_CASE("adapters: of forward, input gradient and weight gradient one third goes") {
  adapters::Job job{.rank = 16, .recompute = false};
  const StepFlops pairs = step_of(llama_3_70b, job).flops;
  job.method = Method::full;
  const TunedStep full = step_of(llama_3_70b, job);
  // The three are as large as each other but for attention, whose operands are both activations.
  const double tokens = full.tokens, without_input = 69'503'033'344;
  CHECK(near(full.flops.weight_gradient, 2 * without_input * tokens, 1e-4));  // norms multiply no matrices
  const double attention = full.flops.forward - full.flops.weight_gradient;
  CHECK(near(full.flops.input_gradient, full.flops.weight_gradient + 2 * attention));
  // Megatron-Bridge counts LoRA of this model as 4 N: 278,006,857,728 FLOPs a token, attention left out.
  job.method = Method::lora;
  const double thin = step_of(llama_3_70b, job).flops.weight_gradient;
  CHECK(near((pairs.forward + pairs.input_gradient - 2 * thin - 3 * attention) / tokens, 278'006'857'728.0, 1e-4));
  CHECK(near(pairs.total() / full.flops.total(), 2.0 / 3, 0.03));
  // With layers run again three of four are left.
  job.recompute = true;
  const double again = step_of(llama_3_70b, job).flops.total();
  job.method = Method::full;
  CHECK(near(again / step_of(llama_3_70b, job).flops.total(), 0.75, 0.03));
}

TEST_CASE("adapters: a frozen product keeps its input only for a pair or for attention") {
  adapters::Job job{.method = Method::full, .recompute = false};
  const double full = step_of(llama_3_8b, job).held.activations;
  job.method = Method::lora;
  const double few = step_of(llama_3_8b, job).held.activations;
  job.targets = Targets::all_linear;
  const double all = step_of(llama_3_8b, job).held.activations;
  CHECK(few < full);
  CHECK(all > full);  // the pairs' own middles come on top
  // By hand, a token and layer in bytes: queries and values read the norm's result, which stays; gate and up and down
  // do not keep theirs. 16 numbers in the middle of each pair.
  const double tokens = 2048, layers = 32;
  const double gone = 2 * (4096 + 14336), middles = 2 * 16 * 2;
  CHECK(near(full - few, tokens * layers * (gone - middles)));
  CHECK(near(all - full, tokens * layers * 7 * 16 * 2));
}

TEST_CASE("adapters: a 4-bit matrix is written out while a layer is at work, and not while the logits stand") {
  adapters::Job job{.targets = Targets::all_linear, .recompute = false};
  const Held lora = step_of(llama_3_8b, job).held;
  job.method = Method::qlora;
  const Held short_one = step_of(llama_3_8b, job).held;
  CHECK(lora.fullest == Fullest::logits);
  CHECK(short_one.fullest == Fullest::logits);
  CHECK(short_one.temporary == lora.temporary);
  // Trained, the output matrix has a gradient that passes through in 16 bits, and the hidden state has its own.
  const Held full = step_of(llama_3_8b, {.method = Method::full, .recompute = false}).held;
  CHECK(full.fullest == Fullest::output);
  CHECK(full.temporary == 2.0 * 4096 * (128256 + 2048));
  job.sequence = 64;  // few logits: the largest matrix, 4,096 x 14,336, is more
  const Held matrix = step_of(llama_3_8b, job).held;
  CHECK(matrix.fullest == Fullest::matrix);
  CHECK(matrix.temporary == 2.0 * 4096 * 14336);
  job = {.method = Method::qlora, .targets = Targets::all_linear, .sequence = 64};
  const Held again = step_of(llama_3_8b, job).held;
  CHECK(again.fullest == Fullest::layer);
  CHECK(near(again.temporary - matrix.temporary, (matrix.activations - again.activations) / 31, 0.1));
}

TEST_CASE("adapters: what is kept of a trained number is what the memory labs keep of a parameter") {
  const auto bytes = [](States states) {
    const TunedStep s = step_of(llama_3_8b, {.method = Method::full, .states = states});
    return (s.held.base + s.held.states()) / s.parameters;
  };
  CHECK(near(bytes(States::master), 16));
  CHECK(near(bytes(States::pure_bf16), 8));
  CHECK(near(bytes(States::moments_8bit), 6.03125));
  // The update of 8-bit moments: gradient 2, weight 2 read and 2 written, moments and scales 2.03 each way.
  const TunedStep s = step_of(llama_3_8b, {.method = Method::full, .states = States::moments_8bit});
  CHECK(near(s.time.optimizer, (2 + 4 + 2 * 2.03125) * s.parameters / 3.35e12));
}

TEST_CASE("adapters: memory beside what others count and measured") {
  // Full fine-tuning, unit by unit, as the memory model of the training labs has it.
  const adapters::Job job{.method = Method::full, .recompute = false};
  memory::TrainingPlan plan{.batch = 1, .sequence = 2048, .micro_batches = 2, .loss = memory::LossKind::chunked};
  const auto known = memory::training_memory(llama_3_8b, plan);
  REQUIRE(known);
  CHECK(near(step_of(llama_3_8b, job).held.total(), known->total(), 0.03));
  // torchtune's README of 2024-10: Llama 3.1 8B, two sequences of 2,048 tokens, layers run again.
  adapters::Job tune{.targets = Targets::all_linear, .rank = 8, .batch = 2, .states = States::pure_bf16};
  CHECK(near(step_of(llama_3_8b, tune).held.total(), 16.2 * gibi, 0.1));
  tune.method = Method::qlora;
  CHECK(near(step_of(llama_3_8b, tune).held.total(), 7.4 * gibi, 0.1));
}

TEST_CASE("adapters: the roofline is a ceiling of what was measured") {
  // torchtune's README on an RTX 4090, 165.2 TFLOP/s in BF16 and 1,008 GB/s, compiled; pairs on queries and values.
  const Machine rtx{165.2e12, 1008e9, 0};
  adapters::Job tune{.rank = 8, .batch = 2, .fused = true, .states = States::pure_bf16};
  const auto rate = [&](const Architecture& a, const Machine& machine) {
    const TunedStep s = step_of(a, tune, machine);
    return s.tokens / s.time.total();
  };
  CHECK(rate(llama_3_8b, rtx) > 3083);
  const double lora = rate(llama_3_8b, rtx);
  tune.method = Method::qlora;
  CHECK(rate(llama_3_8b, rtx) > 2413);
  CHECK(rate(llama_3_8b, rtx) < lora);  // 4 bits are slower: weights are written out before each product
  tune.method = Method::full;
  CHECK(rate(llama_3_8b, rtx) < lora);
}

TEST_CASE("adapters: micro-batches repeat all but the optimizer") {
  adapters::Job job{.method = Method::full};
  const TunedStep one = step_of(llama_3_8b, job);
  job.micro_batches = 8;
  const TunedStep eight = step_of(llama_3_8b, job);
  CHECK(near(eight.flops.total(), 8 * one.flops.total()));
  CHECK(near(eight.time.base, 8 * one.time.base));
  CHECK(eight.time.optimizer == one.time.optimizer);
  CHECK(eight.held.total() == one.held.total());
  CHECK(near(one.time.optimizer, 28 * one.parameters / 3.35e12));
}

TEST_CASE("adapters: a fused sum saves kernels and bytes, a rank that is too large is refused") {
  adapters::Job job{.targets = Targets::all_linear};
  const double apart = step_of(llama_3_8b, job).time.adapters;
  job.fused = true;
  CHECK(step_of(llama_3_8b, job).time.adapters < apart);
  job.rank = 2000;  // keys and values of this model are 1,024 wide
  CHECK(!tuned_step(llama_3_8b, job, h100));
}

TEST_CASE("adapters: batched serving reads each adapter once, merged copies read the whole model each") {
  ServingSetup s{.batch = 64, .context = 1024, .distinct = 64};
  const auto many = served_step(llama_2_7b, s, h100);
  s.distinct = 1;
  const auto one = served_step(llama_2_7b, s, h100);
  REQUIRE(many);
  REQUIRE(one);
  CHECK(many->adapter_bytes == 2.0 * 8'388'608);
  CHECK(many->read_bytes == 64 * many->adapter_bytes);
  CHECK(near(one->merged_s, one->base_s));
  CHECK(many->merged_s > 15 * many->base_s);
  CHECK(many->adapters_s > one->adapters_s);
  CHECK(many->adapters_s < 0.2 * many->base_s);
  CHECK(many->base_s == one->base_s);
  CHECK(many->flops_per_token == 2.0 * 8'388'608);
  s.distinct = 65;
  CHECK(!served_step(llama_2_7b, s, h100));
}
