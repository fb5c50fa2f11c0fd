#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "chapters/framework/launch/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_launch = chapters::framework::launch;

namespace {

lab_launch::Picture launch_picture(const lab_launch::Inputs& in) {
  return picture_of(in, lab_launch::compute, lab_launch::arrange);
}

}  // namespace

TEST_CASE("launch: eager decoding goes at the host's pace, and a GPU twice as fast changes nothing") {
  const LabPtr lab = open_lab("framework/launch", R"({"host": "own", "launch_s": 8e-6})");
  compute(*lab);
  CHECK(out(*lab, "launches") == 32 * 40 + 10);
  CHECK(near(out(*lab, "host_s"), 1290 * 8e-6, 1e-9));
  CHECK(out(*lab, "step_s") >= out(*lab, "host_s"));
  CHECK(out(*lab, "step_s") <= out(*lab, "host_s") + 0.5e-3);
  CHECK(out(*lab, "twice") < 1.03);
  CHECK(out(*lab, "host_bound") == 1);
  // A graph: all kernels, and a gap of 1 us before each of them.
  CHECK(near(out(*lab, "beside_step_s"), out(*lab, "kernels_s") + 1290e-6, 0.005));
  CHECK(out(*lab, "beside_launches") == 1);
}

TEST_CASE("launch: from the batch that it names on, kernels cover their launches") {
  const LabPtr lab = open_lab("framework/launch", R"({"host": "own", "launch_s": 8e-6})");
  const double batch = computed(*lab, "free_batch");
  REQUIRE(batch > 1);
  compute(set(*lab, "batch", batch));
  CHECK(out(*lab, "kernels_s") + 1290 * 1.7e-6 >= out(*lab, "host_s"));
  compute(set(*lab, "batch", batch - 1));
  CHECK(out(*lab, "kernels_s") + 1290 * 1.7e-6 < out(*lab, "host_s"));
  compute(set(*lab, "batch", 8 * batch));
  CHECK(out(*lab, "host_bound") == 0);
  CHECK(out(*lab, "twice") > 1.3);
}

TEST_CASE("launch: the picture's gaps and kernels fill the device's conveyor, and the pool counts what waits") {
  use_bundled_catalog();
  const lab_launch::Picture p = launch_picture({});
  for (const auto& mode : p.modes) {
    for (std::size_t i = 1; i < mode.device.size(); ++i) CHECK(mode.device[i].start_ns >= mode.device[i - 1].end_ns());
    for (const auto& point : mode.queue) CHECK(point.value >= 0);
  }
  // A graph's kernels wait all at once.
  double most = 0;
  for (const auto& point : p.modes[1].queue) most = std::max(most, point.value);
  CHECK(most == 1290);
  CHECK(p.answer ==
        "The host sets the pace: `1,290` launches take `21.6 ms` of the `22.0 ms` step; the GPU idles `68.1 %`."
        "\nA GPU twice as fast makes the step `1.01×` as fast; the step takes `8.31 ms` with a CUDA graph.");
}

TEST_CASE("launch: a kernel takes its bytes at the share of the bandwidth that is reached") {
  const LabPtr lab = open_lab("framework/launch");
  compute(*lab);
  // The logits: 128,256 x 4,096 weights of 2 B, an input and an output vector, at 85 % of 3.35 TB/s.
  const std::size_t last = rows(*lab, "operations") - 1;
  CHECK(near(cell(*lab, "operations", last, "kernel_s"), 128256 * 4096 * 2.0 / (0.85 * 3.35e12), 0.001));
  const double kernels_s = out(*lab, "kernels_s");
  CHECK(computed(set(*lab, "reached", 1.0), "kernels_s") < 0.9 * kernels_s);
}

TEST_CASE(
    "launch: waiting in each layer costs more than waiting once, and beside it the same mode may wait elsewhere") {
  const LabPtr lab = open_lab("framework/launch", R"({"sync": "layer", "beside": "eager", "beside_sync": "none"})");
  compute(*lab);
  CHECK(out(*lab, "sync_layer_s") > out(*lab, "sync_step_s"));
  CHECK(out(*lab, "sync_step_s") > 0.3e-3);  // the logits, during which the host could have launched
  CHECK(near(out(*lab, "step_s") - out(*lab, "beside_step_s"), out(*lab, "sync_layer_s"), 1e-9));
  // A host that never waits and is the slower one sets the pace exactly; of a graph, kernels and gaps do.
  CHECK(near(out(*lab, "beside_step_s"), out(*lab, "host_s"), 1e-9));
  compute(set(*lab, "beside", "graph"));
  CHECK(near(out(*lab, "beside_step_s"), out(*lab, "kernels_s") + 1290e-6, 1e-6));
}

TEST_CASE("launch: chips without launches of kernels are refused, and an AMD GPU has HIP graphs on an assumption") {
  for (const char* chip : {"tpu_v5p", "trn2", "gaudi3"}) {
    CAPTURE(chip);
    const LabPtr lab = open_lab("framework/launch", std::string(R"({"chip": ")") + chip + R"("})");
    CHECK(reason_of(*lab).find("choose an NVIDIA or an AMD GPU") != std::string::npos);
  }
  use_bundled_catalog();
  lab_launch::Inputs in;
  in.chip = "mi300x";
  const lab_launch::Picture p = launch_picture(in);
  CHECK(p.modes[1].label == "HIP graph");
  CHECK(p.answer.find("HIP is assumed to launch as fast as CUDA; ") != std::string::npos);
}

TEST_CASE("launch: a model whose weights do not fit on the chip is refused in a sentence") {
  const LabPtr lab = open_lab("framework/launch", R"({"model": "llama-3-70b", "chip": "rtx4090"})");
  CHECK(reason_of(*lab) ==
        "The weights take 141 GB, and the NVIDIA GeForce RTX 4090 has 24 GB: choose a smaller model or a larger chip.");
}

TEST_CASE("launch: a model with experts is counted in compiled modes alone") {
  const LabPtr lab = open_lab("framework/launch", R"({"model": "mixtral-8x7b", "chip": "b200_sxm"})");
  CHECK(reason_of(*lab).find("choose compiled modes for both, or a model without experts.") != std::string::npos);
  const LabPtr compiled =
      open_lab("framework/launch",
               R"({"model": "mixtral-8x7b", "chip": "b200_sxm", "mode": "compiled", "beside": "compiled_graph"})");
  CHECK(computed(*compiled, "step_s") > 0);
}

TEST_CASE("launch and compilers: a training step, whose launches they do not count, is not offered") {
  const auto phases_of = [](const chapters::Field& f) {
    std::vector<std::string> ids;
    for (const chapters::Choice& c : *f.options) ids.push_back(c.id);
    return ids;
  };
  const LabPtr layer = open_lab("roofline/transformer-layer");
  CHECK(phases_of(input(*layer, "phase")) == std::vector<std::string>{"train", "prefill", "decode"});
  for (const char* id : {"framework/launch", "framework/compilers"}) {
    INFO(id);
    const LabPtr lab = open_lab(id);
    const chapters::Field& phase = input(*lab, "phase");
    CHECK(phases_of(phase) == std::vector<std::string>{"prefill", "decode"});
    // It follows the learner under the same name, and means the same.
    CHECK(phase.spec.label == input(*layer, "phase").spec.label);
    CHECK(phase.spec.shared == input(*layer, "phase").spec.shared);
    CHECK((*phase.options)[1].help == (*input(*layer, "phase").options)[2].help);
    CHECK_FALSE(phase.set_choice_id("train"));
    REQUIRE(phase.set_choice_id("prefill"));
    CHECK(reason_of(*lab) == "");
    CHECK(phase.choice_id() == "prefill");
  }
}

TEST_CASE("launch: the GPU twice as fast waits where the first one worked, and the gaps' sums stand under them") {
  use_bundled_catalog();
  const lab_launch::Picture p = launch_picture({});
  const auto work_ns = [](const lab_launch::Conveyors& c, widgets::TimelineMark mark) {
    std::int64_t sum = 0;
    for (const widgets::TimelineSpan& span : c.device)
      if (span.mark == mark && span.end_ns() <= c.layer_ends_ns.front()) sum += span.duration_ns;
    return static_cast<double>(sum);
  };
  REQUIRE(!p.twice.layer_ends_ns.empty());
  const double own = work_ns(p.modes[0], widgets::TimelineMark::solid);
  CHECK(near(work_ns(p.twice, widgets::TimelineMark::pale), own / 2, 0.01));
  CHECK(p.twice.host.empty());
  CHECK(p.twice.device_words == "the step: 1.01\xC3\x97");
  // Groups of launches cover the host's conveyor, and a sum says what its stretch holds of waiting.
  REQUIRE(p.modes[0].groups.size() > 5);
  for (std::size_t i = 1; i < p.modes[0].groups.size(); ++i)
    CHECK(p.modes[0].groups[i].start_ns == p.modes[0].groups[i - 1].end_ns());
  REQUIRE(!p.modes[0].dry.empty());
  CHECK(p.names[p.modes[0].dry[1].name].said[0] == "idle 122 \xC2\xB5s of 134 \xC2\xB5s");
  CHECK(p.modes[1].dry.empty());  // of a graph only the first kernel waits
  CHECK(p.modes[1].layer_ends_ns.size() >= 2);
  lab_launch::Inputs busy;
  busy.batch = 128;
  const lab_launch::Picture full = launch_picture(busy);
  CHECK(full.answer.starts_with("The GPU sets the pace: its kernels take `31.3 ms` of the `33.9 ms` step"));
  CHECK(full.answer.find("makes the step `1.55×` as fast") != std::string::npos);
  // The queue says which of the two it is, and calls nothing full that has room for a thousand.
  CHECK(p.modes[0].pool_words == "empty: each kernel starts only when its launch arrives");
  CHECK(p.modes[1].pool_words == "up to 1,290 kernels wait for the GPU");
  CHECK(full.modes[0].pool_words == "up to 465 kernels wait for the GPU");
  // The faster GPU's work stands in a second row of the first one's lane.
  CHECK(std::any_of(p.with_ghost.begin(), p.with_ghost.end(), [](const auto& span) { return span.depth == 1; }));
}
