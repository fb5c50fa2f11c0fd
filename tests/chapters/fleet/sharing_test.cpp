#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/fleet/sharing/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("sharing: places are used, idle, held back or holes, and the sizes are those of the mix") {
  const LabPtr lab = open_lab("fleet/sharing", R"({"mix": "gavel", "load": 70})");
  compute(*lab);
  CHECK(near(out(*lab, "used") + out(*lab, "idle") + out(*lab, "held_back") + out(*lab, "stranded"), 100, 1e-9));
  CHECK(out(*lab, "places") == 128);
  CHECK(near(out(*lab, "mean_places"), 0.7 + 0.2 + 0.6 + 0.4, 1e-9));
  CHECK(near(out(*lab, "arrivals_per_hour"), 0.7 * 128 / (1.9 * out(*lab, "mean_run_s") / 3600), 1e-9));
  REQUIRE(rows(*lab, "sizes") == 4);
  double jobs = 0, work = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    jobs += cell(*lab, "sizes", i, "jobs_share");
    work += cell(*lab, "sizes", i, "time_share");
  }
  CHECK(near(jobs, 100, 1e-9));
  CHECK(near(work, 100, 1e-9));
  CHECK(out(*lab, "moment_used") + out(*lab, "moment_free") == 128);
}

TEST_CASE("sharing: with one size there are no holes, and the order changes nothing") {
  const LabPtr lab = open_lab("fleet/sharing", R"({"mix": "single", "load": 95})");
  compute(*lab);
  CHECK(out(*lab, "stranded") == 0);
  CHECK(out(*lab, "held_back") == 0);
  CHECK(out(*lab, "in_pieces") == 0);
  const double wait = out(*lab, "mean_wait_s");
  CHECK(computed(set(*lab, "order", "any_fit"), "mean_wait_s") == wait);
}

TEST_CASE("sharing: the rule that is set is one of those compared") {
  const LabPtr lab = open_lab("fleet/sharing");
  compute(*lab);
  CHECK(cell(*lab, "rules", 0, "mean_wait_s") == out(*lab, "mean_wait_s"));
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < rows(*lab, "rules"); ++i) best = std::min(best, cell(*lab, "rules", i, "mean_wait_s"));
  CHECK(best == out(*lab, "best_wait_s"));
}

TEST_CASE("sharing: what cannot be is refused with a sentence") {
  const auto says = [](const char* inputs) { return answer_of("fleet/sharing", inputs); };
  CHECK(says(R"({"reserved": 16})").find("could never start") != std::string::npos);
  CHECK(says(R"({"way": "mig", "profile": 5})").find("choose 1, 2, 3, 4 or 7") != std::string::npos);
  CHECK(says(R"({"compute_s": 0, "bytes_s": 0, "host_s": 0})").find("takes no time") != std::string::npos);
}

TEST_CASE("sharing: one GPU in turns, at once and cut") {
  const LabPtr lab = open_lab("fleet/sharing", R"({"way": "time_slices"})");
  compute(*lab);
  const double turns = out(*lab, "slowdown");
  CHECK(turns > 1.4);
  CHECK(turns < 1.7);
  CHECK(std::isnan(out(*lab, "instances")));
  const double together = computed(set(*lab, "way", "mps"), "slowdown");
  CHECK(together > 1);
  CHECK(together < turns);  // bandwidth is shared without switches
  CHECK(near(computed(set(*lab, "way", "mig"), "slowdown"), 21.0 / 12, 1e-9));
  CHECK(out(*lab, "instances") == 3);
  CHECK(rows(*lab, "gpu_jobs") == 3);  // the fourth has no instance
  CHECK(out(*lab, "placed") == 3);
  CHECK(out(*lab, "unplaced") == 1);
  CHECK(computed(set(*lab, "profile", 1), "unplaced") == 0);
}

TEST_CASE("sharing: jobs without an instance are told of, and a fleet where hardly anybody waits says so") {
  CHECK(answer_of("fleet/sharing", R"({"focus": "gpu", "way": "mig"})").find("`3` of `4` jobs") != std::string::npos);
  const std::string alone = answer_of("fleet/sharing", R"({"focus": "gpu", "way": "mig", "profile": 7, "tenants": 7})");
  CHECK(alone.find("for `6` others there is none") != std::string::npos);
  CHECK(answer_of("fleet/sharing", R"({"load": 5})").find("Hardly anybody waits, `1 %`") != std::string::npos);
}

// Moved jobs stand still for five minutes each; over both rounds of 600 jobs that is a quarter of a second a move.
TEST_CASE("sharing: pauses of moved jobs are no wait and stand next to it") {
  const LabPtr lab = open_lab("fleet/sharing", R"({"mix": "gavel", "migrate": true})");
  compute(*lab);
  CHECK(out(*lab, "moves") > 0);
  CHECK(near(cell(*lab, "rules", 2, "paused_s"), out(*lab, "moves") * 0.25, 1e-9));
  CHECK(cell(*lab, "rules", 0, "paused_s") == 0);
  CHECK(out(*lab, "best_paused_s") == cell(*lab, "rules", 2, "paused_s"));
}

TEST_CASE("sharing: what stands empty at the moment shown is held back or a hole") {
  const LabPtr lab = open_lab("fleet/sharing", R"({"mix": "gavel", "load": 90})");
  compute(*lab);
  CHECK(out(*lab, "moment_waiting") > 0);
  CHECK(out(*lab, "moment_held_back") + out(*lab, "moment_stranded") == out(*lab, "moment_free"));
}

TEST_CASE("sharing: a fleet that keeps up uses what is asked for, and the line grows where it does not") {
  const LabPtr lab = open_lab("fleet/sharing", R"({"load": 40})");
  CHECK(near(computed(*lab, "used"), 40, 1e-3));
  CHECK(out(*lab, "growth") < 0.1);
  CHECK(computed(set(*lab, "load", 90), "used") < 75);
  CHECK(out(*lab, "growth") > 15);
  CHECK(lab->answer().find("The line grows") != std::string::npos);
}

TEST_CASE("sharing: the first in line starts when the job that holds it up ends, and a socket is kept") {
  const LabPtr lab = open_lab("fleet/sharing", R"({"mix": "gavel", "order": "backfill", "load": 90})");
  compute(*lab);
  CHECK(out(*lab, "first_starts_s") > 0);
  CHECK(out(*lab, "first_places") >= 1);
  CHECK(out(*lab, "crossing") > 10);
  CHECK(computed(set(*lab, "half", "prefer"), "crossing") < 20);
  CHECK(computed(set(*lab, "half", "only"), "crossing") == 0);
  CHECK(std::isnan(computed(set(*lab, "mix", "single"), "crossing")));
}
