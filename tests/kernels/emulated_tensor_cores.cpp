#include "tests/kernels/emulated_tensor_cores.h"

#include <algorithm>
#include <utility>

#include "tests/kernels/emulated_ptx.h"

// A rung's function with an instruction in it is a template here, which is never made: one that is none, of the same
// name and parameters, is the better match.
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#define __global__
#define __device__ template <class Unmade = void>
#define __shared__ thread_local
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

namespace {

using std::size_t;

#define ALL_BUT_WAITS_AND_BARRIERS \
  using ::pack_bf16;               \
  using ::load_a_16x16;            \
  using ::load_b_16x16;            \
  using ::wmma_16x16x16;           \
  using ::store_16x16;             \
  using ::ldmatrix_x4;             \
  using ::ldmatrix_x4_turned;      \
  using ::copy_async_16;           \
  using ::copy_async_commit;       \
  using ::wgmma_fence;             \
  using ::wgmma_commit;            \
  using ::wgmma_wait_0;            \
  using ::wgmma_m64n128k16;
#define INSTRUCTIONS           \
  ALL_BUT_WAITS_AND_BARRIERS   \
  using ::mma_m16n8k16;        \
  using ::copy_async_wait_1;   \
  using ::copy_async_wait_all; \
  using ::wgmma_wait_1;        \
  using ::fence_async_proxy;

namespace gemm_wmma {
INSTRUCTIONS
#include "kernels/cuda/rungs/bf16_gemm_wmma.cu"
}  // namespace gemm_wmma
namespace gemm_mma {
INSTRUCTIONS
#include "kernels/cuda/rungs/bf16_gemm_mma.cu"
}  // namespace gemm_mma
namespace gemm_async {
INSTRUCTIONS
#include "kernels/cuda/rungs/bf16_gemm_async.cu"
}  // namespace gemm_async
namespace gemm_ldmatrix {
INSTRUCTIONS
#include "kernels/cuda/rungs/bf16_gemm_ldmatrix.cu"
}  // namespace gemm_ldmatrix
namespace gemm_swizzle {
INSTRUCTIONS
#include "kernels/cuda/rungs/bf16_gemm_swizzle.cu"
}  // namespace gemm_swizzle
namespace gemm_pipeline {
INSTRUCTIONS
#include "kernels/cuda/rungs/bf16_gemm_pipeline.cu"
}  // namespace gemm_pipeline
// GCC reads at most 30 operands of an instruction, also where it makes none.
#define asm
#define volatile(...)
namespace gemm_wgmma {
INSTRUCTIONS
#include "kernels/cuda/rungs/bf16_gemm_wgmma.cu"
}  // namespace gemm_wgmma
#undef asm
#undef volatile
namespace of_naive {
INSTRUCTIONS
#include "kernels/cuda/rungs/attention_naive.cu"
}  // namespace of_naive
namespace of_online {
INSTRUCTIONS
#include "kernels/cuda/rungs/attention_online.cu"
}  // namespace of_online
namespace of_mma {
INSTRUCTIONS
#include "kernels/cuda/rungs/attention_mma.cu"
}  // namespace of_mma
namespace of_swizzle {
INSTRUCTIONS
#include "kernels/cuda/rungs/attention_swizzle.cu"
}  // namespace of_swizzle
namespace of_pipeline {
INSTRUCTIONS
#include "kernels/cuda/rungs/attention_pipeline.cu"
}  // namespace of_pipeline

// The same kernels with one instruction forgotten or done wrongly: the emulation must see it.
namespace without_wait {
ALL_BUT_WAITS_AND_BARRIERS
using ::mma_m16n8k16;
void copy_async_wait_all() {}
#define bf16_gemm_async bf16_gemm_async_without_wait
#include "kernels/cuda/rungs/bf16_gemm_async.cu"
#undef bf16_gemm_async
}  // namespace without_wait
namespace waiting_too_little {
ALL_BUT_WAITS_AND_BARRIERS
using ::mma_m16n8k16;
void copy_async_wait_1() { wait_for_copies(2); }
#define bf16_gemm_pipeline bf16_gemm_pipeline_waiting_too_little
#include "kernels/cuda/rungs/bf16_gemm_pipeline.cu"
#undef bf16_gemm_pipeline
}  // namespace waiting_too_little
namespace without_barriers {
INSTRUCTIONS
void __syncthreads() {}
#define bf16_gemm_pipeline bf16_gemm_pipeline_without_barriers
#include "kernels/cuda/rungs/bf16_gemm_pipeline.cu"
#undef bf16_gemm_pipeline
}  // namespace without_barriers
namespace with_halves_of_b_exchanged {
ALL_BUT_WAITS_AND_BARRIERS
using ::copy_async_wait_all;
void mma_m16n8k16(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) { ::mma_m16n8k16(sum, a, b1, b0); }
#define bf16_gemm_swizzle bf16_gemm_swizzle_with_halves_of_b_exchanged
#include "kernels/cuda/rungs/bf16_gemm_swizzle.cu"
#undef bf16_gemm_swizzle
}  // namespace with_halves_of_b_exchanged
#define asm
#define volatile(...)
namespace without_fence {
ALL_BUT_WAITS_AND_BARRIERS
using ::copy_async_wait_1;
using ::wgmma_wait_1;
void fence_async_proxy() {}
#define bf16_gemm_wgmma bf16_gemm_wgmma_without_fence
#include "kernels/cuda/rungs/bf16_gemm_wgmma.cu"
#undef bf16_gemm_wgmma
}  // namespace without_fence
namespace waiting_for_no_product {
ALL_BUT_WAITS_AND_BARRIERS
using ::copy_async_wait_1;
using ::fence_async_proxy;
void wgmma_wait_1() {}
#define bf16_gemm_wgmma bf16_gemm_wgmma_waiting_for_no_product
#include "kernels/cuda/rungs/bf16_gemm_wgmma.cu"
#undef bf16_gemm_wgmma
}  // namespace waiting_for_no_product
#undef asm
#undef volatile

/// Calls a kernel with the arguments that `addresses` point at.
template <class... A, std::size_t... I>
void call_with(void (*kernel)(A...), void** addresses, std::index_sequence<I...>) {
  kernel(*static_cast<A*>(addresses[I])...);
}
template <class... A>
void call(void (*kernel)(A...), void** addresses) {
  call_with(kernel, addresses, std::index_sequence_for<A...>());
}

struct Kernel {
  std::string_view entry;
  void (*call)(void** arguments);
};
#define KERNEL(where, name)                                       \
  Kernel {                                                        \
#name, [](void** arguments) { call(where::name, arguments); } \
  }
constexpr std::array kernels_known{
    KERNEL(gemm_wmma, bf16_gemm_wmma),
    KERNEL(gemm_mma, bf16_gemm_mma),
    KERNEL(gemm_async, bf16_gemm_async),
    KERNEL(gemm_ldmatrix, bf16_gemm_ldmatrix),
    KERNEL(gemm_swizzle, bf16_gemm_swizzle),
    KERNEL(gemm_pipeline, bf16_gemm_pipeline),
    KERNEL(gemm_wgmma, bf16_gemm_wgmma),
    KERNEL(of_naive, attention_naive),
    KERNEL(of_naive, attention_naive_softmax),
    KERNEL(of_naive, attention_naive_values),
    KERNEL(of_online, attention_online),
    KERNEL(of_mma, attention_mma),
    KERNEL(of_swizzle, attention_swizzle),
    KERNEL(of_pipeline, attention_pipeline),
    KERNEL(without_wait, bf16_gemm_async_without_wait),
    KERNEL(waiting_too_little, bf16_gemm_pipeline_waiting_too_little),
    KERNEL(without_barriers, bf16_gemm_pipeline_without_barriers),
    KERNEL(with_halves_of_b_exchanged, bf16_gemm_swizzle_with_halves_of_b_exchanged),
    KERNEL(without_fence, bf16_gemm_wgmma_without_fence),
    KERNEL(waiting_for_no_product, bf16_gemm_wgmma_waiting_for_no_product),
};

const Kernel* find(std::string_view entry) {
  const auto* at =
      std::find_if(kernels_known.begin(), kernels_known.end(), [&](const Kernel& k) { return k.entry == entry; });
  return at == kernels_known.end() ? nullptr : at;
}

}  // namespace

namespace emulated_tensor_cores {

bool knows(std::string_view entry) { return find(entry) != nullptr; }

void launch(std::string_view entry, const kernels::cuda::Launch& shape, void** arguments) {
  const Kernel* kernel = find(entry);
  if (!kernel) return;
  gridDim = {shape.grid_x, shape.grid_y, shape.grid_z};
  blockDim = {shape.block_x, shape.block_y, 1};
  const std::function<void()> body = [&] { kernel->call(arguments); };
  const unsigned blocks = shape.grid_x * shape.grid_y * shape.grid_z;
  for (unsigned b = 0; b < blocks; ++b) {
    blockIdx = {b % shape.grid_x, b / shape.grid_x % shape.grid_y, b / shape.grid_x / shape.grid_y};
    std::memset(dynamic_shared, 0xff, std::min<std::size_t>(shape.shared_bytes, sizeof dynamic_shared));
    run_block(std::size_t{shape.block_x} * shape.block_y, b % 2 == 1, body);
  }
}

std::string take_fault() { return std::exchange(emulated.fault, {}); }

}  // namespace emulated_tensor_cores
