#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("packing lab: the answer, by policy and mask, and a list that cannot be read") {
  const auto says = [](const char* inputs) {
    const LabPtr lab = open_lab("training/packing", inputs);
    lab->compute();
    return std::string(lab->answer());
  };
  CHECK(says("{}") ==
        "Padded, `68.1 %` of the FLOPs are air; the same 48 documents in `17` rows are `95.5 %` useful and take `3.00` "
        "times fewer FLOPs.");
  CHECK(says(R"({"policy": "padding"})") ==
        "Padded, `68.1 %` of the FLOPs are air: 48 documents fill `33.8 %` of `48` rows.");
  CHECK(says(R"({"document_mask": false})").ends_with("FLOPs, while `43.4 %` of the pairs cross documents."));
  CHECK(says(R"({"lengths": "list", "sequence": 40})") ==
        "Number 1 of the list is no whole number from 1 to 40: write lengths such as 120, 35, 512.");
}

TEST_CASE("packing lab: FLOPs are those of parameters and pairs, by hand for one document") {
  const LabPtr lab = open_lab("training/packing", R"({"lengths": "list", "list": "1000", "sequence": 2000})");
  compute(*lab);
  // Llama 3 8B: 7,504,924,672 parameters without the input embedding; 32 layers of 32 heads of 128.
  CHECK(near(out(*lab, "padded_flops"), 6 * 7504924672.0 * 2000 + 12.0 * 32 * 32 * 128 * 2000 * 2001 / 2));
  // Packed and masked: the row's 2,000 positions, and the triangle of 1,000.
  CHECK(near(out(*lab, "flops"), 6 * 7504924672.0 * 2000 + 12.0 * 32 * 32 * 128 * 1000 * 1001 / 2));
  CHECK(out(*lab, "useful_share") == 50);
}

TEST_CASE("packing lab: one document after the other is placed, and a click on a row shows its mask") {
  const LabPtr lab = open_lab("training/packing");
  lab->compute();
  Canvas canvas(*lab, {1400, 900});
  canvas.ui.frames(3);
  CHECK(view(*lab, "row").integer() == 0);
  canvas.ui.click("Next document");
  CHECK(view(*lab, "placed").number() == 1);  // all lay there, so that it begins anew
  canvas.ui.click("Next document");
  CHECK(view(*lab, "placed").number() == 2);
  canvas.ui.click("All");
  CHECK(view(*lab, "placed").number() >= 48);
  canvas.ui.click("Play##packing");
  canvas.ui.frames(10);
  CHECK(view(*lab, "playing").toggle());
  CHECK(view(*lab, "placed").number() < 48);
}
