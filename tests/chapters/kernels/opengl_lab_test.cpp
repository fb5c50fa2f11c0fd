#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "kernels/kernel.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;

using Catch::Approx;

namespace {

const app::Json gather{{"device", "opengl"}, {"opengl_ladder", "gl-gather"}, {"rung", 1}};

/// The first rung of gl-gather, right on a software renderer.
app::Json checked_row() {
  return {{"ladder", "gl-gather"},
          {"rung", "apart_32"},
          {"size", kernels::find_ladder("gl-gather")->size_default},
          {"checked", true},
          {"failure", "Right against float64 at size 1.0 MiB and not timed: llvmpipe draws on the CPU."}};
}

}  // namespace

TEST_CASE("kernel lab: OpenGL ladders are rated on GPUs of any maker and on nothing else") {
  const LabPtr lab = open_lab("kernels/lab");
  for (const char* chip : {"mi300x", "h100_sxm"}) {
    compute(set(*lab, gather));
    compute(set(*lab, {{"chip", chip}}));
    INFO(chip);
    CHECK(lab->reason().empty());
  }
  for (const char* chip : {"tpu_v5p", "trn2", "gaudi3"})
    CHECK(reason_of(set(*lab, {{"chip", chip}})).find(" runs no OpenGL, in which these kernels are written: ") !=
          std::string::npos);
}

// 36 sectors for 256 useful bytes, at 5.5 TB/s of the L2 and 3.35 TB/s of the memory.
TEST_CASE("kernel lab: reads 32 and 8 floats apart cost the same sectors") {
  const LabPtr lab = open_lab("kernels/lab");
  compute(set(*lab, gather));
  CHECK(lab->answer().find(", held by sectors at the L2.\nBy the model rung 2 is held to the same rate.") !=
        std::string::npos);
  const double far = out(*lab, "predicted_share");
  compute(set(*lab, {{"rung", 2}}));
  CHECK(out(*lab, "predicted_share") == far);
  CHECK(out(*lab, "next_gain") == Approx(100 / far));  // a third of the sectors: the memory is the limit from there
}

TEST_CASE("kernel lab: a rung that is right and was not timed has not failed and has no time") {
  ShellDriver d(bundled_content());
  use_bundled_catalog();
  app::Json with_row = gather;
  with_row["runs"] = {checked_row()};
  REQUIRE(d.workspace.open_with("kernels/lab", with_row, app::Json::object()).error == "");
  d.ui.frames(4);
  CHECK(d.output("failed_rungs").number() == 0);
  CHECK(d.output("measured_rungs").number() == 0);
  CHECK(d.output("checked_rungs").number() == 1);
  CHECK(d.workspace.lab().answer().starts_with("Rung 1 is right here and was not timed; the model allows "));
  CHECK(d.ui.text_present("right, not timed"));
  CHECK(d.ui.text_present("1 of 4 rungs right and not timed"));
  CHECK_FALSE(d.ui.text_present("failed"));
}

TEST_CASE("kernel lab: ceilings measured through OpenGL hold for OpenGL alone") {
  const LabPtr lab = open_lab("kernels/lab");
  const auto roof = [](const char* device, const char* id, double value) {
    return app::Json{{"device", device}, {"id", id}, {"title", "copy"}, {"unit", "B/s"}, {"value", value}};
  };
  compute(set(*lab, gather));
  compute(set(*lab, {{"roofs", {roof("cuda", "gpu_copy", 2.8e12)}}}));
  CHECK(out(*lab, "roof_bytes_per_s") == 3.35e12);
  compute(set(*lab, {{"roofs", {roof("opengl", "gl_copy", 60e9)}}}));
  CHECK(out(*lab, "roof_bytes_per_s") == 60e9);
  compute(set(*lab, {{"device", "cuda"}}));
  CHECK(out(*lab, "roof_bytes_per_s") == 3.35e12);
}

TEST_CASE("kernel lab: a compute shader is edited where it is shown, and reads no files") {
  ShellDriver d(bundled_content());
  use_bundled_catalog();
  REQUIRE(d.workspace.open_with("kernels/lab", gather, app::Json::object()).error == "");
  d.ui.frames(4);
  d.ui.click("Source");
  d.ui.frames(3);
  d.ui.click("Edit");
  d.ui.frames(2);
  d.ui.click("##editor");
  d.ui.key(ImGuiKey_Home, ImGuiMod_Ctrl);
  d.ui.type("#include <x> ");
  d.ui.frames(2);
  CHECK(d.workspace.lab().view().find("edited_source")->text().starts_with("#include <x> "));
  CHECK_FALSE(d.ui.text_present("This text has an #include"));
  d.ui.click("Compile and run");
  d.ui.frames(1);
  CHECK(d.workspace.lab().view().find("edited_rung")->text() == "gl-gather/apart_32");
}
