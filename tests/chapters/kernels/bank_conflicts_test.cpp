#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/content/content.h"
#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "chapters/kernels/bank_conflicts/lab.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;

namespace {

constexpr std::string_view banks_lab = "kernels/bank-conflicts";

}  // namespace

TEST_CASE("banks: a column of the default tile is 32 deep, and each cure costs what it costs") {
  const LabPtr lab = open_lab(banks_lab);
  const auto o = outputs_of(*lab);
  CHECK(o["wavefronts"] == 32);
  CHECK(o["phases"] == nlohmann::ordered_json::array({32.0}));
  CHECK(o["ideal"] == 1);
  CHECK(o["banks"] == 1);
  CHECK(o["padded_wavefronts"] == 1);
  CHECK(o["padding_bytes"] == 128);
  CHECK(o["alignment_bytes"] == 4);  // rows begin every 132 bytes
  CHECK(o["tiles"] == 56);
  CHECK(o["tiles_padded"] == 55);
  CHECK(o["swizzled_wavefronts"] == 1);
  CHECK(o["cute"] == "Swizzle<5,2,5>");
  CHECK(o["best_padding"] == 1);
  CHECK(lab->answer().starts_with("Reading column `11` takes `32` wavefronts as written, where `1` would do"));
}

TEST_CASE("banks: an expression or a list of addresses alone counts, under the keys of the contract") {
  // As a caller gives them, who does not choose what is read. Of the published cases: float s[2t], double s[2t], float4
  // at a stride of 32 bytes, half s[t].
  const auto given = [](const std::string& inputs) {
    const LabPtr lab = open_lab(banks_lab);
    const auto linked = app::link_inputs(app::parse_link(std::string(banks_lab) + "?" + inputs));
    REQUIRE(linked);
    REQUIRE(app::apply_inputs(*lab, *linked).error.empty());
    return outputs_of(*lab);
  };
  CHECK(given("expression=2*lane&width_bytes=4")["wavefronts"] == 2);
  CHECK(given("expression=2*lane&width_bytes=8")["phases"] == std::vector<double>{2, 2});
  CHECK(given("expression=2*lane&width_bytes=16")["phases"] == std::vector<double>{2, 2, 2, 2});
  CHECK(given("expression=threadIdx.x&width_bytes=2")["wavefronts"] == 1);
  CHECK(given("expression=lane&element_bytes=12")["wavefronts"] == 1);
  CHECK(given("addresses=0,128,256,384,-1")["wavefronts"] == 4);
  CHECK(given("addresses=0,128,256,384,-1")["active"] == 4);
  const LabPtr lab = open_lab(banks_lab);
  set(*lab, "access", "addresses", "addresses", "0, 6", "width_bytes", "4");
  CHECK(reason_of(*lab).find("ane 1") != std::string::npos);
  CHECK_FALSE(reason_of(set(*lab, "addresses", "")).empty());
  CHECK_FALSE(reason_of(set(*lab, "addresses", "-1")).empty());
  CHECK_FALSE(reason_of(set(*lab, "access", "expression", "expression", "33 * ")).empty());
}

TEST_CASE("banks: a wide access must be aligned to padded rows, and the XOR must not tear it apart") {
  const LabPtr lab = open_lab(banks_lab);
  set(*lab, "width_bytes", "16");
  auto o = outputs_of(*lab);
  CHECK(o["wavefronts"] == 32);
  CHECK(o["padded_wavefronts"].is_null());
  CHECK(o["padded_reason"] ==
        "Padded rows begin every 132 B, and a lane moves 16 B, which must be aligned: pad by a multiple of 16 B.");
  CHECK(o["best_padding"] == 4);
  CHECK(o["swizzled_phases"] == std::vector<double>{1, 1, 1, 1});
  set(*lab, "swizzle", "own");
  o = outputs_of(*lab);
  CHECK(o["swizzled_wavefronts"].is_null());
  CHECK(lab->answer().find("tears a lane's bytes apart") != std::string_view::npos);
  set(*lab, "swizzle_unit_bytes", "16");
  CHECK(outputs_of(*lab)["swizzled_wavefronts"].is_null());  // five bits, and a row has 8 units
  CHECK(lab->answer().find("leaves the row") != std::string_view::npos);
}

TEST_CASE("banks: what kernels do to a tile of 64 halves, in three layouts") {
  const LabPtr lab = open_preset(banks_lab, "ldmatrix, rows of 128 bytes");
  compute(*lab);
  const auto row_of = [&](std::string_view name) {
    for (std::size_t i = 0; i < rows(*lab, "accesses"); ++i)
      if (cell_text(*lab, "accesses", i, "name") == name) return i;
    FAIL("no row " << name);
    return std::size_t{0};
  };
  const auto check = [&](std::string_view name, double ideal, double plain, double padded, double swizzled) {
    CAPTURE(name);
    const std::size_t i = row_of(name);
    CHECK(cell(*lab, "accesses", i, "ideal") == ideal);
    CHECK(cell(*lab, "accesses", i, "plain") == plain);
    CHECK(cell(*lab, "accesses", i, "padded") == padded);
    CHECK(cell(*lab, "accesses", i, "swizzled") == swizzled);
  };
  check("ldmatrix.x4", 4, 32, 4, 4);
  check("row, 16 B per lane", 4, 4, 4, 4);
  check("mma A, 4 B per lane", 1, 8, 1, 1);
}

TEST_CASE("banks: the code that is copied places every element where the model does") {
  const LabPtr lab = open_lab(banks_lab);
  auto& inputs = *lab;
  using namespace chapters::kernels::bank_conflicts;
  compute(inputs);
  Inputs in;
  Outputs out{.row_bytes = 128, .unit_bytes = 4, .flip_shift = 0, .flip_mask = 31, .flip = "c ^ (r & 31)"};
  out.cute = "Swizzle<5,2,5>";
  CHECK(swizzled_code(in, out) ==
        "__shared__ __align__(128) float tile[32 * 32];\n"
        "// Units of 4 B: unit c of row r lies at c ^ (r & 31).\n"
        "__device__ int at(int row, int col) {  // index of an element\n"
        "  return row * 32 + (col ^ (row & 31));\n}\n"
        "// CuTe, offsets in elements:\n"
        "auto layout = composition(Swizzle<5, 0, 5>{},\n    Layout<Shape<_32, _32>, Stride<_32, _1>>{});\n");
  in.element = Element::half;
  in.columns = 64;
  out = {.row_bytes = 128, .unit_bytes = 16, .flip_shift = 0, .flip_mask = 7, .flip = "c ^ (r & 7)"};
  out.cute = "Swizzle<3,4,3>";
  const std::string halves = swizzled_code(in, out);
  CHECK(halves.find("return row * 64 + ((col / 8 ^ (row & 7)) * 8 + col % 8);") != std::string::npos);
  CHECK(halves.find("Swizzle<3, 3, 3>") != std::string::npos);
  // The text's arithmetic against the model's.
  const models::gpu::SharedTile tile{.rows = 32, .columns = 64, .element_bytes = 2};
  for (std::int64_t row = 0; row < 32; ++row)
    for (std::int64_t col = 0; col < 64; ++col)
      REQUIRE(2 * (row * 64 + ((col / 8 ^ (row & 7)) * 8 + col % 8)) ==
              models::gpu::swizzled_address(tile, models::gpu::fitted_swizzle(tile, 16), 2 * (row * 64 + col)));
}

TEST_CASE("banks: the hand drags the column and the row's end, and presses bits of the XOR") {
  use_bundled_catalog();
  ShellDriver d(bundled_content(), models::Result<app::UserPaths>::fail("Nothing is kept in a test."), {1600, 1000});
  REQUIRE(d.workspace.open(std::string(banks_lab)));
  d.ui.frames(3);
  const auto now = [&](std::string_view key) { return d.workspace.lab().inputs().find(key)->number(); };
  d.ui.click("XOR bit 4");
  d.ui.frames(3);
  CHECK(d.workspace.lab().inputs().find("swizzle")->choice_id() == "own");
  CHECK(now("swizzle_mask") == 15);
  CHECK(out(d.workspace.lab(), "swizzled_wavefronts") == 2);
  d.ui.click("drag the column");
  d.ui.frames(3);
  CHECK(std::abs(now("column") - 15.5) <= 0.5);  // the middle of 32
  d.ui.click("drag the row's end");
  d.ui.frames(3);
  CHECK(now("padding") > 1);
}

TEST_CASE("bank conflicts: the fit of a short tile is free of conflicts, and where no XOR is it says so") {
  const LabPtr lab = open_lab("kernels/bank-conflicts", R"({"rows": 16, "columns": 32})");
  compute(*lab);
  CHECK(out(*lab, "swizzled_wavefronts") == 1);
  CHECK(text_of(*lab, "fit") == "free of conflicts, found by trying all");
  set(*lab, "rows", 12);
  compute(*lab);
  CHECK(out(*lab, "swizzled_wavefronts") > 1);
  CHECK(text_of(*lab, "fit") == "no XOR of whole units takes fewer wavefronts");
  CHECK(std::string(lab->answer()).find(", the fewest that an XOR reaches.") != std::string::npos);
}
