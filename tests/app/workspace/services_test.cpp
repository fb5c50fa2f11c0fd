#include "app/workspace/services.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/kernel_runs/kernel_service.h"
#include "app/kernel_runs/this_machine.h"
#include "chapters/mechanism/catalog.h"
#include "models/machine/hierarchy.h"
#include "tests/app/kernel_runs/fake_worker.h"
#include "tests/app/shell/shell_fixture.h"
#include "tests/support/base/paths.h"

// The kernel lab in the whole interface: buttons are pressed, a script plays the worker, rows arrive in the lab's
// Inputs.

namespace {

struct KernelLab : Opened {
  explicit KernelLab(const std::string& script) : Opened("kernels/lab") {
    w.services.add("kernels", app::kernel_service(fake.worker(script)));
    // Bars show without a prediction: what is tested here is how they come.
    d.input("predict_first").toggle() = false;
    ui.frames(3);
  }
  /// Frames go by until nothing runs; false after a minute, which is for what never ends.
  bool until_quiet() {
    ui.frames(2);
    for (int i = 0; i < 6000 && w.services.running(); ++i) {
      ui.frames(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    w.finish_catalog();  // chips that were measured
    ui.frames(3);
    return !w.services.running();
  }
  void run_all() {
    ui.click("Run all");
    REQUIRE(until_quiet());
  }
  std::string cell(std::size_t row, const char* key) {
    chapters::Fields cells;
    d.input("runs").table_row(row, cells);
    return cells.find(key)->text();
  }
  FakeWorker fake;
};

constexpr const char* all_rungs =
    "for r in naive ikj simd blocked tile spill packed avx512; do asks $r && result $r 0.1; done; finish";

}  // namespace

TEST_CASE("Run all: rows arrive, bars show, figures follow, and the window stays awake meanwhile") {
  KernelLab lab(all_rungs);
  lab.ui.click("Run all");
  lab.ui.frames(1);
  CHECK(lab.d.shell.animating);
  REQUIRE(lab.until_quiet());
  CHECK(lab.d.input("runs").table_size() == static_cast<std::size_t>(lab.out("rungs")));
  CHECK(lab.out("measured_rungs") == lab.out("rungs"));
  CHECK(lab.out("time_s") == 0.1);
  CHECK(lab.out("flops_per_s") == Catch::Approx(lab.out("flops") / 0.1));
  CHECK(lab.ui.text_present("rungs measured"));
  // The same again replaces rows and does not pile them up.
  lab.run_all();
  CHECK(lab.d.input("runs").table_size() == static_cast<std::size_t>(lab.out("rungs")));
}

TEST_CASE("Run measures the selected rung alone, for the size that is shown") {
  KernelLab lab(all_rungs);
  lab.press_each({"rung ikj", "Run"});
  REQUIRE(lab.until_quiet());
  REQUIRE(lab.d.input("runs").table_size() == 1);
  CHECK(lab.cell(0, "rung") == "ikj");
}

TEST_CASE("what was measured is not undone, survives Reset and presets, and travels in a scenario") {
  KernelLab lab(all_rungs);
  lab.run_all();
  const auto rows = lab.d.input("runs").table_size();
  lab.d.input("clock_hz").set_number(3e9);
  lab.ui.frames(3);
  lab.w.current().undo();
  lab.ui.frames(2);
  CHECK(lab.in("clock_hz") == 4e9);
  CHECK(lab.d.input("runs").table_size() == rows);
  lab.w.reset();
  lab.ui.frames(2);
  CHECK(lab.d.input("runs").table_size() == rows);
  const std::string scenario = app::scenario_to_json(lab.w.lab()).dump();
  lab.ui.click("Clear runs");
  lab.ui.frames(2);
  CHECK(lab.d.input("runs").table_size() == 0);
  CHECK(lab.w.open_scenario(scenario).error == "");
  CHECK(lab.d.input("runs").table_size() == rows);
}

TEST_CASE("a crash is said in words, and the other rungs are there") {
  KernelLab lab("asks spill && kill -ABRT $$\n" + std::string(all_rungs));
  lab.run_all();
  CHECK(lab.out("failed_rungs") == 1);
  CHECK(lab.out("measured_rungs") == lab.out("rungs") - 1);
  CHECK(lab.d.was_said("spill: The worker crashed (SIGABRT)."));
}

TEST_CASE("Stop ends the worker; what came before stays") {
  KernelLab lab("result naive 0.1; sleep 60");
  lab.ui.click("Run all");
  for (int i = 0; i < 500 && lab.d.input("runs").table_size() == 0; ++i) {
    lab.ui.frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const ImVec2 stop = lab.ui.point_in("Stop", {0.5f, 0.5f});
  lab.ui.click("Stop");
  REQUIRE(lab.until_quiet());
  CHECK(lab.d.input("runs").table_size() == 1);
  CHECK(lab.ui.has("Run"));
  lab.ui.click_at(
      stop);  // once more by mistake: no other button stands there now, such as the one that clears what was measured
  lab.ui.frames(3);
  CHECK(lab.d.input("runs").table_size() == 1);
  CHECK_FALSE(lab.w.services.running());
  lab.ui.click("Clear runs");
  lab.ui.frames(3);
  CHECK(lab.d.input("runs").table_size() == 0);
}

TEST_CASE("rows arrive in the lab that asked, also while another one is open") {
  KernelLab lab(all_rungs);
  lab.press_each({"Run all"});
  lab.w.open("roofline/roofline");
  REQUIRE(lab.until_quiet());
  lab.w.open("kernels/lab");
  lab.ui.frames(2);
  CHECK(lab.out("measured_rungs") == lab.out("rungs"));
}

TEST_CASE("a request that came with a scenario is not run, and without a service nothing is") {
  KernelLab lab(all_rungs);
  CHECK(
      lab.w
          .open_scenario(R"({"lab": "kernels/lab", "inputs": {}, "view": {"request": "call run\nladder cpu-sgemm\n", )"
                         R"("running": true}})")
          .error == "");
  lab.ui.frames(3);
  CHECK_FALSE(lab.w.services.running());
  CHECK(lab.ui.has("Run"));
  Opened bare("kernels/lab");
  bare.ui.click("Run all");
  bare.ui.frames(2);
  CHECK_FALSE(bare.w.services.running());
  CHECK(bare.d.was_said("Nothing can be run here"));
}

TEST_CASE(
    "measured ceilings become the chip \"this machine\", in every lab that chooses one, now and at the next start") {
  KernelLab lab(R"(echo '{"event":"device","device":"cpu","name":"Some CPU"}'
echo '{"event":"roof","id":"fma","title":"peak FMA","unit":"FLOP/s","value":2e11}'
echo '{"event":"roof","id":"dram_copy","title":"copy","unit":"B/s","value":5e10}'
finish)");
  lab.ui.click("Measure ceilings");
  REQUIRE(lab.until_quiet());
  CHECK(lab.out("roof_bytes_per_s") == 5e10);
  CHECK(lab.d.output("roofs_measured").toggle());
  REQUIRE(chapters::catalog().chip("this_machine"));
  CHECK(chapters::catalog().chip("this_machine")->name == "This machine (Some CPU)");
  CHECK(std::filesystem::exists(lab.paths->config / "chips" / "this_machine.json"));
  // Chosen in the roofline, its ridge is that of the measured ceilings.
  CHECK(
      lab.w.open_with("roofline/roofline", app::Json{{"chip", "this_machine"}, {"format", "fp32"}}, app::Json::object())
          .error == "");
  lab.ui.frames(3);
  CHECK(lab.out("ridge") == Catch::Approx(4));
  // It is no GPU, and is not taken for one.
  CHECK(lab.w.open_with("kernels/lab", app::Json{{"device", "cuda"}, {"chip", "this_machine"}}, app::Json::object())
            .error == "");
  lab.ui.frames(3);
  CHECK(lab.w.lab().reason() ==
        "This machine (Some CPU) is a processor, and these kernels run on a GPU: choose one as the chip.");
  chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);  // as other tests expect it
}

TEST_CASE("ceilings that were measured while other work ran say so in the window, as on the command line") {
  const std::string busy = app::busy_machine(10, 3);
  const std::string ceilings = R"(echo '{"event":"device","device":"cpu","name":"Some CPU"}'
echo '{"event":"roof","id":"dram_copy","title":"copy","unit":"B/s","value":5e10}'
)";
  KernelLab lab(ceilings + R"(echo '{"event":"note","note":")" + busy + "\"}'\nfinish");
  lab.press_each({"Measure ceilings"});
  REQUIRE(lab.until_quiet());
  CHECK(lab.d.was_said(busy));
  CHECK(lab.ui.text_present("and its figures are too low"));
  KernelLab quiet(ceilings + "finish");
  quiet.press_each({"Measure ceilings"});
  REQUIRE(quiet.until_quiet());
  CHECK_FALSE(quiet.d.was_said("Other work"));
}

TEST_CASE("a chip is made of measured ceilings only when they hold arithmetic and bandwidth") {
  kernels::Roofs roofs{
      .device = kernels::Device::cpu,
      .device_name = "Odd\nname",
      .roofs = {{"fma", "", "FLOP/s", 1e11}},
      .failure = {},
  };
  const app::MachineFacts facts{.memory_bytes = 8e9, .l2_bytes = 0, .l3_bytes = 0, .cores = 2};
  CHECK(app::machine_chip(roofs, facts, "2026-08-31").json == "");
  roofs.roofs.push_back({"dram_copy", "", "B/s", 4e10});
  const auto chip = models::parse_chips(app::machine_chip(roofs, facts, "2026-08-31").json, "this");
  REQUIRE(chip);
  CHECK(chip->front().name == "This machine (Oddname)");
  CHECK(chip->front().peak_flops_per_s(models::Format::fp32) == 1e11);
  CHECK(models::figure_source(chip->front(), "memory_bandwidth_bytes_per_s") == "measured on this machine, 2026-08-31");
  // Latencies that the lab measured are the chip's, not those of the GPU that stands in where none are known.
  roofs.roofs.push_back({"latency_dram", "", "s", 129e-9});
  roofs.roofs.push_back({"latency_l2", "", "s", 10e-9});
  const auto timed = models::parse_chips(
      app::machine_chip(roofs, {.memory_bytes = 8e9, .l2_bytes = 2e6, .l3_bytes = 0, .cores = 2}, "2026-08-31").json,
      "this");
  REQUIRE(timed);
  CHECK(timed->front().measured.dram_latency_s == 129e-9);
  for (const auto& level : models::memory_levels(timed->front(), {})) {
    if (level.kind == models::LevelKind::memory) {
      CHECK(level.latency_s.value == 129e-9);
      CHECK(level.latency_s.source == "the kernel lab's pointer chase on this machine");
      CHECK(level.bandwidth_bytes_per_s.basis == models::Basis::measured);
    }
    if (level.kind == models::LevelKind::l2) CHECK(level.latency_s.value == 10e-9);
  }
  roofs.device = kernels::Device::cuda;
  CHECK(app::machine_chip(roofs, facts, "2026-08-31").json == "");  // of a GPU the memory's size must be measured too
  // Through OpenGL a driver need not say it: it is the machine's then, and the chip says so.
  const kernels::Roofs opengl{
      .device = kernels::Device::opengl,
      .device_name = "Some GPU",
      .roofs = {{"gl_fma", "", "FLOP/s", 4e11}, {"gl_copy", "", "B/s", 5e10}},
      .failure = {},
  };
  const auto made = app::machine_chip(opengl, facts, "2026-08-31");
  CHECK(made.file_name == "this_gpu_opengl.json");
  const auto through = models::parse_chips(made.json, "this");
  REQUIRE(through);
  CHECK(through->front().name == "This GPU through OpenGL (Some GPU)");
  CHECK(through->front().memory_bytes == 8e9);
  CHECK(made.json.find("does not say how much memory") != std::string::npos);
}

TEST_CASE("what the lab asks is read line by line; nonsense is one sentence") {
  const auto ask = app::read_kernel_request(
      "call run\nladder cuda-copy\nrungs a,b\nsize 64\ncold 0\nseed 7\nseconds 0.25\nedited_rung a\nedited_source size "
      "3\n\nnot a key\n");
  CHECK(ask.error == "");
  CHECK(ask->request.rungs == std::vector<std::string>{"a", "b"});
  CHECK(ask->request.size == 64);
  CHECK_FALSE(ask->request.cold);
  CHECK(ask->request.seed == 7);
  CHECK(ask->request.seconds_per_rung == 0.25);
  CHECK(ask->request.edited_source == "size 3\n\nnot a key\n");
  CHECK(app::read_kernel_request("call run\nladder x\nsize -3\n").error ==
        "The lab asked for \"size -3\", which makes no sense.");
  CHECK(app::read_kernel_request("").error == "The lab asked for nothing that can be run.");
  CHECK(app::read_kernel_request("call dance\n").error != "");
}

TEST_CASE("rungs that ran while other work did say so too") {
  const std::string busy = app::busy_machine(10, 3);
  KernelLab lab(R"(echo '{"event":"note","note":")" + busy + "\"}'\n" + all_rungs);
  lab.press_each({"Run all"});
  REQUIRE(lab.until_quiet());
  CHECK(lab.d.was_said(busy));
}

TEST_CASE(
    "runs belong to the machine: a link or a scenario to the lab takes none away, and brings its own beside them") {
  KernelLab lab("finish");
  const auto row = [](const char* rung, double time_s) {
    return app::Json{{"ladder", "cpu_dot"}, {"rung", rung}, {"time_s", time_s}};
  };
  const chapters::Field* runs = nullptr;
  for (const auto& f : lab.w.lab().inputs())
    if (f.spec.origin == chapters::Origin::measured && !runs) runs = &f;
  REQUIRE(runs);
  const std::string key(runs->key);
  REQUIRE(app::merge_row(*runs, row("a", 1).dump(), {}));
  lab.w.update(false);
  CHECK(lab.w.open_link("ridgeline://kernels/lab?device=cpu").error == "");
  lab.ui.frames(3);
  CHECK(lab.w.lab().inputs().find(key)->table_size() == 1);
  CHECK(lab.w.open_with("kernels/lab", app::Json{{key, app::Json::array({row("b", 2)})}}, app::Json::object()).error ==
        "");
  lab.ui.frames(3);
  CHECK(lab.w.lab().inputs().find(key)->table_size() == 2);
}
