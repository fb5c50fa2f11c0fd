#include <catch2/catch_test_macros.hpp>
#include <string_view>

#include "models/trace/builder/builder.h"

// Kernels that move data between devices, by the libraries that have them, and kernels whose names only look like it.

using models::trace::class_of_work;
using models::trace::EventClass;
using models::trace::is_communication;

TEST_CASE("kernels of communication libraries are communication", "[trace]") {
  for (const std::string_view name : {
           "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
           "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
           "rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)",
           "hcclAllReduce",
           "void (anonymous namespace)::multimem_all_reduce_kernel<__nv_bfloat16, 16>(__nv_bfloat16*, unsigned long)",
           "void c10d::symmetric_memory::multimem_one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(c10::BFloat16*)",
           "void (anonymous namespace)::one_shot_all_reduce_kernel<c10::BFloat16, 16, 8, false>(c10::BFloat16**)",
           "void (anonymous namespace)::two_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(c10::BFloat16**)",
           "void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, true>(tensorrt_llm::AllReduceParams)",
           "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)",
           "void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>(aiter::RankData*, aiter::RankSignals)",
           "void aiter::allreduce_fusion_kernel_1stage<__hip_bfloat16, 8, 1024>(aiter::AllReduceFusionParams)",
           "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<3, __half, 8, true>(int)",
           "void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__half>>(__half const*)",
           "void sglang::quick_reduce_kernel<4>(int)",
           "void mscclpp::collective::allreduceNvls<__half>(void*)",
           "nvshmemi_transfer_rma_nbi",
           "void nvshmem_alltoall_kernel<int>(int*)",
           "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*, long*)",
           "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>(__nv_bfloat16*, float*)",
           "void deep_ep::internode_ll::dispatch<true, false, 7168>(void*, void*, int*)",
           "void deep_ep::internode::notify_dispatch<false, 8>(int const*, int*, int)",
           "void mori::moe::EpDispatchIntraNodeKernel<__hip_bfloat16>(mori::moe::EpDispatchCombineArgs)",
       }) {
    INFO(name);
    CHECK(is_communication(name));
  }
}

TEST_CASE("kernels that stay on their device are none, whatever words they are made of", "[trace]") {
  for (const std::string_view name : {
           "void cub::DeviceReduceByKeyKernel<cub::DispatchReduceByKey<int*, int*>::Policy>(int*)",
           "void cub::CUB_200200_900_NS::detail::DispatchReduceByKey<long const*, long*>(long const*)",
           "void (anonymous namespace)::groupnorm_kernel_dispatch_up<__hip_bfloat16, 1024u>(unsigned int)",
           "void (anonymous namespace)::groupnorm_kernel_dispatch_down<__hip_bfloat16, 1024u>(unsigned int)",
           "void deep_ep::layout::get_dispatch_layout<256, 4, 8>(long const*, int*, int*)",
           "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float>>>(int)",
           "void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, 128, 256, 3, false>(__hip_bfloat16*)",
           "void softmax_kernel<BlockAllReduceMax<float>, 1024>(float*)",
           "void blockAllReduceSum<float>(float*)",
           "void warp_all_reduce_kernel<32>(float*)",
           "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int)",
           "_combined_routing_compute",
           "_finalize_matmul_scatter_bf16",
           "triton_poi_fused_add_all_gather_into_tensor_wait_tensor_3",
           "void gemm_kernel<ncclAllReduce_like_epilogue>(float*)",
           "reduce_segments",
           "",
       }) {
    INFO(name);
    CHECK_FALSE(is_communication(name));
  }
}

TEST_CASE("work whose category says nothing is classed by its name", "[trace]") {
  CHECK(class_of_work("MEMCPYHtoD") == EventClass::memory);
  CHECK(class_of_work("MemcpyD2H") == EventClass::memory);
  CHECK(class_of_work("hipMemset") == EventClass::memory);
  CHECK(class_of_work("dma_in") == EventClass::memory);
  CHECK(class_of_work("__amd_rocclr_copyBuffer.kd") == EventClass::memory);
  CHECK(class_of_work("__amd_rocclr_fillBufferAligned.kd") == EventClass::memory);
  CHECK(class_of_work("all-reduce.17") == EventClass::communication);
  CHECK(class_of_work("reduce-scatter-start") == EventClass::communication);
  CHECK(class_of_work("reduce.5") == EventClass::computation);
  CHECK(class_of_work("fusion.3") == EventClass::computation);
}
