// out[thread] = sum of every word in its block's 65,536 (256 KiB). A warp's load takes words 1 apart. Its 128 bytes
// are four sectors of 32, all of them used.
extern "C" __global__ void __launch_bounds__(256)
    stride_1(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned) {
  constexpr unsigned stride = 1;
  const unsigned* from = in + blockIdx.x * 65536u + threadIdx.x * stride;
  unsigned sum = 0;
#pragma unroll 8
  for (unsigned i = 0; i < 256 / stride; ++i) sum += from[i * 256 * stride];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
