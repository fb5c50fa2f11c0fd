#include "models/parallel/memory_split/memory_split.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/parallel/memory_split/memory_split_estimators.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using models_test::shipped_model;
using support::near;
using namespace models;
using namespace models::memory;
using namespace models::parallel;

namespace {

constexpr double split_mib = 1048576.0, split_gib = 1073741824.0;

/// FSDP2 on Llama shapes, as the runs of assets/measured/h100-sharding.json were.
TrainingPlan fsdp2(std::int64_t ranks, std::int64_t sequence, bool fp32) {
  TrainingPlan p{.sequence = sequence, .micro_batches = 2, .data = ranks, .zero_stage = 3};
  p.own_bytes = fp32 ? BytesPerParameter{4, 4, 0, 8} : BytesPerParameter{2, 2, 0, 4};
  p.eager_gate = true;
  return p;
}

}  // namespace

TEST_CASE("peaks of FSDP2 that an H100 measured are met within half a percent") {
  struct Run {
    const char* model;
    std::int64_t ranks, sequence;
    bool fp32, reshard;
    double peak_gb;
  };
  for (const Run& r :
       {Run{"llama-3-8b", 4, 2048, true, true, 47.445}, Run{"llama-3-8b", 8, 4096, true, true, 45.512},
        Run{"llama-3-8b", 64, 4096, true, true, 31.500}, Run{"llama-3-8b", 512, 4096, true, true, 29.705},
        Run{"llama-3-8b", 8, 4096, false, true, 37.484}, Run{"llama-3-8b", 64, 4096, false, true, 30.476},
        Run{"llama-3-8b", 64, 4096, false, false, 45.486}, Run{"llama-3-8b", 512, 512, true, true, 6.606},
        Run{"llama-3-8b", 512, 512, false, true, 5.563}, Run{"llama-3-70b", 512, 2048, true, true, 65.544}}) {
    INFO(r.model << " over " << r.ranks << " at " << r.sequence);
    TrainingPlan p = fsdp2(r.ranks, r.sequence, r.fp32);
    p.reshard = r.reshard;
    const auto m = training_memory(shipped_model(r.model).architecture, p, {});
    REQUIRE(m);
    CHECK(std::abs(m->total() / 1e9 - r.peak_gb) <= 0.005 * r.peak_gb);
  }
}

TEST_CASE("what is whole: a layer, the next one, its gradient, and the last one on its way to be reduced") {
  const Architecture a = shipped_model("llama-3-8b").architecture;
  constexpr double layer = 218112000, matrix = 128256.0 * 4096, norm = 4096;
  TrainingPlan p{.sequence = 512, .micro_batches = 2, .data = 64, .zero_stage = 3};
  const auto units = gather_units(a, p);
  REQUIRE(units.size() == 34);
  CHECK(units.front().parameters == matrix);
  CHECK(units[1].parameters == layer);
  CHECK(units.back().parameters == matrix + norm);
  CHECK(near(units[1].held, layer / 64));
  WholeUnits w = whole_in_backward(units, 32, a, p);
  CHECK(w.at_work == 2 * layer);
  CHECK(w.ahead == 2 * layer);
  CHECK(w.reducing == 2 * (matrix + norm));
  p.reduce_bytes = 4;
  CHECK(whole_in_backward(units, 32, a, p).reducing == 4 * (matrix + norm));
  p.gather_ahead = 3;
  CHECK(whole_in_backward(units, 32, a, p).ahead == 6 * layer);
  CHECK(whole_in_backward(units, 1, a, p).ahead == 2 * matrix);
  p.reshard = false;
  w = whole_in_backward(units, 32, a, p);
  CHECK(w.at_work == 2 * (matrix + 32 * layer));
  CHECK(w.ahead == 0);
  // The peak does not know how many GPUs there are, beyond the shards.
  p = {.sequence = 512, .micro_batches = 2, .data = 64, .zero_stage = 3};
  const auto few = training_memory(a, p, {});
  p.data = 16384;
  const auto many = training_memory(a, p, {});
  CHECK(few->whole.total() == many->whole.total());
  CHECK(near(few->total() - many->total(), few->states.total() - many->states.total(), 1e-9));
  CHECK(near(many->whole.total(), 2 * (2 * matrix + norm) + 2 * layer, 1e-4));
  // A tied matrix is one unit that stays, with its gradient until both uses are done.
  const Architecture tied = shipped_model("llama-3.2-1b").architecture;
  const auto tied_units = gather_units(tied, p);
  w = whole_in_backward(tied_units, 3, tied, p);
  CHECK(w.at_work == 2 * (128256.0 * 2048 + tied_units[3].parameters));
  // Of one GPU nothing is gathered, unless the weights wait in the host's memory.
  p.data = 1;
  CHECK(training_memory(a, p, {})->whole.total() == 0);
  p.offload = Offload::parameters;
  CHECK(training_memory(a, p, {})->whole.total() > 0);
}

TEST_CASE("the moments of a step have the fullest one among them, and begin and end near the states") {
  const Architecture a = shipped_model("llama-3-8b").architecture;
  for (const std::int64_t zero : {0, 2, 3})
    for (const std::int64_t micro : {1, 4}) {
      INFO(zero << " " << micro);
      const TrainingPlan p{.micro_batches = micro, .data = 8, .zero_stage = zero};
      const auto moments = step_moments(a, p);
      const auto fullest = training_memory(a, p);
      REQUIRE(moments);
      double most = 0;
      for (const StepMoment& m : *moments) most = std::max(most, m.held.total());
      CHECK(near(most, fullest->total(), 1e-9));
      CHECK(moments->size() == 33 + 1 + 33);
      CHECK(moments->front().held[MemoryOwner::activations] == 0);
      CHECK(near(moments->back().held[MemoryOwner::activations] + 1, 1));
    }
}

TEST_CASE("table 1 of ZeRO, all 18 rows: optimizer, gradients and weights split in turn") {
  struct Row {
    std::int64_t data;
    double small[3], middle[3], large[3];  // 7.5e9, 128e9, 1e12 parameters; GB
  };
  // Printed to three digits or cut to whole GB: 257.75 stands as 257, 4187.5 as 4187.
  for (const Row& r : {Row{1, {120, 120, 120}, {2048, 2048, 2048}, {16000, 16000, 16000}},
                       Row{4, {52.5, 41.3, 30}, {896, 704, 512}, {7000, 5500, 4000}},
                       Row{16, {35.6, 21.6, 7.5}, {608, 368, 128}, {4750, 2875, 1000}},
                       Row{64, {31.4, 16.6, 1.88}, {536, 284, 32}, {4187, 2218, 250}},
                       Row{256, {30.4, 15.4, 0.47}, {518, 263, 8}, {4046, 2054, 62.5}},
                       Row{1024, {30.1, 15.1, 0.12}, {513, 257, 2}, {4011, 2013, 15.6}}})
    for (std::int64_t zero = 1; zero <= 3; ++zero)
      for (const auto& [parameters, cells] :
           {std::pair{7.5e9, r.small}, std::pair{128e9, r.middle}, std::pair{1e12, r.large}}) {
        const TrainingPlan p{.data = r.data, .zero_stage = zero, .parameters = parameters};
        const double gb = state_bytes(shipped_model("llama-3-8b").architecture, p).total() / 1e9,
                     cell = cells[zero - 1];
        INFO(parameters << " over " << r.data << ", stage " << zero << ": " << gb);
        CHECK((std::abs(gb - cell) <= 0.06 + 5e-4 * cell || std::floor(gb) == cell));
      }
}

TEST_CASE("Megatron-LM's estimate of weights and optimizer: 18 bytes, or 6 + 12/d, norms not split") {
  const auto states = [](const Architecture& a, TrainingPlan p, bool distributed) {
    p.recipe = StateRecipe::megatron;
    p.zero_stage = distributed ? 1 : 0;
    return state_bytes(a, p).total() / split_mib;
  };
  CHECK(near(states(shipped_model("llama-2-7b").architecture, {.data = 8}, true), 48196.904296875, 1e-6));
  CHECK(
      near(states(shipped_model("llama-3-8b").architecture, {.tensor = 2, .data = 32}, true), 24411.49365234375, 1e-6));
  // Its experts' optimizer is split over data / expert parallel.
  CHECK(near(states(shipped_model("mixtral-8x7b").architecture, {.pipeline = 4, .data = 16, .expert = 8}, true),
             19133.865966796875, 1e-6));
  // It spreads layers evenly, 126 / 16 a stage; here stages have 8, and two models around it have 7 and 8.
  const Architecture large = shipped_model("llama-3.1-405b").architecture;
  const TrainingPlan p{.tensor = 8, .pipeline = 16, .data = 128};
  const double seven = states(with_layers(large, 112), p, true), eight = states(with_layers(large, 128), p, true);
  CHECK(near(seven + 0.875 * (eight - seven), 19763.536834716797, 1e-6));
  CHECK(near(states(large, p, true), eight));
  // GPT-3 as it counts it, without biases and positions, and its final norm spread over the stages: a millionth.
  Architecture gpt3 = shipped_model("gpt-3").architecture;
  gpt3.vocab = 51200;
  gpt3.learned_positions = 0;
  gpt3.qkv_bias = gpt3.output_bias = gpt3.mlp_bias = false;
  CHECK(near(states(gpt3, {.tensor = 8, .pipeline = 8}, false), 48016.177734375, 2e-6));
}

TEST_CASE("Megatron-LM's estimate of activations") {
  struct Row {
    MegatronShapes shapes;
    double with_sp_mib, without_mib;
  };
  for (const Row& r :
       {Row{{.layers = 32, .hidden = 4096, .ffn = 11008, .vocab = 32000, .sequence = 4096}, 15300.03125, 18591.3328125},
        Row{{.layers = 32, .hidden = 4096, .ffn = 14336, .vocab = 128256, .sequence = 8192, .tensor = 2},
            18468.03125,
            24807.365625},
        Row{{.layers = 96,
        .hidden = 12288,
        .ffn = 49152,
        .vocab = 51200,
        .sequence = 2048,
        .tensor = 8,
        .pipeline = 8,
        .virtual_pipeline = 3},
            12679.020182291668,
            40882.96953125},
        Row{{.layers = 126,
        .hidden = 16384,
        .ffn = 53248,
        .vocab = 128256,
        .sequence = 8192,
        .tensor = 8,
        .pipeline = 16},
            62752.125,
            222298.65},
        Row{{.layers = 32, .hidden = 4096, .ffn = 14336, .vocab = 32000, .sequence = 4096, .pipeline = 4},
            16448.125,
            18345.73125}}) {
    INFO(r.shapes.hidden << " x " << r.shapes.layers);
    CHECK(near(megatron_activation_bytes(r.shapes) / split_mib, r.with_sp_mib, 1e-6));
    CHECK(near(megatron_activation_without_sp_bytes(r.shapes) / split_mib, r.without_mib, 1e-6));
  }
}

TEST_CASE("DeepSpeed's estimator, and what this model says of the same plan") {
  DeepSpeedSetting s{.parameters = 2851e6, .largest_layer = 32e6, .gpus_per_node = 8};
  const auto gpu = [&] { return deepspeed_zero3_estimate(s).gpu_bytes / split_gib; };
  const auto host = [&] { return deepspeed_zero3_estimate(s).host_bytes / split_gib; };
  CHECK(std::abs(gpu() - 6.09) <= 0.011);
  CHECK(std::abs(host() - 1.43) <= 0.011);
  s.zero_init = false;
  CHECK(std::abs(host() - 127.45) <= 0.011);
  s.zero_init = true;
  s.offload_optimizer = true;
  CHECK(std::abs(gpu() - 0.78) <= 0.011);
  CHECK(std::abs(host() - 63.72) <= 0.011);
  s.offload_parameters = true;
  CHECK(std::abs(gpu() - 0.12) <= 0.011);
  CHECK(std::abs(host() - 71.69) <= 0.011);
  s = {.parameters = 737670000, .largest_layer = 32900000, .gpus_per_node = 4};
  const auto whole_mib = [&] { return std::floor(deepspeed_zero3_estimate(s).gpu_bytes / split_mib); };
  CHECK(whole_mib() == 3291);
  s.offload_optimizer = true;
  CHECK(whole_mib() == 477);
  s.offload_parameters = true;
  CHECK(whole_mib() == 125);
  // Its stage 2 is 4 + 16/N bytes, and 2 with the optimizer offloaded: the weights alone, as here.
  s = {.parameters = 7e9, .gpus_per_node = 8};
  CHECK(near(deepspeed_zero2_estimate(s).gpu_bytes, (4 + 2.0) * 7e9));
  s.offload_optimizer = true;
  TrainingPlan p{.data = 8, .zero_stage = 2, .parameters = 7e9, .offload = Offload::optimizer};
  const Architecture a = shipped_model("llama-2-7b").architecture;
  CHECK(near(deepspeed_zero2_estimate(s).gpu_bytes, state_bytes(a, p).total()));
  CHECK(near(offloaded_bytes(a, p).total(), 14.0 / 8 * 7e9));
  // 18/N bytes of shards and twice the largest layer: no next layer, no activations.
  s = {.parameters = 7e9, .largest_layer = 0, .gpus_per_node = 8};
  p = {.recipe = StateRecipe::megatron, .data = 8, .zero_stage = 3, .parameters = 7e9};
  CHECK(near(deepspeed_zero3_estimate(s).gpu_bytes, state_bytes(a, p).total()));
}

TEST_CASE("the cookbook's calculator, with its quirks") {
  struct Row {
    CookbookShapes shapes;
    double parameters, activations, weights, gradients, optimizer, communication, total;  // GiB
  };
  for (const Row& r :
       {Row{{.layers = 36, .hidden = 5120, .heads = 40, .sequence = 2048, .batch = 8, .tensor = 4, .gpus = 256},
            11860879360,
            23.90625,
            5.5231523513793945,
            44.185218811035156,
            0.5177955329418182,
            0.9313225746154785,
            75.06373926997185},
        Row{{.layers = 44, .hidden = 6144, .heads = 64, .sequence = 2048},
            20575236096,
            17.53125,
            38.324363708496094,
            76.64872741699219,
            229.94618225097656,
            0,
            362.45052337646484},
        Row{{.layers = 32, .hidden = 4096, .heads = 32, .sequence = 4096, .ffn_ratio = 3.5, .checkpoint = false},
            6342844416,
            97,
            11.814468383789062,
            23.628936767578125,
            70.88681030273438,
            0,
            203.33021545410156},
        Row{{.layers = 36, .hidden = 5120, .heads = 40, .sequence = 2048, .gpus = 64, .zero_stage = 3},
            11860879360,
            11.953125,
            0.34519702196121216,
            0.6903940439224243,
            2.071182131767273,
            2.7939677238464355,
            17.853865921497345}}) {
    const CookbookEstimate e = cookbook_estimate(r.shapes);
    INFO(r.parameters);
    CHECK(e.parameters == r.parameters);
    CHECK(near(e.activations / split_gib, r.activations, 1e-6));
    CHECK(near(e.weights / split_gib, r.weights, 1e-6));
    CHECK(near(e.gradients / split_gib, r.gradients, 1e-6));
    CHECK(near(e.optimizer / split_gib, r.optimizer, 1e-6));
    CHECK(near(e.communication / split_gib + 1, r.communication + 1, 1e-6));
    CHECK(near(e.total() / split_gib, r.total, 1e-6));
  }
}

TEST_CASE("each axis takes its part, and the GPUs that are shown are those that differ") {
  const Architecture a = shipped_model("llama-3-70b").architecture;
  KeptSchedules schedules;
  TrainingPlan p{.sequence = 8192,
                 .micro_batches = 8,
                 .tensor = 2,
                 .pipeline = 2,
                 .data = 4,
                 .context = 2,
                 .sequence_parallel = true,
                 .zero_stage = 3};
  auto split = memory_split(a, p, {}, schedules);
  REQUIRE(split);
  CHECK(split->gpus == 32);
  std::vector<SplitAxis> axes;
  for (const SplitStep& step : split->steps) axes.push_back(step.axis);
  CHECK(axes == std::vector{SplitAxis::alone, SplitAxis::tensor, SplitAxis::sequence, SplitAxis::pipeline,
                            SplitAxis::context, SplitAxis::zero1, SplitAxis::zero2, SplitAxis::zero3});
  for (const SplitStep& step : split->steps) CHECK(gpus_of(step.plan) == 32);
  CHECK(split->steps.back().plan == p);
  CHECK(split->steps.front().gpus.front().states.total() == 16.0 * 70553706496);
  REQUIRE(split->shown.size() == 4);
  CHECK(split->shown[1].tensor == 1);
  CHECK(split->shown[2].stage == 1);
  CHECK(split->shown[2].rank == 16);
  CHECK(split->fullest == 0);
  const OwnerPart part = owner_part(p, MemoryOwner::weights, split->shown[3]);
  CHECK(part.parts == 2 * 2 * 8);
  CHECK(part.index == (1 * 2 + 1) * 8);
  CHECK(owner_part(p, MemoryOwner::activations, split->shown[1]).parts == 4);
  p = {.micro_batches = 32, .tensor = 8, .pipeline = 10, .data = 2};
  split = memory_split(a, p, {}, schedules);
  REQUIRE(split);
  CHECK(split->shown[1].stage == 1);
  CHECK(split->shown[3].stage == 9);
  CHECK(split->shown[3].rank == 9 * 16);
  CHECK(split->stages.size() == 10);
  CHECK(split->steps.back().gpus[0].layers_held == 80);
  CHECK(split->steps.back().gpus[3].layers_held == 8);
  CHECK(!memory_split(a, {.tensor = 3}, {}, schedules));
  CHECK(memory_split(a, {.tensor = 8, .data = 262144}, {}, schedules));  // two million replicas before tensor cuts
  CHECK(memory_split(a, {.sequence = 16384, .data = 1000000, .context = 4096}, {}, schedules)
            .error.starts_with("The plan takes more than 2,147"));
}

TEST_CASE("what ZeRO moves a step: 2, 2, 2 and 3 elements a parameter, and again for each micro-batch") {
  TrainingPlan p{.data = 64};
  for (const double expected : {2.0, 2.0, 2.0, 3.0}) {
    CHECK(zero_traffic(p).total() == expected);
    ++p.zero_stage;
  }
  p.zero_stage = 3;
  p.micro_batches = 4;
  CHECK(zero_traffic(p).total() == 12);
  p.reshard = false;
  CHECK(zero_traffic(p).total() == 8);
  p.zero_stage = 2;
  CHECK(zero_traffic(p).total() == 5);
  p.zero_stage = 1;
  CHECK(zero_traffic(p).total() == 2);
  p.data = 1;
  CHECK(zero_traffic(p).total() == 0);
  // FSDP2 on FP32 shards gathers BF16 twice and reduces FP32 once: 2 x 2 + 4. DDP on FP32 gradients moves 2 x 4.
  const Architecture a = shipped_model("llama-3-8b").architecture;
  p = {.data = 64, .zero_stage = 3};
  p.own_bytes = {4, 4, 0, 8};
  CHECK(zero_traffic_bytes(a, p, 1e9) == 8e9);
  p.reduce_bytes = 2;
  CHECK(zero_traffic_bytes(a, p, 1e9) == 6e9);
  p.own_bytes = {2, 4, 4, 8};
  p.zero_stage = 0;
  CHECK(zero_traffic_bytes(a, p, 1e9) == 8e9);
  p.zero_stage = 1;
  CHECK(zero_traffic_bytes(a, p, 1e9) == 6e9);
}

TEST_CASE("the fullest of many stages is found where the first ones have smaller layers, and is shown") {
  // DeepSeek-V3 begins with three dense layers: of 31 stages of two layers the third is the first with experts in both.
  const Architecture a = shipped_model("deepseek-v3").architecture;
  KeptSchedules schedules;
  TrainingPlan p{.micro_batches = 64, .pipeline = 31, .data = 8, .zero_stage = 1, .recompute = Recompute::full};
  const auto split = memory_split(a, p, {}, schedules);
  REQUIRE(split);
  CHECK(split->stage_of[split->fullest] == 2);
  CHECK(split->shown[1].stage == 2);
  for (std::int64_t stage = 0; stage < p.pipeline; ++stage) {
    p.stage = stage;
    CHECK(training_memory(a, p, {})->total() <= split->stages[split->fullest].total());
  }
}

TEST_CASE("experts are never cut into more parts than there are GPUs, and all GPUs together hold all parameters") {
  const Architecture a = shipped_model("mixtral-8x7b").architecture;
  const ParameterCount count = count_parameters(a);
  for (const std::int64_t data : {1, 2, 8}) {
    const TrainingPlan p{.tensor = 8, .data = data, .expert = 8};
    INFO("data " << data);
    // Eight ways over tensor alone is one expert a GPU; with data 8 each expert is cut in eight as well.
    const double experts = static_cast<double>(count.layers.routed_experts) / (8.0 * static_cast<double>(data));
    CHECK(near(stage_parameters(a, p).experts, experts));
    CHECK(expert_tensor(p) == static_cast<double>(data));
    double units = 0;
    for (const GatherUnit& u : gather_units(a, p)) units += u.parameters;
    CHECK(near(units, stage_parameters(a, p).total()));
  }
}

TEST_CASE("what cannot be offloaded or gathered is refused with a sentence") {
  const Architecture a = shipped_model("llama-3-8b").architecture;
  CHECK(plan_problem(a, {.data = 4, .zero_stage = 2, .offload = Offload::parameters})
            .starts_with("Weights are offloaded shard"));
  CHECK(plan_problem(a, {.data = 4, .offload = Offload::optimizer})
            .starts_with("The optimizer is offloaded from ZeRO-1"));
  CHECK(plan_problem(a, {.data = 4, .zero_stage = 3, .gather_ahead = -1}).starts_with("Units gathered ahead are -1"));
}
