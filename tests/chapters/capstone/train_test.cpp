#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <numeric>
#include <string>

#include "chapters/capstone/train/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace run = chapters::capstone::train;

namespace {

LabPtr train_lab(const std::string& rounds, const std::string& more = "") {
  return open_lab("capstone/train", (R"({"said": [], "rounds": ")" + rounds + "\"" + more + "}").c_str());
}

constexpr double day_s = 86400;
constexpr const char* seventy =
    R"(, "size": "70b", "gpus": 512, "global_batch": 512, "tokens": 2e12, "target_s": 3888000)";

}  // namespace

TEST_CASE("train: the days of the run are what its causes sum to, and steps times step over the clock that counts") {
  use_bundled_catalog();
  const auto job = run::job_of({});
  REQUIRE(job);
  const run::RunGame game(*job);
  for (const std::uint32_t cards : {0u, 0x4u, 0xcu, 0x10cu, 0x210cu}) {
    const run::Outcome o = game.outcome({cards});
    REQUIRE(o.bounce.empty());
    CHECK(near(std::accumulate(o.cause_s.begin(), o.cause_s.end(), 0.0), o.wall_s, 1e-9));
    CHECK(near(o.wall_s, o.steps * o.step_s / o.efficiency, 1e-12));
  }
  CHECK(near(game.outcome({}).steps, 15.6e12 / (2048.0 * 8192), 1e-12));
}

// 6 N D of 405.85e9 parameters and 15.6e12 tokens at 989.4 TFLOP/s on 16,384 GPUs are 27.1 days; attention adds to it.
TEST_CASE("train: arithmetic at the peak is 28 days whatever the plan, and half of it in 8 bits") {
  use_bundled_catalog();
  const auto job = run::job_of({});
  REQUIRE(job);
  const run::RunGame game(*job);
  const double bf16 = game.outcome({0x4}).cause_s[0];
  CHECK(near(bf16 / day_s, 28.1, 0.01));
  CHECK(near(game.outcome({0x10c}).cause_s[0], bf16, 1e-9));
  CHECK(near(game.outcome({0x4 | 1u << static_cast<unsigned>(run::Move::fp8)}).cause_s[0], bf16 / 2, 0.01));
}

TEST_CASE("train: memory is a wall, cards that do not go together bounce, and the round stays on the board") {
  const LabPtr full = train_lab("pipeline_16, interleave, keep_all");
  CHECK(computed(*full, "bounced") == 1);
  CHECK(computed(*full, "wasted") == 1);
  CHECK(computed(*full, "memory_bytes") < computed(*full, "room_bytes"));
  CHECK(cell_text(*full, "board", 3, "bounced").find("78 GB") != std::string::npos);
  CHECK(computed(*train_lab("interleave"), "bounced") == 1);
  CHECK(reason_of(*train_lab("pipeline_16, pipeline_16")).find("16 stages") != std::string::npos);
  CHECK(reason_of(*train_lab("steam")).find("steam") != std::string::npos);
}

TEST_CASE("train: a step of fewer sequences than replicas is refused by the names of the inputs, with what to do") {
  // 16,384 GPUs in replicas of tensor 8 are 2,048, which take a sequence each.
  const std::string reason = reason_of(*train_lab("", R"(, "global_batch": 1024)"));
  CHECK(reason.find("2,048 replicas") != std::string::npos);
  CHECK(reason.find("raise \"Sequences per step\" or lower \"GPUs\"") != std::string::npos);
  CHECK(reason_of(*train_lab("", R"(, "global_batch": 2048)")).empty());
  // 405.85e9 parameters at 16 bytes on 64 GPUs are 101 GB for each, which has room for 78.
  CHECK(reason_of(*train_lab("", R"(, "gpus": 64)")).find(": raise \"GPUs\"") != std::string::npos);
}

TEST_CASE("train: sentence, table and board count the same rounds as nothing won") {
  // Under ZeRO 8-bit moments win less than half a percent of the run; the board says "won nothing".
  const LabPtr lab = train_lab("moments_8");
  CHECK(computed(*lab, "nothing_won") == 1);
  CHECK(computed(*lab, "wasted") == 1);
  CHECK(lab->answer().find("won nothing") != std::string::npos);
  CHECK(computed(*train_lab(""), "nothing_won") == 0);
  CHECK(computed(*train_lab("pipeline_16"), "wasted") == 0);
}

TEST_CASE("train: each thing that no slab shows names the lab that it opens") {
  for (std::size_t i = 0; i < run::item_count; ++i) {
    CHECK(!run::item_lab(static_cast<run::Item>(i)).name.empty());
    CHECK(!run::item_lab(static_cast<run::Item>(i)).link.empty());
  }
}

TEST_CASE("train: stages pay with chunks alone, splitting sequences loses, 8-bit moments win nothing under ZeRO") {
  CHECK(computed(*train_lab("pipeline_16"), "bubble_over_work") > 85);
  CHECK(computed(*train_lab("pipeline_16, interleave"), "bubble_over_work") < 15);
  CHECK(computed(*train_lab("context_2"), "won_s") < -100 * day_s);
  CHECK(std::abs(computed(*train_lab("moments_8"), "won_s")) < day_s);
}

TEST_CASE("train: the clock is that of the failures' own model") {
  const LabPtr lab = train_lab("save_best");
  const models::fleet::RunReliability r{.save_s = 30, .restart_s = 600, .mtbf_s = 50'700 * 3600.0 / 16384};
  CHECK(near(computed(*lab, "efficiency"),
             100 * models::fleet::checkpoint_efficiency(r, models::fleet::exact_interval_s(r)), 1e-9));
}

TEST_CASE("train: par and the planner's best plan are told once the run is in time") {
  CHECK(std::isnan(computed(*train_lab("pipeline_16"), "par")));
  const LabPtr won = train_lab("tensor_2, selective", seventy);
  CHECK(computed(*won, "met") == 1);
  CHECK(computed(*won, "par") == 2);
  CHECK(computed(*won, "best_wall_s") > 0);
  CHECK(computed(*won, "behind_best") > 0);  // the planner has every plan, spares and a detector
}

TEST_CASE("train: the study's design fits 70B and 100B, and not 405B") {
  CHECK(std::isnan(computed(*train_lab(""), "study_wall_s")));
  CHECK(computed(*train_lab("", seventy), "study_wall_s") > 60 * day_s);
  CHECK(near(computed(*train_lab("", R"(, "size": "100b", "gpus": 256, "global_batch": 512)"), "state_bytes"), 1.57e12,
             0.01));
}

TEST_CASE("train: a round opens the planner with its plan") {
  const run::Inputs in;
  const auto job = run::job_of(in);
  REQUIRE(job);
  const run::RunGame game(*job);
  const auto link = run::planner_link(in, game.run_of({0xcu}));
  REQUIRE(link);
  CHECK(link->find("distributed/planner?model=llama-3.1-405b") == 0);
  CHECK(link->find("pipeline_parallel=16") != std::string::npos);
  CHECK(link->find("virtual_pipeline=8") != std::string::npos);
}

// The stage of a window of 1280x800 is 870 wide: next to the list the board's slabs were too small to read.
TEST_CASE("train: the list of what no slab shows stands next to the board only where both have room") {
  use_bundled_catalog();
  const LabPtr lab = train_lab("pipeline_16, interleave");
  compute(*lab);
  Canvas wide(*lab, {1200, 800});
  CHECK(wide.ui.text_present("of 8 are settled"));
  Canvas narrow(*lab, {870, 560});
  CHECK_FALSE(narrow.ui.text_present("of 8 are settled"));
}
