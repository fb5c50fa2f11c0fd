#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("sparsity: zeros that are stored bring nothing, 2:4 brings two or 16/9, rows bring what is left") {
  const LabPtr lab = open_lab("compression/sparsity");
  lab->compute();
  CHECK(out(*lab, "memory_ratio") == 0.5625);
  CHECK(near(out(*lab, "speedup"), 2, 1e-9));
  CHECK(near(out(*lab, "flops_skipped"), 50, 1e-9));
  CHECK(out(*lab, "kept") == 50);
  CHECK(out(*lab, "speedup_unstructured") == 1);
  CHECK(out(*lab, "error_unstructured") < out(*lab, "error_two_four"));
  CHECK(out(*lab, "error_two_four") < out(*lab, "error_structured"));
  set(*lab, "tokens", 1);
  lab->compute();
  CHECK(near(out(*lab, "speedup"), 16.0 / 9, 0.002));
  CHECK(lab->outputs().find("regime")->text() == "memory");
  choose(*lab, "chip", "v100_sxm2");
  choose(*lab, "format", "fp16");
  lab->compute();
  CHECK(out(*lab, "speedup") == 1);
  choose(*lab, "format", "fp8");
  lab->compute();
  CHECK(lab->reason() == "NVIDIA V100 SXM2 16/32GB states no dense FP8 peak: choose another format or chip.");
}

TEST_CASE("sparsity: dragging the tokens moves the layer from memory to compute") {
  const LabPtr lab = open_lab("compression/sparsity");
  set(*lab, "tokens", 4);
  lab->compute();
  Canvas canvas(*lab, {1000, 1000});
  support::UiDriver& ui = canvas.ui;
  ui.drag_by("drag tokens", {500, 0});
  CHECK(lab->inputs().find("tokens")->number() > 300);
  lab->compute();
  CHECK(lab->outputs().find("regime")->text() == "compute");
}
