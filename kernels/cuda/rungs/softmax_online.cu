// Every row of n floats of `in` becomes exp(x - max) / sum. Maximum and sum come from one loop: when a larger value
// comes, the sum so far is multiplied by exp(old max - new max). Two loops over the row instead of three.
__device__ void online_join(float& largest, float& sum, float other_largest, float other_sum) {
  const float both = fmaxf(largest, other_largest);
  sum = sum * expf(largest - both) + other_sum * expf(other_largest - both);
  largest = both;
}

extern "C" __global__ void __launch_bounds__(256)
    softmax_online(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  __shared__ float largest_of[8], sum_of[8];
  const size_t row = static_cast<size_t>(blockIdx.x) * n;
  float largest = -3.4e38f, sum = 0.0f;  // finite: a thread without a value must not make inf - inf
  for (unsigned i = threadIdx.x; i < n; i += 256) {
    const float x = in[row + i];
    if (x > largest) {
      sum *= expf(largest - x);
      largest = x;
    }
    sum += expf(x - largest);
  }
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, largest, apart);
    online_join(largest, sum, other, __shfl_xor_sync(0xffffffffu, sum, apart));
  }
  if (threadIdx.x % 32 == 0) {
    largest_of[threadIdx.x / 32] = largest;
    sum_of[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  largest = largest_of[0];
  sum = sum_of[0];
  for (unsigned warp = 1; warp < 8; ++warp) online_join(largest, sum, largest_of[warp], sum_of[warp]);
  const float scale = 1.0f / sum;
  for (unsigned i = threadIdx.x; i < n; i += 256) out[row + i] = expf(in[row + i] - largest) * scale;
}
