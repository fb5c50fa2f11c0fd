#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "chapters/mechanism/registry.h"

// The trace viewer over its made-up runs: what must hold for any recording, and what each planted fault must show.

namespace {

struct Viewer {
  chapters::LabPtr lab = chapters::make_lab_by_id("profiling/trace-viewer");
  Viewer() { REQUIRE(lab); }
  void sample(const char* id) { REQUIRE(lab->inputs().find("sample")->set_choice_id(id)); }
  void beside(const char* id) { REQUIRE(lab->inputs().find("beside")->set_choice_id(id)); }
  void set(const char* key, double v) { lab->inputs().find(key)->set_number(v); }
  double of(const char* key) {
    const auto* f = lab->outputs().find(key);
    REQUIRE(f);
    return f->number();
  }
  void compute() {
    lab->compute();
    REQUIRE(lab->reason() == "");
  }
  std::string diagnosis() { return lab->outputs().find("diagnosis")->text(); }
};

constexpr const char* all_samples[] = {"none",         "hidden_sync",           "data_starved",
                                       "launch_bound", "exposed_communication", "straggler"};

}  // namespace

TEST_CASE("busy and idle add up to the time looked at, for the whole recording and for each step") {
  Viewer v;
  for (const char* sample : all_samples)
    for (const double step : {0.0, 1.0, 3.0}) {
      INFO(sample << ", step " << step);
      v.sample(sample);
      v.set("step", step);
      v.compute();
      const double tolerance = 1e-9;
      CHECK(std::abs(v.of("busy_s") + v.of("idle_s") - v.of("span_s")) <= tolerance);
      CHECK(std::abs(v.of("idle_host_s") + v.of("idle_kernel_s") + v.of("idle_other_s") - v.of("idle_s")) <= tolerance);
      CHECK(std::abs(v.of("overlapped_s") + v.of("exposed_communication_s") - v.of("communication_s")) <= tolerance);
      CHECK(v.of("busy_s") <= v.of("compute_s") + v.of("exposed_communication_s") + v.of("memory_s") + tolerance);
      if (step > 0) CHECK(std::abs(v.of("span_s") - v.of("step_time_s")) <= tolerance);
    }
}

TEST_CASE("each planted fault shows where it should, against the healthy run") {
  Viewer v;
  v.compute();
  const double synced = v.of("idle_host_share");
  v.sample("none");
  v.compute();
  const double healthy_idle = v.of("idle_share"), healthy_exposed = v.of("exposed_communication_s"),
               healthy_queue = v.of("queue_longest");
  CHECK(healthy_idle <= 2);
  CHECK(synced >= 10);  // 2.9 ms of log line in steps of 25 ms
  v.sample("data_starved");
  v.compute();
  CHECK(v.of("idle_host_share") >= 15);  // batches come 7.2 ms later
  v.sample("launch_bound");
  v.compute();
  CHECK(v.of("idle_share") >= 3 * healthy_idle);
  CHECK(v.of("queue_longest") < healthy_queue);
  v.sample("exposed_communication");
  v.compute();
  CHECK(v.of("exposed_communication_s") >= 3 * healthy_exposed);
}

TEST_CASE("a straggler is found by computation, though all ranks' steps take equally long") {
  Viewer v;
  v.sample("straggler");
  v.compute();
  CHECK(v.of("slowest_rank") == 2);
  CHECK(std::abs(v.of("slowest_excess") - 21) <= 2);  // its kernels take 1.21 times as long
  CHECK(v.diagnosis().find("Rank 2 computes") != std::string::npos);
  double step[4]{}, communication[4]{};
  for (int rank = 0; rank < 4; ++rank) {
    v.set("device", rank);
    v.compute();
    step[rank] = v.of("step_time_s"), communication[rank] = v.of("communication_s");
  }
  for (const int rank : {0, 1, 3}) {
    CHECK(std::abs(step[rank] / step[2] - 1) <= 0.03);
    CHECK(communication[rank] > communication[2]);  // the others wait inside the collective
  }
}

TEST_CASE("a search counts what is shown, on the device and on the processor") {
  Viewer v;
  v.sample("none");
  v.lab->inputs().find("search")->text() = "NCCL";
  v.compute();
  CHECK(v.of("matches") == 40);  // 5 buckets in 4 steps: the call and the kernel of each
  v.lab->inputs().find("search")->text() = "no such thing";
  v.compute();
  CHECK(v.of("matches") == 0);
  CHECK(v.of("matches_s") == 0);
}

TEST_CASE("a run beside another is compared by its step") {
  Viewer v;
  v.beside("healthy");
  v.compute();
  const double speedup = v.of("beside_speedup"), beside = v.of("beside_step_time_s");
  CHECK(std::abs(speedup - v.of("step_time_s") / beside) <= 1e-12);
  CHECK(speedup > 1.1);
  v.sample("none");
  v.beside("nothing");
  v.compute();
  CHECK(v.of("step_time_s") == beside);
  CHECK(v.of("beside_speedup") == 0);
}

TEST_CASE("a file that is not at hand, and a row of ranks without a file, are said in a sentence") {
  Viewer v;
  v.lab->inputs().find("ranks")->table_resize(1);
  v.compute();
  CHECK(v.lab->outputs().find("losses")->text() == "Row 1 of the ranks has no file yet.");
  v.lab->inputs().find("file")->file().path = "rank0.json";
  v.lab->compute();
  CHECK(v.lab->reason() == "The file rank0.json is not at hand: choose it again.");
}
