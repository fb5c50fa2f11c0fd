#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <string>
#include <vector>

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/session.h"
#include "kernels/sources.h"
#include "tests/kernels/cuda_emulator.h"

using namespace kernels;
using namespace kernels::cuda;

namespace {

/// The bytes of an array as they are compared: a vector of floats is aligned for all that an output may be.
std::span<const std::byte> bytes_of(const std::vector<float>& values) { return std::as_bytes(std::span(values)); }

Deviation compared(const Operation& o, std::string_view rung, std::int64_t size, const std::vector<float>& out,
                   std::uint32_t seed) {
  return o.compare({o, rung, size, bytes_of(out), seed});
}

}  // namespace

/// A small size that is no power of two, for the emulation.
std::int64_t small_size(const Operation& o) {
  if (o.ladder->id == "cuda-sgemm") return 128;
  if (o.ladder->id == "cuda-transpose") return 192;
  return o.rounded(16 * 2503);
}

// Every rung computes what its ladder says, at a size that is no power of two, against float64.
TEST_CASE("every CUDA kernel is right on its own launch geometry") {
  const std::size_t i = GENERATE(Catch::Generators::range(std::size_t{0}, operations().size()));
  const Operation& o = operations()[i];
  // Those have files of their own: cuda_host_test.cpp, cuda_memory_ladders_test.cpp, tensor_cores_test.cpp.
  for (const std::string_view own : {"cuda-histogram", "cuda-softmax", "cuda-layernorm-gelu", "cuda-gemv",
                                     "cuda-paged-decode", "cuda-fp8-quantize", "cuda-bf16-gemm", "cuda-attention"})
    if (o.ladder->id == own) return;
  if (o.host) return;
  for (const Rung& rung : o.ladder->rungs) {
    INFO(o.ladder->id << " " << rung.id);
    REQUIRE(cuda_emulator::knows(rung.entry));
    const Deviation d = cuda_emulator::run(o, rung, small_size(o), 7);
    CHECK(d.never_written == 0);
    CHECK(d.error <= d.bound);
  }
}

// The block after the last of the working set begins at its first word again.
TEST_CASE("a working set is read again from its start, and a bank's column is that of its stride") {
  const Operation& sweep = l2_operation();
  CHECK(cuda_emulator::run(sweep, sweep.ladder->rungs[0], sweep.edge_size, 3).error == 0);
  CHECK(sweep.edge_size > 4 << 20);
  // The reference of one stride is not that of another.
  const Operation& banks = banks_operation();
  const Rung wrong{"stride_16", "", "", "", "banks_8"};
  CHECK(cuda_emulator::run(banks, wrong, banks.edge_size, 3).error > 0);
}

// A block of 128 threads of H100 (228 KiB, 2,048 threads), A100 (164 KiB) and sm_120 (100 KiB, 1,536 threads), with
// the 1 KiB of the system: exactly a quarter fits.
TEST_CASE("a quarter of the occupancy is what shared memory leaves room for") {
  struct Case {
    int capability, threads;
    std::int64_t shared_kib, blocks;
  };
  for (const Case& c : {Case{90, 2048, 228, 4}, Case{80, 2048, 164, 4}, Case{120, 1536, 100, 3}, Case{86, 1536, 100, 3},
                        Case{75, 1024, 64, 2}}) {
    INFO(c.capability);
    DeviceFacts device{.capability = c.capability};
    device.multiprocessor_threads = c.threads;
    device.multiprocessor_shared_bytes = c.shared_kib << 10;
    const Operation& o = ilp_operation();
    const auto bytes = o.launches_on("quarter_2", 1 << 20, device)[0].shared_bytes;
    const std::int64_t whole = bytes + (c.capability >= 80 ? 1024 : 0);
    CHECK(bytes <= 48 * 1024);
    CHECK((c.shared_kib << 10) / whole == c.blocks);
    CHECK(o.launches_on("full_2", 1 << 20, device)[0].shared_bytes == 0);
  }
}

TEST_CASE("a warp-tiled product of more than one tile each way is right") {
  const Operation& o = sgemm_operation();
  const Deviation d = cuda_emulator::run(o, o.ladder->rungs.back(), 256, 3);
  CHECK(d.error <= d.bound);
  CHECK(d.error > 0);  // float rounding is there, so the comparison is not with itself
}

// One number of 10,012 left out, or one element of a copy off by its last bit, must be seen.
TEST_CASE("the comparison sees the smallest fault") {
  const Operation& sum = reduction_operation();
  const std::int64_t bytes = 16 * 2503;
  std::vector<float> out(static_cast<std::size_t>(sum.output_bytes(bytes) / 4));
  double total = 0, left_out = 0;
  for (std::int64_t i = 0; i < bytes / 4; ++i) {
    total += input_value(sum, 5, 0, i);
    if (i == 5000) left_out = input_value(sum, 5, 0, i);
  }
  out.back() = static_cast<float>(total);
  CHECK(compared(sum, "shuffle", bytes, out, 5).error <= compared(sum, "shuffle", bytes, out, 5).bound);
  out.back() = static_cast<float>(total - left_out);
  CHECK_FALSE(compared(sum, "shuffle", bytes, out, 5).error <= compared(sum, "shuffle", bytes, out, 5).bound);

  const Operation& copy = copy_operation();
  std::vector<float> same(1000);
  for (std::size_t i = 0; i < same.size(); ++i)
    same[i] = static_cast<float>(input_value(copy, 5, 0, static_cast<std::int64_t>(i)));
  CHECK(compared(copy, "scalar", 4000, same, 5).error == 0);
  same[999] = __builtin_nextafterf(same[999], 2.0f);
  CHECK_FALSE(compared(copy, "scalar", 4000, same, 5).error <= 0);
  same[999] = __builtin_nanf("");
  CHECK(compared(copy, "scalar", 4000, same, 5).never_written == 1);
  CHECK_FALSE(compared(copy, "scalar", 4000, same, 5).error <= 0);
}

TEST_CASE("CUDA ladders are complete: every rung has a text with its entry, and all do the work that cost() counts") {
  CHECK(ladders().size() == operations().size());
  for (const Ladder& ladder : ladders()) {
    INFO(ladder.id);
    CHECK(ladder.device == Device::cuda);
    CHECK(ladder.size_lo <= ladder.size_default);
    CHECK(ladder.size_default <= ladder.size_hi);
    CHECK(ladder.cost(ladder.size_default).bytes() > 0);
    for (const Rung& rung : ladder.rungs) {
      INFO(rung.id);
      CHECK_FALSE(rung.change.empty());
      CHECK_FALSE(rung.roof.empty());
      CHECK(rung.entry.empty() == (find_operation(ladder.id)->host != nullptr));
      if (rung.entry.empty()) continue;
      CHECK(rung.source == embedded_source("cuda/rungs/" + std::string(rung.entry) + ".cu"));
      CHECK(rung.source.find("extern \"C\" __global__") != std::string_view::npos);
      CHECK(rung.source.find(" " + std::string(rung.entry) + "(") != std::string_view::npos);
    }
  }
}

// Sizes: oracle "copy 1 GiB in + 1 GiB out", SGEMM 2 N^3.
TEST_CASE("the algorithmic work of the CUDA ladders") {
  CHECK(find_operation("cuda-copy")->ladder->cost(1 << 30).bytes() == 2.0 * (1 << 30));
  CHECK(find_operation("cuda-transpose")->ladder->cost(8192).bytes() == 2.0 * 8192 * 8192 * 4);
  CHECK(find_operation("cuda-reduction")->ladder->cost(1 << 30).read_bytes == 1 << 30);
  CHECK(find_operation("cuda-sgemm")->ladder->cost(4096).flops == 2.0 * 4096 * 4096 * 4096);
  CHECK(find_operation("cuda-nothing") == nullptr);
}

// Grids must cover the array and no pass of a reduction may be left: 2^28 floats is the largest.
TEST_CASE("a reduction ends in one number, in the last float of its output") {
  const Operation& o = reduction_operation();
  for (const Rung& rung : o.ladder->rungs)
    for (const std::int64_t bytes : std::vector<std::int64_t>{16, 1 << 20, 16 * 10007, 1 << 30}) {
      INFO(rung.id << " " << bytes);
      const auto passes = o.launches(rung.id, bytes, 132);
      CHECK(passes.front().input_offset == -1);
      CHECK(passes.front().n == static_cast<unsigned>(bytes / 4));
      CHECK(passes.back().grid_x == 1);
      CHECK(passes.back().output_offset == o.output_bytes(bytes) / 4 - 1);
      for (std::size_t i = 1; i < passes.size(); ++i) {
        CHECK(passes[i].n == passes[i - 1].grid_x);
        CHECK(passes[i].input_offset == passes[i - 1].output_offset);
        CHECK(passes[i].input_offset % 4 == 0);  // a float4 load of the partial sums needs 16 bytes
        CHECK(passes[i].input_offset + passes[i].n <= passes[i].output_offset);
      }
    }
}
