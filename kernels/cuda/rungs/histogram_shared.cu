// counts[e] = how many of n floats have the exponent e (0 to 255). Every block counts in its own shared memory and adds
// its 256 sums to the global ones once, at the end: the threads of one multiprocessor wait for each other, not all.
extern "C" __global__ void __launch_bounds__(256) histogram_shared_clear(unsigned* counts) { counts[threadIdx.x] = 0; }

extern "C" __global__ void __launch_bounds__(256)
    histogram_shared(const float* __restrict__ in, unsigned* __restrict__ counts, unsigned n) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    atomicAdd(&mine[__float_as_uint(in[i]) >> 23 & 255u], 1u);
  __syncthreads();
  if (mine[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
