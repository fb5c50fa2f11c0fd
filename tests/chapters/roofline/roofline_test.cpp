#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <string>
#include <string_view>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;

namespace {

double ridge(Lab& lab, std::string_view chip, std::string_view format) {
  return computed(set(lab, "chip", chip, "format", format), "ridge");
}

}  // namespace

// Tables of S0 ch.1, S1 part 1 and S4 section 2. A100 with 2.0 TB/s reads 156 there, B200 with the announced 8.0 TB/s
// 281, and 990 / 3.4 makes 291 of the H100: today's figures are 2.039, 7.7 and 989.4 / 3.35.
TEST_CASE("the roofline lab gives the ridge points of the tables") {
  const LabPtr lab = open_lab("roofline/roofline");
  CHECK(std::round(ridge(*lab, "v100_sxm2", "fp16")) == 139);
  CHECK(std::round(ridge(*lab, "a100_80_sxm", "bf16")) == 153);
  CHECK(std::round(ridge(*lab, "h100_sxm", "bf16")) == 295);
  CHECK(std::round(ridge(*lab, "h100_sxm", "fp8")) == 591);
  CHECK(std::round(ridge(*lab, "h200_sxm", "bf16")) == 206);
  CHECK(std::round(ridge(*lab, "mi300x", "bf16")) == 247);
  CHECK(std::round(ridge(*lab, "mi300x", "fp8")) == 493);
  CHECK(std::round(ridge(*lab, "b200_sxm", "bf16")) == 292);
  CHECK(std::round(ridge(*lab, "b200_sxm", "fp8")) == 584);
  CHECK(std::round(ridge(*lab, "b200_sxm", "fp4")) == 1169);
}

// 2 n^3 operations over 3 n^2 elements of 2 B.
TEST_CASE("a square BF16 product has intensity n/3 in the roofline lab, 1365.3 at 4096") {
  const LabPtr lab = open_lab("roofline/roofline");
  set(*lab, "operation", "gemm");
  for (const double n : {96.0, 4096.0, 12288.0}) {
    compute(set(*lab, "m", n, "n", n, "k", n));
    CHECK(near(out(*lab, "intensity"), n / 3, 1e-12));
  }
  compute(set(*lab, "m", 4096, "n", 4096, "k", 4096));
  CHECK(std::abs(out(*lab, "intensity") - 1365.3) <= 0.05);
  CHECK(near(out(*lab, "time_s"), 137.438953472e9 / 989.4e12, 1e-12));
}

TEST_CASE("work given by its flops and bytes alone is placed for exactly those") {
  const LabPtr lab = open_lab("roofline/roofline");
  compute(set(*lab, "chip", "h100_sxm", "format", "bf16", "flops", 1e12, "bytes", 1e9));
  CHECK(out(*lab, "intensity") == 1000);
  CHECK(out(*lab, "attainable_flops_per_s") == 989.4e12);
  CHECK(near(out(*lab, "time_s"), 1e12 / 989.4e12, 1e-12));
  CHECK(choice_of(*lab, "regime") == "compute");
  compute(set(*lab, "flops", 1e12, "bytes", 1e11));
  CHECK(out(*lab, "intensity") == 10);
  CHECK(near(out(*lab, "attainable_flops_per_s"), 33.5e12, 1e-12));
  CHECK(near(out(*lab, "time_s"), 1e11 / 3.35e12, 1e-12));
  CHECK(choice_of(*lab, "regime") == "memory");
}

TEST_CASE("work shorter than its launch is launch-bound; waiting for the launch adds it") {
  const LabPtr lab = open_lab("roofline/roofline");
  compute(set(*lab, "flops", 1e6, "bytes", 1e6, "launch_s", 5e-6, "launch_cost", "hidden"));  // 0.3 us of
                                                                                              // memory
  CHECK(choice_of(*lab, "regime") == "launch");
  CHECK(near(out(*lab, "time_s"), 5e-6, 1e-12));
  CHECK(near(out(*lab, "achieved_flops_per_s"), 1e6 / 5e-6, 1e-12));
  compute(set(*lab, "launch_cost", "added"));
  CHECK(near(out(*lab, "time_s"), 5e-6 + 1e6 / 3.35e12, 1e-12));
  compute(set(*lab, "kernels", 3));
  CHECK(near(out(*lab, "launches_s"), 15e-6, 1e-12));
  compute(set(*lab, "launch_s", 0));
  CHECK(choice_of(*lab, "regime") == "memory");
  CHECK(near(out(*lab, "time_s"), 1e6 / 3.35e12, 1e-12));
}

TEST_CASE("a chip without the format says which it has, and still stands beside others in its nearest") {
  const LabPtr lab = open_lab("roofline/roofline");
  CHECK(reason_of(set(*lab, "chip", "v100_sxm2", "format", "bf16")) ==
        "V100 states no dense BF16 peak; choose one of fp64, fp32, fp16, int8.");
  input(*lab, "chips").chosen() = {"v100_sxm2", "a100_80_sxm", "h100_sxm", "b200_sxm"};
  compute(set(*lab, "chip", "h100_sxm"));
  CHECK(lab->reason().empty());
  bool found = false;
  for (std::size_t i = 0; i < rows(*lab, "roofs"); ++i) {
    if (cell_text(*lab, "roofs", i, "chip") != "V100") continue;
    found = true;
    CHECK(cell_text(*lab, "roofs", i, "format") == "FP16");
    CHECK(cell(*lab, "roofs", i, "peak_flops_per_s") == 125e12);
  }
  CHECK(found);
  CHECK(rows(*lab, "roofs") == 4);
}

// 69.5e9 weights are read (the input embedding is looked up), 327,680 B of cache a token; S4 section 2 has 256 for
// batch 256.
TEST_CASE("counting KV reads holds decode at batch 256 far below the ridge") {
  const LabPtr lab = open_lab("roofline/roofline");
  compute(set(*lab, "batch", 256, "context", 4096));
  const double weights = 2 * (70553706496.0 - 128256.0 * 8192), caches = 256 * (4096 * 327680.0 + 8192 * 2);
  const double flops = 256 * (weights + 4.0 * 4096 * 64 * 128 * 80);
  CHECK(near(out(*lab, "decode_intensity"), flops / (weights + caches), 1e-9));
  CHECK(std::abs(out(*lab, "decode_intensity") - 79.4) <= 0.05);
  CHECK(out(*lab, "decode_limit") <= 112);
  CHECK(text_of(*lab, "decode_verdict") == "never reached: the cache holds it below 112 FLOP/B");
  CHECK(rows(*lab, "walk") == 5);
  CHECK(near(cell(*lab, "walk", 4, "intensity"), out(*lab, "decode_intensity"), 1e-12));
  input(*lab, "kv_reads").toggle() = false;
  compute(*lab);
  CHECK(near(out(*lab, "decode_intensity"), 256, 1e-3));
}

// Two operations a weight of one byte: 2 FLOP/B; so the critical batch of an H100 is 295 in FP8 as in BF16 (errata on
// S1).
TEST_CASE("decode reaches the ridge at the same batch in BF16 and FP8 when caches are left out") {
  const LabPtr lab = open_lab("roofline/roofline");
  input(*lab, "kv_reads").toggle() = false;
  compute(*lab);
  CHECK(text_of(*lab, "decode_verdict") == "reached at a batch of 296");
  compute(set(*lab, "format", "fp8"));
  CHECK(near(out(*lab, "decode_intensity"), 2, 1e-3));
  CHECK(text_of(*lab, "decode_verdict") == "reached at a batch of 296");
}

// A head of 128: four squares of 2 B an element and Q, K, V, O against Q, K, V, O alone: 1 + S/128 (65 in S4 section 2
// at S = 8192).
TEST_CASE("fusing attention over 8192 tokens cuts its traffic 65 times where every head has its own keys") {
  const LabPtr lab = open_lab("roofline/roofline");
  compute(set(*lab, "model", "llama-2-7b", "sequence", 8192));
  CHECK(near(out(*lab, "fusion_bytes_ratio"), 65, 1e-9));
  CHECK(out(*lab, "fusion_speedup") < 20);  // the fused kernel stops at the flat roof
  CHECK(out(*lab, "fusion_speedup") > 5);
}

// Llama 3 70B reads 68.45e9 weights inside its layers at 4.125 bits, 1.05e9 of the output matrix in 16, and 1.34 GB of
// cache: 140.3 GB become 38.7.
TEST_CASE("weights of 4 bits speed up decode by less than four: scales, output matrix and cache stay") {
  const LabPtr lab = open_lab("roofline/roofline");
  compute(set(*lab, "batch", 1, "context", 4096, "weight_bits", "4"));
  const double matrices = 80 * (2 * 8192.0 * 8192 + 2 * 8192.0 * 1024 + 3 * 8192.0 * 28672);
  const double others = 70553706496.0 - 128256.0 * 8192 - matrices;  // output matrix and norms
  const double rest = 2 * others + 4096 * 327680.0 + 2 * 8192;
  CHECK(near(out(*lab, "quantized_speedup"), (2 * matrices + rest) / (4.125 / 8 * matrices + rest), 1e-6));
  CHECK(near(out(*lab, "quantized_speedup"), 3.62, 0.005));
  compute(set(*lab, "context", 131072));
  CHECK(out(*lab, "quantized_speedup") < 2.5);  // 43 GB of cache beside 139 GB of weights
}

TEST_CASE("GPT-2 decodes slower than its memory because its kernels take longer to launch") {
  const LabPtr lab = open_lab("roofline/roofline");
  compute(set(*lab, "model", "gpt2-124m", "operation", "decode", "context", 1024));
  CHECK(choice_of(*lab, "regime") == "launch");
  CHECK(out(*lab, "launches_s") > out(*lab, "memory_s"));
}

TEST_CASE("rows of a measured file stand under the roof; a bad row is refused in words") {
  const LabPtr lab = open_lab("roofline/roofline");
  input(*lab, "measured").file() = {"points.csv", "name,flops,bytes,time_s\ncopy,1e9,1e9,0.0005\n"};
  compute(*lab);
  REQUIRE(rows(*lab, "measured_points") == 1);
  CHECK(cell_text(*lab, "measured_points", 0, "name") == "copy");
  CHECK(near(cell(*lab, "measured_points", 0, "share_of_roof_percent"), 100 * 2e12 / 3.35e12, 1e-12));
  input(*lab, "measured").file().text = "name,flops,bytes,time_s\ncopy,1e9,1e9,zero\n";
  CHECK(reason_of(*lab) ==
        "Line 2 of the measurement file has \"zero\" for time_s: a number from 1e-30 to 1e30 is expected.");
}

TEST_CASE("dragging the ringed dot keeps its work and changes its bytes") {
  const LabPtr lab = open_lab("roofline/roofline");
  compute(set(*lab, "operation", "gemm"));
  Canvas canvas(*lab, {1000, 700});
  UiDriver& ui = canvas.ui;
  const double before = out(*lab, "intensity");
  ui.drag_by("drag operation", {-150, 0});
  ui.frames(2);
  CHECK(input(*lab, "operation").choice_id() == "custom");
  CHECK(input(*lab, "flops").real() == 137438953472.0);
  CHECK(out(*lab, "intensity") < 0.5 * before);
  CHECK(near(out(*lab, "bytes_total"), 137438953472.0 / out(*lab, "intensity"), 1e-12));
}

TEST_CASE("a click on a dot of the decode walk chooses that step") {
  const LabPtr lab = open_lab("roofline/roofline");
  input(*lab, "show").chosen() = {"walk"};
  input(*lab, "chips").chosen().clear();
  compute(*lab);
  Canvas canvas(*lab, {1000, 700});
  UiDriver& ui = canvas.ui;
  // The steps are strokes across the walk with their batch beside their lower ends.
  ImVec2 fourth{};
  bool seen = false;
  for (const auto& stroke : ui.record().strokes)
    if (stroke.kind == widgets::Stroke::Kind::text && stroke.text == "batch 64") {
      seen = true;
      fourth = stroke.points[0];
    }
  REQUIRE(seen);
  ui.click_at(fourth);
  ui.frames(2);
  CHECK(input(*lab, "operation").choice_id() == "decode");
  CHECK(input(*lab, "batch").number() == 64);
}

TEST_CASE("what is measured is drawn only where somebody measured it, and named so") {
  const LabPtr lab = open_lab("roofline/roofline");
  set(*lab, "chip", "a100_80_sxm");
  input(*lab, "show").chosen() = {"measured"};
  compute(*lab);
  bool matmul = false, stream = false;
  for (std::size_t i = 0; i < rows(*lab, "ceilings"); ++i) {
    CHECK(cell_text(*lab, "ceilings", i, "basis") == "measured");
    matmul = matmul || cell(*lab, "ceilings", i, "per_s") == 271.2e12;  // best BF16 product found on an A100
    stream = stream || cell(*lab, "ceilings", i, "per_s") == 1.77e12;   // read stream of gpu-benches
  }
  CHECK(matmul);
  CHECK(stream);
  CHECK(rows(*lab, "operations") == 0);
}

namespace {

std::string answer_of(Lab& lab) {
  compute(lab);
  return std::string(lab.answer());
}

}  // namespace

TEST_CASE("the roofline's answer names the ceiling and what would move it") {
  const LabPtr lab = open_lab("roofline/roofline");
  CHECK(answer_of(*lab) ==
        "Arithmetic stops your operation: its `1,365 FLOP/B` reach the peak of `989 TFLOP/s`.\nMeasured, matmuls on "
        "this chip reached `794 TFLOP/s` of that. Do less arithmetic, or use FP8: its ceiling is `1.98 PFLOP/s`.");
  set(*lab, "format", "fp8");
  CHECK(answer_of(*lab).ends_with(
      "\nDo less arithmetic, or take a chip with a higher ceiling: this one has no faster format."));
  set(*lab, "format", "bf16", "flops", 1e12, "bytes", 1e11);
  CHECK(answer_of(*lab) ==
        "Memory stops your operation: `10 FLOP/B` allow `33.5 TFLOP/s` of the peak of `989 TFLOP/s`.\nMore FLOPs per "
        "byte raise that, up to the ridge at `295 FLOP/B`.");
  set(*lab, "flops", 2.9e13);
  CHECK(answer_of(*lab).ends_with("\nIt is almost at the ridge of `295 FLOP/B`, where arithmetic takes over."));
  set(*lab, "flops", 1e6, "bytes", 1e6, "launch_s", 5e-6);
  CHECK(answer_of(*lab) ==
        "Launches stop your operation: its kernel takes `5 \xC2\xB5s` to start, the work only `299 ns`.\nMore work per "
        "launch would help.");
  set(*lab, "operation", "decode", "batch", 64, "context", 32768);
  CHECK(answer_of(*lab).find("reading the caches holds it below `20.9 FLOP/B`") != std::string::npos);
  set(*lab, "operation", "attention_unfused", "sequence", 8192);
  CHECK(answer_of(*lab).starts_with("Memory stops unfused attention: "));
  CHECK(answer_of(*lab).find("One fused kernel would be `9.22\xC3\x97` as fast.") != std::string::npos);
}

TEST_CASE("the roofline's answer speaks of the roofs and ceilings that were asked for") {
  const LabPtr chips = open_preset("roofline/roofline", "Four generations");
  CHECK(answer_of(*chips).ends_with(
      "\nIt takes `139 \xC2\xB5s` here and `61.1 \xC2\xB5s` on B200 (BF16), but `1.10 ms` on V100 "
      "(FP16)."));
  const LabPtr levels = open_preset("roofline/roofline", "Every ceiling of the chip");
  CHECK(answer_of(*levels).find("\nThe ridge moves: with bytes from shared memory it lies at `29.6 FLOP/B`") !=
        std::string::npos);
  const LabPtr narrow = open_preset("roofline/roofline", "4-bit weights");
  CHECK(answer_of(*narrow).ends_with("\n4-bit weights make the step `3.62\xC3\x97` as fast: fewer bytes per token."));
}

TEST_CASE("batches of the decode walk are named as such, and the axis of intensities has plain numbers") {
  const LabPtr lab = open_lab("roofline/roofline");
  input(*lab, "show").chosen() = {"walk"};
  compute(*lab);
  Canvas canvas(*lab, {1000, 700});
  CHECK(canvas.ui.text_present("batch 64"));
  CHECK(canvas.ui.text_present("arithmetic intensity (FLOP/B)"));
}

// One FLOP over 1e18 B lies eighteen decades left of the roofs: it stands at the edge and does not crush them.
TEST_CASE("work far off the scale leaves the roofs three decades of room at most") {
  const LabPtr lab = open_lab("roofline/roofline");
  set(*lab, "flops", 1, "bytes", 1e18);
  compute(*lab);
  Canvas canvas(*lab, {1000, 700});
  bool left = false;
  for (const auto& stroke : canvas.ui.record().strokes)
    if (stroke.kind == widgets::Stroke::Kind::text && stroke.text.starts_with("0.001")) left = true;
  CHECK(left);
}

TEST_CASE("each chip that stands beside the main one is named at its roof") {
  ShellDriver d(bundled_content(), nowhere(), {1280, 800}, true);
  REQUIRE(d.workspace
              .open_with("roofline/roofline",
                         {{"chips", {"v100_sxm2", "a100_80_sxm", "h100_sxm", "b200_sxm"}}, {"show", {"operations"}}},
                         app::Json::object())
              .error == "");
  REQUIRE(d.settle());
  for (const char* chip : {"V100", "A100 80GB", "B200"}) {
    INFO(chip);
    CHECK(d.ui.text_present(chip));
  }
}
