// out[block] = sum of 512 floats of `in`. Lanes of a warp add through registers (a shuffle names its lanes and is their
// barrier, so nothing relies on a warp running in step); shared memory carries one number a warp, with one barrier
// instead of eight.
__device__ float warp_sum(float value) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_down_sync(0xffffffffu, value, apart);
  return value;  // in lane 0
}

extern "C" __global__ void __launch_bounds__(256)
    reduce_shuffle(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  __shared__ float of_warp[8];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * 512 + t;
  const float value = warp_sum((i < n ? in[i] : 0.0f) + (i + 256 < n ? in[i + 256] : 0.0f));
  if (t % 32 == 0) of_warp[t / 32] = value;
  __syncthreads();
  if (t < 32) {
    const float total = warp_sum(t < 8 ? of_warp[t] : 0.0f);
    if (t == 0) out[blockIdx.x] = total;
  }
}
