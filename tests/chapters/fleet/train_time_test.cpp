#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/fleet/train_time/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("train time: the answer says what is lost to what, and calls a good interval good") {
  const auto says = [](const char* inputs) { return answer_of("fleet/train-time", inputs); };
  CHECK(says("{}") ==
        "With a checkpoint every `2 h` the run takes `98.2 days`: only `69.0 %` of the clock counts.\nFailures "
        "waste `28.2 %`. One every `9.47 min` makes it `73.4 days`.");
  CHECK(says(R"({"interval_s": 60})").find("\nSaving takes `19.4 %`. ") != std::string::npos);
  CHECK(says(R"({"interval_s": 0})").find("within a point of the best.\nAny time from ") != std::string::npos);
  CHECK(says(R"({"interval_s": 3600, "restart_s": 7200})").find("\nRestarts take ") != std::string::npos);
  CHECK(
      says(R"({"interval_s": 600000, "mtbf_s": 3600})").starts_with("This run would take more than a thousand years"));
  CHECK(says(R"({"chip": "v100_sxm2"})").find(" has no BF16 peak ") != std::string::npos);
}

// Meta, The Llama 3 Herd of Models, 2024: 419 unexpected interruptions in 54 days on 16,384 H100s.
TEST_CASE("train time: Llama 3 405B by its published figures") {
  const LabPtr lab = open_lab("fleet/train-time", R"({"interval_s": 0})");
  compute(*lab);
  CHECK(near(out(*lab, "failures_per_day"), 419.0 / 54, 1e-3));
  CHECK(near(out(*lab, "gpu_hours_per_failure"), 54.0 * 24 * 16384 / 419, 1e-3));
  CHECK(near(out(*lab, "flops"), 6 * 405853388800.0 * 15.6e12, 1e-9));  // the paper: 3.8e25
  CHECK(near(out(*lab, "compute_s"), out(*lab, "flops") / (16384 * 0.4 * 989.5e12), 1e-3));
  CHECK(out(*lab, "best_efficiency") > 90);  // the paper: more than 90 % effective
  CHECK(near(out(*lab, "wall_s") * out(*lab, "efficiency") / 100, out(*lab, "compute_s"), 1e-9));
  CHECK(near(out(*lab, "dollars"), 16384 * out(*lab, "wall_s") / 3600 * 2, 1e-9));
}

TEST_CASE("train time: the drawn failures are the same whatever the interval, and more of them lie close together") {
  const LabPtr lab = open_lab("fleet/train-time");
  compute(*lab);
  const double failures = out(*lab, "shown_failures"), best = out(*lab, "shown_best_kept");
  compute(set(*lab, "interval_s", 1200));
  CHECK(out(*lab, "shown_failures") == failures);
  CHECK(out(*lab, "shown_best_kept") == best);
  compute(set(*lab, "seed", 5));
  CHECK(out(*lab, "shown_best_kept") != best);
}

// The flat optimum: a point below it on both sides, and the default day near the mean that the answer speaks of.
TEST_CASE("train time: the range that is within a point of the best, and a default day that does not mislead") {
  const LabPtr lab = open_lab("fleet/train-time");
  compute(*lab);
  const double best = out(*lab, "best_efficiency"), from = out(*lab, "flat_from_s"), to = out(*lab, "flat_to_s");
  CHECK(std::abs(out(*lab, "shown_kept") - out(*lab, "efficiency")) < 1);
  for (const double edge : {from, to})
    CHECK(near(computed(set(*lab, "interval_s", edge), "efficiency"), best - 1, 1e-6));
  CHECK(from < out(*lab, "exact_s"));
  CHECK(to > out(*lab, "exact_s"));
}

TEST_CASE("train time: work that is done twice stands under the falls, and none where a failure hits a restart") {
  namespace lab_run = chapters::fleet::train_time;
  const lab_run::Inputs in;
  const auto computed_run = lab_run::compute(in);
  const lab_run::Picture p = lab_run::arrange(in, computed_run.facts, *computed_run.run);
  const auto& area = p.climb[1];
  double undone = 0;
  std::size_t falls = 0;
  for (const auto& f : computed_run.run->yours.failures) {
    undone += f.fell_from_s - f.fell_to_s;
    if (f.fell_from_s > f.fell_to_s) ++falls;
  }
  CHECK(near(undone, computed_run.run->yours.redone_s, 1e-9));
  REQUIRE(area.x.size() == 4 * falls);
  for (std::size_t i = 0; i < area.x.size(); ++i) CHECK(area.y[i] >= area.lower[i] - 1e-12);
  CHECK(p.climb[3].y.back() == p.yours_end);
  CHECK(near(100 * p.yours_end / p.window, computed_run.facts.shown_kept, 1e-9));
}

// Table 5 of the paper: 419 interruptions, 148 of them faulty GPUs (35.3 %, printed as 30.1 %), 268 of the GPU (64.0 %;
// the printed shares sum to 58.7 %).
TEST_CASE("train time: causes are counted as published, and your failures come in their shares") {
  const LabPtr lab = open_lab("fleet/train-time");
  compute(*lab);
  REQUIRE(rows(*lab, "causes") == 18);
  double counted = 0, share = 0, in_run = 0;
  for (std::size_t i = 0; i < 18; ++i) {
    counted += cell(*lab, "causes", i, "counted");
    share += cell(*lab, "causes", i, "share");
    in_run += cell(*lab, "causes", i, "in_run");
  }
  CHECK(counted == 419);
  CHECK(near(share, 100, 1e-12));
  CHECK(near(in_run, out(*lab, "failures"), 1e-12));
  CHECK(near(cell(*lab, "causes", 0, "share"), 35.32, 1e-3));
  CHECK(near(cell(*lab, "causes", 0, "gap_s"), 11'135 * 419.0 / 148, 1e-12));
  CHECK(near(out(*lab, "gpu_share"), 63.96, 1e-3));
}
