// counts[e] = how many of n floats (a multiple of 4) have the exponent e (0 to 255). 32 copies of the counters, one a
// lane, side by side: lane l adds in column l, which is bank l, so that no two lanes of a warp meet. Loads of 16 bytes.
extern "C" __global__ void __launch_bounds__(256) histogram_private_clear(unsigned* counts) { counts[threadIdx.x] = 0; }

extern "C" __global__ void __launch_bounds__(256)
    histogram_private(const float* __restrict__ in, unsigned* __restrict__ counts, unsigned n) {
  __shared__ unsigned mine[256 * 32];
  for (unsigned i = threadIdx.x; i < 256 * 32; i += 256) mine[i] = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32, stride = gridDim.x * blockDim.x;
  const float4* from = reinterpret_cast<const float4*>(in);
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += stride) {
    const float4 v = from[i];
    atomicAdd(&mine[(__float_as_uint(v.x) >> 23 & 255u) * 32 + lane], 1u);
    atomicAdd(&mine[(__float_as_uint(v.y) >> 23 & 255u) * 32 + lane], 1u);
    atomicAdd(&mine[(__float_as_uint(v.z) >> 23 & 255u) * 32 + lane], 1u);
    atomicAdd(&mine[(__float_as_uint(v.w) >> 23 & 255u) * 32 + lane], 1u);
  }
  __syncthreads();
  // Thread e adds row e; each lane starts at its own column, so that the 32 rows of a warp lie in 32 banks.
  unsigned sum = 0;
  for (unsigned j = 0; j < 32; ++j) sum += mine[threadIdx.x * 32 + (j + lane) % 32];
  if (sum > 0) atomicAdd(&counts[threadIdx.x], sum);
}
