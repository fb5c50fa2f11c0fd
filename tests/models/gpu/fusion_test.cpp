#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/gpu/fusion_plan.h"
#include "models/machine/op_cost.h"
#include "tests/support/base/near.h"

using support::near;
namespace gpu = models::gpu;

namespace {

/// An H100 SXM: 132 SMs, 35 B a clock and SM from L2.
gpu::FusionMachine h100() {
  return {.sm = gpu::sm_limits(90),
          .sms = 132,
          .bandwidth_bytes_per_s = 3.35e12,
          .l2_bytes_per_s = 35 * 132 * 1.98e9,
          .l2_bytes = 52428800,
          .matrix_flops_per_s = 0.8 * 989.4e12,
          .vector_per_s = 33.5e12,
          .latency_s = 6e-7,
          .start_s = 2e-6,
          .host_s = 5e-6,
          .break_s = 3e-5};
}
std::vector<gpu::OpRun> alone(const gpu::FusionChain& c) {
  std::vector<gpu::OpRun> runs;
  for (int i = 0; i < c.count(); ++i) runs.push_back({i, i});
  return runs;
}

}  // namespace

TEST_CASE("fusion: bias, GELU and dropout as one kernel never write two tensors of 16.8 MB, 67.1 MB of traffic") {
  const auto c = gpu::make_chain(gpu::ChainKind::projection, {.tokens = 2048, .width = 4096});
  REQUIRE(c.count() == 7);
  const double tensor = 2048 * 4096 * 2;
  CHECK(c.tensors[2].bytes == tensor);
  const auto apart = gpu::price_plan(c, alone(c), 0, h100());
  const auto fused = gpu::price_plan(c, gpu::lasso(c, 1, 3, 0), 0, h100());
  REQUIRE(apart);
  REQUIRE(fused);
  CHECK(apart->bytes - fused->bytes == 4 * tensor);
  CHECK(apart->kernels.size() - fused->kernels.size() == 2);
  CHECK(apart->trips - fused->trips == 4);
  // The kernel itself: one tensor in, one out, a mask of a byte an element and the bias.
  const gpu::FusedKernel& k = fused->kernels[1];
  CHECK(k.bytes() == 2 * tensor + tensor / 2 + 4096 * 2);
  CHECK(near(k.time_s, k.bytes() / 3.35e12, 1e-9));
  // 12 starts are saved besides the bytes.
  CHECK(near(apart->device_s - fused->device_s, 4 * tensor / 3.35e12 + 2 * 2e-6, 1e-6));
}

TEST_CASE("fusion: five boxes are best, and the norm as the sixth makes the chain slower than none") {
  const auto c = gpu::make_chain(gpu::ChainKind::projection, {});
  const auto apart = gpu::price_plan(c, alone(c), 0, h100());
  const auto five = gpu::price_plan(c, gpu::lasso(c, 0, 4, 0), 0, h100());
  const auto six = gpu::price_plan(c, gpu::lasso(c, 0, 5, 0), 0, h100());
  REQUIRE(six);
  CHECK(five->device_s < apart->device_s);
  CHECK(six->device_s > 1.2 * apart->device_s);
  CHECK(six->bytes < five->bytes);
  const gpu::FusedKernel& k = six->kernels.front();
  CHECK(k.tile_columns == 4096);
  CHECK(k.spilled > 0);
  CHECK(k.registers == 255);
  CHECK(k.needed() == k.tile_rows * 4096 / 256 + 40 + 12);
  CHECK(k.weight_reads == std::ceil(2048.0 / static_cast<double>(k.tile_rows)) / 2);
  CHECK(k.bound == gpu::KernelBound::l2);
  // A cluster of sixteen blocks holds the row in pieces of 256 columns, and the sixth costs about what a kernel of its
  // own does.
  gpu::FusionMachine m = h100();
  m.cluster = 16;
  const auto shared = gpu::price_plan(c, gpu::lasso(c, 0, 5, 0), 0, m);
  REQUIRE(shared);
  CHECK(shared->kernels.front().tile_columns == 256);
  CHECK(shared->device_s < 0.8 * apart->device_s);
  CHECK(near(shared->device_s, five->device_s, 0.03));
  // A row of 256 fits a block without one, and all of the chain is best as one kernel.
  const auto narrow = gpu::make_chain(gpu::ChainKind::projection, {.tokens = 8192, .width = 256});
  CHECK(gpu::price_plan(narrow, gpu::lasso(narrow, 0, 6, 0), 0, h100())->device_s <
        gpu::price_plan(narrow, gpu::lasso(narrow, 0, 5, 0), 0, h100())->device_s);
}

TEST_CASE("fusion: attention moves 545.3 MB a head in three kernels and 8.4 MB in one, 65 times less") {
  const auto c = gpu::make_chain(gpu::ChainKind::attention, {.tokens = 8192, .heads = 64});
  const auto apart = gpu::price_plan(c, alone(c), 0, h100());
  const auto fused = gpu::price_plan(c, gpu::lasso(c, 0, 2, 0), 0, h100());
  REQUIRE(fused);
  CHECK(near(apart->bytes, 34.9e9, 0.001));
  CHECK(near(apart->bytes / 64, 545.3e6, 0.001));
  CHECK(near(fused->bytes, 536.9e6, 0.001));
  CHECK(apart->bytes / fused->bytes == 65);
  // The same as the operations of op_cost count.
  const models::AttentionShape shape{
      .heads = 64, .kv_heads = 64, .queries = 8192, .keys = 8192, .qk_dim = 128, .v_dim = 128, .pairs = 8192.0 * 8192};
  CHECK(near(apart->bytes,
             models::attention_scores(shape, 2, 2).bytes() + models::attention_softmax(shape, 2).bytes() +
                 models::attention_values(shape, 2, 2).bytes(),
             1e-9));
  CHECK(near(fused->bytes, models::fused_attention(shape, 2, 2).bytes(), 1e-9));
  CHECK(fused->kernels[0].flops == 4.0 * 8192 * 8192 * 128 * 64);
  // Half of the fusion is worth little: the softmax needs rows of 8,192 scores, the second product makes it online.
  const auto half = gpu::price_plan(c, gpu::lasso(c, 0, 1, 0), 0, h100());
  CHECK(half->device_s > 3 * fused->device_s);
}

TEST_CASE("fusion: registers of streaming kernels against 21 compiled by nvcc 13.0 for sm_90") {
  // Bits: bias, GELU, dropout, residual, norm. 8, 16 or 32 values a thread; what ptxas used.
  struct Compiled {
    int operations;
    std::int64_t values, used;
  };
  static constexpr std::array<Compiled, 21> compiled{
      {{1, 8, 22},   {2, 8, 32},   {4, 8, 34},   {8, 8, 25},  {3, 8, 32},   {6, 8, 32},   {7, 8, 32},
       {15, 8, 32},  {14, 8, 32},  {12, 8, 37},  {16, 8, 30}, {31, 8, 40},  {16, 16, 39}, {24, 16, 39},
       {31, 16, 43}, {28, 16, 50}, {30, 16, 44}, {7, 16, 40}, {15, 16, 40}, {16, 32, 60}, {31, 32, 62}}};
  const auto c = gpu::make_chain(gpu::ChainKind::projection, {});
  for (const Compiled& k : compiled) {
    CAPTURE(k.operations, k.values);
    std::int64_t temporaries = 0;
    for (int i = 0; i < 5; ++i)
      if (k.operations >> i & 1)
        temporaries = std::max(temporaries, c.operations[static_cast<std::size_t>(i) + 1].temporaries);
    CHECK(near(static_cast<double>(14 + k.values + temporaries), static_cast<double>(k.used), 0.18));
  }
  // The rule as the model applies it: a row of 4,096 over 256 threads is 16 values.
  CHECK(gpu::fuse_run(c, 5, 5, h100())->registers == 14 + 16 + 9);
  CHECK(gpu::fuse_run(c, 1, 3, h100())->registers == 14 + 8 + 12);
}

TEST_CASE("fusion: a compiler leaves the product to a library, and a graph break cuts what it would fuse") {
  const auto c = gpu::make_chain(gpu::ChainKind::projection, {});
  const int end = c.count() - 1;
  using Runs = std::vector<gpu::OpRun>;
  CHECK(gpu::compiled_runs(c, 0, end, 0, false) == Runs{{0, 1}, {2, 5}, {6, 6}});
  CHECK(gpu::compiled_runs(c, 0, end, 0, true) == Runs{{0, 4}, {5, 5}, {6, 6}});
  CHECK(gpu::compiled_runs(c, 0, end, 3, false) == Runs{{0, 1}, {2, 2}, {3, 5}, {6, 6}});
  CHECK(gpu::lasso(c, 1, 3, 2) == Runs{{0, 0}, {1, 1}, {2, 3}, {4, 4}, {5, 5}, {6, 6}});
  CHECK(gpu::kernel_kind(c, {0, 1}) == "library product");
  CHECK(gpu::kernel_kind(c, {2, 5}) == "reduction");
  CHECK(gpu::kernel_kind(c, {0, 4}) == "product with epilogue");
  CHECK(gpu::kernel_kind(c, {0, 6}) == "two products");
  CHECK(gpu::kernel_kind(c, {3, 3}) == "pointwise");
  const auto attention = gpu::make_chain(gpu::ChainKind::attention, {.tokens = 1024});
  CHECK(gpu::compiled_runs(attention, 0, 2, 0, false) == Runs{{0, 2}});
  CHECK(gpu::kernel_kind(attention, {0, 2}) == "attention");
  const auto gated = gpu::make_chain(gpu::ChainKind::gated, {.inner_ratio = 3.5});
  CHECK(gpu::compiled_runs(gated, 0, 5, 0, false) == Runs{{0, 0}, {1, 2}, {3, 3}, {4, 5}});
  // A break costs the host, which runs ahead: at 2,048 tokens the device does not notice.
  const auto whole = gpu::price_plan(c, gpu::compiled_runs(c, 0, end, 0, false), 0, h100());
  const auto broken = gpu::price_plan(c, gpu::compiled_runs(c, 0, end, 3, false), 1, h100());
  CHECK(near(broken->host_s - whole->host_s, 5e-6 + 3e-5, 1e-9));
  CHECK(broken->time_s == broken->device_s);
  CHECK(near(broken->bytes - whole->bytes, 2 * 2048 * 4096 * 2, 1e-9));
}

TEST_CASE("fusion: buffers that are read once share their place; the backward pass keeps what it reads") {
  const auto c = gpu::make_chain(gpu::ChainKind::projection, {});
  const double tensor = 2048 * 4096 * 2;
  const auto apart = gpu::plan_buffers(c, alone(c), false);
  CHECK(apart.buffers == 6);
  CHECK(apart.sum_bytes == 6 * tensor);
  CHECK(apart.peak_bytes == 2 * tensor);  // one being read, one being written
  const auto fused = gpu::plan_buffers(c, gpu::compiled_runs(c, 0, 6, 0, false), false);
  CHECK(fused.buffers == 2);
  CHECK(fused.peak_bytes == 2 * tensor);
  gpu::FusionMachine m = h100();
  m.backward = true;
  // The input of GELU is written although the lasso holds it: half of one intermediate's two trips stays.
  const auto lasso = gpu::lasso(c, 1, 3, 0);
  CHECK(gpu::price_plan(c, lasso, 0, m)->bytes - gpu::price_plan(c, lasso, 0, h100())->bytes == tensor);
  // What L2 keeps is not read again from memory.
  m.l2_keeps = true;
  m.backward = false;
  CHECK(gpu::price_plan(c, alone(c), 0, h100())->bytes - gpu::price_plan(c, alone(c), 0, m)->bytes == 6 * tensor);
}

TEST_CASE("fusion: what no SM takes is refused in a sentence") {
  const auto c = gpu::make_chain(gpu::ChainKind::attention, {.tokens = 65536});
  const auto half = gpu::fuse_run(c, 0, 1, h100());
  REQUIRE_FALSE(half);
  CHECK(half.error.find("whole rows") != std::string::npos);
  CHECK(gpu::fuse_run(c, 0, 2, h100()));
  CHECK_FALSE(gpu::fuse_run(c, 2, 1, h100()));
}

TEST_CASE("fusion: an H100 runs seven element-wise operations as long as the model says, eager and compiled") {
  // Timed on an H100 SXM in bf16 (PyTorch 2.11, 2026-11-22): 2^27 and 2^24 elements, a share of 0.9 of the bandwidth.
  gpu::FusionMachine m = h100();
  m.bandwidth_bytes_per_s = 0.9 * 3.35e12;
  m.start_s = 1.7e-6;
  const auto large = gpu::make_chain(gpu::ChainKind::measured, {.tokens = 32768, .width = 4096});
  CHECK(near(gpu::price_plan(large, alone(large), 0, m)->time_s, 1514.1e-6, 0.02));
  CHECK(near(gpu::price_plan(large, gpu::lasso(large, 0, 6, 0), 0, m)->time_s, 281.1e-6, 0.06));
  const auto small = gpu::make_chain(gpu::ChainKind::measured, {.tokens = 4096, .width = 4096});
  CHECK(near(gpu::price_plan(small, alone(small), 0, m)->time_s, 211.8e-6, 0.08));
  // A product of the same shape as the chain's first: 92.6 us.
  const auto c = gpu::make_chain(gpu::ChainKind::projection, {});
  CHECK(near(gpu::fuse_run(c, 0, 0, m)->time_s, 92.6e-6, 0.06));
  // Attention as cuDNN does it, 4 x 16 heads of 4,096 tokens: no faster than the model's kernel.
  const auto attention = gpu::make_chain(gpu::ChainKind::attention, {.tokens = 4096, .heads = 64});
  const double whole_s = gpu::fuse_run(attention, 0, 2, m)->time_s;
  CHECK(whole_s < 965e-6);
  CHECK(whole_s > 0.6 * 965e-6);
}

TEST_CASE("fusion: rows that no block holds are read twice from L2 at most, whatever the block") {
  gpu::FusionMachine m = h100();
  m.l2_keeps = true;
  m.l2_bytes = 1e12;
  int twice = 0;
  for (double tokens = 256; tokens <= 131072; tokens *= 2) {
    const auto c = gpu::make_chain(gpu::ChainKind::attention, {.tokens = tokens, .heads = 1});
    const auto k = gpu::fuse_run(c, 1, 1, m);  // the softmax by itself
    REQUIRE(k);
    const double once = gpu::run_traffic(c, 1, 1, m).l2_read_bytes;
    REQUIRE(once > 0);
    INFO(tokens << " tokens");
    CHECK((k->l2_bytes == once || k->l2_bytes == 2 * once));
    twice += k->l2_bytes == 2 * once;
  }
  CHECK(twice > 0);
}
