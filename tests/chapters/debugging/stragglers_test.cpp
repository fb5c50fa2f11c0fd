#include "chapters/debugging/stragglers/lab.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

LabPtr stragglers(const char* inputs = "{}") { return open_lab("debugging/stragglers", inputs); }

}  // namespace

TEST_CASE("stragglers: the last to come is to blame, and blame is not gain") {
  const LabPtr lab = stragglers();
  CHECK(computed(*lab, "culprit_rank") == 7);
  CHECK(near(computed(*lab, "waits_s"), 46.843e-3, 1e-9));
  CHECK(near(computed(*lab, "blamed_s"), 35.552e-3, 1e-9));
  CHECK(near(computed(*lab, "won_s"), 9.163e-3, 1e-9));
  CHECK(near(computed(*lab, "sooner_s"), 0.505e-3, 1e-9));
  CHECK(computed(*lab, "computes_longest_rank") == 1);
  CHECK(near(computed(*lab, "slowdown"), 18.095 / (18.095 - 0.505), 1e-9));
  CHECK(computed(*stragglers(R"({"advance_s": 0.001})"), "culprit_rank") == 6);
}

TEST_CASE("stragglers: recorded pipelines have the published slowdown within 1 %") {
  CHECK(near(computed(*stragglers(R"({"source": "lengths"})"), "slowdown"), 1.5374, 0.01));
  CHECK(near(computed(*stragglers(R"({"source": "stages"})"), "slowdown"), 1.1787, 0.01));
}

TEST_CASE("stragglers: a fleet waits for its slowest, whose loss has a price") {
  const LabPtr lab = stragglers(R"({"source": "fleet", "spread": 0.1, "pause_share": 0, "slower": 20, "ranks": 512})");
  CHECK(near(computed(*lab, "slowdown"), 1.2, 0.01));
  CHECK(near(computed(*lab, "lost_hours"), 512 * 730 * (1 - 1 / 1.2), 0.02));
  CHECK(near(computed(*lab, "lost_dollars"), computed(*lab, "lost_hours") * 2.5, 1e-9));
  CHECK(computed(*lab, "caught") == 1);
}

TEST_CASE("stragglers: of a fleet without a slow GPU nobody is to blame, whoever came last") {
  for (const char* fault : {"none", "uneven_data"}) {
    INFO(fault);
    const LabPtr lab = stragglers();
    choose(*lab, "source", "fleet");
    choose(*lab, "fault", fault);
    CHECK(std::isnan(computed(*lab, "culprit_rank")));
    CHECK(std::isnan(out(*lab, "blamed_s")));
    CHECK(std::isnan(out(*lab, "won_s")));
    CHECK(out(*lab, "waits_s") > 0);
  }
}

TEST_CASE("stragglers: three slow steps of ten are three steps, and the map marks whom the rule accuses") {
  namespace st = chapters::debugging::stragglers;
  st::Inputs in;
  in.source = st::Source::fleet;
  chapters::Progress progress;
  const auto c = st::compute(in, progress);
  CHECK(c.facts.fleet.delay_steps == 3);
  // A pause in one of the ten steps before counts as a slow one, so that now and then two more are enough.
  CHECK(std::abs(c.facts.fleet.mean_delay_steps - 3) <= 0.1);
  const st::Picture picture = st::arrange(in, c.facts, *c.run);
  REQUIRE(picture.accused.size() == 1);
  CHECK(picture.accused[0].row == 930);
  CHECK(!picture.accused[0].healthy);
}
