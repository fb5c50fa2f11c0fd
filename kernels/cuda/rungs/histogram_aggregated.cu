// counts[e] = how many of n floats have the exponent e (0 to 255). The lanes of a warp that hold the same exponent find
// each other, and the first of them adds for all: a warp makes one addition for each exponent that it meets.
extern "C" __global__ void __launch_bounds__(256) histogram_aggregated_clear(unsigned* counts) {
  counts[threadIdx.x] = 0;
}

extern "C" __global__ void __launch_bounds__(256)
    histogram_aggregated(const float* __restrict__ in, unsigned* __restrict__ counts, unsigned n) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32, stride = gridDim.x * blockDim.x;
  // All lanes of a warp take the same number of steps, so that they can speak to each other.
  for (unsigned first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < n; first += stride) {
    const bool holds = first + lane < n;
    const unsigned holders = __ballot_sync(0xffffffffu, holds);
    if (holds) {
      const unsigned exponent = __float_as_uint(in[first + lane]) >> 23 & 255u;
      const unsigned same = __match_any_sync(holders, exponent);
      if (__ffs(same) - 1 == static_cast<int>(lane)) atomicAdd(&mine[exponent], static_cast<unsigned>(__popc(same)));
    }
  }
  __syncthreads();
  if (mine[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
