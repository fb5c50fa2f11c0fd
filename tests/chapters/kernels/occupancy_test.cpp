#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "chapters/kernels/occupancy/lab.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace occupancy = chapters::kernels::occupancy;

namespace {

occupancy::Outputs facts_of(const occupancy::Inputs& in) {
  chapters::Progress progress;
  progress.facts_alone = true;
  return occupancy::compute(in, progress).facts;
}

}  // namespace

// The same 275 cases of cuda_occupancy.h that the model is held to, through the inputs of the contract: a kernel opts
// in to more than 48 KiB or it does not.
TEST_CASE("occupancy: the lab gives blocks, warps, occupancy and a wall of every case of the header") {
  std::ifstream file(data_file("occupancy_cases.csv"));
  std::string line;
  REQUIRE(std::getline(file, line));
  int cases = 0;
  while (std::getline(file, line)) {
    CAPTURE(line);
    std::vector<std::int64_t> v;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) v.push_back(std::stoll(cell));
    occupancy::Inputs in;
    in.compute_capability = std::to_string(v[0] / 10) + "." + std::to_string(v[0] % 10);
    in.block_threads = v[1];
    in.registers_per_thread = v[2];
    in.static_shared_bytes = v[3];
    in.dynamic_shared_bytes = v[4];
    in.opt_in = v[3] + v[5] > 49152;
    in.carveout_percent = v[6];
    in.barriers = v[7];
    const occupancy::Outputs out = facts_of(in);
    REQUIRE(out.reason.empty());
    CHECK(out.blocks == v[8]);
    CHECK(out.warps == v[9]);
    CHECK(near(out.occupancy, 100 * static_cast<double>(v[9]) / static_cast<double>(out.max_warps), 1e-9));
    CHECK((v[17] >> static_cast<int>(out.limiter)) % 2 == 1);
    ++cases;
  }
  CHECK(cases == 275);
}

TEST_CASE("occupancy: the first picture is two blocks, a quarter of the slots, and every multiply-add fed") {
  const LabPtr lab = open_lab("kernels/occupancy");
  CHECK(computed(*lab, "blocks_per_sm") == 2);
  CHECK(out(*lab, "warps_per_sm") == 16);
  CHECK(out(*lab, "occupancy") == 25);
  CHECK(choice_of(*lab, "limiter") == "registers");
  CHECK(out(*lab, "feed") == 100);
  CHECK(near(out(*lab, "issue"), 100 * 64.0 / 68));
  CHECK(choice_of(*lab, "rate_limit") == "issue_slots");
  CHECK(out(*lab, "warps_needed") == 8);
  CHECK(out(*lab, "small_occupancy") == 100);
  CHECK(out(*lab, "small_feed") == 12.5);
  CHECK(out(*lab, "register_less_blocks") == 2);  // 120 registers still make two blocks
  CHECK(out(*lab, "register_more_blocks") == 1);
  CHECK(out(*lab, "registers_free_to") == 128);
  CHECK(out(*lab, "registers_for_more") == 80);
  CHECK(answer_of("kernels/occupancy") ==
        "Registers stop it at `2` blocks, `25 %` occupancy. That is enough: shared memory feeds `100 %`, issue slots "
        "allow `94.1 %`.");
}

TEST_CASE("occupancy: every answer says what would help, and none calls fewer loads hidden latency") {
  const auto answer = [](std::string_view preset) {
    const LabPtr lab = open_preset("kernels/occupancy", preset);
    lab->compute();
    return std::string(lab->answer());
  };
  CHECK(answer("1 × 1 a thread").find("More warps do not help: shared memory feeds `12.5 %`") != std::string::npos);
  CHECK(answer("4 × 4 on an A100").find("at their full rate") != std::string::npos);
  CHECK(answer("200 registers, three warpgroups") ==
        "No block fits: the registers are enough for `8` warps of this kernel, and a block has `12`.");
  CHECK(answer("One sum, one warp").find("Too few warps: each multiply-add waits for the one before it, at `25 %`") !=
        std::string::npos);
  CHECK(answer("Four sums replace four warps").find("`6.25 %` occupancy, and that keeps") != std::string::npos);
  CHECK(answer("256 sums a thread").find("it spills") != std::string::npos);
  CHECK(answer_of("kernels/occupancy", R"({"source": "ptxas", "ptxas_kernel": 5})")
            .find("the compiler spilled: `5.71 kB` a thread") != std::string::npos);
  CHECK(answer("Barriers are the wall").starts_with("Barriers stop it at `4` blocks"));
  CHECK(answer_of("kernels/occupancy", R"({"block_threads": 32, "dynamic_shared_bytes": 200000})")
            .find("they wait for their loads") != std::string::npos);
  CHECK(answer_of("kernels/occupancy", R"({"dynamic_shared_bytes": 100000, "opt_in": false})").find("`49 KiB`") !=
        std::string::npos);
}

TEST_CASE("occupancy: an answer names every wall that is hit at once") {
  // 64 KiB of registers, two blocks of 82 KiB, and 32 warps of 64.
  CHECK(answer_of("kernels/occupancy", R"({"compute_capability": "8.0", "block_threads": 1024,
    "registers_per_thread": 32, "static_shared_bytes": 0, "dynamic_shared_bytes": 80000})")
            .starts_with("Warp slots, registers and shared memory stop it at `2` blocks"));
  CHECK(answer_of("kernels/occupancy", R"({"compute_capability": "8.0", "registers_per_thread": 32,
    "static_shared_bytes": 0})")
            .starts_with("Warp slots and registers stop it at `8` blocks"));
}

TEST_CASE("occupancy: what feeds FMA pipes is not said of a kernel on Tensor Cores, nor of what was not compiled") {
  const LabPtr lab = open_preset("kernels/occupancy", "Three warpgroups");
  CHECK(computed(*lab, "blocks_per_sm") == 1);
  for (const char* key : {"rate", "feed", "issue", "fma_latency", "load_latency", "warps_needed", "loads"}) {
    CAPTURE(key);
    CHECK(std::isnan(out(*lab, key)));
  }
  CHECK(choice_of(*lab, "rate_limit") == "tensor");
  CHECK(std::string(lab->answer()).find("What feeds Tensor Cores is computed in GEMM tiling") != std::string::npos);
  occupancy::Inputs in;
  in.compute_capability = "7.0";
  const auto pic = picture_of(in, occupancy::compute, occupancy::arrange);
  CHECK(pic.cross_words == "Registers as compiled for sm_75: CUDA 13.0 compiles nothing older.");
  in.compute_capability = "8.0";
  CHECK(picture_of(in, occupancy::compute, occupancy::arrange).cross_words.empty());
}

TEST_CASE("occupancy: compiler output fills registers, shared memory and barriers; what it is not is refused") {
  const LabPtr lab = open_lab("kernels/occupancy", R"({"source": "ptxas", "ptxas_kernel": 2})");
  set(*lab, "ptxas",
      "Compiling entry function '_Z1fPf' for 'sm_86' ptxas info : Used 33 registers "
      "Compiling entry function '_Z1gPf' for 'sm_86' 8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads "
      "Used 96 registers, used 2 barriers, 49152 bytes smem");
  set(*lab, "compute_capability", "8.6");
  CHECK(computed(*lab, "kernels_read") == 2);
  CHECK(text_of(*lab, "kernel_name") == "g");
  CHECK(text_of(*lab, "compiled_for") == "sm_86");
  CHECK(out(*lab, "registers") == 96);
  CHECK(out(*lab, "static_bytes") == 49152);
  CHECK(out(*lab, "barriers_used") == 2);
  CHECK(out(*lab, "spill_bytes") == 40);
  CHECK(out(*lab, "blocks_per_sm") == 2);  // 49 KiB of 100
  set(*lab, "ptxas", "no compiler wrote this");
  CHECK(reason_of(*lab).find("Used N registers") != std::string::npos);
}

TEST_CASE("occupancy: the three curves pass through the kernel, and dragging a block's top changes what it needs") {
  occupancy::Inputs in;
  const auto pic = picture_of(in, occupancy::compute, occupancy::arrange);
  CHECK(pic.three[0].y[127] == 25);
  CHECK(pic.three[0].y[31] == 100);
  CHECK(pic.three[1].y[7] == 25);
  CHECK(pic.three[2].y[8] == 25);
  CHECK(pic.vessels[0].wall);
  CHECK_FALSE(pic.vessels[1].wall);

  const LabPtr lab = open_lab("kernels/occupancy");
  Canvas canvas(*lab, {1100, 1200});
  support::UiDriver& ui = canvas.ui;
  const double registers = input(*lab, "registers_per_thread").number();
  ui.drag_by("drag registers", {0, 30});
  CHECK(input(*lab, "registers_per_thread").number() < registers);
  ui.drag_by("drag threads", {0, -20});
  CHECK(input(*lab, "block_threads").number() > 256);
  ui.drag_by("drag shared memory", {0, -30});
  CHECK(input(*lab, "dynamic_shared_bytes").number() > 0);
}
