#include <catch2/catch_test_macros.hpp>
#include <string>

#include "chapters/kernels/layouts/lab.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

constexpr const char* layouts = "kernels/layouts";

}  // namespace

TEST_CASE("layouts lab: a column costs 8, 4, 1 wavefronts though nothing moved in the matrix") {
  const LabPtr lab = open_lab(layouts);
  compute(*lab);
  CHECK(out(*lab, "column_by_rows") == 8);
  CHECK(out(*lab, "column_in_layout") == 4);
  CHECK(out(*lab, "column_swizzled") == 1);
  CHECK(out(*lab, "row_swizzled") == 1);
  CHECK(choice_of(*lab, "status") == "ok");
  CHECK(out(*lab, "size") == 64);
  CHECK(out(*lab, "cosize") == 64);
  // The look's own figures: the swizzled place of row 5, column 2 is 20.
  CHECK(reals_of(*lab, "indices")[5 + 8 * 2] == 20);
  CHECK(text_of(*lab, "cpp").starts_with("composition(Swizzle<3, 0, 3>{}, Layout<Shape<"));
  set(*lab, "a", "((4,2),(4,2)):((4,32),(1,16))");
  CHECK(computed(*lab, "column_swizzled") == 2);
  set(*lab, "a", "(8,8):(8,1)");
  for (const int bits : {0, 1, 2, 3}) {
    set(*lab, "swizzle_bits", bits);
    CHECK(computed(*lab, "column_swizzled") == 8 >> bits);
  }
  set(*lab, "a", "(8,8):(9,1)", "swizzle_bits", 0);
  CHECK(computed(*lab, "column_in_layout") == 1);
}

TEST_CASE("layouts lab: what is refused, wrong, or does not read says so in words") {
  const LabPtr lab = open_preset(layouts, "No composition");
  compute(*lab);
  CHECK(choice_of(*lab, "status") == "non_functional");
  CHECK(text_of(*lab, "result") == "(3,6,4):(8,8,0)");
  CHECK(out(*lab, "wrong_at") == 14);
  CHECK(std::string(lab->answer()).find("at index `14` it gives") != std::string::npos);
  const LabPtr refused = open_preset(layouts, "Refused");
  compute(*refused);
  CHECK(choice_of(*refused, "status") == "refused");
  CHECK(text_of(*refused, "result").empty());
  CHECK(text_of(*refused, "why").find("stride condition") != std::string::npos);
  set(*refused, "b", "(2,4:(6,4)");
  CHECK(reason_of(*refused).starts_with("B: At character"));
  const LabPtr swizzle = open_lab(layouts);
  set(*swizzle, "swizzle_bits", 4);
  compute(*swizzle);
  CHECK(choice_of(*swizzle, "status") == "refused");
}

TEST_CASE("layouts lab: the contract's keys, by the rows of the published cases") {
  const LabPtr lab = open_lab(layouts);
  choose(*lab, "operation", "zipped_divide");
  set(*lab, "a", "(9,(4,8)):(59,(13,1))", "b", "[3:3,(2,4):(1,8)]");
  compute(*lab);
  CHECK(text_of(*lab, "result") == "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))");
  choose(*lab, "operation", "idx2crd");
  set(*lab, "shape", "(3,(2,3))", "index", 17);
  compute(*lab);
  CHECK(text_of(*lab, "result") == "(2,(1,2))");
  choose(*lab, "operation", "slice");
  set(*lab, "a", "((2,2),(2,4)):((1,8),(2,16))", "coordinate", "(_,(1,2))");
  CHECK(computed(*lab, "offset") == 34);
  choose(*lab, "operation", "upcast");
  set(*lab, "a", "(16,8):(1,16)", "n", 4);
  compute(*lab);
  CHECK(text_of(*lab, "result") == "(4,8):(1,4)");
  choose(*lab, "operation", "swizzle");
  set(*lab, "swizzle_bits", 1, "swizzle_base", 0, "swizzle_shift", 1);
  compute(*lab);
  CHECK(reals_of(*lab, "indices") == std::vector<double>{0, 1, 3, 2});
}

TEST_CASE("layouts lab: the lane of a fragment names its elements in the order of its registers") {
  const LabPtr lab = open_lab(layouts);
  compute(*lab);
  CHECK(text_of(*lab, "held_elements") == "(1,2) (1,3) (9,2) (9,3) (1,10) (1,11) (9,10) (9,11)");
  CHECK(out(*lab, "fragment_registers") == 4);
  choose(*lab, "fragment", "wgmma_d64");
  CHECK(computed(*lab, "fragment_registers") == 32);
  set(*lab, "lane", 127);
  compute(*lab);
  CHECK(text_of(*lab, "held_elements").starts_with("(55,6) (55,7) (63,6)"));
}

TEST_CASE(
    "layouts lab: an operation of the algebra shows A and its result, each cell in the tint of its tile or copy") {
  namespace lab = chapters::kernels::layouts;
  lab::Inputs in;
  CHECK(lab::compute(in).run->sides[0].rows == 0);  // nothing is done to A
  in.operation = models::gpu::LayoutOperation::zipped_divide;
  in.a = "(4,4):(4,1)";
  in.b = "[2:1,2:1]";
  const auto divided = lab::compute(in);
  REQUIRE(divided.run);
  const lab::PartsMap &a = divided.run->sides[0], &r = divided.run->sides[1];
  CHECK(a.parts == std::vector<std::int64_t>{0, 0, 2, 2, 0, 0, 2, 2, 1, 1, 3, 3, 1, 1, 3, 3});
  // A column of the result is a tile.
  for (std::size_t cell = 0; cell < r.parts.size(); ++cell) CHECK(r.parts[cell] == static_cast<std::int64_t>(cell % 4));
  in.operation = models::gpu::LayoutOperation::complement;
  in.a = "4:2";
  in.n = 24;
  const auto room = lab::compute(in);
  REQUIRE(room.run);
  CHECK(room.run->sides[1].places.size() == 24);
  const LabPtr shown = open_preset(layouts, "What is left out");
  Canvas canvas(*shown, {1100, 1200});
  CHECK(canvas.ui.text_present("memory, filled by A and R"));
}
