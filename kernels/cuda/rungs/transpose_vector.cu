// out[c][r] = in[r][c], n x n floats, n a multiple of 64. Each thread turns a 4 x 4 square in registers and moves
// float4 everywhere: four loads in flight, 256 bytes of every row of a 64 x 64 tile together. Chunks of 16 bytes are
// swizzled by their row, so that the eight lanes of a quarter-warp use all 32 banks both ways. Block 16 x 16.
extern "C" __global__ void __launch_bounds__(256)
    transpose_vector(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  __shared__ float4 tile[64][16];  // [column of in][chunk of four rows of in]
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned from_r = blockIdx.y * 64, from_c = blockIdx.x * 64;
  float4 row[4];
#pragma unroll
  for (unsigned j = 0; j < 4; ++j)
    row[j] = *reinterpret_cast<const float4*>(in + size_t(from_r + 4 * y + j) * n + from_c + 4 * x);
  const unsigned chunk = y ^ (x & 7);  // rows 4x .. 4x+3 of the tile share x as their swizzle
  tile[4 * x + 0][chunk] = make_float4(row[0].x, row[1].x, row[2].x, row[3].x);
  tile[4 * x + 1][chunk] = make_float4(row[0].y, row[1].y, row[2].y, row[3].y);
  tile[4 * x + 2][chunk] = make_float4(row[0].z, row[1].z, row[2].z, row[3].z);
  tile[4 * x + 3][chunk] = make_float4(row[0].w, row[1].w, row[2].w, row[3].w);
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) {
    const unsigned r = y + 16 * j;
    *reinterpret_cast<float4*>(out + size_t(from_c + r) * n + from_r + 4 * x) = tile[r][x ^ ((r >> 2) & 7)];
  }
}
