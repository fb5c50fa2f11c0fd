#include "app/kernel_runs/kernel_worker.h"

#include <signal.h>

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <map>

#include "tests/app/kernel_runs/fake_worker.h"

// The worker is played by a script: whatever it does, the lab gets a Result for every rung, or one sentence.

namespace {

struct Outcome {
  std::map<std::string, kernels::Result> results;
  std::vector<double> fractions;
  std::string sentence;
};

Outcome run_worker(const app::KernelWorker& worker, std::vector<std::string> rungs,
                   const std::function<bool()>& stop = {}) {
  Outcome out;
  kernels::Request request;
  request.ladder = "cpu-sgemm";
  request.rungs = std::move(rungs);
  request.size = 768;
  const kernels::Listener listener{.result =
                                       [&](const kernels::Result& r) {
                                         out.results[r.rung] = r;
                                         return true;
                                       },
                                   .progress =
                                       [&](double f) {
                                         out.fractions.push_back(f);
                                         return true;
                                       }};
  out.sentence = app::run_kernels(worker, request, listener, stop).error;
  return out;
}

const FakeWorker fake;

}  // namespace

TEST_CASE("a worker's results and progress arrive, and a rung without a result is told") {
  const auto o = run_worker(fake.worker("progress 0.5; result a 0.25; result b 0.5; finish"), {"a", "b", "c"});
  CHECK(o.sentence == "");
  REQUIRE(o.results.size() == 3);
  CHECK(o.results.at("a").time_s == 0.25);
  CHECK(o.results.at("b").failure == "");
  CHECK(o.results.at("c").failure == "The worker gave no result for this rung.");
  CHECK(o.fractions == std::vector<double>{0.5});
}

TEST_CASE("a crash in the middle: the rung at fault is named, the others are measured all the same") {
  const auto o = run_worker(
      fake.worker("asks a && result a 1\nasks bad && kill -SEGV $$\nasks c && result c 3\nfinish"), {"a", "bad", "c"});
  CHECK(o.sentence == "");
  REQUIRE(o.results.size() == 3);
  CHECK(o.results.at("a").failure == "");
  CHECK(o.results.at("c").time_s == 3);
  CHECK(o.results.at("bad").failure == "The worker crashed (SIGSEGV).");
}

TEST_CASE("a hang is ended by the watchdog, and the next rung still runs") {
  const std::string hangs = (fake.folder / "hangs").string();
  auto worker = fake.worker("asks bad && { echo $$ > '" + hangs + "'; sleep 60; }\nasks c && result c 3\nfinish");
  double now_s = 0;
  worker.limits.clock = [&] {  // a second a look while the worker that says it hangs is alive; the next one begins anew
    pid_t hanging = 0;
    if (std::ifstream(hangs) >> hanging && ::kill(hanging, 0) == 0) now_s += 1;
    return now_s;
  };
  const auto o = run_worker(worker, {"bad", "c"});
  REQUIRE(o.results.size() == 2);
  CHECK(o.results.at("bad").failure == "The worker said nothing for 10 s and was ended.");
  CHECK(o.results.at("c").failure == "");
}

TEST_CASE("rubbish, a reply that is cut off, and an answer to another question end the worker with a sentence") {
  CHECK(run_worker(fake.worker("echo '<html>'; sleep 60"), {"a"})
            .results.at("a")
            .failure.starts_with("The worker was ended because what it said makes no sense ("));
  CHECK(run_worker(fake.worker("result a 1 | head -c 60"), {"a"}).results.at("a").failure ==
        "The worker ended in the middle of a line.");
  CHECK(run_worker(fake.worker("result other 1; sleep 60"), {"a"}).results.at("a").failure ==
        "The worker was ended because it answered for a kernel that it was not asked for.");
  CHECK(run_worker(fake.worker("result a 1; result a 1; sleep 60"), {"a", "b"}).results.at("b").failure ==
        "The worker was ended because it answered for a kernel that it was not asked for.");
  CHECK(run_worker(fake.worker("exit 0"), {"a"}).results.at("a").failure == "The worker ended before it was done.");
  CHECK(run_worker(fake.worker("echo '{\"event\":\"done\",\"failure\":\"No CUDA driver was found.\"}'"), {"a"})
            .sentence == "No CUDA driver was found.");
}

TEST_CASE("a flood is stopped before it fills the memory") {
  auto worker = fake.worker("while :; do progress 0.5; done");
  worker.limits.lines_per_s = 200;
  const auto o = run_worker(worker, {"a"});
  CHECK(o.results.at("a").failure == "The worker was ended because it printed more than 200 lines in a second.");
  CHECK(o.fractions.size() <= 200);
}

TEST_CASE("stopping kills the worker and reports nothing more; a worker that is not there is one sentence") {
  int asked = 0;
  const auto o = run_worker(fake.worker("result a 1; sleep 60"), {"a", "b"}, [&] { return ++asked > 4; });
  CHECK(o.sentence == "");
  CHECK_FALSE(o.results.contains("b"));
  app::KernelWorker none;
  none.program = {"/nowhere/ridgeline"};
  CHECK(run_worker(none, {"a"}).sentence ==
        "The worker /nowhere/ridgeline could not be started (No such file or directory).");
}

TEST_CASE("an edited source is handed over in a file that is gone afterwards, and its rung runs alone") {
  const auto worker =
      fake.worker("while [ $# -gt 0 ]; do [ \"$1\" = --source ] && cp \"$2\" '" + (fake.folder / "seen").string() +
                  "' && echo \"$2\" > '" + (fake.folder / "path").string() +
                  "'; shift; done; asks b && exit 1; result a 1; finish");
  kernels::Request request;
  request.ladder = fake.ladder;
  request.rungs = {"a", "b"};
  request.edited_rung = "a";
  request.edited_source = "line \"one\"\n\nlast";
  std::vector<std::string> measured;
  CHECK(app::run_kernels(
            worker, request,
            {.result = [&](const kernels::Result& r) { return measured.push_back(r.rung), true; }, .progress = {}}, {})
            .error == "");
  CHECK(measured == std::vector<std::string>{"a"});
  CHECK(fake.folder.read("seen") == request.edited_source);
  std::string path = fake.folder.read("path");
  path.pop_back();
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("ceilings arrive with the device's name, and what came before a failure is kept") {
  const auto worker = fake.worker(R"(echo '{"event":"device","device":"cpu","name":"Some CPU"}'
echo '{"event":"roof","id":"fma","title":"peak","unit":"FLOP/s","value":1.35e11}'
echo '{"event":"note","note":"Other work ran."}'
echo '{"event":"done","failure":"The memory could not be measured."}')");
  const auto roofs = app::measure_roofs(worker, kernels::Device::cpu, 1, {}, {});
  CHECK(roofs.note == "Other work ran.");
  CHECK(roofs.device_name == "Some CPU");
  REQUIRE(roofs.roofs.size() == 1);
  CHECK(roofs.roofs[0].value == 1.35e11);
  CHECK(roofs.failure == "The memory could not be measured.");
}

TEST_CASE("turns arrive in their order; one that was not asked for, or a crash, is a sentence") {
  const auto told = [](const std::string& body, std::size_t& taken) {
    taken = 0;
    const kernels::TurnsRequest request{.ladder = "cpu-copy", .a = "scalar", .b = "simd", .turns = "ABB"};
    const auto script = "turn() { echo '{\"event\":\"turn\",\"place\":'$1',\"is_b\":'$2',\"time_s\":'$3'}'; }\n" + body;
    return app::run_turns(fake.worker(script), request, [&](const kernels::TimedTurn&) { return ++taken > 0; }, {})
        .error;
  };
  std::size_t taken = 0;
  CHECK(told("turn 0 false 1; turn 1 true 0.5; turn 2 true 2; finish", taken) == "");
  CHECK(taken == 3);
  CHECK(told("turn 0 false 1; finish", taken) == "The worker ended before all runs were made.");
  CHECK(taken == 1);
  CHECK(told("turn 0 false 1; kill -SEGV $$", taken).find("SIGSEGV") != std::string::npos);
  for (const char* wrong : {"turn 1 true 1", "turn 0 true 1", "turn 0 false 0", "turn 0 false null", "result scalar 1",
                            "turn 0 false 1; turn 1 true 1; turn 2 true 1; turn 3 true 1"})
    CHECK(told(std::string(wrong) + "; sleep 60", taken).starts_with("The worker was ended because it "));
}
