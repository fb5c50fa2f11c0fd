// out[block] = sum of 256 floats of `in`; run again on the partial sums until one is left. Partners are neighbours
// first, then 2, 4, ... apart: at each step the threads that work are spread over all warps, so every warp walks every
// step with ever fewer lanes.
extern "C" __global__ void __launch_bounds__(256)
    reduce_interleaved(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  __shared__ float sum[256];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * 256 + t;
  sum[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned step = 1; step < 256; step *= 2) {
    if (t % (2 * step) == 0) sum[t] += sum[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sum[0];
}
