#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "models/base/counter_random.h"
#include "models/parallel/collectives/collective_formulas.h"
#include "models/parallel/overlap/overlap_plan.h"
#include "models/training/scaling.h"
#include "models/training/step_simulation.h"
#include "tests/support/base/near.h"

using support::near;
using namespace models;
using namespace models::parallel;

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

/// `layers` equal layers of one tensor each between an embedding and an output that cost nothing.
OverlapWork equal_layers(std::int64_t layers, double forward_s, double backward_s, std::int64_t elements) {
  OverlapWork work;
  work.units.push_back({"embedding", 0, 0, 0});
  for (std::int64_t i = 0; i < layers; ++i)
    work.units.push_back({"layer " + std::to_string(i), static_cast<double>(elements), forward_s, backward_s});
  work.units.push_back({"output", 0, 0, 0});
  for (std::int64_t i = layers; i > 0; --i) work.tensors.push_back({elements, static_cast<std::int32_t>(i), 1});
  work.forward_s = static_cast<double>(layers) * forward_s;
  work.backward_s = static_cast<double>(layers) * backward_s;
  work.elements = static_cast<double>(layers * elements);
  return work;
}

/// A ring over one kind of link.
OverlapSetup ring_setup(std::int64_t gpus, double bytes_per_s, double hop_s) {
  OverlapSetup s;
  s.gpus = s.shards = s.gpus_per_node = gpus;
  s.algorithm = AllReduceAlgorithm::ring;
  s.links = {bytes_per_s, bytes_per_s, hop_s, hop_s, 0};
  return s;
}

struct Stepped {
  OverlapPlan plan;
  OverlapRun run;
};
Stepped stepped(const OverlapWork& work, const OverlapSetup& setup) {
  REQUIRE(check(setup));
  Stepped out{overlap_plan(work, setup), {}};
  out.run = run_overlap(out.plan.tasks, setup.slowdown);
  return out;
}

double drawn(std::uint64_t of, std::uint64_t i) { return unit_draw(random_stream(of, 5), i); }

OverlapWork random_work(std::uint64_t seed) {
  OverlapWork work = equal_layers(2 + static_cast<std::int64_t>(20 * drawn(seed, 0)), 1, 1, 1);
  work.tensors.clear();
  work.tied = drawn(seed, 1) < 0.5;
  work.forward_s = work.backward_s = work.elements = 0;
  for (std::size_t u = work.units.size(); u-- > 0;) {
    OverlapUnit& unit = work.units[u];
    unit.forward_s = 1e-3 * drawn(seed, 10 + 3 * u);
    unit.backward_s = 2e-3 * drawn(seed, 11 + 3 * u);
    const auto elements = 1 + static_cast<std::int64_t>(1e7 * drawn(seed, 12 + 3 * u));
    unit.elements = 3.0 * static_cast<double>(elements);
    for (int k = 1; k <= 3; ++k) work.tensors.push_back({elements, static_cast<std::int32_t>(u), k / 3.0});
    work.forward_s += unit.forward_s;
    work.backward_s += unit.backward_s;
    work.elements += unit.elements;
  }
  work.optimizer_s = 1e-3 * drawn(seed, 2);
  return work;
}

OverlapSetup random_setup(std::uint64_t seed) {
  OverlapSetup s;
  s.method = drawn(seed, 100) < 0.5 ? OverlapMethod::ddp : OverlapMethod::fsdp;
  s.gpus = std::int64_t{1} << static_cast<int>(12 * drawn(seed, 101));
  s.shards = std::max<std::int64_t>(1, s.gpus >> static_cast<int>(4 * drawn(seed, 102)));
  s.bucket_bytes = 1e5 * std::pow(1e4, drawn(seed, 103));
  s.first_bucket_bytes = std::min(s.bucket_bytes, mebibyte);
  s.beside_backward = drawn(seed, 104) < 0.8;
  s.reshard_after_forward = drawn(seed, 105) < 0.6;
  s.forward_ahead = static_cast<std::int64_t>(4 * drawn(seed, 106));
  s.backward_ahead = static_cast<std::int64_t>(4 * drawn(seed, 107));
  s.slowdown = 0.5 * drawn(seed, 108);
  s.micro_batches = 1 + static_cast<std::int64_t>(3 * drawn(seed, 110));
  s.links.between_bytes_per_s = 1e9 * std::pow(1e3, drawn(seed, 109));
  return s;
}

/// A model of `layers` layers as torch.nn.Linear, nn.Embedding and nn.RMSNorm hold it.
OverlapWork llama(std::int64_t vocab, std::int64_t hidden, std::int64_t kv_heads, std::int64_t ffn, std::int64_t layers,
                  bool tied) {
  Architecture a;
  a.model_type = "llama";
  a.hidden = hidden;
  a.layers = layers;
  a.head_dim = 64;
  a.heads = hidden / 64;
  a.kv_heads = kv_heads;
  a.ffn = ffn;
  a.vocab = vocab;
  a.tied = tied;
  const auto work = overlap_work(a, {.batch = 1, .sequence = 2048},
                                 {.peak_flops_per_s = 989e12, .bandwidth_bytes_per_s = 3.35e12}, 0.7);
  INFO(work.error);
  REQUIRE(work);
  return *work;
}

/// Sizes in the order of the buckets.
std::vector<double> bucket_sizes(const OverlapWork& work, double element_bytes, double cap_mib) {
  std::vector<double> out;
  for (const GradientBucket& b : gradient_buckets(work.tensors, element_bytes, mebibyte, cap_mib * mebibyte))
    out.push_back(b.bytes);
  return out;
}

}  // namespace

TEST_CASE("buckets are those that PyTorch 2.11 rebuilds after its first backward") {
  // rebuilt_bucket_sizes of DistributedDataParallel's logging data, of the same modules, run on one H100.
  std::vector<double> tied;
  for (int layer = 0; layer < 16; ++layer) tied.insert(tied.end(), {67117056, 67108864, 67108864, 41951232});
  tied.push_back(1050681344);
  CHECK(bucket_sizes(llama(128256, 2048, 8, 8192, 16, true), 4, 25) == tied);
  std::vector<double> untied{262144000};
  for (int layer = 0; layer < 4; ++layer) untied.insert(untied.end(), {46145536, 46137344, 46137344, 41951232});
  untied.push_back(262152192);
  CHECK(bucket_sizes(llama(32000, 2048, 8, 5632, 4, false), 4, 25) == untied);
  const OverlapWork small = llama(32000, 1024, 4, 2816, 6, false);
  CHECK(bucket_sizes(small, 2, 25) == std::vector<double>{65536000, 28317696, 28315648, 28315648, 27793408, 88086528});
  CHECK(bucket_sizes(small, 4, 100) == std::vector<double>{131072000, 113266688, 105926656, 182464512});
  std::vector<double> fine{131072000};
  for (int layer = 0; layer < 6; ++layer) fine.insert(fine.end(), {11538432, 11534336, 11534336, 5246976, 5242880});
  fine.push_back(131076096);
  CHECK(bucket_sizes(small, 4, 5) == fine);
}

TEST_CASE("gradients of a model: every parameter once, in the order of the backward pass") {
  const OverlapWork work = llama(128256, 2048, 8, 8192, 16, true);
  double elements = 0, last = -1;
  for (const GradientTensor& t : work.tensors) {
    elements += static_cast<double>(t.elements);
    const double at = static_cast<double>(work.units.size()) - t.unit + t.after_share - 1;
    CHECK(at >= last);
    last = at;
  }
  CHECK(elements == work.elements);
  CHECK(elements == 1235814400);
  CHECK(work.tensors.back().elements == 128256 * 2048);  // a tied matrix waits for the embedding
  const OverlapWork merged = with_units_of(work, 5);
  CHECK(merged.units.size() == 6);
  CHECK(merged.units[1].name == "layers 0 to 4");
  CHECK(merged.units[4].name == "layer 15");
  CHECK(near(merged.units[1].elements, 5 * work.units[1].elements, 1e-12));
  last = -1;
  for (const GradientTensor& t : merged.tensors) {
    const double at = static_cast<double>(merged.units.size()) - t.unit + t.after_share - 1;
    CHECK(at >= last - 1e-12);
    last = at;
  }
}

TEST_CASE("two streams: order, needs and sums hold on random steps") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    const OverlapWork work = random_work(seed);
    const OverlapSetup setup = random_setup(seed);
    const auto [plan, run] = stepped(work, setup);
    std::array<double, 2> free_s{};
    double compute_s = 0;
    for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
      const OverlapTask& task = plan.tasks[i];
      const double taken_s = run.end_s[i] - run.start_s[i];
      CHECK(std::isfinite(run.end_s[i]));
      CHECK(run.start_s[i] >= free_s[is_network(task.kind)]);
      free_s[is_network(task.kind)] = run.end_s[i];
      for (const std::int32_t need : task.needs) {
        REQUIRE(need < static_cast<std::int32_t>(i));
        if (need >= 0) CHECK(run.start_s[i] >= run.end_s[static_cast<std::size_t>(need)]);
      }
      if (is_network(task.kind)) {
        CHECK(near(taken_s + 1, task.work_s + 1, 1e-12));
      } else {
        compute_s += task.work_s;
        CHECK(taken_s >= task.work_s - 1e-12);
        CHECK(taken_s <= task.work_s * (1 + setup.slowdown) + 1e-12);
      }
    }
    CHECK(near(compute_s,
               static_cast<double>(setup.micro_batches) * (work.forward_s + work.backward_s) + work.optimizer_s, 1e-9));
    CHECK(near(run.compute_s + run.slowed_s + run.exposed_s, run.makespan_s, 1e-9));
    CHECK(run.exposed_s + run.slowed_s >= -1e-12);
    CHECK(run.exposed_s <= run.network_s + 1e-12);
    // No step is shorter than either stream, and none longer than both one after the other.
    CHECK(run.makespan_s >= std::max(compute_s, run.network_s) - 1e-12);
    CHECK(run.makespan_s <= compute_s + run.slowed_s + run.network_s + 1e-9);
    double before = 0, last = 0;
    for (const HeldWeights& held : held_weights(work, setup, plan, run)) {
      CHECK(held.time_s >= before);
      before = held.time_s;
      last = held.bytes;
    }
    CHECK(last <= 1e-6 * work.elements);  // all that was gathered is freed, all gradients are reduced
  }
}

TEST_CASE("no exposure on an infinite network, no overlap in one bucket") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const OverlapWork work = random_work(seed);
    OverlapSetup setup = random_setup(seed);
    setup.slowdown = 0;
    const double alone_s =
        static_cast<double>(setup.micro_batches) * (work.forward_s + work.backward_s) + work.optimizer_s;
    setup.links = {no_limit, no_limit, 0, 0, 0};
    CHECK(near(stepped(work, setup).run.makespan_s, alone_s, 1e-9));
    const std::int64_t micro_batches = setup.micro_batches;
    setup = random_setup(seed);
    setup.micro_batches = micro_batches;
    setup.method = OverlapMethod::ddp;
    setup.gpus = 64;
    setup.slowdown = 0;
    setup.bucket_bytes = setup.first_bucket_bytes = no_limit;
    setup.beside_backward = true;
    const OverlapRun one = stepped(work, setup).run;
    CHECK(near(one.exposed_s, reduce_time_s(setup, 4 * work.elements), 1e-9));
    CHECK(near(one.tail_s, one.exposed_s, 1e-9));
    setup.gpus = 1;
    CHECK(near(stepped(work, setup).run.makespan_s, alone_s, 1e-9));
  }
}

TEST_CASE("DDP agrees with the simulation of training steps and with the scaling model") {
  // 16 layers of 1 ms + 2 ms; a bucket of gradients each, of two layers, of all.
  for (const std::int64_t buckets : {1, 4, 8, 16})
    for (const double bytes_per_s : {5e9, 30e9, 200e9}) {
      const std::int64_t layers = 16, elements = 4'000'000;
      const OverlapWork work = equal_layers(layers, 1e-3, 2e-3, elements);
      OverlapSetup setup = ring_setup(8, bytes_per_s, 5e-6);
      setup.bucket_bytes = setup.first_bucket_bytes = 4.0 * elements * static_cast<double>(layers / buckets);
      const auto [plan, run] = stepped(work, setup);
      REQUIRE(static_cast<std::int64_t>(plan.buckets.size()) == buckets);

      StepSetup step;
      step.loader.samples = 1;
      step.loader.decode_s = step.loader.request_latency_s = 0;
      step.loader.sample_bytes = step.loader.batch_bytes = 0;
      step.copy = BatchCopy::copy_stream;
      step.layers = layers;
      step.forward_s = 0.016;
      step.backward_s = 0.032;
      step.kernels_per_layer = 1;
      step.launch_s = step.launch_latency_s = 0;
      step.parameters = 0;
      step.sync_every = 0;
      step.ranks = 8;
      step.buckets = buckets;
      step.gradient_bytes = 4.0 * static_cast<double>(elements * layers);
      step.bus_bytes_per_s = bytes_per_s;
      step.hop_latency_s = 5e-6;
      const auto simulated = simulate_steps(step, {.steps = 6});
      INFO(simulated.error);
      REQUIRE(simulated);
      const double exposed_s = mean_of_last(*simulated, 2).idle_s[static_cast<std::size_t>(StepCause::communication)];
      CHECK(std::abs(run.exposed_s - exposed_s) <= 1e-6);

      // What the scaling model hides is the most that any order of buckets can hide; one bucket hides nothing.
      ScalingSetup scaling;
      scaling.rule = BatchRule::own_batch;
      scaling.sequences = 1;
      scaling.sequence_gpu_s = 0.048;
      scaling.gradient_bytes = step.gradient_bytes;
      scaling.buckets = buckets;
      scaling.links = setup.links;
      scaling.overlap = buckets == 1 ? 0 : 1;
      const auto scaled = scaled_step(scaling, 8);
      REQUIRE(scaled);
      CHECK(near(run.network_s, scaled->all_reduce.total_s(), 1e-9));
      if (buckets == 1) CHECK(near(run.exposed_s, scaled->exposed_s, 1e-9));
      // The first bucket starts when the first of its layers is done, and the last runs alone.
      CHECK(run.exposed_s >= scaled->exposed_s - 1e-12);
      CHECK(run.exposed_s <= scaled->exposed_s + 0.032 / static_cast<double>(buckets) +
                                 run.network_s / static_cast<double>(buckets) + 1e-12);
    }
}

TEST_CASE("from the critical tokens on compute is as long as what it hides") {
  // 2 flops a parameter and token forward, 4 backward, at 5e14 a second.
  const double reached = 5e14;
  const std::int64_t elements = 50'000'000;
  for (const bool fsdp : {false, true})
    for (const bool reshard : {false, true})
      for (const double bytes_per_s : {50e9, 370e9}) {
        OverlapSetup setup = ring_setup(64, bytes_per_s, 0);
        setup.method = fsdp ? OverlapMethod::fsdp : OverlapMethod::ddp;
        setup.reshard_after_forward = reshard;
        OverlapWork work = equal_layers(200, 1, 1, elements);
        const double tokens = critical_tokens(work, setup, reached);
        if (!fsdp) CHECK(near(tokens, 4 * 63.0 / 64 * reached / (2 * bytes_per_s), 1e-9));
        for (const double share : {0.5, 1.0, 2.0}) {
          const double forward_s = share * tokens * 2 * static_cast<double>(elements) / reached;
          work = equal_layers(200, forward_s, 2 * forward_s, elements);
          setup.bucket_bytes = setup.first_bucket_bytes = 4.0 * elements;
          const OverlapRun run = stepped(work, setup).run;
          const double alone_s = work.forward_s + work.backward_s;
          // At and above it a few layers' worth stick out, of 200; at half of it far more.
          if (share >= 1) CHECK(run.exposed_s <= 0.02 * alone_s);
          if (share < 1) CHECK(run.exposed_s >= 0.3 * alone_s);
        }
      }
}

TEST_CASE("a gather takes what the collectives model says of a ring's all-gather") {
  const auto ring_gather_s = [](std::int64_t ranks, double bytes, double hop_s, double bytes_per_s) {
    const CollectiveSpec spec{Primitive::all_gather, CollectiveAlgorithm::ring, ranks};
    return collective_time(spec, bytes, {.latency_s = hop_s, .bandwidth_bytes_per_s = bytes_per_s}).total_s();
  };
  OverlapSetup s;
  s.method = OverlapMethod::fsdp;
  s.gpus_per_node = 8;
  s.links = {.inside_bytes_per_s = 400e9, .between_bytes_per_s = 25e9, .inside_hop_s = 1e-6, .between_hop_s = 9e-6};
  const auto gather_over = [&](std::int64_t shards) {
    s.gpus = s.shards = shards;
    return gather_time_s(s, 80e6);
  };
  // One node: 7 steps of 1 us, then 7/8 of 80 MB at 400 GB/s, 175 us.
  CHECK(near(gather_over(8), ring_gather_s(8, 80e6, 1e-6, 400e9), 1e-12));
  CHECK(near(gather_over(8), 182e-6, 1e-12));
  // Four nodes: 28 steps inside and 3 between, 31/32 of 80 MB over 8 ports of 25 GB/s.
  CHECK(near(gather_over(32), 28 * 1e-6 + 3 * 9e-6 + 77.5e6 / 200e9, 1e-12));
  // A GPU a node: all steps leave it, through one port.
  s.gpus_per_node = 1;
  CHECK(near(gather_over(16), ring_gather_s(16, 80e6, 9e-6, 25e9), 1e-12));
  // What is paid once for a call is paid whole, and nothing is gathered where nothing is split.
  s.links.base_s = 5e-6;
  CHECK(near(gather_over(16), 5e-6 + 15 * 9e-6 + 75e6 / 25e9, 1e-12));
  CHECK(gather_over(1) == 0);
}

TEST_CASE("FSDP: what is sent, gathered at once and gathered again") {
  const OverlapWork work = equal_layers(12, 1e-3, 2e-3, 10'000'000);
  OverlapSetup setup = ring_setup(8, 400e9, 0);
  setup.method = OverlapMethod::fsdp;
  setup.gradient_bytes = 2;
  setup.slowdown = 0;
  const double whole = 2 * work.elements * 7 / 8;
  const auto peak_of = [&](const OverlapSetup& s) {
    const auto [plan, run] = stepped(work, s);
    double peak = 0;
    for (const HeldWeights& held : held_weights(work, s, plan, run)) peak = std::max(peak, held.bytes);
    return peak / 20e6;  // in layers
  };
  CHECK(near(stepped(work, setup).plan.sent_bytes, 3 * whole, 1e-9));  // twice gathered, once reduced
  setup.reshard_after_forward = false;
  CHECK(near(stepped(work, setup).plan.sent_bytes, 2 * whole, 1e-9));  // as DDP
  // All weights and the gradients of a layer; a backward later a layer's weights are gone and two layers' gradients
  // wait.
  CHECK(near(peak_of(setup), 13, 1e-9));
  setup.reshard_after_forward = true;
  // Forward: the layer that runs and two ahead. Backward: its weights and two layers' gradients, then, when one of
  // these is sent, the weights of one ahead.
  CHECK(near(peak_of(setup), 3, 1e-9));
  setup.forward_ahead = 4;
  CHECK(near(peak_of(setup), 5, 1e-9));
  setup.forward_ahead = setup.backward_ahead = 0;
  CHECK(near(peak_of(setup), 2, 1e-9));
  const OverlapRun apart = stepped(work, setup).run;
  const double gather_s = gather_time_s(setup, 20e6);
  // Nothing ahead: each gather is waited for, and of a backward's two collectives the gather waits for the other.
  CHECK(near(apart.exposed_s, 24 * gather_s + 12 * gather_s, 1e-6));
  setup.shards = 4;  // two replicas of four
  const OverlapPlan hybrid = overlap_plan(work, setup);
  CHECK(near(hybrid.sent_bytes, 2 * work.elements * (3 * 0.75 + 1.0 / 4), 1e-9));
  setup.shards = 3;
  CHECK_FALSE(check(setup));
}

TEST_CASE("micro-batches: DDP hides behind the last backward alone, FSDP exchanges in each") {
  const OverlapWork work = equal_layers(12, 1e-3, 2e-3, 10'000'000);
  OverlapSetup setup = ring_setup(8, 20e9, 0);
  const double exposed_s = stepped(work, setup).run.exposed_s;
  setup.micro_batches = 4;
  const auto [plan, run] = stepped(work, setup);
  CHECK(near(run.exposed_s, exposed_s, 1e-9));
  CHECK(near(run.compute_s, 4 * 0.036, 1e-9));
  setup.method = OverlapMethod::fsdp;
  const double sent = overlap_plan(work, setup).sent_bytes;
  setup.micro_batches = 1;
  CHECK(near(sent, 4 * overlap_plan(work, setup).sent_bytes, 1e-9));
}
