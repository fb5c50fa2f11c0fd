#include "tests/kernels/cuda_emulator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/kernels/emulated_block.h"
#include "tests/kernels/emulated_language.h"
#include "tests/kernels/emulated_tensor_cores.h"

// What the CUDA language adds, as far as the kernels use it. The built-in variables belong to the thread that runs now.
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#define __global__
#define __device__
// Thread-local storage is static where it is declared, and may be declared `extern` in a kernel: dynamic shared memory
// is `extern __shared__ unsigned char dynamic_shared[];` in every rung, and stands here once.
#define __shared__ thread_local
#define __launch_bounds__(...)

namespace {

struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

using std::size_t;
alignas(1024) thread_local unsigned char dynamic_shared[228 * 1024];
#include "kernels/cuda/rungs/banks_1.cu"
#include "kernels/cuda/rungs/banks_16.cu"
#include "kernels/cuda/rungs/banks_2.cu"
#include "kernels/cuda/rungs/banks_32.cu"
#include "kernels/cuda/rungs/banks_33.cu"
#include "kernels/cuda/rungs/banks_4.cu"
#include "kernels/cuda/rungs/banks_8.cu"
#include "kernels/cuda/rungs/copy_float4.cu"
#include "kernels/cuda/rungs/copy_grid_stride.cu"
#include "kernels/cuda/rungs/copy_in_flight.cu"
#include "kernels/cuda/rungs/copy_scalar.cu"
#include "kernels/cuda/rungs/decode_gqa.cu"
#include "kernels/cuda/rungs/decode_paged.cu"
#include "kernels/cuda/rungs/decode_sequence.cu"
#include "kernels/cuda/rungs/decode_split.cu"
#include "kernels/cuda/rungs/fp8_fused.cu"
#include "kernels/cuda/rungs/fp8_two_pass.cu"
#include "kernels/cuda/rungs/fp8_vector.cu"
#include "kernels/cuda/rungs/gemv_fp16.cu"
#include "kernels/cuda/rungs/gemv_int4.cu"
#include "kernels/cuda/rungs/gemv_int8.cu"
#include "kernels/cuda/rungs/gemv_wide.cu"
#include "kernels/cuda/rungs/histogram_aggregated.cu"
#include "kernels/cuda/rungs/histogram_global.cu"
#include "kernels/cuda/rungs/histogram_private.cu"
#include "kernels/cuda/rungs/histogram_shared.cu"
#include "kernels/cuda/rungs/ilp_1.cu"
#include "kernels/cuda/rungs/ilp_2.cu"
#include "kernels/cuda/rungs/ilp_4.cu"
#include "kernels/cuda/rungs/instruments.cu"
#include "kernels/cuda/rungs/l2_128.cu"
#include "kernels/cuda/rungs/l2_16.cu"
#include "kernels/cuda/rungs/l2_24.cu"
#include "kernels/cuda/rungs/l2_256.cu"
#include "kernels/cuda/rungs/l2_32.cu"
#include "kernels/cuda/rungs/l2_4.cu"
#include "kernels/cuda/rungs/l2_48.cu"
#include "kernels/cuda/rungs/l2_64.cu"
#include "kernels/cuda/rungs/l2_96.cu"
#include "kernels/cuda/rungs/layernorm_gelu_fused.cu"
#include "kernels/cuda/rungs/layernorm_gelu_passes.cu"
#include "kernels/cuda/rungs/layernorm_gelu_unfused.cu"
#include "kernels/cuda/rungs/layernorm_gelu_vector.cu"
#include "kernels/cuda/rungs/reduce_first_add.cu"
#include "kernels/cuda/rungs/reduce_grid_stride.cu"
#include "kernels/cuda/rungs/reduce_interleaved.cu"
#include "kernels/cuda/rungs/reduce_sequential.cu"
#include "kernels/cuda/rungs/reduce_shuffle.cu"
#include "kernels/cuda/rungs/sgemm_coalesced.cu"
#include "kernels/cuda/rungs/sgemm_register.cu"
#include "kernels/cuda/rungs/sgemm_shared.cu"
#include "kernels/cuda/rungs/sgemm_uncoalesced.cu"
#include "kernels/cuda/rungs/sgemm_vector.cu"
#include "kernels/cuda/rungs/sgemm_warp.cu"
#include "kernels/cuda/rungs/softmax_fused.cu"
#include "kernels/cuda/rungs/softmax_online.cu"
#include "kernels/cuda/rungs/softmax_three.cu"
#include "kernels/cuda/rungs/softmax_vector.cu"
#include "kernels/cuda/rungs/stride_1.cu"
#include "kernels/cuda/rungs/stride_2.cu"
#include "kernels/cuda/rungs/stride_32.cu"
#include "kernels/cuda/rungs/stride_4.cu"
#include "kernels/cuda/rungs/stride_8.cu"
#include "kernels/cuda/rungs/transpose_naive.cu"
#include "kernels/cuda/rungs/transpose_padded.cu"
#include "kernels/cuda/rungs/transpose_swizzled.cu"
#include "kernels/cuda/rungs/transpose_tile.cu"
#include "kernels/cuda/rungs/transpose_vector.cu"

/// Calls a kernel with the arguments that `addresses` point at.
template <class... A, std::size_t... I>
void call_with(void (*kernel)(A...), void** addresses, std::index_sequence<I...>) {
  kernel(*static_cast<A*>(addresses[I])...);
}
template <class... A>
void call(void (*kernel)(A...), void** addresses) {
  call_with(kernel, addresses, std::index_sequence_for<A...>());
}

template <class... A>
std::vector<std::size_t> sizes(void (*)(A...)) {
  return {sizeof(A)...};
}

struct Kernel {
  std::string_view entry;
  bool barriers;
  void (*call)(void** arguments);
  std::vector<std::size_t> (*sizes)();
};
#define KERNEL(name, barriers)                                                                   \
  Kernel {                                                                                       \
#name, barriers, [](void** arguments) { call(name, arguments); }, [] { return sizes(name); } \
  }
constexpr std::array kernels_known{
    KERNEL(copy_scalar, false),
    KERNEL(copy_float4, false),
    KERNEL(copy_in_flight, false),
    KERNEL(copy_grid_stride, false),
    KERNEL(transpose_naive, false),
    KERNEL(transpose_tile, true),
    KERNEL(transpose_padded, true),
    KERNEL(transpose_swizzled, true),
    KERNEL(transpose_vector, true),
    KERNEL(reduce_interleaved, true),
    KERNEL(reduce_sequential, true),
    KERNEL(reduce_first_add, true),
    KERNEL(reduce_shuffle, true),
    KERNEL(reduce_grid_stride, true),
    KERNEL(sgemm_uncoalesced, false),
    KERNEL(sgemm_coalesced, false),
    KERNEL(sgemm_shared, true),
    KERNEL(sgemm_register, true),
    KERNEL(sgemm_vector, true),
    KERNEL(sgemm_warp, true),
    KERNEL(decode_gqa, true),
    KERNEL(decode_gqa_join, false),
    KERNEL(decode_paged, true),
    KERNEL(decode_paged_join, false),
    KERNEL(decode_sequence, true),
    KERNEL(decode_split, true),
    KERNEL(decode_split_join, false),
    KERNEL(fp8_fused, true),
    KERNEL(fp8_two_pass_scale, true),
    KERNEL(fp8_two_pass, false),
    KERNEL(fp8_vector, true),
    KERNEL(gemv_fp16, true),
    KERNEL(gemv_int4, true),
    KERNEL(gemv_int8, true),
    KERNEL(gemv_wide, true),
    KERNEL(histogram_aggregated_clear, false),
    KERNEL(histogram_aggregated, true),
    KERNEL(histogram_global_clear, false),
    KERNEL(histogram_global, false),
    KERNEL(histogram_private_clear, false),
    KERNEL(histogram_private, true),
    KERNEL(histogram_shared_clear, false),
    KERNEL(histogram_shared, true),
    KERNEL(layernorm_gelu_fused, true),
    KERNEL(layernorm_gelu_mean, true),
    KERNEL(layernorm_gelu_deviation, true),
    KERNEL(layernorm_gelu_normalize, false),
    KERNEL(layernorm_gelu_passes, false),
    KERNEL(layernorm_gelu_unfused, true),
    KERNEL(layernorm_gelu_unfused_gelu, false),
    KERNEL(layernorm_gelu_vector, true),
    KERNEL(softmax_fused, true),
    KERNEL(softmax_online, true),
    KERNEL(softmax_three_max, true),
    KERNEL(softmax_three_exp, true),
    KERNEL(softmax_three, false),
    KERNEL(softmax_vector, true),
    KERNEL(fill_uniform, false),
    KERNEL(fill_halves, false),
    KERNEL(fill_bytes, false),
    KERNEL(fill_below, false),
    KERNEL(fill_bf16, false),
    KERNEL(spin, false),
    KERNEL(read_roof, false),
    KERNEL(fma_roof, false),
    KERNEL(banks_1, true),
    KERNEL(banks_16, true),
    KERNEL(banks_2, true),
    KERNEL(banks_32, true),
    KERNEL(banks_33, true),
    KERNEL(banks_4, true),
    KERNEL(banks_8, true),
    KERNEL(ilp_1, false),
    KERNEL(ilp_2, false),
    KERNEL(ilp_4, false),
    KERNEL(l2_4, false),
    KERNEL(l2_16, false),
    KERNEL(l2_24, false),
    KERNEL(l2_32, false),
    KERNEL(l2_48, false),
    KERNEL(l2_64, false),
    KERNEL(l2_96, false),
    KERNEL(l2_128, false),
    KERNEL(l2_256, false),
    KERNEL(stride_1, false),
    KERNEL(stride_2, false),
    KERNEL(stride_4, false),
    KERNEL(stride_8, false),
    KERNEL(stride_32, false),
    KERNEL(l2_roof, false),
    KERNEL(shared_roof, true),
    KERNEL(count_up, false),
};

const Kernel* find(std::string_view entry) {
  const auto* at =
      std::find_if(kernels_known.begin(), kernels_known.end(), [&](const Kernel& k) { return k.entry == entry; });
  return at == kernels_known.end() ? nullptr : at;
}

}  // namespace

namespace cuda_emulator {

bool knows(std::string_view entry) { return find(entry) != nullptr || emulated_tensor_cores::knows(entry); }

std::vector<std::size_t> argument_bytes(std::string_view entry) {
  const Kernel* kernel = find(entry);
  return kernel ? kernel->sizes() : std::vector<std::size_t>{};
}

void launch(std::string_view entry, const kernels::cuda::Launch& shape, void** arguments) {
  const Kernel* kernel = find(entry);
  if (!kernel) return emulated_tensor_cores::launch(entry, shape, arguments);
  gridDim = {shape.grid_x, shape.grid_y, shape.grid_z};
  blockDim = {shape.block_x, shape.block_y, 1};
  const std::size_t threads = std::size_t{shape.block_x} * shape.block_y;
  const std::function<void()> body = [&] { kernel->call(arguments); };
  const unsigned blocks = shape.grid_x * shape.grid_y * shape.grid_z;
  for (unsigned b = 0; b < blocks; ++b) {
    blockIdx = {b % shape.grid_x, b / shape.grid_x % shape.grid_y, b / shape.grid_x / shape.grid_y};
    // Shared memory holds nothing that a kernel may count on.
    std::memset(dynamic_shared, 0x7f, shape.shared_bytes);
    if (kernel->barriers)
      run_with_barriers(threads, body);
    else
      for (std::size_t t = 0; t < threads; ++t) {
        place(t);
        kernel->call(arguments);
      }
  }
}

}  // namespace cuda_emulator
