#include <catch2/catch_test_macros.hpp>
#include <cctype>
#include <cmath>
#include <string>
#include <string_view>

#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

/// How many lanes with this label are drawn; a longer word that begins with it is another.
std::size_t lanes_called(const std::string& strokes, std::string_view label) {
  std::size_t count = 0;
  for (std::size_t at = strokes.find(label); at != std::string::npos; at = strokes.find(label, at + 1)) {
    const std::size_t after = at + label.size();
    count += after == strokes.size() || std::isalpha(static_cast<unsigned char>(strokes[after])) == 0;
  }
  return count;
}

}  // namespace

TEST_CASE("detective: the longest span costs nothing, and the culprit is a pause on the other rank") {
  const LabPtr lab = open_lab("profiling/detective");
  compute(*lab);
  CHECK(choice_of(*lab, "planted") == "garbage_collection");
  CHECK(choice_of(*lab, "diagnosed") == "garbage_collection");
  CHECK(out(*lab, "culprit_rank") == 1);
  CHECK(out(*lab, "diagnosed_rank") == 1);
  CHECK(out(*lab, "longest_s") > 2 * out(*lab, "culprit_s") / 2);
  CHECK(std::abs(out(*lab, "longest_won_s")) <= 1e-4);
  CHECK(out(*lab, "won_s") > 0.2);
  CHECK(out(*lab, "won_s") < out(*lab, "culprit_s"));
  CHECK(near(out(*lab, "step_without_s") * 4 + out(*lab, "won_s"), out(*lab, "length_s"), 1e-9));
}

TEST_CASE("detective: a charge is graded by what the replay wins, and each of its parts has a point") {
  const LabPtr lab = open_lab("profiling/detective");
  compute(*lab);
  CHECK(std::isnan(out(*lab, "score")));
  std::size_t guilty = 0;
  for (std::size_t i = 0; i < rows(*lab, "suspects"); ++i)
    if (cell_text(*lab, "suspects", i, "verdict") == "guilty") guilty = i + 1;
  REQUIRE(guilty > 0);
  set(*lab, "accused", static_cast<double>(guilty));
  CHECK(computed(*lab, "score") == 1);
  CHECK(out(*lab, "accused_won_s") >= 0.9 * out(*lab, "won_s"));
  choose(*lab, "charge", "garbage_collection");
  CHECK(computed(*lab, "score") == 2);
  choose(*lab, "fix", "more_workers");
  CHECK(computed(*lab, "score") == 2);
  CHECK(std::abs(out(*lab, "fix_won_s")) <= 1e-3);
  choose(*lab, "fix", "collect_by_hand");
  CHECK(computed(*lab, "score") == 3);
  CHECK(near(out(*lab, "fix_won_s"), out(*lab, "won_s"), 1e-9));
}

TEST_CASE("detective: a sealed case shows nothing of its verdict until somebody is accused") {
  const LabPtr lab = open_lab("profiling/detective", R"({"sealed": true})");
  compute(*lab);
  CHECK(choice_of(*lab, "planted") == "sealed");
  CHECK(choice_of(*lab, "diagnosed") == "sealed");
  for (const char* key : {"won_s", "won_percent", "step_without_s", "culprit_rank", "culprit_s", "longest_won_s",
                          "diagnosed_s", "explained_percent", "fix_won_s"})
    CHECK(std::isnan(out(*lab, key)));
  CHECK(rows(*lab, "witnesses") == 0);
  for (std::size_t i = 0; i < rows(*lab, "suspects"); ++i) CHECK(cell_text(*lab, "suspects", i, "verdict") == "sealed");
  choose(*lab, "charge", "healthy");
  compute(*lab);
  CHECK(choice_of(*lab, "planted") == "garbage_collection");
  CHECK(out(*lab, "score") == 0);
}

TEST_CASE("detective: whether a sealed case has a fault is sealed, too") {
  // Case 5 is one of those in which nothing is wrong, whatever the toggle says that counts for open cases.
  const LabPtr lab = open_lab("profiling/detective", R"({"sealed": true, "seed": 5, "charge": "healthy"})");
  compute(*lab);
  CHECK(choice_of(*lab, "planted") == "none");
  CHECK(out(*lab, "score") == 3);
}

TEST_CASE("detective: of a healthy job the right charge is that nothing is wrong") {
  const LabPtr lab = open_lab("profiling/detective", R"({"faults": 0, "charge": "healthy"})");
  compute(*lab);
  CHECK(choice_of(*lab, "planted") == "none");
  CHECK(choice_of(*lab, "diagnosed") == "none");
  CHECK(out(*lab, "won_s") == 0);
  CHECK(out(*lab, "score") == 3);
  set(*lab, "accused", 1);
  CHECK(computed(*lab, "score") == 0);
}

TEST_CASE(
    "detective: where the window is low, the lanes lie close, and the culprit of many ranks is brought into sight") {
  PictureFrame frame({892, 550});
  const LabPtr two = open_lab("profiling/detective");
  compute(*two);
  two->arrange();
  const std::string both = frame.strokes_of(*two);
  CHECK(both.find("More lanes below") == std::string::npos);
  CHECK(lanes_called(both, "compute") == 2);
  // The culprit is a silence, which has its own word on the lane.
  CHECK(both.find("not recorded") != std::string::npos);
  // Four ranks have more lanes than fit; the one that holds the culprit is scrolled to.
  const LabPtr many = open_lab("profiling/detective", R"({"seed": 1, "level": 3})");
  compute(*many);
  many->arrange();
  REQUIRE(out(*many, "culprit_rank") == 2);
  CHECK(lanes_called(frame.strokes_of(*many), "compute") >= 3);
}
