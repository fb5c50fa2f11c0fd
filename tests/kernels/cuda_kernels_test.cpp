#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <string>
#include <vector>

#include "kernels/cuda/cuda.h"
#include "kernels/sources.h"
#include "tests/kernels/cuda_emulator.h"

using namespace kernels;
using namespace kernels::cuda;

namespace {

std::vector<float> inputs_of(const Operation& o, std::int64_t size, std::uint32_t seed, int input) {
  std::vector<float> values(static_cast<std::size_t>(o.input_floats(size)));
  float* out = values.data();
  unsigned long long n = values.size();
  std::uint32_t own = input_seed(seed, input);
  float lo = o.lo, scale = o.scale;
  void* arguments[] = {&out, &n, &own, &lo, &scale};
  cuda_emulator::launch("fill_uniform", {.grid_x = 3, .block_x = 64}, arguments);
  return values;
}

/// The rung's own kernel, run on the CPU with the geometry that a GPU of four multiprocessors gets.
Deviation run_rung(const Operation& o, const Rung& rung, std::int64_t size, std::uint32_t seed) {
  const auto a = inputs_of(o, size, seed, 0), b = inputs_of(o, size, seed, 1);
  std::vector<float> out(static_cast<std::size_t>(o.output_floats(size)), __builtin_nanf(""));
  for (const Launch& l : o.launches(rung.id, size, 4)) {
    const float* first = l.input_offset < 0 ? a.data() : out.data() + l.input_offset;
    const float* second = b.data();
    float* to = out.data() + l.output_offset;
    unsigned n = l.n;
    void* one_input[] = {&first, &to, &n};
    void* two_inputs[] = {&first, &second, &to, &n};
    cuda_emulator::launch(rung.entry, l, o.inputs == 1 ? one_input : two_inputs);
  }
  return o.compare(o, size, out, seed);
}

}  // namespace

// Every rung computes what its ladder says, at a size that is no power of two, against float64.
TEST_CASE("every CUDA kernel is right on its own launch geometry") {
  const std::size_t i = GENERATE(Catch::Generators::range(std::size_t{0}, std::size_t{4}));
  const Operation& o = operations()[i];
  const std::int64_t size = o.ladder->id == "cuda-sgemm" ? 128 : o.ladder->id == "cuda-transpose" ? 192 : 16 * 2503;
  for (const Rung& rung : o.ladder->rungs) {
    INFO(o.ladder->id << " " << rung.id);
    REQUIRE(cuda_emulator::knows(rung.entry));
    const Deviation d = run_rung(o, rung, size, 7);
    CHECK(d.never_written == 0);
    CHECK(d.error <= d.bound);
  }
}

TEST_CASE("a warp-tiled product of more than one tile each way is right") {
  const Operation& o = sgemm_operation();
  const Deviation d = run_rung(o, o.ladder->rungs.back(), 256, 3);
  CHECK(d.error <= d.bound);
  CHECK(d.error > 0);  // float rounding is there, so the comparison is not with itself
}

// One number of 10,012 left out, or one element of a copy off by its last bit, must be seen.
TEST_CASE("the comparison sees the smallest fault") {
  const Operation& sum = reduction_operation();
  const std::int64_t bytes = 16 * 2503;
  std::vector<float> out(static_cast<std::size_t>(sum.output_floats(bytes)));
  double total = 0, left_out = 0;
  for (std::int64_t i = 0; i < bytes / 4; ++i) {
    total += static_cast<double>(uniform_value(sum, 5, 0, i));
    if (i == 5000) left_out = static_cast<double>(uniform_value(sum, 5, 0, i));
  }
  out.back() = static_cast<float>(total);
  CHECK(sum.compare(sum, bytes, out, 5).error <= sum.compare(sum, bytes, out, 5).bound);
  out.back() = static_cast<float>(total - left_out);
  CHECK_FALSE(sum.compare(sum, bytes, out, 5).error <= sum.compare(sum, bytes, out, 5).bound);

  const Operation& copy = copy_operation();
  std::vector<float> same(1000);
  for (std::size_t i = 0; i < same.size(); ++i) same[i] = uniform_value(copy, 5, 0, static_cast<std::int64_t>(i));
  CHECK(copy.compare(copy, 4000, same, 5).error == 0);
  same[999] = __builtin_nextafterf(same[999], 2.0f);
  CHECK_FALSE(copy.compare(copy, 4000, same, 5).error <= 0);
  same[999] = __builtin_nanf("");
  CHECK(copy.compare(copy, 4000, same, 5).never_written == 1);
  CHECK_FALSE(copy.compare(copy, 4000, same, 5).error <= 0);
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
      CHECK(rung.source == embedded_source("cuda/rungs/" + std::string(rung.entry) + ".cu"));
      CHECK(rung.source.find("extern \"C\" __global__") != std::string_view::npos);
      CHECK(rung.source.find(" " + std::string(rung.entry) + "(") != std::string_view::npos);
      CHECK_FALSE(rung.change.empty());
      CHECK_FALSE(rung.roof.empty());
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
      CHECK(passes.back().output_offset == o.output_floats(bytes) - 1);
      for (std::size_t i = 1; i < passes.size(); ++i) {
        CHECK(passes[i].n == passes[i - 1].grid_x);
        CHECK(passes[i].input_offset == passes[i - 1].output_offset);
        CHECK(passes[i].input_offset % 4 == 0);  // a float4 load of the partial sums needs 16 bytes
        CHECK(passes[i].input_offset + passes[i].n <= passes[i].output_offset);
      }
    }
}
