// Every row of n floats of `in` becomes exp(x - max) / sum, by three kernels, each with a block a row: the row's
// maximum, its exponentials and their sum, the division. `rows` holds n maxima, then n sums. Three reads of the matrix
// and two writes.
template <bool adds>
__device__ float three_of_block(float value) {  // the sum, or the maximum, over 256 threads
  __shared__ float of_warp[8];
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
    softmax_three_max(const float* __restrict__ in, float* __restrict__ rows, unsigned n) {
  const float* row = in + static_cast<size_t>(blockIdx.x) * n;
  float largest = -3.4e38f;
  for (unsigned i = threadIdx.x; i < n; i += 256) largest = fmaxf(largest, row[i]);
  largest = three_of_block<false>(largest);
  if (threadIdx.x == 0) rows[blockIdx.x] = largest;
}

extern "C" __global__ void __launch_bounds__(256)
    softmax_three_exp(const float* __restrict__ in, float* __restrict__ rows, float* __restrict__ out, unsigned n) {
  const size_t row = static_cast<size_t>(blockIdx.x) * n;
  const float largest = rows[blockIdx.x];
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < n; i += 256) {
    const float e = expf(in[row + i] - largest);
    out[row + i] = e;
    sum += e;
  }
  sum = three_of_block<true>(sum);
  if (threadIdx.x == 0) rows[n + blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(256)
    softmax_three(const float* __restrict__ rows, float* __restrict__ out, unsigned n) {
  float* row = out + static_cast<size_t>(blockIdx.x) * n;
  const float scale = 1.0f / rows[n + blockIdx.x];
  for (unsigned i = threadIdx.x; i < n; i += 256) row[i] *= scale;
}
