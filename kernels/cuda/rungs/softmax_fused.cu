// Every row of n floats of `in` becomes exp(x - max) / sum. One kernel, a block a row: three loops over the row, but
// only the first takes it from memory; the others find it in a cache while it fits there.
template <bool adds>
__device__ float fused_of_block(float value, float* of_warp) {  // the sum, or the maximum, over 256 threads
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, apart);
    value = adds ? value + other : fmaxf(value, other);
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warp[threadIdx.x % 8];
#pragma unroll
  for (int apart = 4; apart > 0; apart /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, apart);
    value = adds ? value + other : fmaxf(value, other);
  }
  return value;
}

extern "C" __global__ void __launch_bounds__(256)
    softmax_fused(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  __shared__ float of_warp[2][8];
  const size_t row = static_cast<size_t>(blockIdx.x) * n;
  float largest = -3.4e38f;
  for (unsigned i = threadIdx.x; i < n; i += 256) largest = fmaxf(largest, in[row + i]);
  largest = fused_of_block<false>(largest, of_warp[0]);
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < n; i += 256) sum += expf(in[row + i] - largest);
  const float scale = 1.0f / fused_of_block<true>(sum, of_warp[1]);
  for (unsigned i = threadIdx.x; i < n; i += 256) out[row + i] = expf(in[row + i] - largest) * scale;
}
