// C = A B, n x n floats by rows, n a multiple of 128. As before, with float4 for every load and store: the tile of A is
// stored turned, so that the eight rows a thread needs lie side by side and come in two instructions instead of eight.
extern "C" __global__ void __launch_bounds__(256, 2)
    sgemm_vector(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
  __shared__ float4 a_tile[8][32], b_tile[8][32];  // [k][four rows of A], [k][four columns of B]
  const unsigned t = threadIdx.x;
  const unsigned row = t / 16 * 8, col = t % 16 * 8;
  const unsigned a_row = t / 2, a_k = t % 2 * 4;  // the float4 of A that this thread brings
  const unsigned b_k = t / 32, b_chunk = t % 32;  // and of B
  a += size_t(blockIdx.y * 128 + a_row) * n + a_k;
  b += size_t(b_k) * n + blockIdx.x * 128 + b_chunk * 4;
  float sum[8][8] = {};
  for (unsigned k0 = 0; k0 < n; k0 += 8) {
    const float4 four_k = *reinterpret_cast<const float4*>(a + k0);
    float* turned = reinterpret_cast<float*>(a_tile);
    turned[(a_k + 0) * 128 + a_row] = four_k.x;
    turned[(a_k + 1) * 128 + a_row] = four_k.y;
    turned[(a_k + 2) * 128 + a_row] = four_k.z;
    turned[(a_k + 3) * 128 + a_row] = four_k.w;
    b_tile[b_k][b_chunk] = *reinterpret_cast<const float4*>(b + size_t(k0) * n);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const float4 a0 = a_tile[k][row / 4], a1 = a_tile[k][row / 4 + 1];
      const float4 b0 = b_tile[k][col / 4], b1 = b_tile[k][col / 4 + 1];
      const float a_part[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      const float b_part[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (unsigned i = 0; i < 8; ++i)
#pragma unroll
        for (unsigned j = 0; j < 8; ++j) sum[i][j] += a_part[i] * b_part[j];
    }
    __syncthreads();
  }
  c += size_t(blockIdx.y * 128 + row) * n + blockIdx.x * 128 + col;
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) {
    float4* to = reinterpret_cast<float4*>(c + size_t(i) * n);
    to[0] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    to[1] = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
  }
}
