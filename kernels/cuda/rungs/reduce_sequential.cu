// out[block] = sum of 256 floats of `in`. The first half of the threads adds the second half, then the first quarter,
// ...: those that work stay in whole warps, warps that are done skip, and neighbours read neighbouring banks.
extern "C" __global__ void __launch_bounds__(256)
    reduce_sequential(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  __shared__ float sum[256];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * 256 + t;
  sum[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (t < half) sum[t] += sum[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sum[0];
}
