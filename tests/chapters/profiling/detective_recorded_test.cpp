#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

/// The place of the guilty one in the line-up, from 1; 0 where nobody is.
std::size_t guilty_in(const Lab& lab) {
  for (std::size_t i = 0; i < rows(lab, "suspects"); ++i)
    if (cell_text(lab, "suspects", i, "verdict") == "guilty") return i + 1;
  return 0;
}

}  // namespace

TEST_CASE("detective: real recordings are played as dealt cases are: span, cause and fix, graded by replay") {
  struct Case {
    const char *id, *cause, *fix, *other_fix;
    double rank;
  };
  for (const Case& c : {Case{"real_1", "slow_loader", "more_workers", "pinned_memory", 0},
                        Case{"real_2", "slow_first_launch", "warm_up", "more_workers", 0},
                        Case{"real_3", "late_rank", "even_ranks", "other_link", 7}}) {
    INFO(c.id);
    const LabPtr lab = open_lab("profiling/detective", R"({"sealed": true})");
    choose(*lab, "recording", c.id);
    compute(*lab);
    CHECK(choice_of(*lab, "planted") == "sealed");
    CHECK(std::isnan(out(*lab, "won_s")));
    CHECK(guilty_in(*lab) == 0);
    set(*lab, "accused", 1);
    compute(*lab);
    CHECK(choice_of(*lab, "planted") == c.cause);
    CHECK(choice_of(*lab, "diagnosed") == c.cause);
    CHECK(out(*lab, "culprit_rank") == c.rank);
    CHECK(out(*lab, "diagnosed_rank") == c.rank);
    REQUIRE(guilty_in(*lab) > 0);
    set(*lab, "accused", static_cast<double>(guilty_in(*lab)));
    CHECK(computed(*lab, "score") == 1);
    CHECK(near(out(*lab, "accused_won_s"), out(*lab, "won_s"), 1e-9));
    choose(*lab, "charge", c.cause);
    choose(*lab, "fix", c.other_fix);
    CHECK(computed(*lab, "score") == 2);
    choose(*lab, "fix", c.fix);
    CHECK(computed(*lab, "score") == 3);
  }
}

TEST_CASE("detective: of a real recording in which nothing is wrong the right charge is that nothing is") {
  for (const char* id : {"real_4", "real_5"}) {
    INFO(id);
    const LabPtr lab = open_lab("profiling/detective", R"({"sealed": true, "charge": "healthy"})");
    choose(*lab, "recording", id);
    CHECK(computed(*lab, "score") == 3);
    CHECK(choice_of(*lab, "planted") == "none");
    CHECK(choice_of(*lab, "diagnosed") == "none");
    CHECK(out(*lab, "won_s") == 0);
    // The longest span of the host, a first launch, costs nothing.
    CHECK(out(*lab, "longest_s") > 0.1);
    CHECK(std::abs(out(*lab, "longest_won_s")) < 1e-4);
    set(*lab, "accused", 1);
    CHECK(computed(*lab, "score") == 0);
  }
}

TEST_CASE("detective: a real recording whose graph is incomplete says how much it explains before what would be won") {
  const LabPtr lab = open_lab("profiling/detective", R"({"recording": "real_1"})");
  compute(*lab);
  CHECK(out(*lab, "replay_percent") > 90);
  CHECK(out(*lab, "replay_percent") < 99);
  const std::string answer(lab->answer());
  INFO(answer);
  CHECK(answer.find("A replay that explains `93.1 %`") == 0);
  CHECK(answer.find("a slow data loader") != std::string::npos);
  choose(*lab, "recording", "real_2");
  compute(*lab);
  CHECK(std::string(lab->answer()).find("A replay that explains") == std::string::npos);
}

TEST_CASE("detective: the board of real ranks has a lane for each, with the origin and its licence under it") {
  PictureFrame frame({892, 550});
  const LabPtr lab = open_lab("profiling/detective", R"({"recording": "real_3"})");
  compute(*lab);
  lab->arrange();
  const std::string drawn = frame.strokes_of(*lab);
  for (int rank = 0; rank < 8; ++rank) CHECK(drawn.find("rank " + std::to_string(rank)) != std::string::npos);
  CHECK(drawn.find("facebookresearch/param") != std::string::npos);
  CHECK(drawn.find("MIT") != std::string::npos);
}
