#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "models/parallel/moe/moe_exchange.h"
#include "models/parallel/overlap/overlap_plan.h"
#include "models/parallel/overlap/overlap_run.h"
#include "models/parallel/pipeline/pipeline_memory.h"
#include "models/parallel/planner/planner_path.h"
#include "models/parallel/planner/planner_search.h"
#include "models/parallel/planner/planner_traffic.h"
#include "models/parallel/tensor/tensor_layer.h"
#include "models/transformer/language_model.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using support::near;
using namespace models;
using namespace models::parallel;
using memory::TrainingPlan;

namespace {

PlannerJob job_for(const char* file, const char* model, std::int64_t gpus, std::int64_t batch, std::int64_t sequence,
                   StackId stack, Format format = Format::bf16, const char* on = "h100_sxm") {
  const auto models = parse_language_models(
      support::read_text(support::source_file("assets/models/" + std::string(file) + ".json")), file);
  const auto chips = parse_chips(support::read_text(support::source_file("assets/hardware/nvidia.json")), "nvidia");
  PlannerJob job;
  job.architecture =
      std::find_if(models->begin(), models->end(), [&](const LanguageModel& m) { return m.id == model; })->architecture;
  const auto chip = std::find_if(chips->begin(), chips->end(), [&](const Chip& c) { return c.id == on; });
  job.cluster = *planner_cluster(*chip, {.gpus = gpus}, format);
  job.stack = planner_stack(stack);
  job.format = format;
  job.global_batch = batch;
  job.sequence = sequence;
  return job;
}

/// The rank of a plan among those that fit, as a share of them.
double rank_of(const PlannerJob& job, double step_s) {
  const PlannerSearch found = search_plans(job, {});
  const auto faster = std::count_if(found.points.begin(), found.points.end(),
                                    [&](const PlanPoint& p) { return p.fits && p.step_s < step_s; });
  return static_cast<double>(faster) / static_cast<double>(found.fitting);
}

}  // namespace

// The step that the overlap lab draws, task by task, and the planner's clock are one, whatever waits for what.
TEST_CASE("planner physics: a sharded step is that of the overlap lab") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0, 1);
  for (int trial = 0; trial < 400; ++trial) {
    OverlapSetup setup;
    setup.method = OverlapMethod::fsdp;
    setup.gpus = setup.shards = 64;
    setup.micro_batches = 1 + trial % 9;
    setup.links = {1e9, 0.3e9, 1e-4, 1e-3, 0};
    const std::int64_t layers = 1 + trial % 40;
    const double forward_s = 4 * share(random), backward_s = 2 * forward_s * (0.5 + share(random));
    const double elements = 2e9 * share(random);
    OverlapWork work;
    work.units.push_back({"embedding", 1e9 * share(random), 0.1 * share(random), 0.1 * share(random)});
    for (std::int64_t i = 0; i < layers; ++i) work.units.push_back({"layer", elements, forward_s, backward_s});
    work.units.push_back({"output", 1e9 * share(random), share(random), share(random)});
    double busy_s = 0;
    for (const OverlapUnit& unit : work.units) busy_s += unit.forward_s + unit.backward_s;
    const double drawn_s = run_overlap(overlap_plan(work, setup).tasks, 0).makespan_s;
    std::vector<ShardedUnit> units;
    const auto add = [&](const OverlapUnit& unit, std::int64_t alike, bool stays) {
      units.push_back({.forward_s = unit.forward_s,
                       .backward_s = unit.backward_s,
                       .gather_s = gather_time_s(setup, unit.elements * setup.weight_bytes),
                       .scatter_s = gather_time_s(setup, unit.elements * setup.gradient_bytes),
                       .alike = static_cast<double>(alike),
                       .stays_gathered = stays});
    };
    add(work.units[0], 1, false);
    add(work.units[1], layers, false);
    add(work.units.back(), 1, true);
    const double exposed_s = sharded_exposed_s(units, {.micro_batches = setup.micro_batches});
    INFO(layers << " layers, " << setup.micro_batches << " micro-batches");
    CHECK(near(exposed_s + static_cast<double>(setup.micro_batches) * busy_s, drawn_s, 1e-9));
  }
}

TEST_CASE("planner physics: gathers over thousands of ranks cost their latency, and groups of ranks spare it") {
  // 8B on 16,384 GPUs with one sequence each: a ring of 16,383 steps for each of 34 units, three times.
  const PlannerJob job = job_for("llama", "llama-3-8b", 16384, 16384, 8192, StackId::fsdp_compiled);
  TrainingPlan p{.data = 16384, .zero_stage = 3};
  const auto whole = price_plan(job, planned(job, p));
  REQUIRE(whole);
  const AllReduceLinks links = planner_links(job.cluster);
  const RingStep step = ring_step({16384, 8}, links);
  const double latency_s = 3 * 33 * (16383 * step.hop_s);
  CHECK(whole->parts[PlanCause::data] > 0.85 * latency_s);
  CHECK(whole->step_s > 7);
  p.shard_group = 128;
  const auto grouped = price_plan(job, planned(job, p));
  REQUIRE(grouped);
  CHECK(grouped->step_s < 1.3);
  CHECK(grouped->memory_bytes > whole->memory_bytes);
  const PlannerJob few = job_for("llama", "llama-3-8b", 64, 64, 8192, StackId::fsdp_compiled);
  const auto small = price_plan(few, planned(few, {.data = 64, .zero_stage = 3}));
  REQUIRE(small);
  CHECK(near(small->step_s, grouped->step_s, 0.1));
}

TEST_CASE("planner physics: a schedule's bubble is that of its own order") {
  PlannerSchedules schedules;
  for (const PipelineSchedule schedule :
       {PipelineSchedule::gpipe, PipelineSchedule::zb_h1, PipelineSchedule::zb_h2, PipelineSchedule::zb_v,
        PipelineSchedule::dualpipe, PipelineSchedule::dualpipe_v, PipelineSchedule::v_half, PipelineSchedule::v_min,
        PipelineSchedule::interleaved_zb, PipelineSchedule::breadth_first})
    for (const std::int64_t stages : {4, 8}) {
      const bool loops = loops_over_chunks(schedule);
      TrainingPlan p{
          .micro_batches = 4 * stages, .pipeline = stages, .virtual_pipeline = loops ? 3 : 1, .schedule = schedule};
      const PassSplit split{.forward_s = 1, .input_s = 1.25, .weight_s = 0.75};  // sixteenths, so that none is rounded
      const double bubble_s = schedules.bubble_s(p, split);
      const auto plan = pipeline_plan(schedule_spec(p));
      REQUIRE(plan);
      const double parts = loops ? 3 : laid_as_v(schedule) ? 2 : 1;
      PipelineTimes times;
      times.forward_s = 1 / parts;
      times.input_gradient_s = 1.25 / parts;
      times.weight_gradient_s = 0.75 / parts;
      const auto run = run_pipeline(*plan, times);
      REQUIRE(run);
      double busiest_s = 0;
      for (const PipelineRank& rank : run->ranks) busiest_s = std::max(busiest_s, rank.busy_s);
      INFO(schedule_name(schedule) << " on " << stages);
      CHECK(near(bubble_s, run->makespan_s - busiest_s, 1e-9));
      if (schedule == PipelineSchedule::gpipe) continue;
      const std::vector<double> peaks = peak_activations(*plan);
      for (std::size_t rank = 0; rank < peaks.size(); ++rank) {
        const double ranks_parts = schedule == PipelineSchedule::dualpipe ? 2 : parts;
        CHECK(near(schedules.in_flight(p, static_cast<std::int64_t>(rank)), peaks[rank] / ranks_parts, 1e-12));
      }
    }
  // 1F1B's activations are the memory model's; DualPipe's rank holds P + 1 stages' of its two.
  CHECK(schedules.in_flight({.micro_batches = 16, .pipeline = 4}, 0) == 0);
  CHECK(schedules.in_flight({.micro_batches = 16, .pipeline = 4, .schedule = PipelineSchedule::dualpipe}, 0) == 2.5);
  // Of a long step a shorter one is run, and what its last micro-batches add goes on.
  for (const PipelineSchedule schedule :
       {PipelineSchedule::zb_h1, PipelineSchedule::zb_v, PipelineSchedule::dualpipe_v, PipelineSchedule::v_half,
        PipelineSchedule::v_min, PipelineSchedule::interleaved_zb})
    for (const std::int64_t stages : {8, 12})
      for (const auto& [input, weight] : {std::pair{10, 6}, {16, 16}, {24, 12}, {20, 17}}) {
        TrainingPlan p{.micro_batches = 12 * stages, .pipeline = stages, .schedule = schedule};
        if (loops_over_chunks(schedule)) p.virtual_pipeline = 2;
        const PassSplit split{.forward_s = 1, .input_s = input / 16.0, .weight_s = weight / 16.0};
        const double parts = laid_as_v(schedule) || loops_over_chunks(schedule) ? 2 : 1;
        PipelineTimes times;
        times.forward_s = 1 / parts;
        times.input_gradient_s = split.input_s / parts;
        times.weight_gradient_s = split.weight_s / parts;
        const auto run = run_pipeline(*pipeline_plan(schedule_spec(p)), times);
        REQUIRE(run);
        double busiest_s = 0;
        for (const PipelineRank& rank : run->ranks) busiest_s = std::max(busiest_s, rank.busy_s);
        const double bubble_s = schedules.bubble_s(p, split), exact_s = run->makespan_s - busiest_s;
        INFO(schedule_name(schedule) << " on " << stages << ", " << input << " and " << weight << ": " << bubble_s
                                     << " for " << exact_s);
        CHECK(std::abs(bubble_s - exact_s) <= 0.01 * run->makespan_s);
      }
  // Qi et al. 2024: V-Half keeps about half, V-Min about a third of the eight micro-batches of 1F1B's first rank.
  const auto most = [&](PipelineSchedule schedule) {
    double held = 0;
    for (std::int64_t stage = 0; stage < 8; ++stage)
      held = std::max(held, schedules.in_flight({.micro_batches = 32, .pipeline = 8, .schedule = schedule}, stage));
    return held;
  };
  CHECK(most(PipelineSchedule::v_half) >= 4);
  CHECK(most(PipelineSchedule::v_half) <= 5);
  CHECK(most(PipelineSchedule::v_min) >= 8.0 / 3);
  CHECK(most(PipelineSchedule::v_min) <= 4);
}

TEST_CASE("planner physics: where experts' copies go") {
  // 8 of 64 experts on 8 ranks of one node: a rank of 8 experts is missed with probability C(56, 8) / C(64, 8).
  const MixtureOfExperts moe{.routed = 64, .per_token = 8, .ffn = 1024};
  const ExpertSpread one = expert_spread(moe, 8, 8);
  double missed = 1;
  for (int i = 0; i < 8; ++i) missed *= (56.0 - i) / (64.0 - i);
  CHECK(one.other_nodes == 0);
  CHECK(near(one.near_ranks, 7 * (1 - missed)));
  CHECK(near(one.near_copies, 7));
  // Four nodes of two ranks: six of the eight copies leave the node, and fewer nodes than copies are reached.
  const ExpertSpread four = expert_spread(moe, 8, 2);
  CHECK(near(four.other_copies, 6));
  CHECK(four.other_nodes < 3);
  CHECK(four.other_nodes > 2.6);
  // With four of eight groups allowed a token of DeepSeek-V3 reaches at most four of eight nodes.
  const MixtureOfExperts limited{.routed = 256, .per_token = 8, .ffn = 2048, .groups = 8, .groups_per_token = 4};
  const ExpertSpread eight = expert_spread(limited, 64, 8);
  CHECK(eight.other_nodes < 4 * 7.0 / 8);
  CHECK(eight.other_nodes > 3);
  CHECK(near(eight.other_copies, 7));
}

// What can be priced in both is one number: a tensor-parallel sum, and a drawn routing of the moe lab against the mean.
TEST_CASE("planner physics: sums and exchanges are those of their labs") {
  const PlannerJob job = job_for("llama", "llama-3-70b", 64, 64, 8192, StackId::megatron_core);
  const TensorSplit split{.ranks = 8, .links = planner_links(job.cluster)};
  const double bytes = 8192.0 * 8192 * 2;
  CHECK(near(tensor_sum_s(job.cluster, {.tensor = 8}, bytes), tensor_collective_s(Primitive::all_reduce, bytes, split),
             1e-12));
}

TEST_CASE("planner physics: a sequence is shared in the fastest way, or in the one that the job names") {
  PlannerJob job = job_for("llama", "llama-3-8b", 64, 8, 131072, StackId::megatron_core);
  const TrainingPlan p{.tensor = 4, .data = 2, .context = 8, .sequence_parallel = true, .zero_stage = 1};
  const auto best = price_plan(job, planned(job, p));
  REQUIRE(best);
  double least_s = 1e30;
  for (const ContextMethod method : {ContextMethod::ring, ContextMethod::gather, ContextMethod::all_to_all}) {
    job.context_method = method;
    const auto priced = price_plan(job, planned(job, p));
    INFO(context_method_name(method) << " " << priced.error);
    REQUIRE(priced);
    CHECK(priced->context_method == method);
    least_s = std::min(least_s, priced->step_s);
  }
  CHECK(near(least_s, best->step_s, 1e-12));
  // Eight query heads of a rank cannot be dealt to sixteen.
  const TrainingPlan wide{.tensor = 4, .data = 1, .context = 16, .sequence_parallel = true};
  CHECK(price_plan(job, planned(job, wide)).error.find("cannot be dealt to 16") != std::string::npos);
  for (const PlanPoint& found : search_plans(job, {}).points) CHECK(32 / found.tensor % found.context == 0);
}

TEST_CASE("planner physics: an optimizer on the host spares memory and costs the host's time") {
  const PlannerJob job = job_for("llama", "llama-3-8b", 8, 64, 8192, StackId::megatron_core);
  TrainingPlan p{.data = 8, .zero_stage = 1};
  const auto near_by = price_plan(job, planned(job, p));
  p.offload = memory::Offload::optimizer;
  const auto away = price_plan(job, planned(job, p));
  REQUIRE(near_by);
  REQUIRE(away);
  // Master weights and moments, 12 bytes of an eighth of the parameters.
  const double owned = static_cast<double>(count_parameters(job.architecture).total) / 8;
  CHECK(near(near_by->memory_bytes - away->memory_bytes, 12 * owned, 1e-3));
  // 28 bytes of each in the host's memory, and two through PCIe 5, 0.85 of 63 GB/s.
  const double host_s = owned * (28 / 50e9 + 2 / job.cluster.host_link_bytes_per_s);
  CHECK(near(away->parts[PlanCause::optimizer], host_s, 1e-3));
  CHECK(near(job.cluster.host_link_bytes_per_s, 0.85 * 63e9, 0.01));
  p.zero_stage = 0;
  CHECK(price_plan(job, planned(job, p)).error.find("offloaded from ZeRO-1 on") != std::string::npos);
}

TEST_CASE("planner physics: an expert may be shared by fewer GPUs than a layer") {
  const PlannerJob job = job_for("mistral", "mixtral-8x7b", 64, 256, 4096, StackId::megatron_core);
  TrainingPlan p{.tensor = 4, .data = 16, .expert = 8, .sequence_parallel = true, .zero_stage = 1};
  const auto shared = price_plan(job, planned(job, p));
  p.expert_tensor = 4;
  const auto said = price_plan(job, planned(job, p));
  p.expert_tensor = 1;
  const auto whole = price_plan(job, planned(job, p));
  REQUIRE(shared);
  REQUIRE(said);
  REQUIRE(whole);
  CHECK(said->step_s == shared->step_s);
  CHECK(said->memory_bytes == shared->memory_bytes);
  // Weights and FP32 gradients of one expert a layer whole in place of a fourth; master and moments go over as many
  // GPUs either way.
  const double expert = static_cast<double>(count_parameters(job.architecture).layers.routed_experts) / 8;
  CHECK(near(whole->memory_bytes - shared->memory_bytes, 6 * 0.75 * expert, 0.02));
  CHECK(whole->parts[PlanCause::products] != shared->parts[PlanCause::products]);
  p.expert_tensor = 3;
  CHECK(price_plan(job, planned(job, p)).error.find("3 does not divide tensor parallel 4") != std::string::npos);
}

TEST_CASE("planner physics: key and value heads are whole on every GPU") {
  const PlannerJob job = job_for("llama", "llama-3-8b", 64, 64, 8192, StackId::megatron_core);
  CHECK(memory::plan_problem(job.architecture, {.tensor = 16}).find("more than the 8 key and value heads") !=
        std::string::npos);
  Architecture odd = job.architecture;
  odd.heads = 40;
  CHECK(memory::plan_problem(odd, {.tensor = 5}).find("5 does not divide the 8 key and value heads") !=
        std::string::npos);
  CHECK(memory::plan_problem(odd, {.tensor = 4}).empty());
}

TEST_CASE("planner physics: DeepSeek-V3 as it was trained fits, is fast and takes what was published") {
  // 2,048 H800: an H100 with eight of eighteen links; pipeline of 16, experts over 64, ZeRO-1, 15,360 sequences of
  // 4,096 tokens; norms and MLA's up projections recomputed. 14.8e12 tokens in 2.664 million GPU hours are 19.9 s a
  // step.
  const PlannerJob job =
      job_for("deepseek", "deepseek-v3", 2048, 15360, 4096, StackId::deepseek, Format::fp8, "h800_sxm");
  TrainingPlan p{.data = 128, .zero_stage = 1};
  p.pipeline = 16;
  p.expert = 64;
  p.schedule = PipelineSchedule::dualpipe;
  p.recompute = Recompute::selective;
  p.modules = small_modules(job.architecture);
  const auto price = price_plan(job, planned(job, p));
  REQUIRE(price);
  CHECK(price->fits);
  CHECK(std::abs(price->step_s / 19.9 - 1) < 0.15);
  PlannerSpace narrow;
  narrow.max_context = 1;
  narrow.max_micro_batch = 2;
  const PlannerSearch found = search_plans(job, narrow);
  const auto faster = std::count_if(found.points.begin(), found.points.end(),
                                    [&](const PlanPoint& x) { return x.fits && x.step_s < price->step_s; });
  CHECK(static_cast<double>(faster) <= 0.05 * static_cast<double>(found.fitting));
}

TEST_CASE("planner physics: Llama 3 405B on 16,384 GPUs as published fits and ranks high") {
  const PlannerJob job = job_for("llama", "llama-3.1-405b", 16384, 2048, 8192, StackId::megatron_core);
  TrainingPlan p{.data = 128, .zero_stage = 1};
  p.sequence_parallel = true;
  p.tensor = 8;
  p.pipeline = 16;
  p.virtual_pipeline = 4;
  p.ends_take_slots = true;
  p.recompute = Recompute::selective;
  p.modules = small_modules(job.architecture);
  const auto price = price_plan(job, planned(job, p));
  REQUIRE(price);
  CHECK(price->fits);
  CHECK(rank_of(job, price->step_s) <= 0.05);
}

TEST_CASE("planner path: single changes lead from one plan to the best, each a plan that runs") {
  const PlannerJob job = job_for("llama", "llama-3-70b", 256, 256, 8192, StackId::megatron_core);
  const PlannerSearch found = search_plans(job, {});
  const PlanPoint& best = found.points.front();
  PlanPoint mine;
  mine.tensor = 8;
  mine.pipeline = 8;
  mine.data = 4;
  mine.micro_batch = 2;
  mine.recompute = 2;
  mine.sequence_parallel = true;
  const auto start = price_plan(job, plan_of(job, mine));
  REQUIRE(start);
  const std::vector<PlanStep> path = plan_path(job, mine, best);
  REQUIRE(path.size() >= 3);
  double at_s = start->step_s, gains_s = 0;
  for (const PlanStep& step : path) {
    const auto price = price_plan(job, plan_of(job, step.plan));
    REQUIRE(price);
    INFO(step.changed);
    CHECK(near(price->step_s, step.plan.step_s));
    CHECK(near(at_s - step.gain_s, step.plan.step_s));
    CHECK(step.changed.find(" to ") != std::string::npos);
    at_s = step.plan.step_s;
    gains_s += step.gain_s;
  }
  CHECK(near(at_s, best.step_s));
  CHECK(near(gains_s, start->step_s - best.step_s, 1e-9));
  CHECK(plan_name(path.back().plan) == plan_name(best));
  CHECK(plan_path(job, best, best).empty());
}

TEST_CASE(
    "planner: every step of the way to a plan changes the plan, so that an order is not taken before there is a "
    "pipeline") {
  const PlannerJob job = job_for("llama", "llama-3-70b", 64, 256, 8192, StackId::megatron_core);
  PlanPoint from{.tensor = 8, .data = 8, .zero_stage = 3, .sequence_parallel = true};
  PlanPoint to{.tensor = 8,
               .pipeline = 4,
               .data = 2,
               .zero_stage = 1,
               .schedule = PipelineSchedule::zb_h1,
               .sequence_parallel = true};
  for (PlanPoint* p : {&from, &to}) {
    const auto price = price_plan(job, plan_of(job, *p));
    REQUIRE(price);
    p->step_s = price->step_s;
  }
  for (const auto& [a, b] : {std::pair{from, to}, std::pair{to, from}}) {
    const std::vector<PlanStep> path = plan_path(job, a, b);
    REQUIRE(!path.empty());
    PlanPoint before = a;
    for (const PlanStep& step : path) {
      PlanPoint priced_as_before = step.plan;
      priced_as_before.step_s = before.step_s;
      priced_as_before.memory_bytes = before.memory_bytes;
      priced_as_before.fits = before.fits;
      INFO(step.changed);
      CHECK(priced_as_before != before);
      before = step.plan;
    }
  }
}
