// C = A B^T, n x n in bf16, n a multiple of 16. Each row of a tile has its eight chunks in another order, so that the
// eight rows of a matrix lie in different banks.
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

// 16 bytes on their way into shared memory, past the registers; zeros instead where they are not `valid`.
__device__ void copy_async_16(void* shared, const void* global, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(unsigned(__cvta_generic_to_shared(shared))), "l"(__cvta_generic_to_global(global)),
                 "r"(valid ? 16 : 0)
               : "memory");
}

__device__ void copy_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Four 8 x 8 matrices: lane l names row l % 8 of matrix l / 8 and gets elements 2 (l % 4) and one more of row l / 4 of
// each.
__device__ void ldmatrix_x4(unsigned (&part)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(unsigned(__cvta_generic_to_shared(shared_row)))
               : "memory");
}

// Where a chunk lies: XORed with its row, so that eight rows of one column are in all 32 banks.
__device__ unsigned position(unsigned row, unsigned chunk) { return row * 8 + (chunk ^ row % 8); }

// Rows `row` to row + 127, columns k to k + 63; zeros beyond the edge.
__device__ void load_tile(uint4* to, const unsigned short* from, unsigned row, unsigned k, unsigned n) {
#pragma unroll
  for (unsigned i = threadIdx.x; i < tile * 8; i += 256) {
    const unsigned r = row + i / 8, column = k + i % 8 * 8;
    const bool valid = r < n && column < n;
    copy_async_16(to + position(i / 8, i % 8), valid ? from + size_t(r) * n + column : from, valid);
  }
}

extern "C" __global__ void __launch_bounds__(256, 2)
    bf16_gemm_swizzle(const unsigned short* a, const unsigned short* b, unsigned short* c, unsigned n) {
  __shared__ uint4 a_tile[tile * 8], b_tile[tile * 8];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  float sum[4][4][4] = {};
  for (unsigned k = 0; k < n; k += depth) {
    load_tile(a_tile, a, blockIdx.y * tile, k, n);
    load_tile(b_tile, b, blockIdx.x * tile, k, n);
    copy_async_wait_all();
    __syncthreads();
#pragma unroll
    for (unsigned step = 0; step < depth / 8; step += 2) {  // chunks of 8 elements
      unsigned a_part[4][4], b_part[2][4];
#pragma unroll
      for (unsigned i = 0; i < 4; ++i)
        ldmatrix_x4(a_part[i], a_tile + position(warp_row + 16 * i + lane % 16, step + lane / 16));
#pragma unroll
      for (unsigned j = 0; j < 2; ++j)
        ldmatrix_x4(b_part[j], b_tile + position(warp_column + 16 * j + lane / 16 * 8 + lane % 8, step + lane / 8 % 2));
#pragma unroll
      for (unsigned i = 0; i < 4; ++i)
#pragma unroll
        for (unsigned j = 0; j < 4; ++j)
          mma_m16n8k16(sum[i][j], a_part[i], b_part[j / 2][j % 2 * 2], b_part[j / 2][j % 2 * 2 + 1]);
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
