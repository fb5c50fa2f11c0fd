#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/lab/answers.h"
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

TEST_CASE("sparsity: a press on the mask chooses the four weights that are followed, arrow keys step through them") {
  const LabPtr lab = open_lab("compression/sparsity");
  lab->compute();
  Canvas canvas(*lab, {1400, 900});
  UiDriver& ui = canvas.ui;
  ui.click("mask");
  const double row = view(*lab, "group_row").number(), group = view(*lab, "group").number();
  CHECK((row > 13 && row < 19));
  CHECK((group > 6 && group < 9));
  ui.key(ImGuiKey_RightArrow);
  CHECK(view(*lab, "group").number() == group + 1);
  CHECK(view(*lab, "group_row").number() == row);
  // Of the four, two are kept.
  ui.frames(2);
  const widgets::Record record = ui.record();
  bool found = false;
  for (const auto& t : record.tables) {
    if (t.name != "four weights") continue;
    found = true;
    REQUIRE(t.rows.size() == 4);
    int kept = 0;
    for (const auto& r : t.rows) kept += r[1] == "1" ? 1 : 0;
    CHECK(kept == 2);
  }
  CHECK(found);
}

TEST_CASE("sparsity: the answer says what the hardware skips in each case") {
  const auto says = [](const char* inputs) { return answer_of("compression/sparsity", inputs); };
  CHECK(says("{}") ==
        "The hardware skips half of the multiplications and reads `56.25 %` of the weight bytes: the layer is at most "
        "`2\xC3\x97` as fast as dense.\nWith `4,096` tokens the multiplications set the time; the error in the weights "
        "is `35.5 %`.");
  CHECK(says(R"({"tokens": 8})").find("With `8` tokens the bytes read set the time") != std::string::npos);
  CHECK(says(R"({"tokens": 1})").find("With `1` token the bytes") != std::string::npos);
  CHECK(says(R"({"pattern": "unstructured", "share": 90})")
            .find("Zeros that are stored are multiplied like any weight: the layer is no faster than dense.") == 0);
  CHECK(says(R"({"pattern": "unstructured", "share": 90, "packed": true})").find("Packed zeros leave `16.25 %`") == 0);
  CHECK(says(R"({"pattern": "unstructured", "share": 5, "packed": true})").find("Packed zeros leave `101.2 %`") == 0);
  CHECK(says(R"({"pattern": "structured"})").find("The hardware skips all of these zeros, since whole rows") == 0);
  CHECK(says(R"({"pattern": "structured", "share": 0})") ==
        "No weight is pruned: there is nothing to skip, and the error is `0 %`.");
  CHECK(says(R"({"chip": "v100_sxm2", "format": "fp16"})").find("This chip has no 2:4 units for the format:") == 0);
}

TEST_CASE("sparsity lab: FP4 keeps 5/8 of the bytes in pairs, doubles on a B200 and gains a third on a B300") {
  const LabPtr lab = open_lab("compression/sparsity", R"({"chip": "b200_sxm", "format": "fp4", "tokens": 8192})");
  compute(*lab);
  CHECK(out(*lab, "memory_ratio") == 0.625);
  CHECK(out(*lab, "two_four_rate") == 2);
  CHECK(out(*lab, "flops_skipped") == 50);
  compute(set(*lab, "chip", "b300_sxm"));
  CHECK(near(out(*lab, "two_four_rate"), 4.0 / 3, 1e-12));
  CHECK(out(*lab, "flops_skipped") == 50);
}

TEST_CASE("sparsity lab: where whole rows go the picture says how many; next to it stands what the mask costs") {
  const LabPtr lab = open_lab("compression/sparsity", R"({"pattern": "structured"})");
  compute(*lab);
  Canvas canvas(*lab, {1400, 900});
  canvas.ui.frames(2);
  CHECK(canvas.ui.text_present("16 of 32 rows are gone: nothing of them is read or multiplied"));
  CHECK(canvas.ui.text_present("this row is kept"));
}
