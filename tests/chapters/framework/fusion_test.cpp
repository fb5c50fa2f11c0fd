#include "chapters/framework/fusion/lab.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "chapters/mechanism/registry.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_fusion = chapters::framework::fusion;

namespace {

lab_fusion::Picture fusion_picture(const lab_fusion::Inputs& in) {
  return support::picture_of(in, lab_fusion::compute, lab_fusion::arrange);
}

}  // namespace

TEST_CASE("fusion lab: 67.1 MB and two kernels less, five best, the sixth slower than none") {
  const LabPtr lab = open_lab("framework/fusion");
  compute(*lab);
  CHECK(out(*lab, "saved_bytes") == 4 * 2048 * 4096 * 2);
  CHECK(out(*lab, "kernels") == 5);
  CHECK(out(*lab, "unfused_kernels") == 7);
  CHECK(near(out(*lab, "layers_bytes"), 5.37e9, 0.001));
  CHECK(out(*lab, "best_first") == 1);
  CHECK(out(*lab, "best_last") == 5);
  CHECK(out(*lab, "best_next_s") > out(*lab, "unfused_s"));
  CHECK(rows(*lab, "runs") == 21);
  CHECK(out(*lab, "registers") == 34);
  const lab_fusion::Picture p = fusion_picture({});
  CHECK(p.answer.starts_with("Three boxes in one kernel save `67.1 MB` of traffic and "));
  CHECK(p.answer.find("\nThe best is one kernel of boxes `1` to `5`, ") != std::string::npos);
  const lab_fusion::Picture best = fusion_picture({.first = 1, .last = 5});
  CHECK(best.answer.find("\nNo other run of boxes is faster; with LayerNorm in it too, ") != std::string::npos);
  CHECK(p.why ==
        "Why LayerNorm would cost: a block must hold whole rows; tiles of 16 \xC3\x97 4,096 need 308 of 255 registers "
        "and "
        "load the weights from L2 64 times.");
  // The sixth as the lasso says so itself.
  compute(set(set(*lab, "first", 1), "last", 6));
  CHECK(out(*lab, "saved_s") < 0);
  CHECK(out(*lab, "saved_bytes") > 4 * 2048 * 4096 * 2);
  CHECK(out(*lab, "spilled") > 0);
  CHECK(fusion_picture({.first = 1, .last = 6}).why.starts_with("Why it is slower: "));
}

TEST_CASE("fusion lab: the lasso is read whichever way it was drawn, and ends at the chain's end") {
  const LabPtr lab = open_lab("framework/fusion", R"({"first": 4, "last": 2})");
  CHECK(computed(*lab, "saved_bytes") == 4 * 2048 * 4096 * 2);
  compute(set(set(*lab, "first", 5), "last", 8));
  const double to_end = out(*lab, "time_s");
  CHECK(computed(set(*lab, "last", 7), "time_s") == to_end);
}

TEST_CASE("fusion lab: a graph break cuts the lasso, and a compiler's stages count what it leaves") {
  const LabPtr lab = open_lab("framework/fusion", R"({"chain": "measured", "first": 1, "last": 7, "tokens": 32768})");
  compute(*lab);
  const double whole = out(*lab, "bytes");
  CHECK(out(*lab, "kernels") == 1);
  CHECK(out(*lab, "graphs") == 1);
  compute(set(*lab, "break_after", 3));
  CHECK(out(*lab, "kernels") == 2);
  CHECK(out(*lab, "graphs") == 2);
  CHECK(out(*lab, "compiled_kernels") == 2);
  const double tensor = 32768.0 * 4096 * 2;
  CHECK(out(*lab, "bytes") - whole == 3 * tensor);  // tanh's result, written and read, and y read again
  // The default chain as compiled: a product with its bias, one kernel to the norm, a product.
  const LabPtr plain = open_lab("framework/fusion");
  CHECK(computed(*plain, "compiled_kernels") == 3);
  CHECK(cell(*plain, "stages", 2, "count") == 1);
  // Around the lasso of bias to dropout: the products, and one kernel of residual and norm.
  CHECK(computed(set(*plain, "rest", "compiled"), "kernels") == 4);
  CHECK(computed(set(*plain, "last", 2), "kernels") == 3);
}

TEST_CASE("fusion lab: a measurement stands beside the model only where the chain is what was timed") {
  const lab_fusion::Inputs timed{.chain = models::gpu::ChainKind::measured, .first = 1, .last = 7, .tokens = 32768};
  CHECK(fusion_picture(timed).why.starts_with("Measured on 2026-11-22: 281 "));
  lab_fusion::Inputs cut = timed;
  cut.break_after = 3;
  CHECK(fusion_picture(cut).why.starts_with("The graph break cuts"));
  CHECK(fusion_picture(cut).runs_head.ends_with("a run across the break in two"));
  lab_fusion::Inputs kept = timed;
  kept.backward = true;
  CHECK(fusion_picture(kept).why.starts_with("Why: "));
}

TEST_CASE("fusion lab: what L2 keeps is read from there in the picture too, and thin tensors of attention are named") {
  const auto from_l2 = [](const lab_fusion::Picture& p) {
    return std::count_if(p.pipes.begin(), p.pipes.end(), [](const auto& pipe) { return pipe.l2; });
  };
  CHECK(from_l2(fusion_picture({})) == 0);
  // z1 into the lasso, z4, z5 and z6 behind it; x, res and the weights nobody wrote before.
  CHECK(from_l2(fusion_picture({.l2_keeps = true})) == 4);
  // 67 MB are more than half of 50 MB of L2.
  CHECK(from_l2(fusion_picture({.tokens = 8192, .l2_keeps = true})) == 0);
  const auto squares =
      fusion_picture({.chain = models::gpu::ChainKind::attention, .first = 1, .last = 3, .tokens = 8192});
  CHECK(squares.band.ends_with("; Q, K, V, O 0.134 each"));
  CHECK(fusion_picture({.chain = models::gpu::ChainKind::attention, .tokens = 128}).band.find("each") ==
        std::string::npos);
}

TEST_CASE("fusion lab: where launches of none fused take longer than their kernels the sentence says so") {
  CHECK(
      fusion_picture({.first = 1, .last = 7, .tokens = 8192, .width = 256})
          .why.starts_with("Why: none fused, the CPU's launches set the pace; in one it takes as long as moving its "));
  CHECK(fusion_picture({.first = 1, .last = 7, .tokens = 32768, .width = 256})
            .why.starts_with("Why: it takes as long as "));
  // One token is one row: whoever holds it whole works alone.
  CHECK(fusion_picture({.first = 1, .last = 6, .tokens = 1}).why ==
        "Why it is slower: a block must hold whole rows, and only 1 of 132 SMs can work.");
  const lab_fusion::Inputs two{.chain = models::gpu::ChainKind::ffn, .first = 1, .last = 4};
  CHECK(fusion_picture(two).why.starts_with(
      "Why it is slower: a block must hold whole rows; tiles of 16 \xC3\x97 4,096 need 314 "));
  CHECK(lab_fusion::prose_of("\xC2\xB7 W2") == "W2's matmul");
  CHECK(lab_fusion::prose_of("+ residual") == "the residual");
  CHECK(lab_fusion::prose_of("+ y") == "+ y");
}

TEST_CASE("fusion lab: chips whose registers follow other rules are refused in a sentence") {
  for (const char* chip : {"mi300x", "tpu_v5p", "b200_sxm"}) {
    CAPTURE(chip);
    const LabPtr lab = open_lab("framework/fusion", std::string(R"({"chip": ")") + chip + R"("})");
    CHECK(reason_of(*lab).find("choose a") != std::string::npos);
  }
  const LabPtr lab = open_lab("framework/fusion", R"({"chip": "a100_80_sxm", "cluster": 16})");
  CHECK(reason_of(*lab).find("clusters came with Hopper") != std::string::npos);
}

TEST_CASE("fusion lab: pipes are as thick as their bytes, and what is never written has a ghost") {
  const lab_fusion::Picture p = fusion_picture({});
  lab_fusion::BoxesLayout l;
  layout_boxes(p, {{10, 20}, {1010, 620}}, l);
  REQUIRE(l.boxes.size() == 7);
  REQUIRE(l.tensors.size() == p.tensors.size());
  REQUIRE(l.pipes.size() == p.pipes.size());
  int ghosts = 0;
  for (std::size_t i = 0; i < p.tensors.size(); ++i) {
    ghosts += p.tensors[i].ghost;
    CHECK(l.tensors[i].min.x >= l.band.min.x);
    CHECK(l.tensors[i].max.x <= l.band.max.x);
    for (std::size_t j = 0; j < p.tensors.size(); ++j)
      if (i != j)
        CHECK((l.tensors[i].max.x <= l.tensors[j].min.x + 0.5f || l.tensors[j].max.x <= l.tensors[i].min.x + 0.5f));
  }
  CHECK(ghosts == 2);
  // The lasso's figures are those of the boxes: kernels alone, without the gaps between them.
  const auto lasso = std::find_if(p.kernels.begin(), p.kernels.end(), [](const auto& k) { return k.lasso; });
  REQUIRE(lasso != p.kernels.end());
  CHECK(lasso->head == "one kernel: 13.9 \xC2\xB5s, 36.2 \xC2\xB5s as three");
  // W1 has twice the bytes of x.
  CHECK(p.tensors[0].name == "x");
  CHECK(p.tensors[1].name == "W1");
  CHECK(near(static_cast<double>(l.tensors[1].width() / l.tensors[0].width()), 2, 1e-3));
  CHECK(near(static_cast<double>(l.pipes[1].width / l.pipes[0].width), 2, 1e-3));
  // Boxes inside the chip, the band under it, the matrix under the band, a cell under its last box.
  for (const auto& box : l.boxes) CHECK(box.max.y <= l.chip.max.y);
  CHECK(l.chip.max.y < l.band.min.y);
  REQUIRE(l.runs);
  CHECK(l.band.max.y < l.matrix.min.y);
  for (std::size_t i = 0; i < p.cells.size(); ++i) {
    const float middle = (l.cells[i].min.x + l.cells[i].max.x) / 2;
    CHECK(middle > l.boxes[static_cast<std::size_t>(p.cells[i].last)].min.x);
    CHECK(middle < l.boxes[static_cast<std::size_t>(p.cells[i].last)].max.x);
    CHECK(l.cells[i].max.y <= 620.5f);
  }
  // A projector's 450 pixels have room for both, the triangle before the line that explains it.
  layout_boxes(p, {{0, 0}, {1188, 450}}, l);
  CHECK(l.runs);
  // Where there is little room the hero has it.
  layout_boxes(p, {{0, 0}, {640, 300}}, l);
  CHECK_FALSE(l.runs);
  CHECK(l.band.max.y <= 300);
  CHECK(l.band.min.y - l.chip.max.y > 60);
}

TEST_CASE("fusion lab: a drag over boxes is a lasso, arrow keys move its ends, a cell of the matrix is a run") {
  const LabPtr lab = open_lab("framework/fusion");
  compute(*lab);
  Canvas canvas(*lab, {1100, 760});
  UiDriver& ui = canvas.ui;
  ui.frames(2);
  const widgets::ProbedItem item = ui.item("boxes");
  const lab_fusion::Picture p = fusion_picture({});
  lab_fusion::BoxesLayout l;
  layout_boxes(p, {item.min, item.max}, l);
  const auto middle = [](const widgets::Rect& r) { return ImVec2{(r.min.x + r.max.x) / 2, (r.min.y + r.max.y) / 2}; };
  ui.drag_points(middle(l.boxes[5]), middle(l.boxes[2]));
  CHECK(input(*lab, "first").number() == 3);
  CHECK(input(*lab, "last").number() == 6);
  ui.frames(2);
  ui.key(ImGuiKey_LeftArrow);
  ui.frames(2);
  CHECK(input(*lab, "last").number() == 5);
  ui.key(ImGuiKey_LeftArrow, ImGuiMod_Shift);
  ui.frames(2);
  CHECK(input(*lab, "first").number() == 2);
  CHECK(input(*lab, "last").number() == 5);
  REQUIRE(l.runs);
  ui.click_at(middle(l.cells[4]));
  ui.frames(2);
  CHECK(input(*lab, "first").number() == 1);
  CHECK(input(*lab, "last").number() == 6);
  compute(*lab);
  CHECK(out(*lab, "saved_s") < 0);
}
