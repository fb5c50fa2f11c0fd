#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <string>
#include <string_view>

#include "tests/support/lab/lab_fixture.h"

using chapters::Field;
using chapters::Fields;
using chapters::LabPtr;
using lab_test::near;

namespace {

/// The lab as the command line sees it: inputs set by key, outputs read by key.
struct Bench {
  LabPtr lab;
  Bench() { lab = lab_test::open_lab("roofline/roofline"); }
  static const Field& at(const Fields& fields, std::string_view key) {
    INFO(key);
    const Field* f = fields.find(key);
    REQUIRE(f);
    return *f;
  }
  const Field& in(std::string_view key) const { return at(lab->inputs(), key); }
  Bench& choose(std::string_view key, std::string_view id) {
    INFO(id);
    REQUIRE(in(key).set_choice_id(id));
    return *this;
  }
  Bench& set(std::string_view key, double value) {
    in(key).set_number(value);
    return *this;
  }
  Bench& run() {
    lab->compute();
    return *this;
  }
  double out(std::string_view key) const { return at(lab->outputs(), key).number(); }
  std::string_view regime() const { return at(lab->outputs(), "regime").choice_id(); }
  std::size_t rows(std::string_view key) const { return at(lab->outputs(), key).table_size(); }
  std::string text(std::string_view table, std::size_t row, std::string_view column) const {
    Fields cells;
    at(lab->outputs(), table).table_row(row, cells);
    return at(cells, column).text();
  }
  double cell(std::string_view table, std::size_t row, std::string_view column) const {
    Fields cells;
    at(lab->outputs(), table).table_row(row, cells);
    return at(cells, column).real();
  }
  double ridge(std::string_view chip, std::string_view format) {
    choose("chip", chip).choose("format", format).run();
    INFO(lab->reason());
    REQUIRE(lab->reason().empty());
    return out("ridge");
  }
};

}  // namespace

// Tables of S0 ch.1, S1 part 1 and S4 section 2. A100 with 2.0 TB/s reads 156 there, B200 with the announced 8.0 TB/s
// 281, and 990 / 3.4 makes 291 of the H100: today's figures are 2.039, 7.7 and 989.4 / 3.35.
TEST_CASE("the roofline lab gives the ridge points of the tables") {
  Bench b;
  CHECK(std::round(b.ridge("v100_sxm2", "fp16")) == 139);
  CHECK(std::round(b.ridge("a100_80_sxm", "bf16")) == 153);
  CHECK(std::round(b.ridge("h100_sxm", "bf16")) == 295);
  CHECK(std::round(b.ridge("h100_sxm", "fp8")) == 591);
  CHECK(std::round(b.ridge("h200_sxm", "bf16")) == 206);
  CHECK(std::round(b.ridge("mi300x", "bf16")) == 247);
  CHECK(std::round(b.ridge("mi300x", "fp8")) == 493);
  CHECK(std::round(b.ridge("b200_sxm", "bf16")) == 292);
  CHECK(std::round(b.ridge("b200_sxm", "fp8")) == 584);
  CHECK(std::round(b.ridge("b200_sxm", "fp4")) == 1169);
}

// 2 n^3 operations over 3 n^2 elements of 2 B.
TEST_CASE("a square BF16 product has intensity n/3 in the roofline lab, 1365.3 at 4096") {
  Bench b;
  b.choose("operation", "gemm");
  for (const double n : {96.0, 4096.0, 12288.0}) {
    b.set("m", n).set("n", n).set("k", n).run();
    CHECK(near(b.out("intensity"), n / 3, 1e-12));
  }
  b.set("m", 4096).set("n", 4096).set("k", 4096).run();
  CHECK(std::abs(b.out("intensity") - 1365.3) <= 0.05);
  CHECK(near(b.out("time_s"), 137.438953472e9 / 989.4e12, 1e-12));
}

TEST_CASE("work given by its flops and bytes alone is placed for exactly those") {
  Bench b;
  b.choose("chip", "h100_sxm").choose("format", "bf16").set("flops", 1e12).set("bytes", 1e9).run();
  CHECK(b.out("intensity") == 1000);
  CHECK(b.out("attainable_flops_per_s") == 989.4e12);
  CHECK(near(b.out("time_s"), 1e12 / 989.4e12, 1e-12));
  CHECK(b.regime() == "compute");
  b.set("flops", 1e12).set("bytes", 1e11).run();
  CHECK(b.out("intensity") == 10);
  CHECK(near(b.out("attainable_flops_per_s"), 33.5e12, 1e-12));
  CHECK(near(b.out("time_s"), 1e11 / 3.35e12, 1e-12));
  CHECK(b.regime() == "memory");
}

TEST_CASE("work shorter than its launch is launch-bound; waiting for the launch adds it") {
  Bench b;
  b.set("flops", 1e6).set("bytes", 1e6).set("launch_s", 5e-6).choose("launch_cost", "hidden").run();  // 0.3 us of
                                                                                                      // memory
  CHECK(b.regime() == "launch");
  CHECK(near(b.out("time_s"), 5e-6, 1e-12));
  CHECK(near(b.out("achieved_flops_per_s"), 1e6 / 5e-6, 1e-12));
  b.choose("launch_cost", "added").run();
  CHECK(near(b.out("time_s"), 5e-6 + 1e6 / 3.35e12, 1e-12));
  b.set("kernels", 3).run();
  CHECK(near(b.out("launches_s"), 15e-6, 1e-12));
  b.set("launch_s", 0).run();
  CHECK(b.regime() == "memory");
  CHECK(near(b.out("time_s"), 1e6 / 3.35e12, 1e-12));
}

TEST_CASE("a chip without the format says which it has, and still stands beside others in its nearest") {
  Bench b;
  b.choose("chip", "v100_sxm2").choose("format", "bf16").run();
  CHECK(b.lab->reason() == "V100 states no dense BF16 peak; choose one of fp64, fp32, fp16, int8.");
  b.choose("chip", "h100_sxm").run();
  CHECK(b.lab->reason().empty());
  bool found = false;
  for (std::size_t i = 0; i < b.rows("roofs"); ++i) {
    if (b.text("roofs", i, "chip") != "V100") continue;
    found = true;
    CHECK(b.text("roofs", i, "format") == "FP16");
    CHECK(b.cell("roofs", i, "peak_flops_per_s") == 125e12);
  }
  CHECK(found);
  CHECK(b.rows("roofs") == 4);
}

// 69.5e9 weights are read (the input embedding is looked up), 327,680 B of cache a token; S4 section 2 has 256 for
// batch 256.
TEST_CASE("counting KV reads holds decode at batch 256 far below the ridge") {
  Bench b;
  b.set("batch", 256).set("context", 4096).run();
  const double weights = 2 * (70553706496.0 - 128256.0 * 8192), caches = 256 * (4096 * 327680.0 + 8192 * 2);
  const double flops = 256 * (weights + 4.0 * 4096 * 64 * 128 * 80);
  CHECK(near(b.out("decode_intensity"), flops / (weights + caches), 1e-9));
  CHECK(std::abs(b.out("decode_intensity") - 79.4) <= 0.05);
  CHECK(b.out("decode_limit") <= 112);
  CHECK(b.lab->outputs().find("decode_verdict")->text() == "never reached: the cache holds it below 112 FLOP/B");
  CHECK(b.rows("walk") == 5);
  CHECK(near(b.cell("walk", 4, "intensity"), b.out("decode_intensity"), 1e-12));
  b.in("kv_reads").toggle() = false;
  b.run();
  CHECK(near(b.out("decode_intensity"), 256, 1e-3));
}

// Two operations a weight of one byte: 2 FLOP/B; so the critical batch of an H100 is 295 in FP8 as in BF16 (errata on
// S1).
TEST_CASE("decode reaches the ridge at the same batch in BF16 and FP8 when caches are left out") {
  Bench b;
  b.in("kv_reads").toggle() = false;
  b.run();
  CHECK(b.lab->outputs().find("decode_verdict")->text() == "reached at a batch of 296");
  b.choose("format", "fp8").run();
  CHECK(near(b.out("decode_intensity"), 2, 1e-3));
  CHECK(b.lab->outputs().find("decode_verdict")->text() == "reached at a batch of 296");
}

// A head of 128: four squares of 2 B an element and Q, K, V, O against Q, K, V, O alone: 1 + S/128 (65 in S4 section 2
// at S = 8192).
TEST_CASE("fusing attention over 8192 tokens cuts its traffic 65 times where every head has its own keys") {
  Bench b;
  b.choose("model", "llama-2-7b").set("sequence", 8192).run();
  CHECK(near(b.out("fusion_bytes_ratio"), 65, 1e-9));
  CHECK(b.out("fusion_speedup") < 20);  // the fused kernel stops at the flat roof
  CHECK(b.out("fusion_speedup") > 5);
}

TEST_CASE("weights of 4 bits speed up decode by nearly four, less what the cache keeps") {
  Bench b;
  b.set("batch", 1).set("context", 4096).choose("weight_bits", "4").run();
  CHECK(b.out("quantized_speedup") < 4);
  CHECK(b.out("quantized_speedup") > 3.8);
  b.set("context", 131072).run();
  CHECK(b.out("quantized_speedup") < 2.5);  // 43 GB of cache beside 139 GB of weights
}

TEST_CASE("GPT-2 decodes slower than its memory because its kernels take longer to launch") {
  Bench b;
  b.choose("model", "gpt2-124m").choose("operation", "decode").set("context", 1024).run();
  CHECK(b.regime() == "launch");
  CHECK(b.out("launches_s") > b.out("memory_s"));
}

TEST_CASE("rows of a measured file stand under the roof; a bad row is refused in words") {
  Bench b;
  b.in("measured").file() = {"points.csv", "name,flops,bytes,time_s\ncopy,1e9,1e9,0.0005\n"};
  b.run();
  REQUIRE(b.rows("measured_points") == 1);
  CHECK(b.text("measured_points", 0, "name") == "copy");
  CHECK(near(b.cell("measured_points", 0, "share_of_roof_percent"), 100 * 2e12 / 3.35e12, 1e-12));
  b.in("measured").file().text = "name,flops,bytes,time_s\ncopy,1e9,1e9,zero\n";
  b.run();
  CHECK(b.lab->reason() ==
        "Line 2 of the measurement file has \"zero\" for time_s: a number from 1e-30 to 1e30 is expected.");
}

TEST_CASE("dragging the ringed dot keeps its work and changes its bytes") {
  Bench b;
  b.choose("operation", "gemm").run();
  lab_test::Canvas canvas(*b.lab, {1000, 700});
  support::UiDriver& ui = canvas.ui;
  const double before = b.out("intensity");
  ui.drag_by("drag operation", {-150, 0});
  ui.frames(2);
  CHECK(b.in("operation").choice_id() == "custom");
  CHECK(b.in("flops").real() == 137438953472.0);
  CHECK(b.out("intensity") < 0.5 * before);
  CHECK(near(b.out("bytes_total"), 137438953472.0 / b.out("intensity"), 1e-12));
}

TEST_CASE("a click on a dot of the decode walk chooses that step") {
  Bench b;
  b.in("show").chosen() = {"walk"};
  b.in("chips").chosen().clear();
  b.run();
  lab_test::Canvas canvas(*b.lab, {1000, 700});
  support::UiDriver& ui = canvas.ui;
  // All five steps are memory-bound here, so they are the first circles painted, B = 1 first; the legend's comes after
  // them.
  ImVec2 fourth{};
  int seen = 0;
  for (const auto& stroke : ui.record().strokes)
    if (stroke.kind == widgets::Stroke::Kind::circle && ++seen == 4) fourth = stroke.points[0];
  REQUIRE(seen >= 5);
  ui.click_at(fourth);
  ui.frames(2);
  CHECK(b.in("operation").choice_id() == "decode");
  CHECK(b.in("batch").number() == 64);
}

TEST_CASE("what is measured is drawn only where somebody measured it, and named so") {
  Bench b;
  b.choose("chip", "a100_80_sxm");
  b.in("show").chosen() = {"measured"};
  b.run();
  bool matmul = false, stream = false;
  for (std::size_t i = 0; i < b.rows("ceilings"); ++i) {
    CHECK(b.text("ceilings", i, "basis") == "measured");
    matmul = matmul || b.cell("ceilings", i, "per_s") == 271.2e12;  // best BF16 product found on an A100
    stream = stream || b.cell("ceilings", i, "per_s") == 1.77e12;   // read stream of gpu-benches
  }
  CHECK(matmul);
  CHECK(stream);
  CHECK(b.rows("operations") == 0);
}
