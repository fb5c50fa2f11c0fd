// C = A B, n x n floats by rows, n a multiple of 32. A block keeps 32 x 32 tiles of A and B in shared memory and uses
// each number 32 times: 1/32 of the global loads. Still two shared loads for every multiply-add, which is now the
// limit. Block 32 x 32.
extern "C" __global__ void __launch_bounds__(1024)
    sgemm_shared(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * 32 + y;
  const unsigned col = blockIdx.x * 32 + x;
  float sum = 0.0f;
  for (unsigned k0 = 0; k0 < n; k0 += 32) {
    a_tile[y][x] = a[size_t(row) * n + k0 + x];
    b_tile[y][x] = b[size_t(k0 + y) * n + col];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < 32; ++k) sum += a_tile[y][k] * b_tile[k][x];
    __syncthreads();
  }
  c[size_t(row) * n + col] = sum;
}
