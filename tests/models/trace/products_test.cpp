#include "models/trace/measure/products.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "models/trace/measure/window.h"
#include "models/trace/writers/sample.h"
#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"

using Catch::Approx;
using models::trace::measure_products;
using models::trace::product_flops;
using models::trace::ProductWork;
using models::trace::Trace;
using trace_test::opened_trace;

namespace {

ProductWork whole(const Trace& trace, int device = 0) {
  const auto extent = models::trace::device_extent(trace, device);
  return measure_products(trace, device, extent.first_ns, extent.last_ns);
}

}  // namespace

TEST_CASE("a product's flops are read from its shapes as the profiler writes them") {
  const auto flops = [](std::string_view name, std::string_view dims, std::string_view concrete = "") {
    const auto f = product_flops(name, dims, concrete);
    return f ? f->issued : -1;
  };
  CHECK(flops("aten::mm", "[[10, 1000], [1000, 512]]") == 2.0 * 10 * 1000 * 512);
  CHECK(flops("aten::addmm", "[[512], [1024, 1705], [1705, 512], [], []]") == 2.0 * 1024 * 1705 * 512);
  CHECK(flops("aten::bmm", "[[1024, 96, 50], [1024, 50, 8]]") == 2.0 * 1024 * 96 * 50 * 8);
  CHECK(flops("aten::baddbmm", "[[4, 2, 3], [4, 2, 5], [4, 5, 3], [], []]") == 2.0 * 4 * 2 * 5 * 3);
  CHECK(flops("aiter::gemm_a16w16", "[[15360, 4096], [6144, 4096], [], [], [], [], []]") == 2.0 * 15360 * 4096 * 6144);
  // Not a product, no shapes, a scalar where a matrix should be: nothing is made up.
  CHECK(flops("aten::add", "[[10], [10]]") == -1);
  CHECK(flops("aten::mm", "") == -1);
  CHECK(flops("aten::mm", "[[], []]") == -1);
  CHECK(flops("aten::bmm", "[[1024, 96, 50], 7]") == -1);
  // Nor of what no tensor can be.
  CHECK(flops("aten::mm", "[[-10, 1000], [1000, 512]]") == -1);
  CHECK(flops("aten::mm", "[[1e300, 1e300], [1e300, 1e300]]") == -1);
  CHECK(flops("aten::mm", "[[[[[[") == -1);
  CHECK(flops("aten::convolution", "[[1, 3, 8, 8], [4, 3, 3, 3], []]",
              R"(["", "", "", "[0, 0]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"])") == -1);
  CHECK(flops("aten::convolution_backward", "[[1, 4, 6, 6], [1, 3, 8, 8], [4, 3, 3, 3]]",
              R"(["", "", "", "", "", "", "", "False", "", "", ""])") == 0);
}

TEST_CASE("fused attention: the causal half of two products, and five backward of which four are needed") {
  const std::string dims = "[[16, 16, 559, 64], [16, 16, 559, 64], [16, 16, 559, 64], [], [], [], []]";
  const double square = 4.0 * 16 * 16 * 559 * 559 * 64;
  const std::string_view name = "aten::_scaled_dot_product_flash_attention";
  CHECK(product_flops(name, dims, R"(["", "", "", "0.", "True", "False", "0.125"])")->issued == square / 2);
  CHECK(product_flops(name, dims, R"(["", "", "", "0.", "False", "False", "0.125"])")->issued == square);
  const std::string back = "[[2, 4, 8, 16], [2, 4, 8, 16], [2, 4, 8, 16], [2, 4, 8, 16], [2, 4, 8, 16]]";
  const auto f = product_flops("aten::_scaled_dot_product_flash_attention_backward", back,
                               R"(["", "", "", "", "", "", "", "", "8", "8", "0.", "True", "", "", ""])");
  REQUIRE(f);
  CHECK(f->issued == 2.5 * 4.0 * 2 * 4 * 8 * 8 * 16 / 2);
  CHECK(f->needed == 2.0 * 4.0 * 2 * 4 * 8 * 8 * 16 / 2);
}

TEST_CASE("a convolution needs its strides, which only newer recordings write") {
  const std::string dims = "[[128, 3, 224, 224], [768, 3, 16, 16], [768], [], [], [], [], [], []]";
  const auto f = product_flops("aten::convolution", dims,
                               R"(["", "", "", "[16, 16]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"])");
  REQUIRE(f);
  CHECK(f->issued == 2.0 * 128 * 768 * 14 * 14 * 3 * 16 * 16);
  CHECK(!product_flops("aten::convolution", dims, ""));
  const auto padded = product_flops("aten::convolution", "[[10, 256, 14, 14], [512, 256, 3, 3], []]",
                                    R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"])");
  CHECK(padded->issued == 2.0 * 10 * 512 * 7 * 7 * 256 * 9);
  const std::string back = "[[10, 512, 7, 7], [10, 512, 7, 7], [512, 512, 3, 3], [], [], [], [], [], [], [], []]";
  const auto gradients = [&](const std::string& mask) {
    return product_flops(
               "aten::convolution_backward", back,
               R"(["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", ")" + mask + R"("])")
        ->issued;
  };
  const double one = 2.0 * 10 * 512 * 7 * 7 * 512 * 9;
  CHECK(gradients("[True, True, False]") == 2 * one);
  CHECK(gradients("[False, True, False]") == one);
  CHECK(gradients("[False, False, True]") == 0);
}

TEST_CASE("the made-up run multiplies what its shapes say, and its flops lie in its kernels") {
  constexpr int steps = 2, layers = 3;
  const Trace trace = opened_trace(
      models::sample_traces({.fault = models::SampleFault::none, .ranks = 1, .steps = steps, .layers = layers})
          .front());
  const ProductWork work = whole(trace);
  const double rows = 4096, weights = rows * 3072 * (5120 + 3072 + 9216 + 4608);
  const double attention = 4.0 * 24 * rows * rows * 128 / 2, logits = 2 * rows * 3072 * 16384;
  // Forward once, gradients twice; attention's backward pass needs 4 products and makes the scores again.
  CHECK(work.issued_flops == Approx(steps * (layers * (6 * weights + 3.5 * attention) + logits)).epsilon(1e-12));
  CHECK(work.needed_flops == Approx(steps * (layers * (6 * weights + 3 * attention) + logits)).epsilon(1e-12));
  CHECK(work.recomputed_calls == 0);
  CHECK(work.unknown_calls == 0);
  CHECK(work.calls == steps * (layers * 15 + 1));
  // One stream: the union of the kernels is their sum.
  std::int64_t sum_ns = 0;
  for (const auto& row : work.rows) sum_ns += row.kernel_ns;
  CHECK(work.busy_ns == sum_ns);
  CHECK(work.rows.front().name == "aten::mm");
  CHECK(work.uncounted_ns == 0);
  // Half of the window holds half of the calls, and no kernel counts twice.
  const auto extent = models::trace::device_extent(trace, 0);
  const std::int64_t middle = (extent.first_ns + extent.last_ns) / 2;
  const ProductWork first = measure_products(trace, 0, extent.first_ns, middle),
                    second = measure_products(trace, 0, middle, extent.last_ns);
  CHECK(first.calls + second.calls == work.calls);
  CHECK(first.busy_ns + second.busy_ns == work.busy_ns);
  CHECK(first.issued_flops + second.issued_flops == Approx(work.issued_flops).epsilon(1e-12));
}

TEST_CASE("products that run again inside of the backward pass are recomputed") {
  // Forward mm; in autograd's engine a checkpoint's forward again under aten::linear, then the gradient's own mm.
  const auto span = [](std::string_view cat, std::string_view name, int start, int duration, std::string_view args) {
    return R"({"ph":"X","cat":")" + std::string(cat) + R"(","name":")" + std::string(name) +
           R"(","pid":1,"tid":1,"ts":)" + std::to_string(start) + ",\"dur\":" + std::to_string(duration) +
           ",\"args\":{" + std::string(args) + "}},\n";
  };
  const std::string dims = R"("Input Dims":[[8,16],[16,4]])";
  std::string text = "{\"traceEvents\":[\n";
  const auto kernel = [&](int start, int id) {
    const std::string correlation = "\"correlation\":" + std::to_string(id);
    text += span("cuda_runtime", "cudaLaunchKernel", start, 2, correlation);
    text += R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":)" + std::to_string(start + 5) +
            R"(,"dur":3,"args":{"device":0,"stream":7,)" + correlation + "}},\n";
  };
  text += span("cpu_op", "aten::mm", 0, 10, dims);
  kernel(2, 1);
  text += span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 100, 100, "");
  text += span("cpu_op", "aten::linear", 110, 20, "");
  text += span("cpu_op", "aten::mm", 112, 10, dims);
  kernel(114, 2);
  text += span("cpu_op", "aten::mm", 150, 10, dims);
  kernel(152, 3);
  text += span("cpu_op", "autograd::engine::evaluate_function: CheckpointFunctionBackward", 300, 200, "");
  text += span("cpu_op", "aten::mm", 310, 10, dims);
  kernel(312, 4);
  text += span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 350, 100, "");
  text += span("cpu_op", "aten::mm", 360, 10, R"("Input Dims":[])");
  kernel(362, 5);
  text += span("cpu_op", "aten::mm", 380, 10, dims);
  kernel(382, 6);
  text += R"({"ph":"X","cat":"cpu_op","name":"end","pid":1,"tid":1,"ts":600,"dur":1}]})";
  const ProductWork work = whole(opened_trace(text));
  CHECK(work.calls == 5);
  CHECK(work.unknown_calls == 1);
  CHECK(work.recomputed_calls == 2);
  CHECK(work.recomputed_flops == 2 * 2.0 * 8 * 16 * 4);
  CHECK(work.needed_flops == 3 * 2.0 * 8 * 16 * 4);
  CHECK(work.busy_ns == 15'000);
  CHECK(work.uncounted_ns == 3'000);  // its shapes are empty
}

TEST_CASE("real recordings: calls and flops are those that another program counts") {
  const auto folder = trace_test::real_traces();
  if (folder.empty()) SKIP("the real traces are not here");
  struct Expected {
    const char* file;
    std::int64_t calls, recomputed;
    double flops;
  };
  // Calls with shapes that launched a kernel, counted from the JSON by a script of its own.
  for (const Expected& e : {
           Expected{"a100_rank3of8_async_cpu_to_gpu.json.gz", 1776, 0, 2.06821e12},
           Expected{"h100_qwen_infer_mem_pystack.json.gz", 193, 0, 5.76028e12},
           Expected{"h100_timesformer_healthy.json.gz", 134, 0, 8.9771e12},
           Expected{"pair_rank0of128.json.gz", 377, 0, 1.65032e12},
           // Activation checkpointing: 19 of the 20 convolutions of each of three steps run again.
           Expected{"mi300_ddp_rank0of8_rccl.json.gz", 186, 57, 4.21185e11},
           // aten::mm under aiter::gemm_a16w16 is the same product.
           Expected{"mi300_sglang_prefill_decode.json.gz", 145, 0, 4.26767e14 / 2},
       }) {
    INFO(e.file);
    const Trace trace = opened_trace(support::read_text(folder / e.file));
    ProductWork work;
    for (const models::trace::Track& t : trace.tracks)
      if (t.device >= 0 && work.calls == 0) work = whole(trace, t.device);
    INFO(work.unknown_calls << " without shapes");
    CHECK(work.calls == e.calls);
    CHECK(work.recomputed_calls == e.recomputed);
    CHECK(work.issued_flops == Approx(e.flops).epsilon(5e-3));
  }
}
