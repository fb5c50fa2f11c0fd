#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "models/memory/largest_tensors.h"
#include "models/memory/memory_trend.h"
#include "models/memory/state_bytes.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using namespace models::memory;
using models_test::shipped_model;
using support::near;

namespace {

constexpr Machine an_h100{.peak_flops_per_s = 989.4e12, .bandwidth_bytes_per_s = 3.35e12};
const Architecture& llama_8b() {
  static const Architecture a = shipped_model("llama-3-8b").architecture;
  return a;
}
StepTimeline llama_steps(const TimelineSetting& s) {
  auto t = step_timeline(llama_8b(), s, an_h100);
  REQUIRE(t);
  return std::move(*t);
}
/// Steps that hold so many bytes of buffers when they begin, and when the last one ends.
std::vector<StepLevels> steps_of(std::initializer_list<double> levels) {
  std::vector<StepLevels> out;
  for (auto at = levels.begin(); at + 1 != levels.end(); ++at) {
    StepLevels s{.peak_bytes = *at + 10};
    s.begin[MemoryOwner::buffers] = *at;
    s.end[MemoryOwner::buffers] = *(at + 1);
    out.push_back(s);
  }
  return out;
}

}  // namespace

TEST_CASE(
    "a curve of steps is a sawtooth, a plateau or a leak, and a leak has a step that is the first over the line") {
  CHECK(memory_trend(steps_of({5, 9}), 100).trend == MemoryTrend::one_step);
  CHECK(memory_trend(steps_of({5, 5, 5, 5}), 100).trend == MemoryTrend::sawtooth);
  const TrendFacts plateau = memory_trend(steps_of({5, 9, 9, 9}), 100);
  CHECK(plateau.trend == MemoryTrend::plateau);
  CHECK(plateau.growth_bytes == 4);
  const TrendFacts leak = memory_trend(steps_of({5, 5, 8, 11}), 30);
  CHECK(leak.trend == MemoryTrend::leak);
  CHECK(leak.growth_bytes == 3);
  CHECK(leak.grows == MemoryOwner::buffers);
  // Peaks of the three steps: 15, 15, 18; the next ones 21, 24, 27, 30, 33.
  CHECK(leak.first_over == 8);
  CHECK(memory_trend(steps_of({5, 5, 8, 11}), 16).first_over == 3);
  CHECK(memory_trend(steps_of({5, 9, 7, 9}), 100).trend == MemoryTrend::mixed);
}

TEST_CASE("kept logits are a leak, moments of a first step a plateau, and gradients lift the second micro-batch") {
  TimelineSetting s;
  s.plan = {.batch = 1};
  s.steps = 3;
  CHECK(memory_trend(step_levels(llama_steps(s)), 1e12).trend == MemoryTrend::sawtooth);
  s.keep_outputs = true;
  const TrendFacts leak = memory_trend(step_levels(llama_steps(s)), 1e12);
  CHECK(leak.trend == MemoryTrend::leak);
  CHECK(near(leak.growth_bytes, 2 * 4096.0 * 128256, 1e-9));
  CHECK(leak.grows == MemoryOwner::buffers);
  s.keep_outputs = false;
  s.first_step = true;
  const TrendFacts plateau = memory_trend(step_levels(llama_steps(s)), 1e12);
  CHECK(plateau.trend == MemoryTrend::plateau);
  CHECK(near(plateau.growth_bytes, 8 * 8030261248.0, 1e-9));
  CHECK(plateau.grows == MemoryOwner::optimizer);
  s.first_step = false;
  s.steps = 1;
  CHECK(micro_batch_growth(llama_steps(s)) == 0);
  s.plan.micro_batches = 2;
  CHECK(near(micro_batch_growth(llama_steps(s)), 2 * 8030261248.0, 0.02));
}

TEST_CASE("the largest tensors add up to the peak, owner by owner") {
  for (const bool fused : {true, false})
    for (const LossKind loss : {LossKind::eager, LossKind::fused})
      for (const std::size_t again : {0, 8, 32}) {
        CAPTURE(fused, loss, again);
        TimelineSetting s;
        s.plan = {.batch = 2, .fused_attention = fused, .loss = loss};
        s.layers = first_layers(32, again);
        const StepTimeline t = llama_steps(s);
        const auto rows = largest_tensors(llama_8b(), s, t);
        HeldBytes sum;
        for (const TensorRow& r : rows) {
          CHECK(r.each_bytes > 0);
          sum[r.owner] += r.total_bytes();
        }
        for (std::size_t k = 0; k < memory_owner_count; ++k)
          CHECK(std::abs(sum.bytes[k] - t.points[t.peak].held.bytes[k]) <= 1e-6 * t.peak_bytes);
      }
}

TEST_CASE("at the eager loss three FP32 arrays of the logits stand among the largest tensors") {
  TimelineSetting s;
  s.plan = {.batch = 2};
  const StepTimeline t = llama_steps(s);
  const auto rows = largest_tensors(llama_8b(), s, t);
  const auto logits =
      std::find_if(rows.begin(), rows.end(), [](const TensorRow& r) { return r.owner == MemoryOwner::logits; });
  REQUIRE(logits != rows.end());
  CHECK(logits->count == 3);
  CHECK(near(logits->each_bytes, 4 * 8192.0 * 128256, 1e-12));
  // Moments of the embedding and of the output matrix, 8 B a parameter, are as large; the layers' inputs are many.
  const auto moments =
      std::find_if(rows.begin(), rows.end(), [](const TensorRow& r) { return r.name == "moments, token embedding"; });
  REQUIRE(moments != rows.end());
  CHECK(near(moments->each_bytes, 8 * 4096.0 * 128256, 1e-12));
  const auto gate =
      std::find_if(rows.begin(), rows.end(), [](const TensorRow& r) { return r.name == "weights, gate projection"; });
  REQUIRE(gate != rows.end());
  CHECK(gate->count == 32);
  CHECK(near(gate->each_bytes, 2 * 4096.0 * 14336, 1e-12));
  // 8-bit moments share scales between parameters: they are one row.
  s.plan.optimizer = OptimizerKind::adamw_8bit;
  const auto eight = largest_tensors(llama_8b(), s, llama_steps(s));
  CHECK(std::any_of(eight.begin(), eight.end(),
                    [](const TensorRow& r) { return r.name == "moments of all parameters" && r.count == 1; }));
}
