#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <string>

#include "chapters/capstone/perception/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace car = chapters::capstone::perception;

namespace {

LabPtr car_lab(const std::string& rounds, const std::string& more = "") {
  return open_lab("capstone/perception", (R"({"said": [], "rounds": ")" + rounds + "\"" + more + "}").c_str());
}

car::Stack as_found() { return {.tasks = car::car_tasks(), .sources = car::car_sources()}; }

car::Outcome quiet(car::Stack stack) {
  stack.sources.clear();
  return car::simulate({.spread = 0, .frames = 2000}, stack);
}

}  // namespace

TEST_CASE("perception: seven tasks make 42 ms, and every engine takes its own part of the path") {
  const car::Settings settings;
  car::Stack stack = as_found();
  CHECK(near(quiet(stack).latency_s, 0.042, 1e-9));
  REQUIRE(car::apply(settings, car::Move::engine_heads, stack).empty());
  CHECK(near(quiet(stack).latency_s, 0.038, 1e-9));  // segmentation was hidden under detection
  REQUIRE(car::apply(settings, car::Move::engine_backbone, stack).empty());
  REQUIRE(car::apply(settings, car::Move::engine_prediction, stack).empty());
  CHECK(near(quiet(stack).latency_s, 0.027, 1e-9));
  REQUIRE(car::apply(settings, car::Move::int8, stack).empty());
  CHECK(near(quiet(stack).latency_s, 0.012 + 0.015 / 1.5, 1e-8));
  REQUIRE(car::apply(settings, car::Move::camera, stack).empty());
  REQUIRE(car::apply(settings, car::Move::planning, stack).empty());
  CHECK(near(quiet(stack).latency_s, 0.018, 1e-8));
}

TEST_CASE("perception: without jitter every frame takes the path, and a dropped one a period more") {
  const car::Outcome piped = quiet(as_found());
  CHECK(near(piped.p99_s, 0.042, 1e-6));
  CHECK(piped.unseen == 0);
  car::Stack alone = as_found();
  alone.pipelining = false;
  const car::Outcome one = quiet(alone);
  CHECK(one.unseen == 1000);  // 42 ms of work every 33.3: every second frame
  CHECK(near(one.p99_s, 0.042 + 1.0 / 30, 1e-6));
  CHECK(near(one.mean_s, 0.042 + 0.5 / 30, 1e-5));
}

TEST_CASE("perception: P99 is within the period exactly where at most one frame of a hundred is late") {
  const car::Settings settings;
  car::Stack stack = as_found();
  for (const car::Move move : {car::Move::engine_backbone, car::Move::engine_prediction, car::Move::pools,
                               car::Move::pinned, car::Move::engine_heads}) {
    REQUIRE(car::apply(settings, move, stack).empty());
    const car::Outcome o = car::simulate(settings, stack);
    CHECK((o.p99_s <= 1 / settings.rate_hz) == (o.late * 100 <= settings.frames));
  }
}

TEST_CASE("perception: moves bounce with a sentence and change nothing") {
  const car::Settings settings;
  car::Stack stack = as_found();
  const car::Stack before = stack;
  CHECK(car::apply(settings, car::Move::int8, stack).find("compile") != std::string::npos);
  CHECK(!car::apply(settings, car::Move::pipelining, stack).empty());
  CHECK(stack == before);
  CHECK(computed(*car_lab("int8"), "won_s") == 0);
  CHECK(computed(*car_lab("int8"), "wasted") == 1);
}

TEST_CASE("perception: a stack that asks a unit for more than it has does not start") {
  car::Stack stack = as_found();
  stack.shared_backbone = false;
  CHECK(car::simulate({}, stack).bounce.find("pile up") != std::string::npos);
  CHECK(car::simulate({.rate_hz = 20, .frames = 1000}, stack).bounce.empty());
}

TEST_CASE("perception: what is kept on the board: engines win, dropping and the DLA lose, the average deceives") {
  CHECK(computed(*car_lab("engine_backbone"), "won_s") > 0.006);  // the queue gets shorter too
  CHECK(computed(*car_lab("skip"), "won_s") < -0.01);
  CHECK(computed(*car_lab("dla"), "won_s") < -0.01);
  CHECK(near(computed(*car_lab("alternate"), "mean_won_s"), 0.005, 0.01));
  CHECK(computed(*car_lab("pools, pinned, clocks, alternate"), "won_s") < 0.001);
  CHECK(computed(*car_lab("pools"), "mean_won_s") < 0.001);
  CHECK(computed(*car_lab("pools"), "won_s") > 0.008);
}

TEST_CASE("perception: par is told once the target is met, and no shorter game meets it") {
  const LabPtr won = car_lab("engine_backbone, engine_prediction, pools, pinned");
  CHECK(computed(*won, "arrives") == 1);
  CHECK(computed(*won, "par") == 4);
  CHECK(std::isnan(computed(*car_lab("pools"), "par")));
  CHECK(computed(*car_lab("", R"(, "start_shared": false, "rate_hz": 20)"), "arrives") == 0);
  CHECK(computed(*car_lab("shared_backbone", R"(, "start_shared": false, "rate_hz": 20)"), "par") == 1);
}

TEST_CASE("perception: a search in a hurry says the same as a whole run of what meets the target") {
  const car::Settings settings{.frames = 4000};
  const car::CarGame whole(settings, as_found()), hurried(settings, as_found(), 9);
  for (const std::uint32_t cards : {0x7u, 0x207u, 0x605u, 0xe05u, 0x20fu, 0x4u}) {
    const auto set = chapters::capstone::CardSet{cards | whole.start().bits};
    CHECK((whole.play(set).values[0] <= 1.0 / 30) == (hurried.play(set).values[0] <= 1.0 / 30));
  }
}

TEST_CASE("perception: a round opens the frame budget with its tasks") {
  const car::Inputs in;
  car::Stack stack = as_found();
  REQUIRE(car::apply({}, car::Move::engine_backbone, stack).empty());
  const std::string link = car::frame_link(in, stack);
  CHECK(link.find("driving/gantt?tasks=") == 0);
  CHECK(link.find("0.006") != std::string::npos);
}
