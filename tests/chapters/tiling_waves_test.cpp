#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "catalog_fixture.h"
#include "chapters/registry.h"
#include "tests/support/ui_driver.h"

using chapters::Lab;
using chapters::LabPtr;

namespace {

LabPtr tiling_waves() {
  use_bundled_catalog();
  LabPtr lab = chapters::make_lab_by_id("roofline/tiling-waves");
  REQUIRE(lab);
  return lab;
}
void set(Lab& lab, std::string_view key, double value) { lab.inputs().find(key)->set_number(value); }
void choose(Lab& lab, std::string_view key, std::string_view id) { REQUIRE(lab.inputs().find(key)->set_choice_id(id)); }
double out(Lab& lab, std::string_view key) {
  lab.compute();
  INFO(lab.reason());
  REQUIRE(lab.reason().empty());
  const chapters::Field* f = lab.outputs().find(key);
  REQUIRE(f);
  return f->number();
}
double cell(Lab& lab, std::string_view table, std::size_t row, std::string_view key) {
  chapters::Fields fields;
  lab.outputs().find(table)->table_row(row, fields);
  return fields.find(key)->number();
}
bool near(double value, double expected, double tolerance = 1e-9) { return std::abs(value / expected - 1) <= tolerance; }

}  // namespace

// H100 SXM: 132 SMs, 989.4 TFLOP/s. 32 x 17 = 544 tiles of 128 x 256; four waves hold 528.
TEST_CASE("tiling: the first picture is one column beyond four waves") {
  const LabPtr lab = tiling_waves();
  CHECK(out(*lab, "tiles") == 544);
  CHECK(out(*lab, "slots") == 132);
  CHECK(out(*lab, "waves") == 5);
  CHECK(out(*lab, "last_wave_blocks") == 16);
  CHECK(near(out(*lab, "wave_efficiency"), 100 * 544.0 / 660));
  CHECK(near(out(*lab, "tile_efficiency"), 100 * 4097.0 / (17 * 256)));
  CHECK(out(*lab, "alignment_bytes") == 2);
  CHECK(near(out(*lab, "alignment_efficiency"), 67));
  // a slot makes a tile in 2 x 128 x 256 x 4096 flops at a 132nd of the rate left
  CHECK(near(out(*lab, "time_s"), 5 * 2.0 * 128 * 256 * 4096 * 132 / (0.67 * 989.4e12), 1e-3));
  CHECK(out(*lab, "one_wave_less_n") == 4096);
  CHECK(out(*lab, "free_to_n") == 5120);  // 660 / 32 = 20 columns of tiles
  set(*lab, "n", 4096);
  CHECK(out(*lab, "waves") == 4);
  CHECK(near(out(*lab, "efficiency"), 100 * 512.0 / 528));
}

// The story of the study documents, computed under both rules. V100: 125 TFLOP/s on Tensor Cores, 15.7 in FP32.
TEST_CASE("tiling: 4097 to 4104 gained eight times before cuBLAS 11 and only the slower loads since") {
  const LabPtr lab = tiling_waves();
  choose(*lab, "chip", "v100_sxm2");
  choose(*lab, "format", "fp16");
  set(*lab, "tile_n", 128);
  choose(*lab, "alignment_rule", "then");
  CHECK(out(*lab, "padded_n") == 4104);
  CHECK(near(out(*lab, "padding_cost"), 100 * 7.0 / 4097));
  CHECK(near(out(*lab, "padding_speedup"), 125 / 15.7, 1e-3));
  CHECK(out(*lab, "padding_speedup_then") == out(*lab, "padding_speedup"));
  choose(*lab, "alignment_rule", "now");
  CHECK(near(out(*lab, "padding_speedup"), 1 / 0.67));
  set(*lab, "misaligned_rate", 100);
  CHECK(out(*lab, "padding_speedup") == 1);  // both are 32 x 33 tiles
  // A multiple of 16 bytes has nothing to pad, one of 128 has.
  set(*lab, "n", 4104);
  CHECK(out(*lab, "padded_n") == 4104);
  set(*lab, "pad_bytes", 128);
  CHECK(out(*lab, "padded_n") == 4160);
}

// NVIDIA, Matrix Multiplication Background User's Guide: 108 tiles of 256 x 128 are one wave of the A100, 117 are two.
TEST_CASE("tiling: along N the share is a saw-tooth that falls at the end of a wave") {
  const LabPtr lab = tiling_waves();
  choose(*lab, "chip", "a100_80_sxm");
  set(*lab, "m", 2304);
  set(*lab, "n", 1536);
  set(*lab, "tile_m", 256);
  set(*lab, "tile_n", 128);
  CHECK(near(out(*lab, "efficiency"), 100));
  const double full_s = out(*lab, "compute_s");
  set(*lab, "n", 1537);
  set(*lab, "misaligned_rate", 100);
  CHECK(near(out(*lab, "compute_s"), 2 * full_s));
  CHECK(out(*lab, "best_n") == 1536);
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

// 4096 / 128 = 32 tiles; 32 SMs pull 35 B a clock at 1.83 GHz, 2.05 of 3.35 TB/s.
TEST_CASE("tiling: one token leaves most SMs idle, and splitting the depth reaches the memory's rate") {
  const LabPtr lab = tiling_waves();
  set(*lab, "m", 1);
  set(*lab, "n", 4096);
  set(*lab, "tile_m", 16);
  set(*lab, "tile_n", 128);
  const double bytes = 2 * (4096.0 + 4096.0 * 4096 + 4096);
  CHECK(near(out(*lab, "wave_efficiency"), 100 * 32.0 / 132));
  const double plain_s = out(*lab, "time_s");
  CHECK(near(plain_s, bytes / (32 * 35 * 1.83e9)));
  CHECK(out(*lab, "best_splits") == 2);
  // two FP32 partial sums for each of 4,096 outputs, written and read
  CHECK(near(out(*lab, "split_k_time_s"), (bytes + 2 * 2 * 4096 * 4) / 3.35e12));
  CHECK(near(out(*lab, "best_schedule_speedup"), plain_s / out(*lab, "split_k_time_s")));
  CHECK(lab->outputs().find("schedules")->table_size() == 3);
  choose(*lab, "schedule", "split_k");
  CHECK(out(*lab, "blocks") == 128);
  CHECK(lab->outputs().find("schedules")->table_size() == 4);  // the split set is not the best one, so it has a row of its own
  set(*lab, "splits", 2);
  CHECK(out(*lab, "time_s") == out(*lab, "split_k_time_s"));
  choose(*lab, "schedule", "stream_k");
  CHECK(out(*lab, "time_s") == out(*lab, "stream_k_time_s"));
  CHECK(out(*lab, "waves") == 1);
}

// 1,056 tiles: 8 waves of 132, but 9 of 128.
TEST_CASE("tiling: four SMs lent to a collective cost a wave") {
  const LabPtr lab = tiling_waves();
  set(*lab, "n", 4224);
  set(*lab, "tile_n", 128);
  CHECK(out(*lab, "wave_efficiency") == 100);
  const double whole_s = out(*lab, "time_s");
  set(*lab, "units_taken", 4);
  CHECK(out(*lab, "waves") == 9);
  CHECK(near(out(*lab, "peak_flops_per_s"), 989.4e12 * 128 / 132, 1e-3));
  CHECK(near(out(*lab, "time_s") / whole_s, 9.0 / 8));  // an SM takes as long for a tile as before
}

TEST_CASE("tiling: what cannot be computed is refused in one sentence") {
  const LabPtr lab = tiling_waves();
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
  const LabPtr lab = tiling_waves();
  support::UiDriver ui(
      [&] {
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
        ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
        lab->compute();
        lab->draw();
        ImGui::End();
      },
      {1000, 1200});
  ui.frames(3);
  ui.drag_by("drag N", {-200, 0});
  const std::int64_t n = lab->inputs().find("n")->integer();
  CHECK(n < 4097);
  CHECK(n > 1000);
  ui.drag_by("drag time", {-200, 0});
  const double time = lab->view().find("time")->real();
  CHECK(time < 0.8);
  CHECK(time > 0.2);
  const widgets::Record record = ui.record();
  for (const char* name : {"odd N, since cuBLAS 11", "tiles of C", "wave 2", "idle", "before cuBLAS 11", "from the peak", "schedules"}) {
    INFO(name);
    CHECK(std::any_of(record.tables.begin(), record.tables.end(), [&](const auto& t) { return t.name == name && !t.rows.empty(); }));
  }
}
