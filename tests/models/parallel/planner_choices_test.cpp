#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <memory>
#include <string>

#include "models/base/integer_math.h"
#include "models/memory/allocator_replay.h"
#include "models/memory/allocator_workload.h"
#include "models/memory/frozen_layers.h"
#include "models/memory/gathered_units.h"
#include "models/memory/loss_peak.h"
#include "models/memory/state_bytes.h"
#include "models/parallel/collectives/collective_tuner.h"
#include "models/parallel/memory_split/memory_split.h"
#include "models/parallel/pipeline/pipeline_run.h"
#include "models/parallel/planner/planner_adapters.h"
#include "models/parallel/planner/planner_data.h"
#include "models/parallel/planner/planner_search.h"
#include "models/parallel/planner/planner_traffic.h"
#include "models/training/adapters.h"
#include "tests/models/parallel/planner_jobs.h"
#include "tests/support/base/near.h"

// What a plan or its job may have besides axes: activations on the host, adapters, an allocator's fragments, sums in
// the network's switches, and stages that stay whole.

using support::chosen_chip, support::chosen_job, support::near, support::priced;
using namespace models;
using namespace models::parallel;
using memory::MemoryOwner, memory::TrainingPlan;

TEST_CASE("planner choices: activations on the host leave two layers' worth, and cost what PCIe takes too long") {
  const PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 8}, 64, StackId::megatron_core);
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    TrainingPlan p{.data = 8, .zero_stage = 1, .recompute = recompute};
    const PricedPlan near_by = priced(job, p);
    p.host_activations = true;
    const PricedPlan away = priced(job, p);
    const double layer = memory::micro_batch_memory(job.architecture, planned(job, p)).kinds[0].memory.kept(recompute);
    CHECK(near(near_by.memory_bytes - away.memory_bytes, 30 * layer, 1e-6));
    // 30 of 32 layers go and come at 50 GB/s; what is longer than a pass waits, eight times.
    const double one_way_s = 30 * layer / job.cluster.host_memory_bytes_per_s;
    const models::parallel::StepWork work =
        step_work(job, planned(job, p), micro_batch_times(job, planned(job, p)), planner_stages(job.architecture, p),
                  *std::make_unique<PlannerSchedules>());
    const double waits_s =
        8 * (std::max(0.0, one_way_s - work.stage.forward_s) + std::max(0.0, one_way_s - work.stage.backward_s));
    CHECK(near(away.parts[PlanCause::host], waits_s, 1e-9));
    CHECK((waits_s > 0) == (recompute == Recompute::none));
    CHECK(near(away.step_s - near_by.step_s, waits_s, 1e-9));
    // The lab that splits memory counts the same bytes, and what lies in the host's memory.
    const auto split = memory::training_memory(job.architecture, away.plan, {.slack_share = job.stack.slack_share});
    REQUIRE(split);
    CHECK(near(split->total(), away.memory_bytes, 1e-12));
    CHECK(near(split->host[MemoryOwner::activations], 30 * layer, 1e-6));
    // Every moment of the timeline holds no more.
    const auto moments = memory::step_moments(job.architecture, away.plan);
    REQUIRE(moments);
    for (const memory::StepMoment& m : *moments) CHECK(m.held[MemoryOwner::activations] <= 2 * layer + 1);
  }
}

TEST_CASE("planner choices: both may be on the host, and a chip without a known link refuses either") {
  PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 8}, 64, StackId::megatron_core);
  TrainingPlan p{.data = 8, .zero_stage = 1, .offload = memory::Offload::optimizer};
  const double optimizer_bytes = priced(job, p).memory_bytes;
  p.host_activations = true;
  CHECK(priced(job, p).memory_bytes < optimizer_bytes);
  p.offload = memory::Offload::none;
  job.cluster.host_link_bytes_per_s = 0;
  CHECK(price_plan(job, planned(job, p)).error.find("link to its host is not known") != std::string::npos);
}

TEST_CASE("planner choices: adapters hold what the lab of adapters holds, and train nothing else") {
  PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 1}, 1, StackId::fsdp_eager);
  const TrainingPlan p{.data = 1};
  const PricedPlan whole = priced(job, p);
  for (const auto targets :
       {memory::AdapterTargets::query_value, memory::AdapterTargets::attention, memory::AdapterTargets::all_linear}) {
    job.adapters = {.rank = 16, .targets = targets};
    const PricedPlan thin = priced(job, p);
    const auto step = adapters::tuned_step(
        job.architecture, {.targets = targets, .sequence = job.sequence, .recompute = false}, {989.5e12, 3.35e12, 0});
    REQUIRE(step);
    const auto held = memory::training_memory(job.architecture, thin.plan);
    REQUIRE(held);
    CHECK(near(held->states[MemoryOwner::weights], step->held.base + step->held.adapters, 1e-12));
    CHECK(near(held->states[MemoryOwner::gradients], step->held.gradients, 1e-12));
    CHECK(near(held->states[MemoryOwner::master], step->held.master, 1e-12));
    CHECK(near(held->states[MemoryOwner::optimizer], step->held.moments, 1e-12));
    // The stream that the ends keep is counted with the loss there, and apart here.
    const double ends = 2 * as_double(job.sequence) * as_double(job.architecture.hidden) * 2;
    CHECK(near(held->operations_bytes, step->held.activations - ends, 1e-12));
    // Two bytes of sixteen are left of every parameter, and sixteen of the adapters.
    const auto states = [&](const PricedPlan& price) {
      return memory::state_bytes(job.architecture, price.plan).total();
    };
    CHECK(states(thin) < 0.14 * states(whole));
    CHECK(thin.memory_bytes < 0.4 * whole.memory_bytes);
    // A third of the products is gone, that of frozen weights' gradients; pairs bring some back.
    const double products = thin.parts[PlanCause::products] / whole.parts[PlanCause::products];
    CHECK(products > 0.66);
    CHECK(products < (targets == memory::AdapterTargets::all_linear ? 0.95 : 0.80));
    CHECK(thin.parts[PlanCause::optimizer] < 0.02 * whole.parts[PlanCause::optimizer]);
  }
  job.adapters.frozen_bytes = 0.516;
  // Four of six FLOPs of each frozen weight are left, and attention's.
  const double left = planner_mfu(job, 1);
  job.adapters.rank = 0;
  CHECK(left < 0.75 * planner_mfu(job, 1));
  CHECK(left > 2.0 / 3 * planner_mfu(job, 1));
  job.adapters.rank = 16;
  // Half a byte a matrix's element, and two of the embedding's and the output's.
  CHECK(memory::state_bytes(job.architecture, priced(job, p).plan).total() <
        0.05 * memory::state_bytes(job.architecture, whole.plan).total());
  job.adapters.rank = 2048;
  CHECK(price_plan(job, planned(job, p)).error.find("take a smaller rank") != std::string::npos);
  CHECK(search_plans(job, {}).reason.find("take a smaller rank") != std::string::npos);
}

TEST_CASE("planner choices: adapters alone are summed over replicas, and frozen weights are gathered all the same") {
  PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 64}, 128, StackId::megatron_core);
  const TrainingPlan split{.data = 64, .zero_stage = 1}, sharded{.data = 64, .zero_stage = 3};
  const double all_s = priced(job, split).parts[PlanCause::data], gathered_s = priced(job, sharded).step_s;
  job.adapters.rank = 16;
  // Of all gradients the last bucket is waited for; of the adapters' all there is, which is latency.
  CHECK(priced(job, split).parts[PlanCause::data] < 0.5 * all_s);
  const auto plan = planned(job, sharded);
  const PlannerStages stages = planner_stages(job.architecture, plan);
  const ShardedUnits units = sharded_units(job, plan, stages.groups[0].memory, {.first = true, .last = true});
  CHECK(units.units[1].gather_s > 5 * units.units[1].scatter_s);
  CHECK(priced(job, sharded).step_s < gathered_s);
}

TEST_CASE("planner choices: adapters over GPUs that share a layer gather and sum as ParallelLinearAdapter does") {
  PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 8}, 8, StackId::megatron_core);
  job.adapters.rank = 16;
  const double tokens = 8192, hidden = 4096, middle = tokens * 16 * 2, stream = tokens * hidden * 2;
  const AllReduceGroup group = planner_group(job.cluster, 8, 1);
  const AllReduceLinks links = planner_links(job.cluster);
  const auto gather_s = [&](double bytes) { return ring_gather_time(group, links, bytes).total_s(); };
  const auto sum_s = [&](double bytes) {
    return all_reduce_time(AllReduceAlgorithm::fastest, group, links, bytes).total_s();
  };
  for (const bool by_tokens : {false, true}) {
    TrainingPlan p{.tensor = 8, .sequence_parallel = by_tokens};
    const PlannerKindTimes layer = micro_batch_times(job, planned(job, p)).kinds.front();
    // Queries, keys and values read one input and send as one; the output's matrix is cut by rows.
    const double forward_s = gather_s(3 * middle) + sum_s(middle) + gather_s(stream);
    double backward_s = sum_s(3 * middle) + sum_s(middle);
    backward_s += by_tokens ? gather_s(stream) : sum_s(stream);
    const double own_s = 2 * tensor_sum_s(job.cluster, planned(job, p), stream);
    CHECK(near(layer.forward.tensor_s, own_s * job.stack.tensor_exposed_forward + forward_s, 1e-12));
    // Frozen weights need no input a second time.
    CHECK(near(layer.backward.tensor_s, own_s * job.stack.tensor_exposed_backward + backward_s, 1e-12));
    // The gradients of the pairs alone can wait.
    CHECK(layer.backward.pair_weights_s > 0);
    CHECK(layer.backward.pair_weights_s < 0.2 * layer.backward.products_s);
  }
  // What a layer keeps with sequence parallelism: an eighth of two norms' inputs, of attention's and of the
  // activation's operands; the first norm's result whole, for the pairs; and their four middles.
  const TrainingPlan split = planned(job, {.tensor = 8, .sequence_parallel = true});
  const double kept = memory::micro_batch_memory(job.architecture, split).kinds.front().memory.saved;
  const double attention = stream + 2 * tokens * 1024 * 2 + tokens * 32 * 4 + stream, gate = 2 * tokens * 14336 * 2;
  CHECK(near(kept, (2 * stream + attention + gate) / 8 + stream + 4 * middle, 1e-12));
  // One GPU sends nothing, and neither does a pair beside what every GPU has whole.
  SharedPair pair{.rows = tokens, .inputs = hidden, .outputs = hidden, .rank = 16};
  CHECK(pair_traffic(job.cluster, pair).forward_s == 0);
  pair.ranks = 8;
  pair.cut = memory::MatrixCut::whole;
  CHECK(pair_traffic(job.cluster, pair).backward_s == 0);
  // Experts' results are summed by their own exchange.
  pair.cut = memory::MatrixCut::rows;
  const double whole_s = pair_traffic(job.cluster, pair).forward_s;
  pair.experts = true;
  CHECK(near(whole_s - pair_traffic(job.cluster, pair).forward_s, gather_s(stream), 1e-12));
}

TEST_CASE("planner choices: of adapters gradients alone travel, and Adafactor sums the rows of their own matrices") {
  const PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 8}, 8, StackId::megatron_core);
  CHECK(zero_traffic({.data = 8, .zero_stage = 1}, 0.01).total() == 0.02);
  // Two gathers of the frozen weights with their pairs, and one sum of the pairs' gradients: 2 x 1.01 + 0.01.
  CHECK(near(zero_traffic({.data = 8, .zero_stage = 3, .frozen = true}, 0.01).total(), 2.03, 1e-12));
  TrainingPlan p{.optimizer = memory::OptimizerKind::adafactor,
                 .frozen = true,
                 .adapter_rank = 16,
                 .adapter_targets = memory::AdapterTargets::query_value};
  // A query's pair has 2 x 4,096 x 16 numbers and 2 x (4,096 + 16) sums, a value's 16 x 5,120 and 5,120 + 32.
  const double sums = 2 * 4112 + 5152, numbers = 16 * (8192 + 5120);
  CHECK(near(memory::bytes_per_parameter(job.architecture, p).optimizer, 4 * sums / numbers, 1e-12));
  p.optimizer = memory::OptimizerKind::muon;
  CHECK(memory::bytes_per_parameter(job.architecture, p).optimizer == 4);
}

TEST_CASE("planner choices: fragments of the allocator are a share that is on or off") {
  PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 8}, 64, StackId::megatron_core);
  const TrainingPlan p{.data = 8, .zero_stage = 1};
  const double none = priced(job, p).memory_bytes;
  job.stack.slack_share = fixed_segments_slack;
  CHECK(near(priced(job, p).memory_bytes, (1 + fixed_segments_slack) * none, 1e-12));
  // The allocator's own lab: sequences of changing length leave a tenth and more in fixed segments, and in expandable
  // ones next to nothing.
  const memory::AllocatorProgram program = memory::make_allocator_program({.layers = 8, .steps = 6});
  const auto fragments = [&](bool expandable) {
    const memory::AllocatorPeaks peaks =
        memory::replay_allocator(program.list, {.expandable_segments = expandable}).peaks;
    return static_cast<double>(peaks.reserved_bytes) / static_cast<double>(peaks.allocated_bytes) - 1;
  };
  CHECK(fragments(false) > 0.05);
  CHECK(fragments(true) < 0.01);
}

TEST_CASE("planner choices: sums between nodes in the network's switches are those of the lab of collectives") {
  const PlannerCluster rings = *planner_cluster(chosen_chip("h100_sxm"), {.gpus = 64}, Format::bf16);
  for (const bool nvls : {false, true}) {
    const PlannerCluster adds =
        *planner_cluster(chosen_chip("h100_sxm"), {.gpus = 64, .in_switch = nvls, .in_network = true}, Format::bf16);
    for (const std::int64_t ranks : {16, 64})
      for (const double bytes : {1e6, 1e8, 1e10}) {
        const AllReduceGroup group{ranks, 8};
        const auto machine = collective_machine(
            chosen_chip("h100_sxm"),
            {.ranks = ranks, .nic_line_bytes_per_s = adds.link_between_bytes_per_s, .nvls = nvls, .in_network = true});
        REQUIRE(machine);
        double least_s = all_reduce_time(AllReduceAlgorithm::fastest, group, planner_links(adds), bytes).total_s();
        for (const NcclCandidate& c : nccl_candidates(*machine, Primitive::all_reduce))
          if (c.algorithm == NcclAlgorithm::collnet_direct || c.algorithm == NcclAlgorithm::collnet_chain ||
              c.algorithm == NcclAlgorithm::nvls)
            least_s = std::min(least_s, candidate_s(*machine, Primitive::all_reduce, c, bytes, true));
        CHECK(near(planner_sum_s(adds, group, planner_links(adds), 1, bytes), least_s, 1e-12));
        CHECK(planner_sum_s(adds, group, planner_links(adds), 1, bytes) <=
              planner_sum_s(rings, group, planner_links(rings), 1, bytes));
      }
  }
  // Inside a node they change nothing.
  CHECK(planner_sum_s(rings, {8, 8}, planner_links(rings), 1, 1e8) ==
        planner_sum_s(*planner_cluster(chosen_chip("h100_sxm"), {.gpus = 64, .in_network = true}, Format::bf16), {8, 8},
                      planner_links(rings), 1, 1e8));
}

TEST_CASE("planner choices: PyTorch's stages keep sharded units whole for all micro-batches") {
  PlannerJob job = chosen_job("llama", "llama-3-70b", {.gpus = 64}, 64, StackId::fsdp_compiled);
  TrainingPlan p{.tensor = 8, .pipeline = 4, .data = 2, .sequence_parallel = true, .zero_stage = 3};
  p.recompute = Recompute::full;
  const PricedPlan whole = priced(job, p);
  job.stack.whole_in_pipeline = false;
  const PricedPlan given_up = priced(job, p);
  // A stage's weights of two bytes and sums of four are there at once, in place of two layers' and one's.
  const auto held = memory::training_memory(job.architecture, whole.plan);
  REQUIRE(held);
  CHECK(near(held->whole.at_work, 2 * held->parameters, 1e-9));
  CHECK(near(held->whole.reducing, 4 * held->parameters, 1e-9));
  CHECK(whole.memory_bytes > given_up.memory_bytes + 5 * held->parameters);
  // They cross the links once a step: as if there were one micro-batch.
  CHECK(whole.parts[PlanCause::data] < given_up.parts[PlanCause::data]);
  CHECK(near(zero_traffic(whole.plan).gathered, 1));
  CHECK(near(zero_traffic(given_up.plan).gathered, 2 * as_double(given_up.plan.micro_batches)));
  p.pipeline = 1;
  p.data = 8;
  CHECK_FALSE(memory::stays_whole(planned(job, p)));
}

TEST_CASE("planner choices: with sequence parallelism the backward pass gathers its inputs once more") {
  PlannerJob job = chosen_job("llama", "llama-3-8b", {.gpus = 8}, 8, StackId::megatron_2022);
  TrainingPlan p{.tensor = 8, .sequence_parallel = false};
  job.stack.tensor_exposed_forward = 0;
  job.stack.tensor_exposed_backward = 1;
  const auto backward_s = [&] { return micro_batch_times(job, planned(job, p)).kinds[0].backward.tensor_s; };
  const double sum_s = backward_s();
  p.sequence_parallel = true;
  CHECK(near(backward_s(), 1.5 * sum_s, 1e-12));
}

TEST_CASE("planner choices: experts' layers wait for the host that launches them") {
  PlannerJob job = chosen_job("mistral", "mixtral-8x7b", {.gpus = 8}, 8, StackId::megatron_core);
  const TrainingPlan p{.data = 8, .expert = 8, .zero_stage = 1};
  job.stack.expert_layer_host_s = 1;
  const MicroBatchTimes waits = micro_batch_times(job, planned(job, p));
  CHECK(near(waits.kinds[0].forward.total_s(), 1, 1e-12));
  CHECK(near(waits.kinds[0].backward.total_s(), 2, 1e-12));
  job.stack.expert_layer_host_s = 1e-6;
  const double free_s = micro_batch_times(job, planned(job, p)).kinds[0].forward.total_s();
  job.stack.expert_layer_host_s = 0;
  CHECK(micro_batch_times(job, planned(job, p)).kinds[0].forward.total_s() == free_s);
}

TEST_CASE("planner choices: a plan that is timed again has the makespan of its run, to the last bit") {
  for (std::size_t i = 0; i < pipeline_schedule_count; ++i)
    for (const std::int64_t ranks : {2, 4, 8}) {
      const PipelineSpec spec{static_cast<PipelineSchedule>(i), ranks, 3 * ranks, 2};
      const auto plan = pipeline_plan(spec);
      if (!plan) continue;
      PipelineTimer timer(*plan);
      REQUIRE(timer.comes_to_its_end());
      for (const double weight : {0.3, 0.7, 1.1}) {
        PipelineTimes times;
        times.input_gradient_s = 1.3 - weight / 7;
        times.weight_gradient_s = weight;
        const auto run = run_pipeline(*plan, times);
        REQUIRE(run);
        double busiest_s = 0;
        for (const PipelineRank& rank : run->ranks) busiest_s = std::max(busiest_s, rank.busy_s);
        const PipelineTimer::Ends ends = timer.run(times);
        CHECK(ends.makespan_s == run->makespan_s);
        CHECK(ends.busiest_s == busiest_s);
      }
    }
  CHECK_FALSE(PipelineTimer(PipelinePlan()).comes_to_its_end());
}
