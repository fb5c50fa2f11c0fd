#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "chapters/kernels/async_pipeline/lab.h"
#include "chapters/kernels/bank_conflicts/lab.h"
#include "chapters/kernels/coalescing/lab.h"
#include "chapters/kernels/gemm_tiling/lab.h"
#include "chapters/kernels/lab/lab.h"
#include "chapters/kernels/layouts/lab.h"
#include "chapters/kernels/occupancy/lab.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

namespace kernel_doors_test {

namespace kernels = chapters::kernels;
using chapters::LabDoors;
using namespace support;

/// The lab behind the door with these words, computed.
LabPtr behind(const LabDoors& doors, std::string_view label) {
  for (const auto& door : doors) {
    if (label != door.label) continue;
    INFO(label << ": " << door.link.error);
    REQUIRE(door.link);
    INFO(*door.link);
    LabPtr lab = open_link(*door.link);
    REQUIRE(lab);
    compute(*lab);
    return lab;
  }
  FAIL("no door " << label);
  return nullptr;
}

TEST_CASE("kernel doors: a warp's index and its addresses cost in the banks what they cost when they are typed there") {
  namespace coalescing = kernels::coalescing;
  use_bundled_catalog();
  chapters::Progress progress;
  coalescing::Inputs in;
  in.access = coalescing::Access::expression;
  in.expression = "s[33 * threadIdx.x + 5]";
  const auto run = coalescing::compute(in, progress);
  REQUIRE(run.run);
  const LabPtr banks = behind(coalescing::doors_of(in, *run.run), "open the banks");
  CHECK(out(*banks, "wavefronts") == 1);
  // A stride of 32 floats: one bank.
  coalescing::Inputs column;
  column.stride = 32;
  const auto strided = coalescing::compute(column, progress);
  CHECK(out(*behind(coalescing::doors_of(column, *strided.run), "open the banks"), "wavefronts") == 32);
  const LabPtr layout = behind(coalescing::doors_of(column, *strided.run), "open the layout");
  CHECK(out(*layout, "column_in_layout") == 32);
}

TEST_CASE("kernel doors: a tile keeps its swizzle, and a held column its wavefronts") {
  namespace banks = kernels::bank_conflicts;
  chapters::Progress progress;
  banks::Inputs in;
  const auto run = banks::compute(in, progress);
  REQUIRE(run.run);
  const auto doors = banks::doors_of(*run.run);
  // A column of 32 floats, a row of 128 bytes apart: a sector for each lane.
  CHECK(out(*behind(doors, "open the sectors"), "sectors") == 32);
  const LabPtr layout = behind(doors, "open the layout");
  CHECK(out(*layout, "column_in_layout") == 32);
  CHECK(out(*layout, "column_swizzled") == 1);
  namespace layouts = kernels::layouts;
  layouts::Inputs cells;
  const auto drawn = layouts::compute(cells);
  REQUIRE(drawn.run);
  CHECK(out(*behind(layouts::doors_of(cells, *drawn.run), "open the banks"), "wavefronts") == 1);
  cells.swizzle_bits = 0;
  const auto bare = layouts::compute(cells);
  CHECK(out(*behind(layouts::doors_of(cells, *bare.run), "open the banks"), "wavefronts") == 4);
}

TEST_CASE("kernel doors: a block is the same block in every lab") {
  namespace gemm = kernels::gemm_tiling;
  namespace ring = kernels::async_pipeline;
  namespace occupancy = kernels::occupancy;
  chapters::Progress progress;
  gemm::Inputs in;
  const auto run = gemm::compute(in);
  REQUIRE(run.run);
  const auto doors = gemm::doors_of(run.facts, run.run->cut);
  const LabPtr sm = behind(doors, "open the SM");
  CHECK(out(*sm, "blocks_per_sm") == static_cast<double>(run.facts.study.budget.occupancy.blocks));
  const LabPtr stages = behind(doors, "open the stages");
  CHECK(out(*stages, "stage_bytes") == run.facts.study.budget.stage_bytes);
  CHECK(out(*stages, "blocks") == out(*sm, "blocks_per_sm"));
  const LabPtr layout = behind(doors, "open the layout");
  CHECK(out(*layout, "column_swizzled") < out(*layout, "column_in_layout"));
  ring::Inputs buffers;
  const auto clock = ring::compute(buffers, progress);
  const LabPtr block = behind(ring::doors_of(buffers, clock.facts), "open the SM");
  CHECK(out(*block, "blocks_per_sm") == static_cast<double>(clock.facts.blocks));
  CHECK(out(*behind(ring::doors_of(buffers, clock.facts), "open the tile"), "shared_bytes") ==
        3.0 * (128 + 128) * 32 * 2);
  // A ring of a Hopper opens a tile on a Hopper, whose Tensor Cores read shared memory.
  buffers.compute_capability = "9.0";
  const auto hopper = ring::compute(buffers, progress);
  CHECK(text_of(*behind(ring::doors_of(buffers, hopper.facts), "open the tile"), "rates_from").starts_with("L2 "));
  CHECK(choice_of(*sm, "rate_limit") == "tensor");
  occupancy::Inputs kernel;
  const auto filled = occupancy::compute(kernel, progress);
  REQUIRE(filled.run);
  // 256 threads are eight warps: four down, two across, each of 4 x 8 lanes with 8 x 8 sums.
  const LabPtr tile = behind(occupancy::doors_of(kernel, *filled.run), "open the tile");
  CHECK(out(*tile, "shared_bytes") == 3.0 * (128 + 128) * 32 * 4);
}

/// What a rung of a CUDA ladder leads to.
LabDoors doors_of_rung(std::string_view ladder, std::string_view rung,
                       kernels::lab::LabSize size = kernels::lab::LabSize::usual) {
  kernels::lab::Inputs in;
  in.device = ::kernels::Device::cuda;
  in.cuda_ladder = ladder;
  in.size = size;
  const ::kernels::Ladder* all = ::kernels::find_ladder(ladder);
  REQUIRE(all);
  in.rung = 1;
  for (const auto& r : all->rungs) {
    if (r.id == rung) break;
    ++in.rung;
  }
  const auto run = kernels::lab::compute(in);
  REQUIRE(run.run);
  REQUIRE(run.run->rung().id == rung);
  return kernels::lab::doors_of(in, *run.run);
}

double wavefronts_of(std::string_view ladder, std::string_view rung) {
  return out(*behind(doors_of_rung(ladder, rung), "open the banks"), "wavefronts");
}

TEST_CASE("kernel doors: a rung of the kernel lab opens with its warp's access, its tile and its block") {
  // The store of the naive transpose: 32 rows, 32 sectors.
  CHECK(out(*behind(doors_of_rung("cuda-transpose", "naive"), "open the sectors"), "sectors") == 32);
  CHECK(out(*behind(doors_of_rung("cuda-transpose", "tile"), "open the sectors"), "sectors") == 4);
  CHECK(wavefronts_of("cuda-transpose", "tile") == 32);
  CHECK(wavefronts_of("cuda-transpose", "padded") == 1);
  CHECK(wavefronts_of("cuda-transpose", "swizzled") == 1);
  CHECK(wavefronts_of("cuda-transpose", "vector") == 4);  // 16 bytes a lane: four phases of one
  CHECK(out(*behind(doors_of_rung("cuda-transpose", "swizzled"), "open the layout"), "column_swizzled") == 1);
  // Words 0, 8, 16, ... 120 lie in four banks; float4s 32 bytes apart in half of them; those of a warp tile in two
  // places.
  CHECK(wavefronts_of("cuda-sgemm", "register") == 4);
  CHECK(wavefronts_of("cuda-sgemm", "vector") == 8);
  CHECK(wavefronts_of("cuda-sgemm", "warp") == 4);
  CHECK(out(*behind(doors_of_rung("cuda-sgemm", "warp"), "open the tile"), "shared_bytes") ==
        2.0 * (128 + 128) * 8 * 4);
  CHECK(out(*behind(doors_of_rung("cuda-sgemm", "warp"), "open the ring"), "stage_bytes") == (128.0 + 128) * 8 * 4);
  // The rows are as long as those of the matrix that is run.
  const auto index = [](kernels::lab::LabSize size) {
    const LabPtr sectors = behind(doors_of_rung("cuda-sgemm", "coalesced", size), "open the sectors");
    return input(*sectors, "expression").text();
  };
  CHECK(index(kernels::lab::LabSize::usual) == "n = 4096; threadIdx.y * n + threadIdx.x");
  CHECK(index(kernels::lab::LabSize::small) == "n = 1024; threadIdx.y * n + threadIdx.x");
  // Eight rows of 128 bytes on the same banks: a word of each is eight wavefronts, four matrices 32, swizzled 4.
  CHECK(wavefronts_of("cuda-bf16-gemm", "mma") == 8);
  CHECK(wavefronts_of("cuda-bf16-gemm", "ldmatrix") == 32);
  CHECK(wavefronts_of("cuda-bf16-gemm", "swizzle") == 4);
  CHECK(wavefronts_of("cuda-attention", "online") == 1);
  CHECK(wavefronts_of("cuda-attention", "mma") == 32);
  CHECK(wavefronts_of("cuda-attention", "pipeline") == 4);
  // A warp copies 128 bytes of each of four rows.
  CHECK(out(*behind(doors_of_rung("cuda-bf16-gemm", "async"), "open the sectors"), "sectors") == 16);
  for (const char* rung : {"swizzle", "pipeline", "wgmma"}) {
    const LabPtr layout = behind(doors_of_rung("cuda-bf16-gemm", rung), "open the layout");
    CHECK(out(*layout, "column_in_layout") == 8 * out(*layout, "column_swizzled"));
  }
  CHECK(out(*behind(doors_of_rung("cuda-bf16-gemm", "pipeline"), "open the tile"), "shared_bytes") == 98304);
  CHECK(out(*behind(doors_of_rung("cuda-bf16-gemm", "wgmma"), "open the tile"), "shared_bytes") == 196608);
  CHECK(out(*behind(doors_of_rung("cuda-bf16-gemm", "pipeline"), "open the ring"), "stage_bytes") == 32768);
  CHECK(doors_of_rung("cuda-reduction", "shuffle").empty());
  // A lane's own column is its own bank; 16 bytes a lane 32 and 64 bytes apart touch 32 sectors, a head of K eight.
  CHECK(wavefronts_of("cuda-histogram", "private") == 1);
  CHECK(out(*behind(doors_of_rung("cuda-gemv", "wide"), "open the sectors"), "sectors") == 16);
  CHECK(out(*behind(doors_of_rung("cuda-gemv", "int4"), "open the sectors"), "sectors") == 32);
  CHECK(out(*behind(doors_of_rung("cuda-paged-decode", "gqa"), "open the sectors"), "sectors") == 16);
  CHECK(wavefronts_of("cuda-paged-decode", "gqa") == 8);
  CHECK(out(*behind(doors_of_rung("cuda-fp8-quantize", "fused"), "open the sectors"), "sectors") == 2);
  // The ladders that measure the machine open the state that they measure.
  CHECK(out(*behind(doors_of_rung("cuda-stride", "every_2"), "open the sectors"), "sectors") == 8);
  CHECK(out(*behind(doors_of_rung("cuda-stride", "every_32"), "open the sectors"), "sectors") == 32);
  CHECK(wavefronts_of("cuda-banks", "stride_8") == 8);
  CHECK(wavefronts_of("cuda-banks", "stride_32") == 32);
  CHECK(wavefronts_of("cuda-banks", "stride_33") == 1);
  const LabDoors untried = doors_of_rung("cuda-sgemm", "warp");
  CHECK(untried.back().link.error == "The compiler has not said yet how many registers this rung takes: run it.");
}

TEST_CASE("kernel doors: a CPU's rung is timed in turns with the one before it, the first one with itself") {
  namespace lab = kernels::lab;
  lab::Inputs in;
  in.cpu_ladder = "cpu-softmax";
  in.size = lab::LabSize::smallest;
  in.rung = 3;
  const auto run = lab::compute(in);
  REQUIRE(run.run);
  const LabPtr turns = behind(lab::doors_of(in, *run.run), "open the turns");
  CHECK(input(*turns, "source").choice_id() == "machine");
  CHECK(input(*turns, "rung_a").number() == 2);
  CHECK(input(*turns, "rung_b").number() == 3);
  in.rung = 1;
  const auto first = lab::compute(in);
  CHECK(input(*behind(lab::doors_of(in, *first.run), "open the turns"), "rung_a").number() == 1);
  CHECK(lab::doors_of(in, *first.run).front().words == "In turns with itself");
  in.size = lab::LabSize::large;
  CHECK(lab::doors_of(in, *lab::compute(in).run).front().link.error.starts_with("Runs are timed one by one up to"));
}

}  // namespace kernel_doors_test
