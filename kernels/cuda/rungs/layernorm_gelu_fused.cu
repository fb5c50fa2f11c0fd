// out = GELU(LayerNorm(in)) for rows of n floats, in one kernel with a block a row: what is normalized goes through
// GELU in a register and is written once. One read and one write of the matrix; the row stays in a cache for three
// loops.
__device__ float fused_sum_of_block(float value, float* of_warp) {  // over 256 threads
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warp[threadIdx.x % 8];
#pragma unroll
  for (int apart = 4; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  return value;
}

extern "C" __global__ void __launch_bounds__(256)
    layernorm_gelu_fused(const float* __restrict__ in, const float* __restrict__ weight, const float* __restrict__ bias,
                         float* __restrict__ out, unsigned n) {
  __shared__ float of_warp[2][8];
  const size_t row = static_cast<size_t>(blockIdx.x) * n;
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < n; i += 256) sum += in[row + i];
  const float mean = fused_sum_of_block(sum, of_warp[0]) / static_cast<float>(n);
  float squares = 0.0f;
  for (unsigned i = threadIdx.x; i < n; i += 256) squares += (in[row + i] - mean) * (in[row + i] - mean);
  const float scale = rsqrtf(fused_sum_of_block(squares, of_warp[1]) / static_cast<float>(n) + 1e-5f);
  for (unsigned i = threadIdx.x; i < n; i += 256) {
    const float y = (in[row + i] - mean) * scale * weight[i] + bias[i];
    out[row + i] = 0.5f * y * (1.0f + erff(y * 0.70710678f));
  }
}
