// C = A B, n x n floats by rows, n a multiple of 128. Each warp owns a 64 x 32 tile of the block's 128 x 128, and each
// lane four 4 x 4 squares of it, 32 rows and 16 columns apart: a warp's shared loads touch 128 bytes of A and 64 of B,
// without a bank conflict. Two buffers of tiles: the next is fetched from global memory while this one is used, with
// one barrier a tile.
struct Fragment {
  float4 low, high;
  __device__ float operator[](unsigned i) const {
    const float4 v = i < 4 ? low : high;
    return i % 4 == 0 ? v.x : i % 4 == 1 ? v.y : i % 4 == 2 ? v.z : v.w;
  }
};

extern "C" __global__ void __launch_bounds__(256, 2)
    sgemm_warp(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
  __shared__ float4 a_tile[2][8][32], b_tile[2][8][32];  // [buffer][k][four rows of A or columns of B]
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  const unsigned row = warp / 4 * 64 + lane / 4 * 4;  // rows row .. row+3 and row+32 .. row+35
  const unsigned col = warp % 4 * 32 + lane % 4 * 4;  // columns col .. col+3 and col+16 .. col+19
  const unsigned a_row = t / 2, a_k = t % 2 * 4;
  const unsigned b_k = t / 32, b_chunk = t % 32;
  a += size_t(blockIdx.y * 128 + a_row) * n + a_k;
  b += size_t(b_k) * n + blockIdx.x * 128 + b_chunk * 4;

  float4 next_a = *reinterpret_cast<const float4*>(a);
  float4 next_b = *reinterpret_cast<const float4*>(b);
  float sum[8][8] = {};
  unsigned buffer = 0;
  for (unsigned k0 = 0; k0 < n; k0 += 8) {
    float* turned = reinterpret_cast<float*>(a_tile[buffer]);
    turned[(a_k + 0) * 128 + a_row] = next_a.x;
    turned[(a_k + 1) * 128 + a_row] = next_a.y;
    turned[(a_k + 2) * 128 + a_row] = next_a.z;
    turned[(a_k + 3) * 128 + a_row] = next_a.w;
    b_tile[buffer][b_k][b_chunk] = next_b;
    __syncthreads();  // also: everyone is done with the other buffer, which the next turn overwrites
    if (k0 + 8 < n) {
      next_a = *reinterpret_cast<const float4*>(a + k0 + 8);
      next_b = *reinterpret_cast<const float4*>(b + size_t(k0 + 8) * n);
    }
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const Fragment a_part{a_tile[buffer][k][row / 4], a_tile[buffer][k][row / 4 + 8]};
      const Fragment b_part{b_tile[buffer][k][col / 4], b_tile[buffer][k][col / 4 + 4]};
#pragma unroll
      for (unsigned i = 0; i < 8; ++i)
#pragma unroll
        for (unsigned j = 0; j < 8; ++j) sum[i][j] += a_part[i] * b_part[j];
    }
    buffer ^= 1;
  }
  c += size_t(blockIdx.y * 128 + row) * n + blockIdx.x * 128 + col;
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) {
    float* to = c + size_t(i % 4 + i / 4 * 32) * n;
    *reinterpret_cast<float4*>(to) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    *reinterpret_cast<float4*>(to + 16) = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
  }
}
