// out[c][r] = in[r][c], n x n floats. A warp reads 32 neighbours of a row (4 sectors of 32 bytes) and writes 32 rows of
// the result (32 sectors, 4 of their 32 bytes used): stores cost eight times their bytes unless a cache gathers them.
// Block 32 x 8.
extern "C" __global__ void __launch_bounds__(256)
    transpose_naive(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  const unsigned c = blockIdx.x * 32 + threadIdx.x;
  for (unsigned y = threadIdx.y; y < 32; y += 8) {
    const unsigned r = blockIdx.y * 32 + y;
    out[size_t(c) * n + r] = in[size_t(r) * n + c];
  }
}
