#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

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
  if (!program) SKIP("RIDGELINE_PROGRAM does not name the program to run kernels with");
  const auto device = GENERATE(kernels::Device::cuda, kernels::Device::opengl);
  const std::string name(kernels::id_of(device));
  std::vector<std::string> ladders;
  std::string why_not;
  for (const auto& ladder : kernels::all_ladders()) {
    if (ladder.device != device) continue;
    if (ladders.empty()) why_not = kernels::can_be_timed(ladder).error;
    ladders.emplace_back(ladder.id);
  }
  if (!why_not.empty()) SKIP(why_not);
  Opened o("kernels/lab");
  app::KernelWorker worker;
  worker.program = {program};
  worker.limits.silence_s = 60;
  o.w.services.add("kernels", app::kernel_service(worker));
  o.d.input("predict_first").toggle() = false;
  REQUIRE(o.d.input("device").set_choice_id(name));
  o.d.input("seconds_per_rung").set_number(0.2);
  o.ui.frames(3);
  o.ui.click("Measure ceilings");
  REQUIRE(until_quiet(o, 60));
  CHECK(o.d.input("roofs").table_size() >= 3);
  for (const std::string& id : ladders) {
    INFO(id);
    REQUIRE(o.d.input((name + "_ladder").c_str()).set_choice_id(id.c_str()));
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
