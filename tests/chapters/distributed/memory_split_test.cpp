#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "chapters/distributed/memory_split/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_split = chapters::distributed::memory_split;
using lab_split::SplitLayout;
using lab_split::SplitStack;

TEST_CASE("memory split: the keys that other programs rely on") {
  const LabPtr lab = open_lab("distributed/memory-split",
                              R"({"parameters": 70e9, "data_parallel": 16, "tensor_parallel": 8, "pipeline_parallel": 4,
                                  "zero_stage": 1, "weight_bytes": 2, "gradient_bytes": 4, "optimizer_bytes": 12})");
  compute(*lab);
  const double each = 70e9 / 32;
  CHECK(near(out(*lab, "weights_bytes"), 2 * each));
  CHECK(near(out(*lab, "gradients_bytes"), 4 * each));
  CHECK(near(lab->outputs().find("optimizer_bytes")->number(), 12 * each / 16));
  CHECK(near(out(*lab, "total_bytes"), (6 + 12.0 / 16) * each));
  compute(set(*lab, "zero_stage", 3));
  CHECK(near(out(*lab, "total_bytes"), 18 * each / 16));
}

TEST_CASE("memory split: defaults fit by ZeRO-3 alone, and the peak is more than shares") {
  const LabPtr lab = open_lab("distributed/memory-split");
  compute(*lab);
  CHECK(near(out(*lab, "peak_bytes"), 77.15e9, 1e-3));
  CHECK(near(out(*lab, "alone_bytes"), 172.46e9, 1e-3));
  CHECK(rows(*lab, "cuts") == 4);
  CHECK(cell(*lab, "cuts", 2, "fits") == 0);
  CHECK(cell(*lab, "cuts", 3, "fits") == 1);
  CHECK(near(cell(*lab, "cuts", 1, "saved_bytes"), 0.75 * 12 * 8030261248.0, 1e-9));
  // DeepSpeed counts 18 bytes a parameter and the largest unit in 4; Megatron-LM's report knows no ZeRO-3.
  CHECK(near(cell(*lab, "calculators", 2, "bytes"), 4 * 525340672.0 + 18 * 8030261248.0 / 4, 1e-9));
  CHECK(std::isnan(cell(*lab, "calculators", 3, "bytes")));
  // Sixteen times the GPUs and short sequences: what is whole is more than the shards.
  compute(set(set(*lab, "data_parallel", 64), "sequence", 512));
  CHECK(out(*lab, "whole_bytes") > out(*lab, "total_bytes"));
  CHECK(near(out(*lab, "whole_bytes"), 2.538e9, 1e-3));
  models::parallel::KeptSchedules schedules;
  lab_split::Inputs in;
  in.data_parallel = 64;
  in.sequence = 512;
  const auto made = lab_split::compute(in, schedules);
  REQUIRE(made.run);
  CHECK(lab_split::arrange(in, made.facts, *made.run).answer ==
        "The step fits with ZeRO-3: each of `64` GPUs needs `7.97 GB` of its `80 GB`, instead of `133 GB` under plain "
        "DDP.\nWeights and gradients that are whole for a moment take `2.54 GB`, more than the GPU's own share of the "
        "states, `2.01 GB`.");
  // Without the model's own axes they are not applied.
  in.tensor_parallel = 8;
  in.cuts = lab_split::Cuts::data_alone;
  CHECK(lab_split::compute(in, schedules).facts.gpus == 64);
  in.cuts = lab_split::Cuts::as_set;
  in.tensor_parallel = 16;
  CHECK(
      lab_split::compute(in, schedules).facts.reason ==
      "Tensor parallel 16 is more than the 8 key and value heads, and copies of a head are not counted here; choose 8 "
      "or fewer.");
  in.tensor_parallel = 3;
  CHECK(lab_split::compute(in, schedules).facts.reason ==
        "Tensor parallel 3 does not divide the 32 heads; choose a divisor.");
}

TEST_CASE("memory split: layers stand on one scale, what is over the rim is apart, and the ghost begins there") {
  SplitLayout l;
  const lab_split::SplitRoom room{.area = {{100, 0}, {500, 400}}, .line = 14, .gap = 20, .least_label = 2};
  const SplitStack two[] = {{10, 10, 0, 20, 0, 40}, {10, 0, 0, 20, 0, 40}};
  const SplitStack ghost{40, 40, 0, 80, 0, 40};
  lab_split::layout_split(two, ghost, 60, room, l);
  REQUIRE(l.vessels.size() == 2);
  CHECK(l.vessels[0].width() == l.vessels[1].width());
  // The ghost takes the height, at most 2.4 times the fullest: 192 of 200.
  CHECK(near(l.scale, 2.4 * 80 / 400));
  CHECK(l.ghost_cut);
  CHECK(near(l.rim, 400 - 60 / l.scale, 1e-6));
  CHECK_FALSE(l.rim_cut);
  // The fourth layer of the first vessel is cut by the rim into 20 and 20.
  std::vector<double> over;
  for (const auto& piece : l.pieces)
    if (piece.over) over.push_back(piece.value);
  CHECK(over == std::vector<double>{20, 10});
  REQUIRE_FALSE(l.ghost.empty());
  CHECK(near(l.ghost_from, 400 - 80 / l.scale, 1e-6));
  CHECK(near(l.ghost.front().value, 80 + 80 - 80));
  for (std::size_t i = 1; i < l.labels.size(); ++i) CHECK(l.labels[i - 1].y - l.labels[i].y >= 14 - 1e-3f);
  // Hardly a quarter of the rim: drawn as high as what is held.
  lab_split::layout_split(two, ghost, 600, room, l);
  CHECK(l.rim_cut);
  CHECK(l.ghost.empty());
  CHECK(near(l.scale, 1.25 * 80 / 400));
}

TEST_CASE("memory split: switches, axes and the strip are pressed on the picture") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("distributed/memory-split");
  compute(*lab);
  Canvas canvas(*lab, {1100, 700});
  canvas.ui.frames(3);
  const auto says = [&](std::string_view text) {
    std::size_t n = 0;
    for (const widgets::Stroke& s : canvas.ui.record().strokes)
      if (s.kind == widgets::Stroke::Kind::text && s.text.find(text) != std::string::npos) ++n;
    return n;
  };
  CHECK(says("GPU 3") == 1);
  CHECK(says("with plain DDP") == 4);
  CHECK(says("loss and output") == 1);
  // An axis before the last one: the vessels are as full as they were then.
  canvas.ui.click_at(canvas.ui.point_in("step 1", {0.5f, 0.5f}));
  canvas.ui.frames(3);
  CHECK(lab->view().find("step")->number() == 1);
  CHECK(says("100 GB") >= 4);
  // The strip's first units: the embedding goes backward last.
  canvas.ui.click_at(canvas.ui.point_in("units", {0.3f, 0.5f}));
  canvas.ui.frames(3);
  CHECK(lab->view().find("moment")->number() > 33);
  CHECK(says("backward, layer") == 1);
  CHECK(says("Play") == 1);
  // ZeRO-1 pressed, and twice the replicas.
  canvas.ui.click_at(canvas.ui.point_in("ZeRO-1##zero1", {0.5f, 0.5f}));
  canvas.ui.frames(3);
  CHECK(lab->inputs().find("zero_stage")->number() == 1);
  canvas.ui.click_at(canvas.ui.point_in("+##more data", {0.5f, 0.5f}));
  canvas.ui.frames(3);
  CHECK(lab->inputs().find("data_parallel")->number() == 8);
  CHECK(lab->view().find("step")->number() == -1);
  // An axis is doubled no further than its input allows, so that the plan can be saved and opened again.
  compute(set(*lab, "data_parallel", lab->inputs().find("data_parallel")->spec.range.hi));
  canvas.ui.frames(3);
  CHECK(says("65,536") >= 1);
  CHECK_FALSE(canvas.ui.has("+##more data"));
}
