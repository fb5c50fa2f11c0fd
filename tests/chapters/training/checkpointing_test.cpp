#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("checkpointing lab: the best plan in the budget runs as few layers again as it must") {
  const LabPtr lab = open_lab("training/checkpointing");
  compute(*lab);
  CHECK(out(*lab, "recomputed") == 14);
  CHECK(out(*lab, "peak_bytes") <= 80e9);
  CHECK(lab->answer() ==
        "Recomputing `14` of `32` layers fits the step into `80 GB` for `13.7 %` more time.\n"
        "The peak is `79.3 GB`. The textbook's pieces of \xE2\x88\x9AL would cost `31.3 %` and peak at `60.0 GB`.");
  // One layer less does not fit, whichever layers run again.
  set(*lab, "budget_bytes", out(*lab, "peak_bytes") - 1);
  CHECK(computed(*lab, "recomputed") == 15);
  set(*lab, "budget_bytes", 1e9);
  compute(*lab);
  CHECK(std::isnan(out(*lab, "best_share")));
  CHECK(std::string(lab->answer()).starts_with("No plan fits `1 GB`: the smallest peak is `50.7 GB`, with `"));
}

TEST_CASE("checkpointing lab: pieces of the root of L are no better than layer by layer") {
  const LabPtr lab = open_lab("training/checkpointing", R"({"plan": "square_root"})");
  compute(*lab);
  CHECK(out(*lab, "best_piece") == 1);
  CHECK(out(*lab, "square_root_bytes") > out(*lab, "every_layer_bytes"));
  CHECK(lab->answer().ends_with("\nThe peak is `60.0 GB`; the best plan of the same time peaks at `50.7 GB`."));
  CHECK(near(out(*lab, "excess_bytes"), out(*lab, "square_root_bytes") - out(*lab, "smallest_bytes"), 1e-9));
  CHECK(near(out(*lab, "layer_over_checkpoint"), 17 + 4.0 * 32 / (2 * 4096), 1e-9));
}

TEST_CASE("checkpointing lab: pressing a pillar turns its layer over and keeps the others") {
  const LabPtr lab = open_lab("training/checkpointing", R"({"plan": "none"})");
  lab->compute();
  Canvas canvas(*lab, {1400, 900});
  canvas.ui.frames(2);
  canvas.ui.click_at(canvas.ui.point_in("layers", {0.9f, 0.5f}));
  canvas.ui.frames(2);
  CHECK(input(*lab, "plan").choice_id() == "drawn");
  const std::string letters = input(*lab, "letters").text();
  CHECK(std::count(letters.begin(), letters.end(), 'r') == 1);
  CHECK(out(*lab, "recomputed") == 1);
}
