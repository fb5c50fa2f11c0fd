#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("optimizer lab: the answer as written and fused, and who else is in the table") {
  const auto says = [](const char* inputs) {
    const LabPtr lab = open_lab("training/optimizer", inputs);
    lab->compute();
    return std::string(lab->answer());
  };
  CHECK(says("{}") ==
        "AdamW in `10` passes moves `92 B` a parameter, fused `28 B`; fusing makes the optimizer `4.0`\xC3\x97 as fast "
        "and the step `1.02`\xC3\x97.");
  CHECK(says(R"({"code": "fused"})") ==
        "AdamW moves `28 B` a parameter in one pass and takes `9.87 ms`, `0.527 %` of the step.");
  CHECK(says(R"({"kind": "adamw_8bit"})").starts_with("8-bit AdamW moves `16.1 B` a parameter in one pass"));
  const LabPtr lab = open_lab("training/optimizer");
  compute(*lab);
  CHECK(rows(*lab, "choices") == 13);  // three ways to write each, and one of 8-bit AdamW
}

TEST_CASE("optimizer lab: the fused time is 28 B a parameter over the bandwidth that is reached") {
  const LabPtr lab = open_lab("training/optimizer", R"({"code": "fused", "launch_s": 5e-7})");
  compute(*lab);
  CHECK(near(out(*lab, "time_s"), 28 * 8030261248.0 / 8 / (0.85 * 3.35e12)));
  CHECK(near(out(*lab, "forward_backward_s"), 6 * 7504924672.0 * 16384 / (0.4 * 989.4e12), 1e-3));
}

TEST_CASE("optimizer lab: a pass after the other travels, and a row of the table is chosen by a click") {
  const LabPtr lab = open_lab("training/optimizer");
  lab->compute();
  Canvas canvas(*lab, {1500, 1000});
  canvas.ui.frames(3);
  canvas.ui.click("Next pass");
  CHECK(view(*lab, "at").number() == 6);  // the gradient is widened: 2 B in, 4 out
  canvas.ui.click("Next pass");
  CHECK(view(*lab, "at").number() == 14);
  canvas.ui.click("Play##passes");
  canvas.ui.frames(5);
  CHECK(view(*lab, "playing").toggle());
  CHECK(view(*lab, "at").number() > 14);
}
