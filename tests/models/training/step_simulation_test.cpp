#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/base/counter_random.h"
#include "models/trace/measure/metrics.h"
#include "models/training/step_simulation.h"
#include "tests/models/trace/written.h"
#include "tests/support/base/near.h"

using namespace models;
using support::near;

namespace {

/// Batches come from `workers` in pinned memory, and are copied on a stream of their own.
StepSetup copied_apart(std::int64_t workers) {
  StepSetup s;
  s.loader.workers = workers;
  s.loader.pinned = true;
  s.copy = BatchCopy::copy_stream;
  return s;
}

StepRun simulated(const StepSetup& setup, const StepOptions& options = {}) {
  auto run = simulate_steps(setup, options);
  INFO(run.error);
  REQUIRE(run);
  return std::move(*run);
}
StepMeans steady(const StepSetup& setup) {
  const std::int64_t last = steady_steps(setup);
  return mean_of_last(simulated(setup, {.steps = 16 + last}), last);
}
void check_sums(const StepRun& run) {
  std::int64_t end_ns = 0;
  for (const StepLedger& l : run.steps) {
    CHECK(l.busy_ns() + l.idle_total_ns() == l.period_ns);
    CHECK(l.end_ns == end_ns + l.period_ns);
    end_ns = l.end_ns;
    for (const std::int64_t ns : l.idle_ns) CHECK(ns >= 0);
  }
}
/// A setup of made-up figures, all of them within what the labs offer.
StepSetup any_setup(std::uint64_t i) {
  const auto draw = [&](std::uint64_t of) { return unit_draw(random_stream(41, i), of); };
  const auto whole = [&](std::uint64_t of, std::int64_t most) {
    return static_cast<std::int64_t>(draw(of) * static_cast<double>(most));
  };
  StepSetup s;
  s.loader.workers = whole(0, 9);
  s.loader.prefetch = 1 + whole(1, 4);
  s.loader.samples = 1 + whole(2, 300);
  s.loader.decode_s = 3e-3 * draw(3);
  s.loader.decode_spread = 0.9 * draw(4);
  s.loader.cores = 1 + whole(5, 8);
  s.loader.pinned = draw(6) < 0.5;
  s.loader.storage_bytes_per_s = 1e8 + 2e9 * draw(7);
  s.copy = static_cast<BatchCopy>(whole(8, 3));
  s.layers = 8 + whole(9, 24);
  s.kernels_per_layer = 1 + whole(10, 40);
  s.forward_s = 0.2 * draw(11);
  s.backward_s = 0.3 * draw(12);
  s.launch_s = 30e-6 * draw(13);
  s.queue_depth = 1 + whole(14, 1500);
  s.optimizer = static_cast<OptimizerCode>(whole(15, 3));
  s.ranks = 1 + whole(16, 16);
  s.overlap = draw(17) < 0.5;
  s.sync_every = whole(18, 4);
  s.bus_bytes_per_s = 5e9 + 50e9 * draw(19);
  return s;
}

}  // namespace

// Study 000, chapter 3: loading 40, forward 20, backward 25, optimizer 10, idle 5 %; its step of 850 ms is chapter 6's.
TEST_CASE("step simulation: the example of 40, 20, 25, 10 and 5 %, and what its plan leaves") {
  StepSetup s;
  const StepMeans found = steady(s);
  CHECK(std::abs(found.period_s - 0.850) <= 1e-4);
  CHECK(std::abs(found.idle_s[0] / found.period_s - 0.40) <= 5e-4);
  CHECK(std::abs(found.forward_s / found.period_s - 0.20) <= 5e-4);
  CHECK(std::abs(found.backward_s / found.period_s - 0.25) <= 5e-4);
  CHECK(std::abs(found.optimizer_s / found.period_s - 0.10) <= 5e-4);
  // By hand: copy 150 MB / 10 GB/s = 15 ms; last bucket 2 x 7/8 x 400 MB / 50 GB/s = 14 ms; log 13.5 ms.
  CHECK(std::abs(found.idle_s[1] - 0.015) <= 2e-5);
  CHECK(std::abs(found.idle_s[4] - 0.014) <= 2e-5);
  CHECK(std::abs(found.idle_s[3] - 0.0135) <= 3e-5);
  s.loader.workers = 2;
  const StepMeans loaded = steady(s);
  CHECK(std::abs(loaded.period_s - 0.510) <= 1e-4);  // all of the 340 ms, since 340 / 2 < 510
  s.optimizer = OptimizerCode::fused;
  CHECK(std::abs(steady(s).period_s - (0.510 - 0.085 * 52 / 80)) <= 1e-4);
}

TEST_CASE("step simulation: busy and idle add up to every step, whatever the setup, and rows of recordings too") {
  for (std::uint64_t i = 0; i < 60; ++i) {
    CAPTURE(i);
    const StepSetup s = any_setup(i);
    const StepRun plain = simulated(s, {.steps = 9});
    check_sums(plain);
    // Kernel by kernel, with blocks and traces, the ledger is the closed form's.
    const StepRun told = simulated(s, {.steps = 9, .record_from = 5, .record_blocks = true, .record_traces = i < 12});
    REQUIRE(told.steps.size() == plain.steps.size());
    for (std::size_t k = 0; k < plain.steps.size(); ++k) {
      CHECK(told.steps[k].end_ns == plain.steps[k].end_ns);
      CHECK(told.steps[k].idle_ns == plain.steps[k].idle_ns);
    }
    std::int64_t idle_ns = 0, busy_ns = 0, expected_ns = 0;
    for (const StepBlock& b : told.blocks)
      if (b.row == StepRow::compute) (b.work == StepWork::idle ? idle_ns : busy_ns) += b.end_ns - b.start_ns;
    for (std::size_t k = 5; k < 9; ++k) expected_ns += plain.steps[k].period_ns;
    CHECK(idle_ns + busy_ns == expected_ns);
    if (told.traces.empty()) continue;
    const trace::Metrics m = trace::measure(told.traces[0]);
    REQUIRE(m.devices.size() == 1);
    const trace::DeviceMetrics& d = m.devices[0];
    CHECK(d.busy_ns + d.idle_ns == d.span_ns);
    CHECK(d.comp_ns == busy_ns);
    for (const trace::StreamMetrics& stream : d.streams) CHECK(stream.overlaps == 0);
  }
}

TEST_CASE("step simulation: the host is never further ahead than the queue, and a reading host waits for its room") {
  StepSetup s;
  s.loader.workers = 2;
  for (const std::int64_t depth : {1, 16, 1024, 4096}) {
    CAPTURE(depth);
    s.queue_depth = depth;
    const StepRun run = simulated(s);
    check_sums(run);
    CHECK(run.largest_lead <= depth);
    // 2,304 kernels of the optimizer stand behind the last bucket, and a launch takes a fifth of one.
    CHECK(run.largest_lead >= std::min<std::int64_t>(depth, 2304) - 1);
  }
  // Without a read of the loss the host loads as soon as it has launched the last kernel, one launch after the kernel
  // `depth` before it has begun: loading hides under depth + 1 kernels of 85 ms / 2,304 = 36.9 us, less one launch.
  s.loader.workers = 0;
  s.sync_every = 0;
  for (const std::int64_t depth : {64, 512, 1024, 2048}) {
    CAPTURE(depth);
    s.queue_depth = depth;
    const double hidden_s = static_cast<double>(depth + 1) * 0.085 / 2304 - 8e-6;
    CHECK(std::abs(steady(s).idle_s[0] - (0.340 - hidden_s)) <= 1e-6);
  }
}

TEST_CASE("step simulation: the same seed gives the same history, another seed another") {
  StepSetup s;
  s.loader.workers = 3;
  s.loader.decode_s = 8e-3;
  s.loader.decode_spread = 0.5;
  const StepOptions o{.steps = 12};
  const StepRun a = simulated(s, o), b = simulated(s, o);
  for (std::size_t i = 0; i < a.steps.size(); ++i) CHECK(a.steps[i].end_ns == b.steps[i].end_ns);
  s.loader.seed = 2;
  CHECK(simulated(s, o).steps.back().end_ns != a.steps.back().end_ns);
}

TEST_CASE("step simulation: written as Chrome JSON it reopens to the same figures, to the nanosecond") {
  StepSetup s = copied_apart(2);
  s.layers = 8;
  s.kernels_per_layer = 4;
  const StepRun run = simulated(s, {.steps = 7, .record_from = 3, .record_traces = true});
  const trace::Trace& made = run.traces[0];
  const auto text = trace::to_chrome_json(made);
  REQUIRE(text);
  const auto read = trace::read_trace(*text, "reopened");
  INFO(read.error);
  REQUIRE(read);
  CHECK(read->losses.empty());
  CHECK(read->events.size() == made.events.size());
  CHECK(read->tracks.size() == made.tracks.size());
  const trace::Metrics before = trace::measure(made), after = trace::measure(*read);
  REQUIRE(after.devices.size() == 1);
  const trace::DeviceMetrics &d = before.devices[0], &e = after.devices[0];
  CHECK(e.span_ns == d.span_ns);
  trace_test::check_same_times(e, d);
  CHECK(e.launch.linked == d.launch.linked);
  CHECK(e.launch.median_delay_ns == d.launch.median_delay_ns);
  CHECK(after.steps.size() == 4);
  REQUIRE(!read->counters.empty());
  CHECK(read->counters[0].samples.size() == made.counters[0].samples.size());
  REQUIRE(after.diagnosis.size() == before.diagnosis.size());
  for (std::size_t i = 0; i < after.diagnosis.size(); ++i) {
    CHECK(after.diagnosis[i].kind == before.diagnosis[i].kind);
    CHECK(after.diagnosis[i].part == before.diagnosis[i].part);
  }
}

TEST_CASE("step simulation: the viewer's diagnosis names the bottleneck that was planted") {
  using Kind = trace::DiagnosisKind;
  // What is named, the worst first; `idle` says only that there is something to find.
  const auto named = [](const StepSetup& s) {
    const StepRun run = simulated(s, {.steps = 10, .record_from = 2, .record_traces = true});
    const auto read = trace::read_trace(*trace::to_chrome_json(run.traces[0]), "reopened");
    REQUIRE(read);
    std::vector<Kind> kinds;
    for (const trace::Diagnosis& d : trace::measure(*read).diagnosis)
      if (d.kind != Kind::idle && d.kind != Kind::starts_late) kinds.push_back(d.kind);
    return kinds;
  };
  const auto first = [](const std::vector<Kind>& kinds, Kind kind) { return !kinds.empty() && kinds[0] == kind; };
  const auto has = [](const std::vector<Kind>& kinds, Kind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  StepSetup healthy;
  healthy.loader.workers = 4;
  healthy.loader.pinned = true;
  healthy.copy = BatchCopy::copy_stream;
  healthy.sync_every = 0;
  healthy.layers = 8;
  healthy.kernels_per_layer = 10;
  healthy.bus_bytes_per_s = 100e9;
  for (const Kind kind :
       {Kind::data_loader_late, Kind::sync_drains_queue, Kind::launches_set_pace, Kind::exposed_communication})
    CHECK_FALSE(has(named(healthy), kind));
  StepSetup s = healthy;
  s.loader.decode_s = 20e-3;
  CHECK(first(named(s), Kind::data_loader_late));
  s = healthy;
  s.sync_every = 1;
  s.log_s = 0.2;
  CHECK(first(named(s), Kind::sync_drains_queue));
  s = healthy;
  s.forward_s = 0.4e-3;
  s.backward_s = 0.8e-3;
  s.launch_s = 20e-6;
  s.optimizer = OptimizerCode::fused;
  s.loader.samples = 4;
  s.loader.pinned = false;
  s.gradient_bytes = 1e6;
  s.loader.batch_bytes = 1e6;
  s.parameters = 1e6;
  CHECK(has(named(s), Kind::launches_set_pace));
  s = healthy;
  s.bus_bytes_per_s = 6e9;
  s.parameters = 1e6;
  CHECK(first(named(s), Kind::exposed_communication));
}

TEST_CASE("batch loader: storage, cores or workers bound it, and twice the workers change nothing at the storage") {
  StepSetup s;
  s.forward_s = s.backward_s = 1e-3;
  s.parameters = 1e6;
  s.ranks = 1;
  s.sync_every = 0;
  s.loader.pinned = true;
  s.copy = BatchCopy::copy_stream;
  s.loader.workers = 8;
  s.loader.storage_bytes_per_s = 100e6;  // a batch of 40 MB in 400 ms
  CHECK(near(steady(s).period_s, 0.4, 1e-3));
  s.loader.workers = 16;
  CHECK(near(steady(s).period_s, 0.4, 1e-3));
  s.loader.storage_bytes_per_s = 2e9;
  s.loader.cores = 4;  // 200 x 1.5 ms on 4 cores
  CHECK(near(steady(s).period_s, 0.075, 1e-3));
  s.loader.cores = 64;
  s.loader.workers = 4;  // 340 ms a batch, four at a time
  CHECK(near(steady(s).period_s, 0.085, 1e-3));
  const LoaderCeilings c = loader_ceilings(s.loader);
  CHECK(near(c.workers_per_s, 4 / 0.34, 1e-9));
  CHECK(near(c.storage_per_s, 50, 1e-9));
  CHECK(near(c.least_per_s(), c.workers_per_s, 1e-9));
  // Shards: one request for all samples leaves 40 ms of latency out of 340 less 20.
  s.loader.samples_per_request = 1000;
  CHECK(near(steady(s).period_s, (0.320 + 0.2e-4) / 4, 1e-3));
}

TEST_CASE("step simulation: a copy hides beside compute only on a stream of its own, and never under a blocking copy") {
  StepSetup s;
  s.loader.workers = 4;
  s.loader.pinned = true;
  s.sync_every = 0;
  s.ranks = 1;
  const double busy_s = 0.17 + 0.2125 + 0.085;
  s.copy = BatchCopy::copy_stream;
  CHECK(std::abs(steady(s).period_s - busy_s) <= 1e-4);
  s.copy = BatchCopy::pinned;
  CHECK(std::abs(steady(s).period_s - busy_s - 150e6 / 25e9) <= 1e-4);
  s.copy = BatchCopy::pageable;
  CHECK(std::abs(steady(s).period_s - busy_s - 150e6 / 10e9) <= 1e-4);
}

TEST_CASE("step simulation: micro-batches exchange gradients once, and recomputing adds a forward pass") {
  StepSetup s = copied_apart(8);
  s.sync_every = 0;
  const StepMeans one = steady(s);
  s.micro_batches = 4;
  const StepMeans four = steady(s);
  // Four times forward and backward; one optimizer and one last bucket of 14 ms.
  CHECK(std::abs(four.period_s - (4 * (0.17 + 0.2125) + 0.085 + 0.014)) <= 1e-4);
  CHECK(near(four.communication_s, one.communication_s, 1e-9));
  check_sums(simulated(s, {.steps = 5}));
  s.micro_batches = 1;
  s.recompute = true;
  CHECK(std::abs(steady(s).period_s - one.period_s - 0.17) <= 1e-4);
}

TEST_CASE("step simulation: what cannot be is refused in a sentence") {
  StepSetup s;
  s.buckets = 25;
  CHECK(simulate_steps(s, {}).error.find("more buckets than layers") != std::string::npos);
  s = {};
  s.bus_bytes_per_s = 0;
  CHECK(!simulate_steps(s, {}));
  s = {};
  s.forward_s = std::nan("");
  CHECK(!simulate_steps(s, {}));
}
