#include "models/training/utilization.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <numeric>

#include "models/transformer/flops.h"
#include "tests/models/transformer/language_model_files.h"

using Catch::Approx;
using models::CountedAttention;
using models::CountedWeights;
using models::UtilizationLoss;
using models_test::shipped_model;

namespace {

double loss_of(const models::Utilization& u, UtilizationLoss loss) { return u.loss[static_cast<std::size_t>(loss)]; }

double all_shares(const models::Utilization& u) {
  return std::accumulate(u.loss.begin(), u.loss.end(), u.needed_share());
}

models::Workload training_step() {
  models::Workload w{.phase = models::Phase::train, .batch = 4, .sequence = 4096};
  w.recompute = models::Recompute::full;
  return w;
}

}  // namespace

TEST_CASE("the counter by convention equals the published closed forms") {
  const models::Workload w{.phase = models::Phase::train, .sequence = 8192};
  for (const char* id : {"llama-3-8b", "llama-3.1-405b", "deepseek-v3"}) {
    INFO(id);
    const auto& a = shipped_model(id).architecture;
    // Megatron counts latent norms as products: a few of ten thousand.
    CHECK(models::counted_flops(a, w, {}) == Approx(8192 * models::megatron_flops_per_token(a, 8192)).epsilon(3e-4));
  }
  const auto& a = shipped_model("llama-3-8b").architecture;
  const auto count = models::count_parameters(a);
  const double norms = static_cast<double>(count.layers.norms + count.outer_norms);
  const auto n = static_cast<double>(count.total) - norms;
  CHECK(models::counted_flops(a, w, {.attention = CountedAttention::none, .weights = CountedWeights::with_embedding}) ==
        Approx(models::flops_6nd(n, 8192)).epsilon(1e-12));
  CHECK(models::counted_flops(a, w, {.attention = CountedAttention::full, .weights = CountedWeights::with_embedding}) ==
        Approx(8192 * models::palm_flops_per_token(n, 32, 32, 128, 8192)).epsilon(1e-12));
  const models::FlopConvention frozen{.attention = CountedAttention::none, .frozen = true};
  CHECK(models::counted_flops(a, w, frozen) ==
        Approx(models::counted_flops(a, w, {.attention = CountedAttention::none}) * 4 / 6).epsilon(1e-12));
  // Inference has the forward pass alone.
  const models::Workload prefill{.phase = models::Phase::prefill, .sequence = 8192, .logits_for_all = true};
  CHECK(3 * models::counted_flops(a, prefill, {}) == Approx(models::counted_flops(a, w, {})).epsilon(1e-12));
}

TEST_CASE("what is needed follows what is trained: frozen weights, modules of multi-token prediction, windows") {
  const auto needed = [](const char* id, std::int64_t sequence, const models::TrainedParts& trained) {
    return models::flops_of(shipped_model(id).architecture, {.phase = models::Phase::train, .sequence = sequence},
                            trained)
               .needed /
           static_cast<double>(sequence);
  };
  // 32 layers of 2.5 h^2 + 3 h f weights and the output matrix lose 2 flops of 6; attention's products between
  // positions, 12 h L s / 2 in all, lose nothing.
  constexpr double h = 4096, weights = 32 * (2.5 * h * h + 3 * h * 14336) + 128256 * h, attention = 12 * h * 32 * 4096;
  CHECK(needed("llama-3-8b", 8192, {}) == Approx(6 * weights + attention).epsilon(1e-12));
  CHECK(needed("llama-3-8b", 8192, {.frozen = true}) == Approx(4 * weights + attention).epsilon(1e-12));
  // Megatron-Bridge 25.11 prints 557 TFLOP/s for 2,139 tokens/s of DeepSeek-V3 with its one module; the router's
  // products, which it leaves out, are a few of ten thousand.
  CHECK(needed("deepseek-v3", 4096, {.mtp_layers = 1}) == Approx(557e12 / 2139).epsilon(5e-3));
  CHECK(needed("deepseek-v3", 4096, {.mtp_layers = 1}) > 1.03 * needed("deepseek-v3", 4096, {}));
  // Every layer of Mistral 7B v0.1 looks back 4,096 tokens: at 32,768 a triangle of 4,096 and a band are left.
  constexpr double s = 32768, w = 4096, pairs = w * w / 2 + (s - w) * w;
  const double saved = needed("mistral-7b-v0.3", 32768, {}) - needed("mistral-7b-v0.1", 32768, {});
  CHECK(saved == Approx(12 * h * 32 * (s * s / 2 - pairs) / s + 6 * 768 * h).epsilon(1e-9));
  // What is run twice holds the modules too.
  models::Workload twice{.phase = models::Phase::train, .sequence = 4096};
  twice.recompute = models::Recompute::full;
  const auto& v3 = shipped_model("deepseek-v3").architecture;
  const auto with = models::flops_of(v3, twice, {.mtp_layers = 1}), without = models::flops_of(v3, twice);
  CHECK(with.recomputed > 1.01 * without.recomputed);
  CHECK(with.recomputed - without.recomputed < (with.needed - without.needed) / 3);
}

TEST_CASE("all experts of DeepSeek-V3 make an MFU that is fifteen times too high") {
  const auto& a = shipped_model("deepseek-v3").architecture;
  const models::Workload w{.phase = models::Phase::train, .sequence = 4096};
  const double active = models::counted_flops(a, w, {.attention = CountedAttention::none});
  const double all =
      models::counted_flops(a, w, {.attention = CountedAttention::none, .weights = CountedWeights::all_experts});
  CHECK(all / active == Approx(671.0 / 36.6).epsilon(0.01));
}

TEST_CASE("a simulated second: losses and needed products fill it exactly") {
  const auto& a = shipped_model("llama-3.2-1b").architecture;
  models::UtilizationRun run;
  run.machine = {.peak_flops_per_s = 989.4e12, .bandwidth_bytes_per_s = 3.35e12};
  run.step.loader = {.workers = 4, .samples = 4, .decode_s = 1e-3, .batch_bytes = 131072};
  run.step.copy = models::BatchCopy::copy_stream;
  run.step.optimizer = models::OptimizerCode::fused;
  run.step.parameters = 1.24e9;
  run.step.gradient_bytes = 4.94e9;
  run.step.optimizer_bytes_per_s = 0.85 * 3.35e12;
  run.step.bus_bytes_per_s = 300e9;
  run.step.sync_every = 0;
  const models::Workload w = training_step();
  const auto full = models::simulate_utilization(a, w, run);
  INFO(full.error);
  REQUIRE(full);
  CHECK(all_shares(*full) == Approx(1).epsilon(1e-9));
  CHECK(full->needed_flops == Approx(models::counted_flops(a, w, {}) / 1.0).epsilon(1e-9));
  CHECK(full->busy() > 0.95);
  // Recomputation keeps the chip busy: HFU does not fall, MFU does.
  models::Workload kept = w;
  kept.recompute = models::Recompute::none;
  const auto without = models::simulate_utilization(a, kept, run);
  REQUIRE(without);
  CHECK(without->needed_share() > 1.15 * full->needed_share());
  CHECK(without->issued_share() == Approx(full->issued_share()).epsilon(0.05));
  CHECK(loss_of(*without, UtilizationLoss::recompute) == 0);

  SECTION("a starved loader costs busy time, and MFU in the same proportion") {
    run.step.loader.workers = 1;
    run.step.loader.decode_s = 1;
    const auto starved = models::simulate_utilization(a, w, run);
    REQUIRE(starved);
    CHECK(loss_of(*starved, UtilizationLoss::data) > 0.5);
    CHECK(starved->needed_share() / full->needed_share() == Approx(full->wall_s / starved->wall_s).epsilon(1e-9));
    CHECK(all_shares(*starved) == Approx(1).epsilon(1e-9));
  }
  SECTION("waiting for a collective is busy time") {
    run.step.bus_bytes_per_s = 2e9;
    const auto slow = models::simulate_utilization(a, w, run);
    REQUIRE(slow);
    CHECK(loss_of(*slow, UtilizationLoss::communication) > 0.5);
    CHECK(slow->busy() > 0.95);
    CHECK(slow->needed_share() < 0.3 * full->needed_share());
  }
  SECTION("micro-batches add work and no other optimizer step") {
    run.step.micro_batches = 4;
    const auto four = models::simulate_utilization(a, w, run);
    REQUIRE(four);
    CHECK(four->needed_flops == Approx(4 * full->needed_flops).epsilon(1e-12));
    CHECK(loss_of(*four, UtilizationLoss::optimizer) < 0.3 * loss_of(*full, UtilizationLoss::optimizer));
  }
}

TEST_CASE("decoding one sequence: hardly any flops, most of the bandwidth") {
  const auto& a = shipped_model("llama-3-8b").architecture;
  models::UtilizationRun run;
  run.machine = {.peak_flops_per_s = 989.4e12, .bandwidth_bytes_per_s = 3.35e12};
  run.mode = models::LaunchMode::compiled_graph;
  run.bandwidth_share = 0.9;
  const models::Workload w{.phase = models::Phase::decode, .batch = 1, .context = 2048};
  const auto u = models::simulate_utilization(a, w, run);
  INFO(u.error);
  REQUIRE(u);
  CHECK(all_shares(*u) == Approx(1).epsilon(1e-9));
  CHECK(u->needed_share() < 0.005);
  CHECK(u->busy() > 0.9);
  const double mbu = models::counted_bytes(a, w, models::CountedBytes::weights_and_cache) / (u->wall_s * 3.35e12);
  CHECK(mbu > 0.7);
  CHECK(mbu < 0.95);
  run.mode = models::LaunchMode::eager;
  const auto eager = models::simulate_utilization(a, w, run);
  REQUIRE(eager);
  CHECK(eager->wall_s > u->wall_s);
  CHECK(loss_of(*eager, UtilizationLoss::launches) > loss_of(*u, UtilizationLoss::launches));
}

TEST_CASE("what cannot be is refused") {
  const models::UtilizationTimes second{.wall_s = 1, .other_s = 0.5};
  CHECK(models::utilization_of(second, {.needed = 0.6e12}, 1e12).error.find("more time at the chip's peak") !=
        std::string::npos);
  CHECK(models::utilization_of({.wall_s = 1, .other_s = 1.5}, {}, 1e12).error.find("longer than the step") !=
        std::string::npos);
  CHECK(!models::utilization_of({}, {}, 1e12).error.empty());
  const auto u = models::utilization_of(second, {.needed = 0.3e12, .recomputed = 0.1e12}, 1e12);
  REQUIRE(u);
  CHECK(u->product_s == 0.5);
  CHECK(loss_of(*u, UtilizationLoss::below_peak) == Approx(0.1));
  CHECK(all_shares(*u) == Approx(1));
}
