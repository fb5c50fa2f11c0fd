#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "app/kernel_runs/kernel_service.h"
#include "tests/app/kernel_runs/fake_worker.h"
#include "tests/app/shell/shell_fixture.h"

// The lab of measuring in the whole interface: its button asks for two rungs in turns, a script plays the worker, and
// every run arrives in the lab's Inputs.

namespace {

struct TurnsLab : Opened {
  explicit TurnsLab(const std::string& body) : Opened("profiling/measure") {
    const std::string turn = "turn() { echo '{\"event\":\"turn\",\"place\":'$1',\"is_b\":'$2',\"time_s\":'$3'}'; }\n";
    w.services.add("kernels", app::kernel_service(fake.worker(turn + body)));
    REQUIRE(d.input("source").set_choice_id("machine"));
    REQUIRE(d.input("order").set_choice_id("alternate"));
    REQUIRE(d.settle());
  }
  bool until_quiet() {
    ui.frames(2);
    for (int i = 0; i < 6000 && w.services.running(); ++i) {
      ui.frames(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return !w.services.running() && d.settle();
  }
  std::size_t rows() { return d.input("timed_runs").table_size(); }
  FakeWorker fake;
};

constexpr const char* forty =
    "i=0; while [ $i -lt 40 ]; do turn $i false 0.02; turn $((i+1)) true 0.01$((i%7)); i=$((i+2)); done; finish";

}  // namespace

TEST_CASE("Time them: every run arrives in the order of the clock, and the verdict is theirs") {
  TurnsLab lab(forty);
  CHECK(lab.rows() == 0);
  lab.ui.click("Time them");
  REQUIRE(lab.until_quiet());
  CHECK(lab.rows() == 40);
  CHECK(lab.d.input("timed").table_size() == 1);
  CHECK(lab.out("found") > 30);
  CHECK(lab.out("runs_used") == 36);
  // Once more: the new series takes the place of the old one.
  lab.ui.click("Time them");
  REQUIRE(lab.until_quiet());
  CHECK(lab.rows() == 40);
}

TEST_CASE("Stop keeps the runs that were made; of a series that has hardly begun the one before stays") {
  TurnsLab lab("i=0; while [ $i -lt 16 ]; do turn $i false 0.02; turn $((i+1)) true 0.01; i=$((i+2)); done; sleep 60");
  lab.ui.click("Time them");
  for (int i = 0; i < 500 && lab.rows() < 16; ++i) {
    lab.ui.frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  lab.ui.click("Stop");
  REQUIRE(lab.until_quiet());
  CHECK(lab.rows() == 16);
  lab.w.services.add("kernels", app::kernel_service(lab.fake.worker("turn 0 false 1; exit 1")));
  lab.ui.click("Time them");
  REQUIRE(lab.until_quiet());
  CHECK(lab.rows() == 16);
}
