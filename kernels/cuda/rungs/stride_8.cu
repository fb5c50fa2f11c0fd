// out[thread] = sum of every eighth word in its block's 65,536 (256 KiB). A warp's load takes words 8 apart. Each
// lane has a sector of its own, an eighth of it used.
extern "C" __global__ void __launch_bounds__(256)
    stride_8(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned) {
  constexpr unsigned stride = 8;
  const unsigned* from = in + blockIdx.x * 65536u + threadIdx.x * stride;
  unsigned sum = 0;
#pragma unroll 8
  for (unsigned i = 0; i < 256 / stride; ++i) sum += from[i * 256 * stride];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
