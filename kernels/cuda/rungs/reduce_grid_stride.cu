// out[block] = a share of the sum of n floats of `in`: a few blocks a multiprocessor walk the array in steps of the
// whole grid, four float4 in flight a thread. The tree runs once a block instead of once for every 512 numbers, and one
// more launch adds the blocks.
__device__ float block_warp_sum(float value) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_down_sync(0xffffffffu, value, apart);
  return value;  // in lane 0
}
__device__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }

extern "C" __global__ void __launch_bounds__(256)
    reduce_grid_stride(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  __shared__ float of_warp[8];
  const unsigned t = threadIdx.x;
  const unsigned stride = gridDim.x * 256;
  const unsigned vectors = n / 4;
  const float4* from = reinterpret_cast<const float4*>(in);
  float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
  unsigned i = blockIdx.x * 256 + t;
  for (; i + 3 * stride < vectors; i += 4 * stride) {
    const float4 p = from[i], q = from[i + stride], r = from[i + 2 * stride], s = from[i + 3 * stride];
    a += sum_of(p);
    b += sum_of(q);
    c += sum_of(r);
    d += sum_of(s);
  }
  for (; i < vectors; i += stride) a += sum_of(from[i]);
  if (blockIdx.x == 0 && t < n % 4) b += in[4 * vectors + t];
  const float value = block_warp_sum((a + b) + (c + d));
  if (t % 32 == 0) of_warp[t / 32] = value;
  __syncthreads();
  if (t < 32) {
    const float total = block_warp_sum(t < 8 ? of_warp[t] : 0.0f);
    if (t == 0) out[blockIdx.x] = total;
  }
}
