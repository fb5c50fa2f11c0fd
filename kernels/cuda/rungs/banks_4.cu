// out[thread] = sum of 512 words of shared memory. The lanes of a warp read words 4 apart: four words in every fourth
// bank: four wavefronts a load. volatile: each load is made, as it is written.
extern "C" __global__ void __launch_bounds__(256)
    banks_4(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned) {
  __shared__ unsigned tile[1088];
  constexpr unsigned stride = 4;
  for (unsigned i = threadIdx.x; i < 1088; i += 256) tile[i] = in[i];
  __syncthreads();
  const volatile unsigned* column = tile + threadIdx.x % 32 * stride;
  unsigned sum = 0;
  for (unsigned round = 0; round < 16; ++round)
#pragma unroll
    for (unsigned i = 0; i < 32; ++i) sum += column[i];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
