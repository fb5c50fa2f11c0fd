#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/base/near.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("methods lab: GPTQ and AWQ beat rounding at the same bits, and the printed sign loses") {
  const LabPtr lab = open_lab("compression/methods");
  CHECK(computed(*lab, "gptq_ratio") < 0.66);  // errata 13: 0.453 / 0.686
  CHECK(computed(*lab, "awq_ratio") < 0.66);
  CHECK(computed(*lab, "weight_bits") == 4.5);
  CHECK(computed(*lab, "smooth_ratio") < 0.5);
  CHECK(computed(*open_lab("compression/methods", R"({"sign": "plus"})"), "gptq_ratio") > 1.368 / 0.686);
  CHECK(computed(*open_lab("compression/methods", R"({"sign": "none"})"), "gptq_ratio") == 1);
  // Less than one percent is no "0 %", which stands for the very same error.
  const LabPtr tied = open_lab("compression/methods", R"({"correlation": 0.95, "outlier_inputs": 0})");
  tied->compute();
  CHECK(
      tied->answer().find("AWQ changes nothing.\nWith activations rounded too and weights at `8.25` bits, SmoothQuant "
                          "adds `0.25 %` to an error of `") != std::string_view::npos);
}

// Xiao et al. 2022, equation 4: s_j = max|x_j|^alpha / max|w_j|^(1 - alpha), so that the inputs are even at 1 and the
// weights at 0; 0 is not the same as no smoothing.
TEST_CASE("methods lab: SmoothQuant's alpha 1 makes the inputs even, and alpha 0 the weights") {
  const LabPtr lab = open_lab("compression/methods", R"({"smoothing": 1})");
  CHECK(near(computed(*lab, "smoothed_spread"), 1, 1e-9));
  CHECK(out(*lab, "input_spread") > 4);
  compute(set(*lab, "smoothing", 0));
  CHECK(out(*lab, "smooth_error") > out(*lab, "both_error"));
}

TEST_CASE("methods lab: dragging the cursor shows the weights after as many columns") {
  const LabPtr lab = open_lab("compression/methods");
  lab->compute();
  Canvas canvas(*lab, {1200, 1100});
  support::UiDriver& ui = canvas.ui;
  ui.drag_by("drag column", {-600, 0});
  CHECK(lab->view().find("time")->real() == 0);
  ui.frames(2);
  const widgets::Record record = ui.record();
  for (const auto& t : record.tables)
    if (t.name == "weights moved")
      for (const auto& row : t.rows)
        for (std::size_t i = 1; i < row.size(); ++i) CHECK(row[i] == "0");  // nothing is rounded yet
}

// 68,451,041,280 parameters of matrices and 2,102,665,216 others (two vocabulary matrices of 128,256 x 8,192 and the
// norms).
TEST_CASE("deploy lab: weights, cache and speed of Llama 3 70B follow bits and bytes") {
  const LabPtr w4 = open_lab("compression/deploy");
  CHECK(near(computed(*w4, "weights_bytes"), 68451041280.0 * 4.125 / 8 + 2102665216.0 * 2, 1e-9));
  CHECK(near(computed(*w4, "cache_bytes"), 8 * 4096 * 327680.0, 1e-12));  // errata: 327,680 B a token
  CHECK(computed(*w4, "fits") == 1);
  CHECK(computed(*w4, "largest_batch") == 24);
  CHECK(computed(*open_lab("compression/deploy", R"({"kv": "fp8"})"), "largest_batch") == 48);
  CHECK(near(computed(*w4, "prefill_speedup"), 1, 0.01));  // weight-only: products stay in 16 bits
  CHECK(computed(*w4, "decode_speedup") > 3);
  const LabPtr fp8 = open_lab("compression/deploy", R"({"recipe": "fp8"})");
  CHECK(computed(*fp8, "fits") == 0);
  CHECK(computed(*fp8, "chips_needed") == 2);
  CHECK(computed(*fp8, "prefill_speedup") > 1.8);
  // One sequence, a short context: a step is the bytes of the weights over the bandwidth, and an embedding row.
  const LabPtr one =
      open_lab("compression/deploy", R"({"recipe": "bf16", "batch": 1, "context": 128, "roof_share": 1})");
  CHECK(near(computed(*one, "decode_s"), 2 * (70553706496.0 - 128256.0 * 8192) / 3.35e12, 0.01));
}

TEST_CASE("deploy lab: the tree goes another way for another need") {
  const auto says = [](const char* inputs) {
    const LabPtr lab = open_lab("compression/deploy", inputs);
    lab->compute();
    REQUIRE(lab->reason() == "");
    return lab->outputs().find("recommended")->text();
  };
  CHECK(says("{}") == "W4A16");
  CHECK(says(R"({"may_lose": 0})") == "BF16 on more chips");
  CHECK(says(R"({"may_lose": 0, "chips": 4})") == "BF16");
  CHECK(says(R"({"may_lose": 0.5})") == "FP8");
  CHECK(says(R"({"may_lose": 0.5, "chip": "a100_80_sxm"})") == "W8A16");
  CHECK(says(R"({"chip": "b200_sxm"})") == "NVFP4");
  CHECK(says(R"({"batch": 64, "context": 32768})") == "FP8, FP8 cache");
  CHECK(says(R"({"batch": 64, "context": 32768, "chip": "a100_80_sxm"})") == "W8A16, FP8 cache");
  CHECK(says(R"({"batch": 1024, "context": 128})") == "FP8, FP8 cache");
  CHECK(says(R"({"batch": 1024, "context": 128, "chip": "a100_80_sxm"})") == "W8A8 INT8");
}

TEST_CASE("deploy lab: a recipe that the chip cannot multiply is said, and the others are still compared") {
  const LabPtr lab = open_lab("compression/deploy", R"({"recipe": "nvfp4"})");
  lab->compute();
  CHECK_FALSE(lab->reason().empty());
  CHECK(lab->reason().find("FP4") != std::string::npos);
  const LabPtr other = open_lab("compression/deploy");
  other->compute();
  chapters::Fields row;
  other->outputs().find("recipes")->table_row(5, row);
  CHECK(row.find("possible")->number() == 0);
}

TEST_CASE("quantizer lab: with one scale a row of large weights sets it, and the row of the smallest weights pays") {
  const LabPtr lab = open_lab("compression/quantizer", R"({"grain": "tensor"})");
  compute(*lab);
  CHECK(out(*lab, "hurt_row_error") == 100);  // all of it became 0
  CHECK(out(*lab, "largest_row_share") < 5);
  CHECK(lab->answer().find("; the worst, row `4`, by `100 %` of its size.") != std::string_view::npos);
  compute(set(*lab, "grain", "channel"));
  CHECK(lab->answer().find(" of the squared error.") != std::string_view::npos);
}

TEST_CASE("methods lab: the answer says what each takes back of rounding's error, and what the wrong sign adds") {
  const LabPtr lab = open_lab("compression/methods");
  compute(*lab);
  const auto taken = [&](const char* key) { return "`" + std::to_string(std::lround(out(*lab, key))) + " %`"; };
  CHECK(near(out(*lab, "gptq_taken"), 100 * (1 - out(*lab, "gptq_ratio_held_out")), 1e-12));
  // The methods round to other bits, so SmoothQuant has a line and an error of its own.
  CHECK(lab->answer() == "GPTQ takes back " + taken("gptq_taken") +
                             " of rounding's error on new tokens at `4.5` bits per weight, AWQ " + taken("awq_taken") +
                             ".\nWith activations rounded too and weights at `8.25` bits, SmoothQuant takes back " +
                             taken("smooth_taken") + " of an error of `0.0740 %`.");
  compute(set(*lab, "sign", "plus"));
  CHECK(lab->answer().starts_with("GPTQ with the wrong sign adds `"));
}

TEST_CASE("methods lab: the methods stand in two groups, each under the bits that it rounds to") {
  const LabPtr lab = open_lab("compression/methods");
  compute(*lab);
  Canvas canvas(*lab, {1200, 900});
  for (const char* name : {"rounding", "GPTQ", "AWQ", "both rounded", "SmoothQuant", "4.5 bits: weights alone rounded",
                           "8.25 bits: both operands rounded"}) {
    INFO(name);
    CHECK(canvas.ui.text_present(name));
  }
}

TEST_CASE("methods lab: a group that is longer than a row is said to be the row") {
  const LabPtr lab = open_lab("compression/methods", R"({"group": 128})");
  compute(*lab);
  CHECK(text_of(*lab, "note") == "A group of 128 is the whole row of 64 inputs: one scale per row.");
  const double bits = out(*lab, "weight_bits");
  compute(set(*lab, "group", 64));
  CHECK(text_of(*lab, "note").empty());
  CHECK(out(*lab, "weight_bits") == bits);  // it is the same scale
}
