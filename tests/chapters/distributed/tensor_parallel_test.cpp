#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "chapters/distributed/tensor_parallel/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_tensor = chapters::distributed::tensor_parallel;
using models::parallel::TensorBlock;
using models::parallel::TensorCut;

namespace {

lab_tensor::Picture tensor_picture(const lab_tensor::Inputs& in) {
  return picture_of(in, lab_tensor::compute, lab_tensor::arrange);
}

}  // namespace

TEST_CASE("tensor parallel: activations of a GPT layer are the published formula's, to the byte") {
  const LabPtr lab = open_lab("distributed/tensor-parallel",
                              R"({"model": "korthikanti-22b", "chip": "a100_80_sxm", "batch": 4, "sequence": 2048,
                                  "fused_attention": false, "dropout": true})");
  CHECK(near(computed(*lab, "activation_bytes"), 1325400064.0));
  CHECK(near(computed(set(*lab, "sequence_parallel", true), "activation_bytes"), 884998144.0));
  CHECK(near(out(*lab, "activation_whole_bytes"), 7079985152.0));
}

TEST_CASE("tensor parallel: keys that are copied no longer shrink on a rank") {
  const LabPtr lab = open_lab("distributed/tensor-parallel");
  const double eight = computed(*lab, "kv_bytes_per_token");
  CHECK(out(*lab, "kv_copies") == 1);
  CHECK(computed(set(*lab, "tensor_parallel", 32), "kv_bytes_per_token") == eight);
  CHECK(out(*lab, "kv_copies") == 4);
  CHECK(computed(set(*lab, "tensor_parallel", 4), "kv_bytes_per_token") == 2 * eight);
}

TEST_CASE("tensor parallel: leaving the node costs what the answer says") {
  const LabPtr lab = open_lab("distributed/tensor-parallel");
  const double predicted = computed(*lab, "across_share"), inside = out(*lab, "exposed_share");
  CHECK(near(computed(set(*lab, "ranks_per_node", 1), "exposed_share"), predicted));
  CHECK(predicted > 2 * inside);
  CHECK(near(out(*lab, "sent_bytes"), 2 * 2 * 7.0 / 8 * 8192 * 8192 * 2));
}

TEST_CASE("tensor parallel: the scene has a capsule where the cut sends, and an empty one where it does not") {
  lab_tensor::Inputs in;
  const auto capsules = [&](TensorCut cut) {
    in.cut = cut;
    std::string text;
    for (const auto& c : tensor_picture(in).scene.capsules)
      text += (text.empty() ? "" : "; ") + c.lines[0] + c.lines[1];
    return text;
  };
  CHECK(capsules(TensorCut::column_row) == "nothingto send; all-reduce");
  CHECK(capsules(TensorCut::column_column) == "all-gather; all-gather");
  CHECK(capsules(TensorCut::row_column) == "all-reduce; all-gather");
  CHECK(capsules(TensorCut::row_row) == "reduce-scatter; all-reduce");
  in = {.block = TensorBlock::attention, .ranks = 16, .sequence_parallel = true};
  const lab_tensor::Picture p = tensor_picture(in);
  CHECK(p.scene.ranks_note == "drawn with 4 ranks; sizes are those of 16; each key and value head is held by 2 ranks");
  // Queries of four heads, and a copy of a key and of a value head.
  const auto a = std::ranges::find(p.scene.matrices, "A: Q, K, V", &lab_tensor::CutMatrix::name);
  REQUIRE(a != p.scene.matrices.end());
  CHECK(a->piece_cols == "768");
  CHECK(p.answer.find("a gather before and a scatter after send") != std::string::npos);
  in = {.ranks = 1};
  const lab_tensor::Picture one = tensor_picture(in);
  CHECK(one.scene.capsules.empty());
  CHECK(one.answer.starts_with("One rank holds the whole layer and sends nothing"));
}

TEST_CASE("tensor parallel: matrices stand side by side on one line, pieces tile them, and nothing leaves the room") {
  for (const TensorCut cut :
       {TensorCut::column_row, TensorCut::column_column, TensorCut::row_column, TensorCut::row_row})
    for (const ImVec2 room : {ImVec2{620, 240}, ImVec2{1000, 420}, ImVec2{1500, 500}}) {
      lab_tensor::Inputs in;
      in.cut = cut;
      const lab_tensor::Picture p = tensor_picture(in);
      lab_tensor::CutPlaces places;
      lab_tensor::layout_cut(p.scene, {{10, 20}, {10 + room.x, 20 + room.y}}, 1,
                             {.line = 11, .shape = 96, .half_shape = 56, .capsule = 52}, places);
      float right = 10;
      for (std::size_t i = 0; i < places.matrices.size(); ++i) {
        const lab_tensor::PlacedMatrix& m = places.matrices[i];
        CHECK(m.area.min.x >= right - 0.01f);
        right = m.area.max.x;
        CHECK(std::abs((m.area.min.y + m.area.max.y) / 2 -
                       (places.matrices[0].area.min.y + places.matrices[0].area.max.y) / 2) <= 0.01f);
        float cells = 0;
        for (const widgets::Rect& piece : m.pieces) cells += piece.width() * piece.height();
        if (!p.scene.matrices[i].sheets) CHECK(std::abs(cells / (m.area.width() * m.area.height()) - 1) <= 1e-3f);
        for (std::size_t s = 1; s < m.pieces.size() && p.scene.matrices[i].sheets; ++s)
          CHECK(m.pieces[s].min.y > m.pieces[s - 1].max.y);
      }
      CHECK(right <= 10.01f + room.x);
      CHECK(places.name_y >= 20);
      CHECK(places.piece_y <= 20 + room.y);
      for (std::size_t c = 0; c < places.capsules.size(); ++c) {
        const std::size_t next = p.scene.capsules[c].before;
        CHECK(places.capsules[c].min.x >= places.matrices[next - 1].area.max.x);
        CHECK(places.capsules[c].max.x <= places.matrices[next].area.min.x);
      }
    }
}

TEST_CASE("tensor parallel: in a low room the texts give way, and the cells keep half of it") {
  const lab_tensor::Picture p = tensor_picture({});
  // As in presentation at twice the scale: 350 px of height, lines of 38.
  const lab_tensor::CutTexts texts{.line = 36, .shape = 300, .half_shape = 160, .capsule = 150};
  lab_tensor::CutPlaces places;
  lab_tensor::layout_cut(p.scene, {{0, 0}, {1760, 350}}, 2, texts, places);
  CHECK_FALSE(places.piece_texts);
  CHECK(places.pieces_area.height() >= 175);
  CHECK(places.pieces_area.max.y <= 350);
  CHECK(places.name_y >= 0);
  lab_tensor::layout_cut(p.scene, {{0, 0}, {1760, 1000}}, 2, texts, places);
  CHECK(places.piece_texts);
  CHECK(places.shape_lines > 0);
}

TEST_CASE("tensor parallel: a press on a bar cuts the block that way") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("distributed/tensor-parallel");
  compute(*lab);
  Canvas canvas(*lab, {1000, 700});
  canvas.ui.frames(3);
  canvas.ui.click("row, then row");
  canvas.ui.frames(2);
  CHECK(lab->inputs().find("cut")->choice_id() == "row_row");
}
