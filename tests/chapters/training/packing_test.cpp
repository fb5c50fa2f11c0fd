#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("packing lab: the answer, by policy and mask, and a list that cannot be read") {
  const auto says = [](const char* inputs) { return answer_of("training/packing", inputs); };
  CHECK(says("{}") ==
        "Packed into `17` rows instead of `48`, the batch is `95.5 %` useful, for `33.3 %` of the FLOPs of padding.\n"
        "With a row for each document only `33.8 %` of the positions hold text.");
  CHECK(says(R"({"policy": "padding"})") ==
        "With a row for each, `48` documents are `33.8 %` useful: `68.1 %` of the FLOPs are wasted.\n"
        "Best-fit packing would need `17` rows, `95.5 %` useful.");
  CHECK(says(R"({"document_mask": false})")
            .ends_with("\nWithout a document mask `43.4 %` of the pairs of tokens that attend cross documents."));
  CHECK(says(R"({"documents": 1})").starts_with("Packing changes nothing here: `1` document takes `1` row, "));
  CHECK(says(R"({"lengths": "list", "list": "30 30", "sequence": 60})")
            .starts_with("Packed into `1` row instead of `2`"));
  CHECK(says(R"({"lengths": "list", "sequence": 40})") ==
        "Number 1 of the list is no whole number from 1 to 40: write lengths such as 120, 35, 512.");
}

TEST_CASE("packing lab: a limit of documents per row holds for the sample and for the whole data set") {
  const auto says = [](const char* inputs) { return answer_of("training/packing", inputs); };
  CHECK(says(R"({"lengths": "wikipedia", "sequence": 512, "documents": 128})")
            .ends_with("\nThe whole data set packs into `8,138,483` rows, `99.95 %` useful."));
  CHECK(says(R"({"lengths": "wikipedia", "sequence": 512, "documents": 128, "most_documents": 12})")
            .ends_with("\nThe whole data set, at most `12` per row, packs into `8,149,619` rows, `99.81 %` useful."));
  CHECK(says(R"({"most_documents": 1})").starts_with("Packing changes nothing here: `48` documents take `48` rows"));
  const LabPtr lab = open_lab("training/packing", R"({"most_documents": 2})");
  compute(*lab);
  CHECK(out(*lab, "rows") == 24);
  CHECK(out(*lab, "least_rows") == 24);
  CHECK(std::isnan(out(*lab, "optimum_rows")));
}

TEST_CASE("packing lab: documents longer than the row lose tokens, and the answer says how many") {
  const LabPtr lab = open_lab("training/packing", R"({"sequence": 64})");
  compute(*lab);
  // 132,935 tokens in rows of 8,192, which no conversation exceeds.
  CHECK(out(*lab, "lost_tokens") + out(*lab, "tokens") == 132935);
  CHECK(std::string(lab->answer()).ends_with("tokens` lie beyond the rows and are left out."));
  const LabPtr whole = open_lab("training/packing");
  compute(*whole);
  CHECK(out(*whole, "lost_tokens") == 0);
}

TEST_CASE("packing lab: papers near the limit: 48 need 37 rows, and 2,048 fill 1,690") {
  const LabPtr few = open_lab("training/packing", R"({"lengths": "arxiv", "sequence": 4096})");
  compute(*few);
  CHECK(out(*few, "rows") == 37);
  CHECK(out(*few, "optimum_rows") == 37);
  CHECK(near(out(*few, "useful_share"), 89.0, 0.001));
  const LabPtr many = open_lab("training/packing", R"({"lengths": "arxiv", "sequence": 4096, "documents": 2048})");
  compute(*many);
  CHECK(out(*many, "rows") == 1690);
  CHECK(near(out(*many, "useful_share"), 85.5, 0.001));
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
