// out[c][r] = in[r][c], n x n floats, n a multiple of 32. One unused word at the end of each row of the tile:
// neighbours of a column are 33 words apart and lie in 32 different banks. Block 32 x 8.
extern "C" __global__ void __launch_bounds__(256)
    transpose_padded(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  __shared__ float tile[32][33];
  const unsigned x = threadIdx.x;
  const unsigned from_r = blockIdx.y * 32, from_c = blockIdx.x * 32;
#pragma unroll
  for (unsigned y = threadIdx.y; y < 32; y += 8) tile[y][x] = in[size_t(from_r + y) * n + from_c + x];
  __syncthreads();
#pragma unroll
  for (unsigned y = threadIdx.y; y < 32; y += 8) out[size_t(from_c + y) * n + from_r + x] = tile[x][y];
}
