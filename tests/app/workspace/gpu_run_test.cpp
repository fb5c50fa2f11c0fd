#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "app/kernel_runs/kernel_service.h"
#include "app/scenario/scenario.h"
#include "kernels/kernel.h"
#include "tests/app/shell/shell_fixture.h"

// The kernel lab on a real GPU, by its buttons: where there is none, or where RIDGELINE_PROGRAM does not name the
// program that is to be the worker, the test is skipped.

namespace {

/// Frames go by until no kernel runs; false after `seconds`.
bool until_quiet(Opened& o, double seconds) {
  o.ui.frames(2);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (o.w.services.running() && std::chrono::steady_clock::now() < end) {
    o.ui.frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  o.ui.frames(3);
  return !o.w.services.running();
}

}  // namespace

TEST_CASE("every ladder of the GPU is measured by the lab's buttons, no rung fails and none lies above its roof") {
  const char* program = std::getenv("RIDGELINE_PROGRAM");
  const auto* ladder = kernels::find_ladder("cuda-copy");
  if (!program) SKIP("RIDGELINE_PROGRAM does not name the program to run kernels with");
  if (const auto timed = kernels::can_be_timed(*ladder); !timed) SKIP(timed.error);
  Opened o("kernels/lab");
  app::KernelWorker worker;
  worker.program = {program};
  worker.limits.silence_s = 60;
  o.w.services.add("kernels", app::kernel_service(worker));
  o.d.input("predict_first").toggle() = false;
  REQUIRE(o.d.input("device").set_choice_id("cuda"));
  o.d.input("seconds_per_rung").set_number(0.2);
  o.ui.frames(3);
  o.ui.click("Measure ceilings");
  REQUIRE(until_quiet(o, 60));
  CHECK(o.d.input("roofs").table_size() >= 5);
  for (const char* id : {"cuda-copy", "cuda-transpose", "cuda-reduction", "cuda-sgemm"}) {
    INFO(id);
    REQUIRE(o.d.input("cuda_ladder").set_choice_id(id));
    o.ui.frames(3);
    o.ui.click("Run all");
    REQUIRE(until_quiet(o, 120));
    CHECK(o.out("measured_rungs") == o.out("rungs"));
    CHECK(o.out("failed_rungs") == 0);
    for (int rung = 1; rung <= o.out("rungs"); ++rung) {
      o.d.input("rung").set_number(rung);
      o.ui.frames(2);
      INFO("rung " << rung << " reaches " << o.out("share") << " %");
      CHECK(o.out("share") > 0);
      CHECK(o.out("share") < 102);
      CHECK(o.out("error") <= o.out("error_bound"));
    }
    if (const char* out = std::getenv("RIDGELINE_GPU_OUT"))
      std::ofstream(std::string(out) + "/" + id + ".json") << app::scenario_to_json(o.w.lab()).dump();
  }
}
