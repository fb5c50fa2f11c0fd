#include "models/training/optimizer_traffic.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <utility>

#include "tests/support/base/near.h"
#include "tests/support/models/decoders.h"

using namespace models;

namespace {

double bytes_of(OptimizerKind kind, UpdateCode code, OptimizerRecipe recipe) {
  double bytes = 0;
  for (const OptimizerPass& p : optimizer_passes(kind, code, recipe)) bytes += p.bytes();
  return bytes;
}

}  // namespace

TEST_CASE("optimizer traffic: AdamW by hand: eight passes of 20 accesses, or one of 7") {
  using enum UpdateCode;
  using enum OptimizerRecipe;
  const auto passes = optimizer_passes(OptimizerKind::adamw, looped, fp32);
  CHECK(passes.size() == 8);
  CHECK(bytes_of(OptimizerKind::adamw, looped, fp32) == 80);
  CHECK(bytes_of(OptimizerKind::adamw, foreach, fp32) == 80);  // fewer kernels, not fewer bytes
  CHECK(bytes_of(OptimizerKind::adamw, fused, fp32) == 28);
  CHECK(bytes_of(OptimizerKind::adamw, looped, bf16) == 40);
  CHECK(bytes_of(OptimizerKind::adamw, fused, bf16) == 14);
  // Master weights: widen 2 + 4, the eight passes, copy 4 + 2; fused, 2 B of gradient in and 2 B of weight out.
  CHECK(bytes_of(OptimizerKind::adamw, looped, master) == 92);
  CHECK(bytes_of(OptimizerKind::adamw, fused, master) == 28);
  CHECK(passes.back().reads.size() == 3);  // p, m and the root; p comes back
  CHECK(passes.back().read_bytes() == 12);
}

TEST_CASE("optimizer traffic: the other optimizers, and what a parameter keeps") {
  using enum UpdateCode;
  using enum OptimizerRecipe;
  CHECK(bytes_of(OptimizerKind::lion, fused, fp32) == 20);
  CHECK(bytes_of(OptimizerKind::lion, looped, fp32) == 76);  // 11 reads, 8 writes
  // 8-bit: p and g in FP32, p back, and two moments of 1 B and a 64th each way.
  CHECK(bytes_of(OptimizerKind::adamw_8bit, fused, fp32) == 12 + 4 * (1 + 1.0 / 64));
  CHECK(bytes_of(OptimizerKind::adamw_8bit, looped, fp32) == bytes_of(OptimizerKind::adamw_8bit, fused, fp32));
  CHECK(bytes_of(OptimizerKind::adafactor, looped, fp32) == 76);   // 12 reads, 7 writes
  CHECK(bytes_of(OptimizerKind::adafactor, foreach, fp32) == 84);  // the step size in a pass of its own
  CHECK(bytes_of(OptimizerKind::adafactor, fused, fp32) == 24);
  // Muon: momentum 8 + 4 + 2, five times 7 accesses of 2 B, update 4 + 2 + 4.
  CHECK(bytes_of(OptimizerKind::muon, fused, fp32) == 14 + 70 + 10);
  const auto keeps = [](OptimizerKind k, OptimizerRecipe r) { return optimizer_storage(k, fused, r).total(); };
  CHECK(keeps(OptimizerKind::adamw, master) == 16);
  CHECK(keeps(OptimizerKind::adamw, fp32) == 16);
  CHECK(keeps(OptimizerKind::adamw, bf16) == 8);
  CHECK(keeps(OptimizerKind::adamw_8bit, master) == 8 + 2.03125);
  CHECK(keeps(OptimizerKind::lion, master) == 12);
  CHECK(optimizer_storage(OptimizerKind::adamw, foreach, fp32).temporary_bytes == 4);
}

TEST_CASE("optimizer time: a looped step of small tensors is launches, a fused one of large tensors is bytes") {
  const OptimizerMachine h100{.bandwidth_bytes_per_s = 3.35e12, .matrix_flops_per_s = 500e12, .launch_s = 5e-6};
  const auto time = [&](UpdateCode code, const std::vector<ParameterTensor>& tensors, double shards) {
    return time_optimizer(OptimizerKind::adamw, code, OptimizerRecipe::fp32, tensors, shards, h100);
  };
  const std::vector<ParameterTensor> small{{1000, 300}}, large{{1e8, 10}};
  const OptimizerTime looped = time(UpdateCode::looped, small, 1), lists = time(UpdateCode::foreach, small, 1);
  CHECK(looped.launches == 2400);
  CHECK(support::near(looped.time_s, 2400 * 5e-6));
  // 300 tensors: three kernels over one list (110 fit), five over two (64), seven over three (48).
  CHECK(lists.launches == 3 + 5 + 3 + 5 + 5 + 3 + 3 + 7);
  const OptimizerTime fused = time(UpdateCode::fused, large, 1);
  CHECK(support::near(fused.time_s, 28e9 / 3.35e12));
  CHECK(fused.launches == std::ceil(1e9 / (320 * 65536)));
  CHECK(support::near(time(UpdateCode::fused, large, 8).bytes, 28e9 / 8));
}

TEST_CASE("optimizer time: Muon's products, by hand") {
  const OptimizerMachine machine{.bandwidth_bytes_per_s = 1e12, .matrix_flops_per_s = 1e14, .launch_s = 0};
  // A square of side n: five times three products of 2 n^3. n rows and 3 n columns: 2 n^2 3 n twice and 2 n^3.
  const double n = 1024;
  const auto flops = [&](double columns) {
    return time_optimizer(OptimizerKind::muon, UpdateCode::fused, OptimizerRecipe::fp32, {{n * columns, 1, n}}, 1,
                          machine)
        .flops;
  };
  CHECK(support::near(flops(n), 5 * 3 * 2 * n * n * n));
  CHECK(support::near(flops(3 * n), 5 * (2 * 6 + 2) * n * n * n));
}

TEST_CASE("optimizer tensors: Llama 3 8B is 291 tensors, and their elements are its parameters") {
  double elements = 0, tensors = 0;
  for (const ParameterTensor& t : parameter_tensors(support::llama_3_8b())) {
    elements += t.elements * t.count;
    tensors += t.count;
  }
  CHECK(elements == 8'030'261'248.0);
  CHECK(tensors == 291);  // 9 a layer, embedding, output and the last norm
}

TEST_CASE("optimizer tensors: GPT-2 is 148, twelve a layer: two norms, four matrices, and a bias of each") {
  Architecture a;
  a.model_type = "gpt2";
  a.hidden = 768;
  a.layers = a.heads = a.kv_heads = 12;
  a.head_dim = 64;
  a.ffn = 3072;
  a.vocab = 50257;
  a.learned_positions = 1024;
  a.gated = false;
  a.rotary = false;
  a.tied = true;
  a.norm_bias = a.qkv_bias = a.output_bias = a.mlp_bias = true;
  const auto sums = [&] {
    double elements = 0, tensors = 0;
    for (const ParameterTensor& t : parameter_tensors(a)) {
      elements += t.elements * t.count;
      tensors += t.count;
    }
    return std::pair{elements, tensors};
  };
  CHECK(sums() == std::pair{124'439'808.0, 12.0 * 12 + 4});  // and two tables, and the last norm with its bias
  a.model_type = "opt";                                      // three projections and three biases instead of one
  CHECK(sums() == std::pair{124'439'808.0, 16.0 * 12 + 4});
}

TEST_CASE("optimizer time: each pass says what its kernels wait for, and the passes add up") {
  const OptimizerMachine machine{.bandwidth_bytes_per_s = 1e12, .matrix_flops_per_s = 1e14, .launch_s = 5e-6};
  const std::vector<ParameterTensor> mixed{{4096.0 * 4096, 2, 4096}, {1000, 3}};
  for (const UpdateCode code : {UpdateCode::looped, UpdateCode::foreach, UpdateCode::fused}) {
    const TimedOptimizer t = time_optimizer(OptimizerKind::muon, code, OptimizerRecipe::fp32, mixed, 1, machine);
    const auto own = optimizer_passes(OptimizerKind::muon, code, OptimizerRecipe::fp32),
               rest = optimizer_passes(OptimizerKind::adamw, code, OptimizerRecipe::fp32);
    REQUIRE(t.passes.size() == own.size() + rest.size());
    double sum = 0;
    for (const OptimizerPassTime& p : t.passes) sum += p.time_s();
    CHECK(support::near(sum, t.time_s));
    for (std::size_t i = 0; i < own.size(); ++i) {
      CHECK((t.passes[i].product_s > 0) == own[i].product());  // 2 x 4,096^3 FLOPs are 1.4 ms, 4 B 0.07 ms
      CHECK((t.passes[i].traffic_s > 0) == !own[i].product());
    }
    CHECK(t.passes.back().launch_s > 0);  // 3,000 elements
    CHECK(t.passes.back().traffic_s == 0);
  }
}

TEST_CASE("optimizer states: the mean over all tensors") {
  const auto tensors = parameter_tensors(support::llama_3_8b());
  const auto mean = [&](OptimizerKind k) { return mean_state_bytes(k, OptimizerRecipe::master, tensors, 4096); };
  CHECK(mean(OptimizerKind::adamw) == 8);
  // Two matrices of 128,256 rows and the norms have both moments: 1,050,939,392 parameters of 8,030,261,248.
  CHECK(support::near(mean(OptimizerKind::muon), 4 + 4 * (2 * 128256.0 * 4096 + 65 * 4096) / 8030261248.0));
  // A row and a column of 4 B each: of 4,096 x 4,096 that is 8,192 x 4 B for 16.8 million parameters.
  const std::vector<ParameterTensor> square{{4096.0 * 4096, 1, 4096}};
  CHECK(mean_state_bytes(OptimizerKind::adafactor, OptimizerRecipe::master, square, 4096) == 4.0 * 2 / 4096);
  CHECK(mean(OptimizerKind::adafactor) < 0.003);
}
