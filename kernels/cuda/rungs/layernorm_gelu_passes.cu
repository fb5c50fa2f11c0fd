// out = GELU(LayerNorm(in)) for rows of n floats, one kernel for each formula: the mean of a row, its deviation, the
// normalized row times weight plus bias, GELU. Two reads, then two times a read and a write: six passes over the
// matrix. `rows` holds n means, then n times 1 / deviation.
__device__ float passes_sum_of_block(float value) {  // over 256 threads
  __shared__ float of_warp[8];
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
    layernorm_gelu_mean(const float* __restrict__ in, float* __restrict__ rows, unsigned n) {
  const float* row = in + static_cast<size_t>(blockIdx.x) * n;
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < n; i += 256) sum += row[i];
  sum = passes_sum_of_block(sum);
  if (threadIdx.x == 0) rows[blockIdx.x] = sum / static_cast<float>(n);
}

extern "C" __global__ void __launch_bounds__(256)
    layernorm_gelu_deviation(const float* __restrict__ in, float* __restrict__ rows, unsigned n) {
  const float* row = in + static_cast<size_t>(blockIdx.x) * n;
  const float mean = rows[blockIdx.x];
  float squares = 0.0f;  // about the mean: the mean of squares minus the squared mean would cancel
  for (unsigned i = threadIdx.x; i < n; i += 256) squares += (row[i] - mean) * (row[i] - mean);
  squares = passes_sum_of_block(squares);
  if (threadIdx.x == 0) rows[n + blockIdx.x] = rsqrtf(squares / static_cast<float>(n) + 1e-5f);
}

extern "C" __global__ void __launch_bounds__(256)
    layernorm_gelu_normalize(const float* __restrict__ in, const float* __restrict__ weight,
                             const float* __restrict__ bias, const float* __restrict__ rows, float* __restrict__ out,
                             unsigned n) {
  const size_t row = static_cast<size_t>(blockIdx.x) * n;
  const float mean = rows[blockIdx.x], scale = rows[n + blockIdx.x];
  for (unsigned i = threadIdx.x; i < n; i += 256) out[row + i] = (in[row + i] - mean) * scale * weight[i] + bias[i];
}

extern "C" __global__ void __launch_bounds__(256) layernorm_gelu_passes(float* out, unsigned n) {
  float* row = out + static_cast<size_t>(blockIdx.x) * n;
  for (unsigned i = threadIdx.x; i < n; i += 256) row[i] = 0.5f * row[i] * (1.0f + erff(row[i] * 0.70710678f));
}
