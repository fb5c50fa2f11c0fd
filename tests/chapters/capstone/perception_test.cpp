#include <catch2/catch_test_macros.hpp>

#include <algorithm>
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
  CHECK(near(computed(*car_lab("pools, pinned, clocks, alternate"), "mean_won_s"), 0.005, 0.01));
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

// Networks take 12 + 8 + 10 of every 33.3 ms: 90 %. Every second frame without the forecast: 25 of 33.3, 75 %.
TEST_CASE("perception: a forecast for every second frame takes its half off the GPU, and the queue runs empty sooner") {
  const LabPtr found = car_lab(""), half = car_lab("alternate");
  CHECK(near(computed(*found, "gpu_asked"), 90, 1e-6));
  CHECK(near(computed(*half, "gpu_asked"), 75, 1e-6));
  CHECK(near(out(*half, "beat_s"), 0.025, 1e-6));
  CHECK(out(*half, "latency_s") == out(*found, "latency_s"));  // a frame with its forecast
  CHECK(out(*found, "p99_s") - out(*half, "p99_s") > 0.006);

  car::Stack stack = as_found();
  stack.alternate = true;
  CHECK(near(quiet(stack).mean_s, 0.037, 1e-6));
  stack.pipelining = false;  // 42 ms cost the next frame, and 32 ms none: two of three are run
  const car::Outcome alone = quiet(stack);
  CHECK(std::abs(alone.unseen - 667) <= 1);
  CHECK(near(alone.mean_s, (0.042 + 0.032 + 0.032 + 1.0 / 30) / 3, 1e-3));

  // An encoder for each head: 42 of every 38.5 ms pile up, 37 in the mean of both kinds of frames do not.
  car::Stack two = as_found();
  two.shared_backbone = false;
  CHECK(car::simulate({.rate_hz = 26, .frames = 1000}, two).bounce.find("pile up") != std::string::npos);
  two.alternate = true;
  CHECK(car::simulate({.rate_hz = 26, .frames = 1000}, two).bounce.empty());
}

TEST_CASE("perception: its jitter is simulated by the jitter lab too, with the same luck") {
  for (const char* rounds : {"", "engine_backbone, pools, clocks", "skip"}) {
    const LabPtr lab = car_lab(rounds, R"(, "frames": 5000)");
    compute(*lab);
    car::Inputs in;
    in.rounds = rounds;
    in.frames = 5000;
    const car::CarGame game(car::settings_of(in), car::start_of(in));
    chapters::capstone::Plays plays(game);
    const auto played = chapters::capstone::replay(plays, *chapters::capstone::read_rounds(game, rounds), {});
    REQUIRE(played);
    car::Stack stack;
    (void)game.stack_of(played->now().cards, stack);
    const auto link = car::jitter_link(in, stack);
    REQUIRE(link);
    const LabPtr jitter = open_link(*link);
    // What is dropped waits for the next plan in the game alone: the median is of frames that are looked at.
    const double beyond = out(*lab, "latency_s") - out(*lab, "beat_s");
    CHECK(near(computed(*jitter, "p50_s") + beyond, out(*lab, "p50_s"), 2e-3));
    if (std::string(rounds) != "skip") CHECK(near(out(*jitter, "p99_s") + beyond, out(*lab, "p99_s"), 1e-5));
  }
}

TEST_CASE("perception: a hot day switches the throttle on, and locked clocks off again") {
  car::Inputs in;
  in.hot = true;
  const auto throttle = [](const car::Stack& stack) {
    return std::count_if(stack.sources.begin(), stack.sources.end(),
                         [](const models::JitterSource& s) { return s.on && s.name == "Thermal throttle"; });
  };
  car::Stack stack = car::start_of(in);
  CHECK(throttle(stack) == 1);
  REQUIRE(car::apply({}, car::Move::clocks, stack).empty());
  CHECK(throttle(stack) == 0);
  // Without its row the chip throttles all the same.
  std::erase_if(in.sources, [](const models::JitterSource& source) { return source.name == "Thermal throttle"; });
  CHECK(car::start_of(in).sources.back().on);
  CHECK(car::start_of(in).sources.size() == in.sources.size() + 1);
}
