// out[block] = sum of 512 floats of `in`. Each thread adds two values as it loads them: in the plain tree half of the
// threads do nothing but load. Half the blocks, two loads in flight a thread.
extern "C" __global__ void __launch_bounds__(256)
    reduce_first_add(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  __shared__ float sum[256];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * 512 + t;
  sum[t] = (i < n ? in[i] : 0.0f) + (i + 256 < n ? in[i + 256] : 0.0f);
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (t < half) sum[t] += sum[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sum[0];
}
