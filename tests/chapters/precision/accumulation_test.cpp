#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using Catch::Approx;
using namespace support;

namespace {

LabPtr sums(const char* inputs = "{}") {
  LabPtr lab = open_lab("precision/accumulation", inputs);
  lab->compute();
  REQUIRE(lab->reason().empty());
  return lab;
}

}  // namespace

// 2^8 and 2^11 are the first integers two apart; 1 + 2^-9 is a quarter of BF16's gap above 1.
TEST_CASE(
    "accumulation: ones stop at 256 in BF16 and 2,048 in FP16; updates of 2^-9 never reach a BF16 weight, its master "
    "shows them") {
  const LabPtr bf16 = sums(), fp16 = sums(R"({"format": "fp16"})");
  CHECK(out(*bf16, "naive_sum") == 256);
  CHECK(out(*bf16, "stops_after") == 256);
  CHECK(out(*bf16, "naive_error") == Approx(100 * (1 - 256.0 / 16384)));
  CHECK(out(*fp16, "naive_sum") == 2048);
  CHECK(out(*bf16, "wide_error") == 0);
  CHECK(out(*bf16, "smallest_visible") == 0x1p-8);
  CHECK(out(*bf16, "update_seen") == 0);
  CHECK(out(*bf16, "plain_gained") == 0);
  CHECK(out(*bf16, "master_gained") == 100);
  CHECK(out(*bf16, "master_first_move") == 3);
  CHECK(out(*bf16, "stochastic_gained") ==
        Approx(100).epsilon(0.06));  // 64 replicas of deviation 0.077: 1 %, six of them
  CHECK(out(*fp16, "update_seen") == 1);
  CHECK(out(*fp16, "plain_gained") == 100);
}

TEST_CASE("accumulation: blocks short enough not to stop are exact in E4M3") {
  CHECK(out(*sums(R"({"format": "e4m3fn", "block": 16})"), "blocked_error") == 0);
  CHECK(out(*sums(R"({"format": "e4m3fn", "block": 128})"), "blocked_error") == Approx(87.5));  // 16 of 128 arrive
}

TEST_CASE("accumulation: the tables say what the figures say, row by row") {
  const LabPtr lab = sums(R"({"terms": "uniform", "format": "fp16"})");
  CHECK(cell(*lab, "sums", 0, "sum") == out(*lab, "naive_sum"));
  CHECK(cell(*lab, "sums", 3, "error") == out(*lab, "pairwise_error"));
  CHECK(cell(*lab, "sums", 5, "error") == out(*lab, "wide_error"));
  CHECK(cell(*lab, "updates", 3, "weight") == out(*lab, "master_weight"));
  CHECK(out(*lab, "naive_error") > out(*lab, "pairwise_error"));
}

TEST_CASE("accumulation: a learning rate of 1e-5 takes the master 391 steps to show") {
  const LabPtr lab = sums(R"({"update": 1e-5, "steps": 4096})");
  CHECK(out(*lab, "master_first_move") == 391);  // ceil(2^-8 / 1e-5)
  CHECK(out(*lab, "plain_gained") == 0);
}

TEST_CASE("accumulation: 256 ones get there, 255 do not, and a sum that is off shows the digits that are") {
  CHECK(sums(R"({"count": 256})")->answer().ends_with("`256` ones just get there."));
  CHECK(sums(R"({"count": 255})")->answer().ends_with("`255` ones do not get there."));
  const LabPtr off = sums(R"({"format": "fp32", "terms": "normal"})");
  const std::string said(off->answer());
  const auto from = said.find("end at `") + 8, then = said.find("not `") + 5;
  CHECK(said.substr(from, said.find('`', from) - from) != said.substr(then, said.find('`', then) - then));
}

TEST_CASE("accumulation: where the weight is what was set, its updates are the answer") {
  CHECK(sums()->answer().starts_with("From `256` on in BF16"));
  CHECK(
      sums(R"({"update": 1e-5, "steps": 4096})")->answer() ==
      "Updates of `1e-5` never move a weight of `1` in BF16, where neighbours are `1/128` apart; an FP32 master's copy "
      "moves after `391`.");
  CHECK(sums(R"({"format": "fp16", "steps": 1024})")->answer() ==
        "Updates of `1/512` move a weight of `1` in FP16, where neighbours are `1/1,024` apart: `100 %` of their sum "
        "arrives.");
}

TEST_CASE("accumulation: the adder shows all three rows over the plot, wherever there is room for both") {
  const LabPtr lab = sums();
  for (const float high : {480.0f, 560.0f, 640.0f, 900.0f}) {
    INFO(high);
    Canvas canvas(*lab, {760, high});
    CHECK(canvas.ui.text_present("stored sum"));
    CHECK_FALSE(canvas.ui.text_present("more row"));
  }
}
