// C = A B, n x n floats by rows, n a multiple of 128. A block makes 128 x 128 of C with 256 threads, 8 x 8 a thread: 16
// shared loads feed 64 multiply-adds. The 64 sums live in registers, so few warps fit on a multiprocessor, and it is
// much faster all the same: independent sums hide the latency that more warps would have hidden.
extern "C" __global__ void __launch_bounds__(256, 2)
    sgemm_register(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
  __shared__ float a_tile[128][8], b_tile[8][128];
  const unsigned t = threadIdx.x;
  const unsigned row = t / 16 * 8, col = t % 16 * 8;  // of this thread's square in the tile
  a += size_t(blockIdx.y) * 128 * n;
  b += blockIdx.x * 128;
  float sum[8][8] = {};
  for (unsigned k0 = 0; k0 < n; k0 += 8) {
#pragma unroll
    for (unsigned i = t; i < 1024; i += 256) a_tile[i / 8][i % 8] = a[size_t(i / 8) * n + k0 + i % 8];
#pragma unroll
    for (unsigned i = t; i < 1024; i += 256) b_tile[i / 128][i % 128] = b[size_t(k0 + i / 128) * n + i % 128];
    __syncthreads();
#pragma unroll 2  // whole, the compiler loads so far ahead that the sums no longer fit in 128 registers
    for (unsigned k = 0; k < 8; ++k) {
      float a_part[8], b_part[8];
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) a_part[i] = a_tile[row + i][k];
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) b_part[j] = b_tile[k][col + j];
#pragma unroll
      for (unsigned i = 0; i < 8; ++i)
#pragma unroll
        for (unsigned j = 0; j < 8; ++j) sum[i][j] += a_part[i] * b_part[j];
    }
    __syncthreads();
  }
  c += size_t(blockIdx.y * 128 + row) * n + blockIdx.x * 128 + col;
#pragma unroll
  for (unsigned i = 0; i < 8; ++i)
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) c[size_t(i) * n + j] = sum[i][j];
}
