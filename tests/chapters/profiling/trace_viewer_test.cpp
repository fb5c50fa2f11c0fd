#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

// The trace viewer over its made-up runs: what must hold for any recording, and what each planted fault must show.

namespace {

constexpr const char* all_samples[] = {"none",         "hidden_sync",           "data_starved",
                                       "launch_bound", "exposed_communication", "straggler"};

}  // namespace

TEST_CASE("busy and idle add up to the time looked at, for the whole recording and for each step") {
  const LabPtr lab = open_lab("profiling/trace-viewer");
  for (const char* sample : all_samples)
    for (const double step : {0.0, 1.0, 3.0}) {
      INFO(sample << ", step " << step);
      compute(set(*lab, "sample", sample, "step", step));
      const double tolerance = 1e-9;
      CHECK(std::abs(out(*lab, "busy_s") + out(*lab, "idle_s") - out(*lab, "span_s")) <= tolerance);
      CHECK(std::abs(out(*lab, "idle_host_s") + out(*lab, "idle_kernel_s") + out(*lab, "idle_other_s") -
                     out(*lab, "idle_s")) <= tolerance);
      CHECK(std::abs(out(*lab, "overlapped_s") + out(*lab, "exposed_communication_s") - out(*lab, "communication_s")) <=
            tolerance);
      CHECK(out(*lab, "busy_s") <=
            out(*lab, "compute_s") + out(*lab, "exposed_communication_s") + out(*lab, "memory_s") + tolerance);
      if (step > 0) CHECK(std::abs(out(*lab, "span_s") - out(*lab, "step_time_s")) <= tolerance);
    }
}

TEST_CASE("each planted fault shows where it should, against the healthy run") {
  const LabPtr lab = open_lab("profiling/trace-viewer");
  compute(*lab);
  const double synced = out(*lab, "idle_host_share");
  compute(set(*lab, "sample", "none"));
  const double healthy_idle = out(*lab, "idle_share"), healthy_exposed = out(*lab, "exposed_communication_s"),
               healthy_queue = out(*lab, "queue_longest");
  CHECK(healthy_idle <= 2);
  CHECK(synced >= 10);  // 2.9 ms of log line in steps of 25 ms
  compute(set(*lab, "sample", "data_starved"));
  CHECK(out(*lab, "idle_host_share") >= 15);  // batches come 7.2 ms later
  compute(set(*lab, "sample", "launch_bound"));
  CHECK(out(*lab, "idle_share") >= 3 * healthy_idle);
  CHECK(out(*lab, "queue_longest") < healthy_queue);
  compute(set(*lab, "sample", "exposed_communication"));
  CHECK(out(*lab, "exposed_communication_s") >= 3 * healthy_exposed);
}

TEST_CASE("a finding says what a replay without it would win, and a late rank what it would win on time") {
  const LabPtr lab = open_lab("profiling/trace-viewer");
  compute(*lab);
  CHECK(out(*lab, "explained_share") > 99);
  const auto findings = app::evaluation_to_json(*lab)["outputs"]["findings"];
  bool replayed = false;
  for (const auto& f : findings) {
    const std::string sentence = f["finding"];
    if (f["title"] != "A synchronisation drains the queue") continue;
    replayed = true;
    // The run that never had it is 11.7 ms shorter.
    CHECK(std::abs(f["won_s"].get<double>() - 0.0117) <= 0.0004);
    CHECK(sentence.find("A replay that explains 99.9 % of this recording, without the other ranks, is 12.0 ms shorter "
                        "without it.") != std::string::npos);
  }
  CHECK(replayed);
  compute(set(*lab, "sample", "straggler"));
  CHECK(std::abs(out(*lab, "late_rank_won_s") - 0.0179) <= 0.0004);
  CHECK(out(*lab, "late_rank_won_s") < out(*lab, "late_rank_spared_s"));
  CHECK(out(*lab, "late_rank_spared_s") <= out(*lab, "late_rank_cost_s"));
}

TEST_CASE("a straggler is found by who comes last and explained by computation, though all steps take equally long") {
  const LabPtr lab = open_lab("profiling/trace-viewer");
  compute(set(*lab, "sample", "straggler"));
  CHECK(out(*lab, "slowest_rank") == 2);
  CHECK(std::abs(out(*lab, "slowest_excess") - 21) <= 2);  // its kernels take 1.21 times as long
  CHECK(out(*lab, "late_rank") == 2);
  CHECK(std::abs(out(*lab, "late_rank_share") - 100) <= 0.1);
  const std::string said(text_of(*lab, "diagnosis"));
  CHECK(said.find("Rank 2 arrives last in 20 of 20 collectives and costs the others 149 ms") != std::string::npos);
  CHECK(said.find("It computes 21.3 % longer a step than the median of the others") != std::string::npos);
  double step[4]{}, communication[4]{};
  for (int rank = 0; rank < 4; ++rank) {
    compute(set(*lab, "device", rank));
    step[rank] = out(*lab, "step_time_s"), communication[rank] = out(*lab, "communication_s");
  }
  for (const int rank : {0, 1, 3}) {
    CHECK(std::abs(step[rank] / step[2] - 1) <= 0.03);
    CHECK(communication[rank] > communication[2]);  // the others wait inside the collective
  }
}

TEST_CASE("a step or a rank beyond the last is the last, and that is said") {
  const LabPtr lab = open_lab("profiling/trace-viewer");
  const auto losses = [&] { return std::string(lab->outputs().find("losses")->text()); };
  compute(set(*lab, "step", 12.0, "device", 9.0));
  CHECK(losses().find("There is no step 12: the last, 4, is shown.") != std::string::npos);
  CHECK(losses().find("There is no rank and device 9: the last, 3, is shown.") != std::string::npos);
  compute(set(*lab, "step", 4.0, "device", 3.0));
  CHECK(losses().empty());
}

TEST_CASE("a search counts what is shown, on the device and on the processor") {
  const LabPtr lab = open_lab("profiling/trace-viewer");
  set(*lab, "sample", "none");
  input(*lab, "search").text() = "NCCL";
  compute(*lab);
  CHECK(out(*lab, "matches") == 40);  // 5 buckets in 4 steps: the call and the kernel of each
  input(*lab, "search").text() = "no such thing";
  compute(*lab);
  CHECK(out(*lab, "matches") == 0);
  CHECK(out(*lab, "matches_s") == 0);
}

TEST_CASE("a run beside another is compared by its step") {
  const LabPtr lab = open_lab("profiling/trace-viewer");
  compute(set(*lab, "beside", "healthy"));
  const double speedup = out(*lab, "beside_speedup"), beside = out(*lab, "beside_step_time_s");
  CHECK(std::abs(speedup - out(*lab, "step_time_s") / beside) <= 1e-12);
  CHECK(speedup > 1.1);
  compute(set(*lab, "sample", "none", "beside", "nothing"));
  CHECK(out(*lab, "step_time_s") == beside);
  CHECK(std::isnan(out(*lab, "beside_speedup")));
}

TEST_CASE("a file that is not at hand, and a row of ranks without a file, are said in a sentence") {
  const LabPtr lab = open_lab("profiling/trace-viewer");
  input(*lab, "ranks").table_resize(1);
  compute(*lab);
  CHECK(text_of(*lab, "losses") == "Row 1 of the ranks has no file yet.");
  input(*lab, "file").file().path = "rank0.json";
  lab->compute();
  CHECK(lab->reason() == "The file rank0.json is not at hand: choose it again.");
}

TEST_CASE("the answer names the largest loss, the call behind it, and a rank that the others wait for") {
  const LabPtr lab = open_lab("profiling/trace-viewer");
  compute(*lab);
  CHECK(lab->answer() ==
        "Over all steps rank `0` is idle for `12.0 %` of `101 ms`, nearly all of it waiting for the host.\nMeanwhile "
        "the host was mostly in log_metrics.");
  compute(set(*lab, "sample", "data_starved"));
  // The first batch is late as well, before the device's first task.
  CHECK(lab->answer().find("Meanwhile the host was mostly in enumerate(DataLoader). The first task came after `") !=
        std::string_view::npos);
  compute(set(*lab, "sample", "launch_bound"));  // in 47 % of the waiting
  CHECK(lab->answer().find("Meanwhile the host was most of all in aten::mm.") != std::string_view::npos);
  compute(set(*lab, "sample", "exposed_communication"));
  CHECK(lab->answer().find("and computes nothing meanwhile.") != std::string_view::npos);
  compute(set(*lab, "sample", "straggler"));
  CHECK(lab->answer().starts_with(
      "Rank `2` arrives last in `20` of `20` collectives and costs each other rank `12.4 ms` per "
      "step.\nOver all steps rank `0` "));
  compute(set(*lab, "sample", "none"));
  CHECK(lab->answer().find("Rank") == std::string_view::npos);
}

TEST_CASE("asked for the facts alone, the viewer gives the same ones, what a search counts among the lanes included") {
  const LabPtr lab = open_lab("profiling/trace-viewer"), facts = open_lab("profiling/trace-viewer");
  for (Lab* each : {lab.get(), facts.get()}) set(*each, "sample", "straggler", "beside", "healthy", "step", 2.0);
  for (const char* search : {"", "NCCL"}) {
    for (Lab* each : {lab.get(), facts.get()}) {
      input(*each, "search").text() = search;
      input(*each, "all_ranks").toggle() = true;
    }
    facts->compute_facts();
    INFO("searched for \"" << search << "\"");
    CHECK(app::evaluation_to_json(*facts)["outputs"] == outputs_of(*lab));
  }
}
