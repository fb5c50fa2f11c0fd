#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "chapters/precision/accumulation/lab.h"
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

TEST_CASE("accumulation: the answer says where ones stop, what they sum to, and whether blocks stop there too") {
  CHECK(sums()->answer() ==
        "BF16 stops at `256`: adding one then changes nothing, and `16,384` ones sum to `256`.\n"
        "In blocks of `128`, whose sums are added in FP32, they sum to `16,384`.");
  CHECK(sums(R"({"format": "e4m3fn"})")->answer().ends_with("they sum to `2,048`, since each block stops there too."));
  CHECK(sums(R"({"count": 256})")->answer().find("these `256` ones just get there, to `256`.") != std::string::npos);
  CHECK(sums(R"({"count": 255})")->answer().find("these `255` ones do not get there, and sum to `255`.") !=
        std::string::npos);
}

TEST_CASE("accumulation: a sum that differs from the exact one in no digit shown says by how much it is off") {
  CHECK(sums(R"({"format": "fp32", "terms": "normal"})")->answer().find(" in FP32, off by `") != std::string::npos);
  CHECK(sums(R"({"terms": "skewed"})")->answer().find(" in BF16 instead of `") != std::string::npos);
  CHECK(sums(R"({"format": "e4m3fn", "size": 1000})")->answer().starts_with("These `16,384` terms overflow E4M3FN"));
}

TEST_CASE("accumulation: where the weight is what was set, its updates are the answer") {
  CHECK(sums(R"({"update": 1e-5, "steps": 4096})")->answer() ==
        "A weight of `1` in BF16 never moves: its neighbours are 1/128 apart, and updates of `1e-5` round away.\n"
        "An FP32 master copy gathers them: its BF16 copy moves after `391` updates.");
  CHECK(sums(R"({"format": "fp16", "steps": 1024})")->answer() ==
        "Updates of 1/512 move a weight of `1` in FP16: `100 %` of their sum arrives.\n"
        "Its neighbours are 1/1,024 apart, and each update is rounded to whole gaps.");
}

TEST_CASE("accumulation: methods that end within a pixel share a mark, and the plain weight is named first") {
  using namespace chapters::precision::accumulation;
  const auto picture_of = [](const Inputs& in) {
    const auto computed = compute(in, chapters::Progress{});
    return arrange(in, computed.facts, *computed.run);
  };
  Inputs in;
  in.format = "fp16";
  const Picture fp16 = picture_of(in);  // stochastic rounding ends within some percent of all the others
  CHECK(fp16.sums.size() == 4);         // what is lost, the exact sum, the one accumulator, and they
  CHECK(fp16.sums.back().label == "FP32 and 4 more: 16,384");
  CHECK(picture_of({}).sums.size() == 5);  // 14,272 in BF16 stands apart
  CHECK(fp16.weights[1].label == "in the format");
}

TEST_CASE("accumulation: the window slides with the sum, and the one has no place in it at 256") {
  using namespace chapters::precision::accumulation;
  const Inputs in;
  const auto computed = compute(in, chapters::Progress{});
  const Picture p = arrange(in, computed.facts, *computed.run);
  CHECK(p.shown_first == 257);
  const AdderWindow w = window_of(*p.format, *computed.run, p.shown_first, 12);
  REQUIRE(w.rows.size() == 9);  // sums of 1, 2, 4 to 128, then 256
  for (int k = 0; k < 9; ++k) {
    const WindowRow& row = w.rows[static_cast<std::size_t>(k)];
    CHECK(row.top == k);
    CHECK(row.last == k - 7);  // BF16 keeps eight bits
    CHECK(row.term == std::vector<int>{0});
    CHECK(row.stalled == (k == 8));
  }
  CHECK(w.rows.back().result == "+1 = 256");
  CHECK(w.words ==
        "addition 257: 257 needs 9 bits, and BF16 holds 8: half-way between 256 and 258, the even one, 256, wins");
  CHECK(window_of(*p.format, *computed.run, 257, 4).rows.front().before == "32");  // the last four
}

TEST_CASE("accumulation: the window and the sum are both drawn, wherever there is room for the panel") {
  const LabPtr lab = sums();
  for (const float high : {400.0f, 480.0f, 640.0f, 900.0f}) {
    INFO(high);
    Canvas canvas(*lab, {760, high});
    CHECK(canvas.ui.text_present("+1 = 256"));
    CHECK(canvas.ui.text_present("terms added"));
  }
}
