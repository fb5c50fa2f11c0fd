// The ladders of the tensor cores: bf16 GEMM and attention, run in an emulation of the instructions of warps.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/run.h"
#include "tests/kernels/cuda_emulator.h"
#include "tests/kernels/emulated_tensor_cores.h"

using namespace kernels;
using namespace kernels::cuda;

namespace {

Deviation emulated(const Operation& o, std::string_view rung_id, std::int64_t size, std::string_view entry = {}) {
  Rung rung = *find_rung(*o.ladder, rung_id);
  if (!entry.empty()) rung.entry = entry;
  REQUIRE(cuda_emulator::knows(rung.entry));
  return cuda_emulator::run(o, rung, size, 7);
}

bool right(const Deviation& d) { return d.never_written == 0 && d.error <= d.bound; }

}  // namespace

// 144 is one tile of 128 and a rest of 16, and three steps of 64 in k of which the last is a quarter full.
TEST_CASE("every bf16 GEMM is right with tiles that hang over the edge") {
  const Operation& o = bf16_gemm_operation();
  for (const Rung& rung : o.ladder->rungs) {
    INFO(rung.id);
    const Deviation d = emulated(o, rung.id, 144);
    CHECK(right(d));
    CHECK(d.error > 0x1p-12);  // the output is rounded to bf16, so the comparison is not with itself
    CHECK(emulated_tensor_cores::take_fault().empty());
  }
}

// A ring is gone round more than once: 336 are six steps in k, over three buffers and over four.
TEST_CASE("a ring of buffers that is gone round twice is right") {
  for (const char* rung : {"pipeline", "wgmma"}) {
    INFO(rung);
    CHECK(right(emulated(bf16_gemm_operation(), rung, 336)));
    CHECK(emulated_tensor_cores::take_fault().empty());
  }
}

// 72 tokens: a tile of 64 queries and keys, and 8 of the next; for tiles of 32, two and 8.
TEST_CASE("every attention is right with tiles that hang over the edge") {
  const Operation& o = attention_operation();
  for (const Rung& rung : o.ladder->rungs) {
    INFO(rung.id);
    const Deviation d = emulated(o, rung.id, 72);
    CHECK(right(d));
    CHECK(d.error > 0x1p-12);
    CHECK(emulated_tensor_cores::take_fault().empty());
  }
}

// What a GPU would punish by chance is a wrong result here, always.
TEST_CASE("the emulation sees a wait, a barrier, a fence or a fragment that is wrong") {
  const Operation& o = bf16_gemm_operation();
  CHECK_FALSE(right(emulated(o, "async", 144, "bf16_gemm_async_without_wait")));
  CHECK_FALSE(right(emulated(o, "pipeline", 336, "bf16_gemm_pipeline_waiting_too_little")));
  CHECK_FALSE(right(emulated(o, "pipeline", 336, "bf16_gemm_pipeline_without_barriers")));
  CHECK_FALSE(right(emulated(o, "swizzle", 144, "bf16_gemm_swizzle_with_halves_of_b_exchanged")));
  CHECK_FALSE(right(emulated(o, "wgmma", 336, "bf16_gemm_wgmma_waiting_for_no_product")));
  CHECK(emulated_tensor_cores::take_fault().empty());
  CHECK(right(emulated(o, "wgmma", 144, "bf16_gemm_wgmma_without_fence")));  // as a GPU may do, by luck
  CHECK(emulated_tensor_cores::take_fault() ==
        "A wgmma reads copies that no fence of the async proxy has shown to it.");
}

TEST_CASE("the work of the ladders on the tensor cores") {
  CHECK(bf16_gemm_operation().ladder->cost(8192).flops == 2.0 * 8192 * 8192 * 8192);
  CHECK(bf16_gemm_operation().ladder->cost(8192).bytes() == 3.0 * 8192 * 8192 * 2);
  // The oracle's floor on an H200: 16 heads, 8,192 tokens, width 128 in 0.56 ms at 989 TFLOP/s.
  const Ladder& attention = *attention_operation().ladder;
  CHECK(std::abs(attention.cost(8192).flops / 989e12 - 0.556e-3) < 1e-6);
  CHECK(attention.cost(8192).bytes() == 4.0 * 16 * 8192 * 128 * 2);
  const double scores = 16.0 * 4096 * 4096 * 4;
  CHECK(cost_of(attention, attention.rungs.front(), 4096).bytes() == attention.cost(4096).bytes() + 4 * scores);
}

// A launch for each kernel of each head, on its part of the arrays.
TEST_CASE("naive attention goes through the heads one by one") {
  const Operation& o = attention_operation();
  const auto launches = o.launches("naive", 4096, 132);
  REQUIRE(launches.size() == 48);
  CHECK(launches[45].entry.empty());
  CHECK(launches[45].arguments[0].offset == 15ll * 4096 * 128 * 2);
  CHECK(launches[47].entry == "attention_naive_values");
  CHECK(launches[47].arguments[2].offset == 15ll * 4096 * 128 * 2);
  CHECK(o.scratch_bytes(4096) == 4ll * 4096 * 4096);
}
