#pragma once
#include <array>
#include <string_view>

/// The kernels of a transformer's layer in a case, with the names that PyTorch, cuBLAS and FlashAttention give them.
namespace models::trace {

/// A kernel of a layer: its share of the layer's forward pass, and whether it moves bytes and hardly depends on clocks.
struct LayerKernel {
  std::string_view op, backward_op, name, backward_name;
  double share;
  bool moves_bytes;
};
inline constexpr std::array<LayerKernel, 6> layer_kernels{{
    {"aten::layer_norm", "autograd::engine::evaluate_function: NativeLayerNormBackward0",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>",
     "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>", 0.06,
     true},
    {"aten::linear", "autograd::engine::evaluate_function: AddmmBackward0", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT",
     "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTN", 0.25, false},
    {"aten::scaled_dot_product_attention",
     "autograd::engine::evaluate_function: ScaledDotProductFlashAttentionBackward0",
     "pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t>>",
     "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8>>", 0.2,
     false},
    {"aten::linear", "autograd::engine::evaluate_function: AddmmBackward0", "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT",
     "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_NNT", 0.12, false},
    {"aten::gelu", "autograd::engine::evaluate_function: GeluBackward0",
     "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl>",
     "void at::native::vectorized_elementwise_kernel<8, at::native::GeluBackwardCUDAKernelImpl>", 0.07, true},
    {"aten::linear", "autograd::engine::evaluate_function: AddmmBackward0", "nvjet_tst_256x128_64x4_2x1_h_bz_coopA_TNN",
     "nvjet_tst_256x128_64x4_2x1_h_bz_coopA_NNN", 0.3, false},
}};

}  // namespace models::trace
