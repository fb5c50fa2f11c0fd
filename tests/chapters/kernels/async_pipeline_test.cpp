#include <catch2/catch_test_macros.hpp>
#include <string>

#include "chapters/kernels/async_pipeline/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace ring = chapters::kernels::async_pipeline;

namespace {

LabPtr ring_lab(std::string_view inputs = "{}") { return open_lab("kernels/async-pipeline", inputs); }
std::string said(const LabPtr& lab) {
  compute(*lab);
  return std::string(lab->answer());
}

}  // namespace

TEST_CASE("async-pipeline: the contract's keys give the published cycles") {
  const LabPtr one = ring_lab(R"({"kind": "multistage", "tiles": 32, "stages": 2, "latency": 600, "load_time": 200,
    "compute_time": 400, "sync_overhead": 20, "barrier_release": 0, "issue_time": 10})");
  CHECK(computed(*one, "total") == 26640);
  CHECK(out(*one, "stall_cycles") == 13840);
  CHECK(out(*one, "first_compute_start") == 830);
  CHECK(out(*one, "period") == 820);
  CHECK(out(*one, "stages_for_full_rate") == 3);
  const LabPtr two = ring_lab(R"({"kind": "warp_specialized", "tiles": 64, "stages": 4, "latency": 708,
    "load_time": 96, "compute_time": 128, "sync_overhead": 8, "barrier_release": 33, "issue_time": 0})");
  CHECK(computed(*two, "total") == 15943);
  CHECK(out(*two, "period") == 243.25);
  CHECK(out(*two, "stall_cycles") == 7751);
  const LabPtr three = ring_lab(R"({"kind": "sync", "tiles": 32, "stages": 1, "latency": 600, "load_time": 200,
    "compute_time": 400})");
  CHECK(computed(*three, "total") == 38400);
  CHECK(out(*three, "period") == 1200);
}

TEST_CASE(
    "async-pipeline: the third buffer wins a third, the fourth three cycles, the fifth nothing, the sixth a block") {
  const LabPtr lab = ring_lab();
  const std::string answer = said(lab);
  CHECK(answer.starts_with("The third buffer takes a tile from `772` to `515` cycles; the fourth wins `3`, the fifth"));
  CHECK(answer.find("With `6` or more buffers the SM holds `1` block instead of `2`.") != std::string::npos);
  CHECK(out(*lab, "stages_for_full_rate") == 4);
  CHECK(out(*lab, "blocks") == 2);
  CHECK(cell(*lab, "stairs", 4, "cycles") == 512);
  CHECK(cell(*lab, "stairs", 5, "blocks") == 1);
  // Times of the tile itself: 2 x 128 x 128 x 32 FLOPs at 2,048 a cycle, 16 KiB at 35.5 bytes a cycle.
  compute(set(*lab, "times", "tile"));
  CHECK(out(*lab, "compute_cycles") == 512);
  CHECK(out(*lab, "load_cycles") == 462);
}

TEST_CASE("async-pipeline: two blocks do with two buffers what one does with four, and a stage too many is slower") {
  const LabPtr lab = ring_lab(R"({"compare": "blocks", "stages": 2})");
  CHECK(
      said(lab).starts_with("`2` blocks with `2` buffers each give a tile every `512` cycles, one block alone every "));
  const LabPtr many = open_preset("kernels/async-pipeline", "A stage too many");
  CHECK(said(many).find("`572` cycles instead of `512`") != std::string::npos);
  CHECK(out(*many, "sm_last_won") < 1);
  CHECK(near(cell(*many, "stairs", 2, "sm_cycles"), 512, 1e-9));
}

TEST_CASE("async-pipeline: what does not fit is refused with what would") {
  const LabPtr lab = ring_lab(R"({"stages": 11})");
  CHECK(reason_of(*lab) ==
        "A ring of 11 buffers takes 176 KiB of shared memory, and a block gets 163 KiB: at most 10 fit.");
  CHECK(reason_of(set(*lab, "stages", 1, "kind", "multistage")).starts_with("One buffer leaves no place"));
  CHECK(reason_of(set(*lab, "stages", 2, "block_threads", 512, "registers_per_thread", 200)).find("registers") !=
        std::string::npos);
}

TEST_CASE("async-pipeline: jitter is the same for the same seed, and more buffers never hurt") {
  double before = 1e9;
  for (const double stages : {1.0, 2.0, 3.0, 4.0, 6.0, 9.0}) {
    const LabPtr lab = ring_lab(R"({"jitter": 400})");
    const double period = computed(set(*lab, "stages", stages), "period");
    CHECK(period <= before);
    CHECK(computed(*lab, "period") == period);
    before = period;
  }
  CHECK(before >= 512);
}

TEST_CASE("async-pipeline: the number of buffers is dragged, within what fits, and a loop of one becomes multistage") {
  const LabPtr lab = ring_lab();
  lab->compute();
  Canvas canvas(*lab, {1280, 720});
  canvas.ui.frames(2);
  canvas.ui.drag_by("number of buffers", {160, 0});  // from the middle of eight columns
  CHECK(input(*lab, "stages").number() >= 5);
  canvas.ui.drag_by("number of buffers", {-600, 0});
  CHECK(input(*lab, "stages").number() == 1);

  const LabPtr sync = ring_lab(R"({"kind": "sync"})");
  sync->compute();
  Canvas other(*sync, {1280, 720});
  other.ui.frames(2);
  other.ui.drag_by("number of buffers", {2, 0});
  CHECK(input(*sync, "kind").choice_id() == "multistage");
  CHECK(input(*sync, "stages").number() >= 4);
}

TEST_CASE("async pipeline: the cards say of whom they speak, and the columns what they are made of") {
  namespace ring = chapters::kernels::async_pipeline;
  const LabPtr lab = open_preset("kernels/async-pipeline", "Two blocks share the SM");
  compute(*lab);
  CHECK(out(*lab, "sm_busy_percent") > out(*lab, "steady_busy_percent"));
  CHECK(near(out(*lab, "sm_busy_percent"), 100 * out(*lab, "compute_cycles") / out(*lab, "sm_period"), 1e-12));
  ring::Inputs in;
  in.kind = ring::PipelineKind::sync;
  CHECK(picture_of(in, ring::compute, ring::arrange).stairs_hint.find("from 2 on multistage") != std::string::npos);
}
