#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("optimizer lab: the answer as written and fused, and who else is in the table") {
  const auto says = [](const char* inputs) { return answer_of("training/optimizer", inputs); };
  CHECK(
      says("{}").starts_with("Looped AdamW moves `92 B` per parameter in `10` passes; fused it would move `28 B`.\n"
                             "Fusing would make the optimizer `"));
  CHECK(says(R"({"code": "fused"})").starts_with("Fused AdamW moves `28 B` per parameter in one pass and takes `"));
  CHECK(says(R"({"code": "fused"})").find("\nWritten as separate operations it would move `92 B` and take `") !=
        std::string::npos);
  CHECK(says(R"({"code": "foreach"})").starts_with("Foreach AdamW moves `92 B` per parameter in `10` passes; "));
  // 8-bit AdamW is one kernel a tensor, however the code is set, and says so.
  CHECK(
      says(R"({"kind": "adamw_8bit"})").starts_with("8-bit AdamW moves `16.1 B` per parameter in one pass and takes "));
  CHECK(
      says(R"({"kind": "adamw_8bit"})")
          .ends_with("\nIts moments take `2.03 B` per parameter instead of `8 B`; it is one kernel per tensor, however "
                     "it is written."));
  CHECK(says(R"({"kind": "muon", "code": "fused"})").find(" of its time is matmuls, ") != std::string::npos);
  const LabPtr lab = open_lab("training/optimizer");
  compute(*lab);
  CHECK(rows(*lab, "choices") == 13);  // three ways to write each, and one of 8-bit AdamW
}

TEST_CASE("optimizer lab: the fused time is 28 B a parameter over the bandwidth that is reached") {
  const LabPtr lab = open_lab("training/optimizer", R"({"code": "fused", "launch_s": 5e-7})");
  compute(*lab);
  CHECK(near(out(*lab, "time_s"), 28 * 8030261248.0 / 8 / (0.7 * 3.35e12)));
  CHECK(near(out(*lab, "forward_backward_s"), 6 * 7504924672.0 * 16384 / (0.4 * 989.4e12), 1e-3));
}

TEST_CASE("optimizer lab: Muon's traffic is a mean over its matrices and AdamW's rest, in output and table alike") {
  const LabPtr lab = open_lab("training/optimizer", R"({"kind": "muon", "code": "fused"})");
  compute(*lab);
  // Embedding, output and the norms: 2 x 128,256 x 4,096 + 65 x 4,096 of 8,030,261,248 parameters are AdamW's.
  const double rest = (2.0 * 128256 * 4096 + 65 * 4096) / 8030261248.0;
  CHECK(near(out(*lab, "traffic_bytes"), 94 * (1 - rest) + 28 * rest));
  CHECK(out(*lab, "matrix_bytes") == 94);
  CHECK(near(out(*lab, "bytes") * 8 / 8030261248.0, out(*lab, "traffic_bytes")));
  CHECK(near(out(*lab, "traffic_ratio"), 1));
  // Products over forward and backward, FLOPs by FLOPs: 2 + 2 n / m + 2 of n a parameter, five times.
  CHECK(out(*lab, "product_share") < 100.0 * 5 * 4096 / (8 * 16384.0));  // Jordan's bound T m / B
}

TEST_CASE("optimizer lab: GPT-2's 148 tensors are 1,184 kernels, and the share of the draw question is 1/(1 + t/403)") {
  const LabPtr lab = open_lab("training/optimizer", R"({"model": "gpt2-124m", "shards": 1, "recipe": "fp32"})");
  compute(*lab);
  CHECK(out(*lab, "tensors") == 148);
  CHECK(out(*lab, "launches") == 1184);
  for (const double tokens : {512.0, 16384.0, 262144.0}) {
    const LabPtr llama = open_lab("training/optimizer", ("{\"tokens\": " + std::to_string(tokens) + "}").c_str());
    compute(*llama);
    CHECK(near(out(*llama, "step_share"), 100 / (1 + tokens / 403), 0.005));
  }
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

TEST_CASE("optimizer lab: Adafactor waits for two norms per tensor, as our own run on an H100 did") {
  const auto over = [](const char* recipe) {
    const LabPtr lab = open_lab("training/optimizer", R"({"kind": "adafactor", "code": "foreach", "shards": 1,
                                                         "model": "llama-3.2-1b"})");
    return computed(set(*lab, "recipe", recipe), "over_adamw");
  };
  // Measured on the same layers without the embedding: 1.81 and 2.40. By bytes alone it would be 1.05.
  CHECK(near(over("fp32"), 1.81, 0.12));
  CHECK(near(over("bf16"), 2.40, 0.12));
}
