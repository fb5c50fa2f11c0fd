#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

// H100 SXM: 132 SMs, 989.4 TFLOP/s. 32 x 17 = 544 tiles of 128 x 256; four waves hold 528.
TEST_CASE("tiling: the first picture is one column beyond four waves") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  CHECK(computed(*lab, "tiles") == 544);
  CHECK(computed(*lab, "slots") == 132);
  CHECK(computed(*lab, "waves") == 5);
  CHECK(computed(*lab, "last_wave_blocks") == 16);
  CHECK(near(computed(*lab, "wave_efficiency"), 100 * 544.0 / 660, 1e-9));
  CHECK(near(computed(*lab, "tile_efficiency"), 100 * 4097.0 / (17 * 256), 1e-9));
  CHECK(computed(*lab, "alignment_bytes") == 2);
  CHECK(near(computed(*lab, "alignment_efficiency"), 13, 1e-9));
  // a slot makes a tile in 2 x 128 x 256 x 4096 flops at a 132nd of the rate left
  CHECK(near(computed(*lab, "time_s"), 5 * 2.0 * 128 * 256 * 4096 * 132 / (0.13 * 989.4e12), 1e-3));
  CHECK(computed(*lab, "one_wave_less_n") == 4096);
  CHECK(computed(*lab, "free_to_n") == 5120);  // 660 / 32 = 20 columns of tiles
  set(*lab, "n", 4096);
  CHECK(computed(*lab, "waves") == 4);
  CHECK(near(computed(*lab, "efficiency"), 100 * 512.0 / 528, 1e-9));
}

// The story of the study documents, computed under both rules. V100: 125 TFLOP/s on Tensor Cores, 15.7 in FP32.
TEST_CASE("tiling: 4097 to 4104 gained eight times before cuBLAS 11 and what its fallback loses since") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  choose(*lab, "chip", "v100_sxm2");
  choose(*lab, "format", "fp16");
  set(*lab, "tile_n", 128);
  choose(*lab, "alignment_rule", "then");
  CHECK(computed(*lab, "padded_n") == 4104);
  CHECK(near(computed(*lab, "padding_cost"), 100 * 7.0 / 4097, 1e-9));
  CHECK(near(computed(*lab, "padding_speedup"), 125 / 15.7, 1e-3));
  CHECK(computed(*lab, "padding_speedup_then") == computed(*lab, "padding_speedup"));
  choose(*lab, "alignment_rule", "now");
  CHECK(near(computed(*lab, "padding_speedup"), 1 / 0.13, 1e-9));
  set(*lab, "misaligned_rate", 100);
  CHECK(computed(*lab, "padding_speedup") == 1);  // both are 32 x 33 tiles
  // A multiple of 16 bytes has nothing to pad, one of 128 has.
  set(*lab, "n", 4104);
  CHECK(computed(*lab, "padded_n") == 4104);
  set(*lab, "pad_bytes", 128);
  CHECK(computed(*lab, "padded_n") == 4160);
}

// NVIDIA, Matrix Multiplication Background User's Guide: 108 tiles of 256 x 128 are one wave of the A100, 117 are two.
TEST_CASE("tiling: along N the share is a saw-tooth that falls at the end of a wave") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  choose(*lab, "chip", "a100_80_sxm");
  set(*lab, "m", 2304);
  set(*lab, "n", 1536);
  set(*lab, "tile_m", 256);
  set(*lab, "tile_n", 128);
  CHECK(near(computed(*lab, "efficiency"), 100, 1e-9));
  const double full_s = computed(*lab, "compute_s");
  set(*lab, "n", 1537);
  set(*lab, "misaligned_rate", 100);
  CHECK(near(computed(*lab, "compute_s"), 2 * full_s, 1e-9));
  CHECK(computed(*lab, "best_n") == 1536);
  const chapters::Field* corners = lab->outputs().find("corners");
  REQUIRE(corners->table_size() > 100);
  int cliffs = 0;
  for (std::size_t i = 1; i < corners->table_size(); ++i)
    if (cell(*lab, "corners", i, "waves") > cell(*lab, "corners", i - 1, "waves")) {
      ++cliffs;
      CHECK(std::fmod(cell(*lab, "corners", i, "n"), 1536) == 1);
      CHECK(cell(*lab, "corners", i, "aligned") < cell(*lab, "corners", i - 1, "aligned"));
    }
  CHECK(cliffs == 5);  // 8,192 columns are 64 columns of tiles, 12 a wave
}

// 4096 / 128 = 32 tiles; 32 SMs pull 35 B a clock at 1.98 GHz, 2.22 of 3.35 TB/s.
TEST_CASE("tiling: one token leaves most SMs idle, and splitting the depth reaches the memory's rate") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  set(*lab, "m", 1);
  set(*lab, "n", 4096);
  set(*lab, "tile_m", 16);
  set(*lab, "tile_n", 128);
  const double bytes = 2 * (4096.0 + 4096.0 * 4096 + 4096);
  CHECK(near(computed(*lab, "wave_efficiency"), 100 * 32.0 / 132, 1e-9));
  const double plain_s = computed(*lab, "time_s");
  CHECK(near(plain_s, bytes / (32 * 35 * 1.98e9), 1e-9));
  CHECK(computed(*lab, "best_splits") == 2);
  // two FP32 partial sums for each of 4,096 outputs, written and read
  CHECK(near(computed(*lab, "split_k_time_s"), (bytes + 2 * 2 * 4096 * 4) / 3.35e12, 1e-9));
  CHECK(near(computed(*lab, "best_schedule_speedup"), plain_s / computed(*lab, "split_k_time_s"), 1e-9));
  CHECK(lab->outputs().find("schedules")->table_size() == 3);
  choose(*lab, "schedule", "split_k");
  CHECK(computed(*lab, "blocks") == 128);
  CHECK(lab->outputs().find("schedules")->table_size() ==
        4);  // the split set is not the best one, so it has a row of its own
  set(*lab, "splits", 2);
  CHECK(computed(*lab, "time_s") == computed(*lab, "split_k_time_s"));
  choose(*lab, "schedule", "stream_k");
  CHECK(computed(*lab, "time_s") == computed(*lab, "stream_k_time_s"));
  CHECK(computed(*lab, "waves") == 1);
}

// 1,056 tiles: 8 waves of 132, but 9 of 128.
TEST_CASE("tiling: four SMs lent to a collective cost a wave") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  set(*lab, "n", 4224);
  set(*lab, "tile_n", 128);
  CHECK(computed(*lab, "wave_efficiency") == 100);
  const double whole_s = computed(*lab, "time_s");
  set(*lab, "units_taken", 4);
  CHECK(computed(*lab, "waves") == 9);
  CHECK(near(computed(*lab, "peak_flops_per_s"), 989.4e12 * 128 / 132, 1e-3));
  CHECK(near(computed(*lab, "time_s") / whole_s, 9.0 / 8, 1e-9));  // an SM takes as long for a tile as before
}

TEST_CASE("tiling: the hero shows the last wave, the slots that wait, the clock and what was measured on it") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  Canvas canvas(*lab, {1000, 560});
  support::UiDriver& ui = canvas.ui;
  CHECK(ui.text_present("wave 5 of 5"));
  CHECK(ui.text_present("16 of 132 slots compute, 116 wait"));
  CHECK(ui.text_present("the last column of tiles uses 1 of its 256 columns; N up to 5,120: no more waves"));
  CHECK(ui.text_present("5 waves, 1.38 ms; measured 1.72 ms"));
  CHECK(ui.text_present("padded, 4,104"));
  ui.drag("waves", 0.3f);
  CHECK(std::abs(lab->view().find("time")->real() - 0.3) < 0.03);
  ui.frames(2);
  CHECK(ui.text_present("wave 2 of 5"));
  CHECK(ui.text_present("132 of 132 slots compute"));
}

TEST_CASE("tiling: the clock hatches the time in which nothing is multiplied, and says what takes it") {
  const LabPtr odd = open_lab("roofline/tiling-waves");
  odd->compute();
  Canvas wide(*odd, {1100, 500});
  CHECK(wide.ui.text_present("misaligned"));
  // 85 % of the time of one token's matmul the arithmetic waits for operands.
  const LabPtr token = open_preset("roofline/tiling-waves", "One token of decode");
  token->compute();
  CHECK(near(out(*token, "operand_efficiency"), 14.79, 1e-3));
  Canvas canvas(*token, {1000, 560});
  CHECK(canvas.ui.text_present("waits for operands"));
  CHECK_FALSE(canvas.ui.text_present("misaligned"));
}

TEST_CASE("tiling: what cannot be computed is refused in one sentence") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  choose(*lab, "format", "fp4");
  lab->compute();
  CHECK(lab->reason() == "H100 SXM states no dense FP4 peak; choose another format or chip.");
  choose(*lab, "format", "bf16");
  choose(*lab, "schedule", "split_k");
  set(*lab, "splits", 64);
  set(*lab, "k", 512);
  lab->compute();
  CHECK(lab->reason() == "Depth K = 512 is 8 steps of 64, too few for 64 splits: set fewer, or a smaller tile depth.");
}

TEST_CASE("tiling: dragging N moves the input, dragging the cursor dims later waves") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  Canvas canvas(*lab, {1200, 1400});
  support::UiDriver& ui = canvas.ui;
  ui.drag_by("drag N", {-100, 0});
  const std::int64_t n = lab->inputs().find("n")->integer();
  CHECK(n < 4097);
  CHECK(n > 1000);
  ui.drag_by("drag time", {-150, 0});
  const double time = lab->view().find("time")->real();
  CHECK(time < 0.8);
  CHECK(time > 0.2);
  const widgets::Record record = ui.record();
  for (const char* name :
       {"odd N, since cuBLAS 11", "tiles of C", "slots over time", "before cuBLAS 11", "from the peak", "schedules"}) {
    INFO(name);
    CHECK(std::any_of(record.tables.begin(), record.tables.end(),
                      [&](const auto& t) { return t.name == name && !t.rows.empty(); }));
  }
}

TEST_CASE(
    "tiling: the answer says what the largest loss leaves, what all leave, what was measured and what would help") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  compute(*lab);
  CHECK(lab->answer() ==
        "Misaligned rows leave `13 %` of the peak, all losses together `10.1 %`; cuBLAS measured `8.09 %`.\nIdle slots "
        "leave `82.4 %` of that; padded to `4,104` columns the matmul is `7.69\xC3\x97` as fast.");
  CHECK(near(out(*lab, "measured_s"), 1.718e-3, 1e-3));
  set(*lab, "n", 4096);
  compute(*lab);
  CHECK(lab->answer().starts_with(
      "Idle slots leave `97.0 %` of the peak at best; cuBLAS measured `75.4 %`.\nMeasured shares have no saw-teeth"));
  choose(*lab, "chip", "a100_80_sxm");
  set(*lab, "m", 2304);
  set(*lab, "n", 1536);
  set(*lab, "tile_m", 256);
  set(*lab, "tile_n", 128);
  compute(*lab);
  CHECK(lab->answer() ==
        "Tiles, waves and alignment lose nothing that counts: `100 %` of the peak is left at best.\nNothing else costs "
        "anything that counts.");
  CHECK(std::isnan(output(*lab, "measured_share").number()));
  set(*lab, "n", 1537, "misaligned_rate", 40);
  compute(*lab);
  CHECK(lab->answer().starts_with("Misaligned rows leave an assumed `40 %` of the peak"));
}

TEST_CASE("tiling: more waves than can be told apart stand together before the last one") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  set(*lab, "m", 8192);
  set(*lab, "n", 50257);
  set(*lab, "k", 768);
  set(*lab, "tile_n", 128);
  Canvas canvas(*lab, {1200, 1400});
  CHECK(canvas.ui.text_present("190 full waves"));
  CHECK(canvas.ui.text_present("wave 191"));
  CHECK(canvas.ui.text_present("60 idle"));
}

TEST_CASE("tiling: a tile under the pointer marks its slot in time, a wave there lights its tiles") {
  const LabPtr lab = open_lab("roofline/tiling-waves");
  Canvas canvas(*lab, {1200, 1400});
  const std::size_t before = canvas.ui.record().strokes.size();
  canvas.ui.move_to(canvas.ui.point_in("tiles of C", {0.05f, 0.05f}));
  canvas.ui.frames(3);
  CHECK(canvas.ui.record().strokes.size() > before);  // a frame around the tile, a bar at its slot
}
