// C = A B^T, n x n in bf16, n a multiple of 16. A block makes 128 x 128 of C from tiles in shared memory, each of its 8
// warps 64 x 32. The registers of an mma.sync hold known elements: lane l has rows l / 4 and l / 4 + 8 of A and of the
// sums, column l / 4 of B, and there elements 2 (l % 4) and one more, then 8 further on.
constexpr unsigned tile = 128, depth = 64;  // of C, and of k; a row of depth is 8 chunks of 16 bytes

__device__ void mma_m16n8k16(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ unsigned pack_bf16(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

// Rows `row` to row + 127, columns k to k + 63; zeros beyond the edge.
__device__ void load_tile(uint4* to, const unsigned short* from, unsigned row, unsigned k, unsigned n) {
#pragma unroll
  for (unsigned i = threadIdx.x; i < tile * 8; i += 256) {
    const unsigned r = row + i / 8, column = k + i % 8 * 8;
    to[i] =
        r < n && column < n ? *reinterpret_cast<const uint4*>(from + size_t(r) * n + column) : make_uint4(0, 0, 0, 0);
  }
}

extern "C" __global__ void __launch_bounds__(256, 2)
    bf16_gemm_mma(const unsigned short* a, const unsigned short* b, unsigned short* c, unsigned n) {
  __shared__ uint4 a_tile[tile * 8], b_tile[tile * 8];
  const unsigned *a_words = reinterpret_cast<const unsigned*>(a_tile),
                 *b_words = reinterpret_cast<const unsigned*>(b_tile);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  float sum[4][4][4] = {};
  for (unsigned k = 0; k < n; k += depth) {
    load_tile(a_tile, a, blockIdx.y * tile, k, n);
    load_tile(b_tile, b, blockIdx.x * tile, k, n);
    __syncthreads();
#pragma unroll 2
    for (unsigned step = 0; step < depth / 2; step += 8) {  // words of two elements
      unsigned a_part[4][4], b_part[4][2];
#pragma unroll
      for (unsigned i = 0; i < 4; ++i)
#pragma unroll
        for (unsigned r = 0; r < 4; ++r)
          a_part[i][r] =
              a_words[(warp_row + 16 * i + r % 2 * 8 + lane / 4) * (depth / 2) + step + r / 2 * 4 + lane % 4];
#pragma unroll
      for (unsigned j = 0; j < 4; ++j)
#pragma unroll
        for (unsigned r = 0; r < 2; ++r)
          b_part[j][r] = b_words[(warp_column + 8 * j + lane / 4) * (depth / 2) + step + r * 4 + lane % 4];
#pragma unroll
      for (unsigned i = 0; i < 4; ++i)
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) mma_m16n8k16(sum[i][j], a_part[i], b_part[j][0], b_part[j][1]);
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
#pragma unroll
    for (unsigned j = 0; j < 4; ++j)
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned row = blockIdx.y * tile + warp_row + 16 * i + lane / 4 + 8 * half;
        const unsigned column = blockIdx.x * tile + warp_column + 8 * j + lane % 4 * 2;
        if (row < n && column < n)
          *reinterpret_cast<unsigned*>(c + size_t(row) * n + column) =
              pack_bf16(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
      }
}
