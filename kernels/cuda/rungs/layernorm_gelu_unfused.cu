// out = GELU(LayerNorm(in)) for rows of n floats, in two kernels with a block a row. LayerNorm reads its row from
// memory once and finds it in a cache for the next two loops; GELU reads the result and writes it again: four passes.
__device__ float unfused_sum_of_block(float value, float* of_warp) {  // over 256 threads
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
    layernorm_gelu_unfused(const float* __restrict__ in, const float* __restrict__ weight,
                           const float* __restrict__ bias, float* __restrict__ out, unsigned n) {
  __shared__ float of_warp[2][8];
  const size_t row = static_cast<size_t>(blockIdx.x) * n;
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < n; i += 256) sum += in[row + i];
  const float mean = unfused_sum_of_block(sum, of_warp[0]) / static_cast<float>(n);
  float squares = 0.0f;
  for (unsigned i = threadIdx.x; i < n; i += 256) squares += (in[row + i] - mean) * (in[row + i] - mean);
  const float scale = rsqrtf(unfused_sum_of_block(squares, of_warp[1]) / static_cast<float>(n) + 1e-5f);
  for (unsigned i = threadIdx.x; i < n; i += 256) out[row + i] = (in[row + i] - mean) * scale * weight[i] + bias[i];
}

extern "C" __global__ void __launch_bounds__(256) layernorm_gelu_unfused_gelu(float* out, unsigned n) {
  float* row = out + static_cast<size_t>(blockIdx.x) * n;
  for (unsigned i = threadIdx.x; i < n; i += 256) row[i] = 0.5f * row[i] * (1.0f + erff(row[i] * 0.70710678f));
}
