// C = A B^T, n x n in bf16, n a multiple of 16: A has a row of k for each row of C, and B for each column. A warp makes
// 16 x 16 of C, straight from global memory. Which lane holds which element of a WMMA fragment is not promised, so the
// sums go through shared memory to become bf16.
__device__ void load_a_16x16(unsigned (&part)[4], const unsigned short* from, unsigned row_elements) {
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "l"(__cvta_generic_to_global(from)), "r"(row_elements)
               : "memory");
}

__device__ void load_b_16x16(unsigned (&part)[4], const unsigned short* from, unsigned column_elements) {
  asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.bf16 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "l"(__cvta_generic_to_global(from)), "r"(column_elements)
               : "memory");
}

__device__ void wmma_16x16x16(float (&sum)[8], const unsigned (&a)[4], const unsigned (&b)[4]) {
  asm volatile(
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
      "{%8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
}

__device__ void store_16x16(float* shared, const float (&sum)[8], unsigned row_elements) {
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;"
               :
               : "r"(unsigned(__cvta_generic_to_shared(shared))), "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3]),
                 "f"(sum[4]), "f"(sum[5]), "f"(sum[6]), "f"(sum[7]), "r"(row_elements)
               : "memory");
}

__device__ unsigned pack_bf16(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

extern "C" __global__ void __launch_bounds__(256)
    bf16_gemm_wmma(const unsigned short* a, const unsigned short* b, unsigned short* c, unsigned n) {
  __shared__ float staged[8][16][16];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned row = blockIdx.y * 32 + warp / 4 * 16, column = blockIdx.x * 64 + warp % 4 * 16;
  if (row >= n || column >= n) return;
  float sum[8] = {};
  for (unsigned k = 0; k < n; k += 16) {
    unsigned a_part[4], b_part[4];
    load_a_16x16(a_part, a + size_t(row) * n + k, n);
    load_b_16x16(b_part, b + size_t(column) * n + k, n);
    wmma_16x16x16(sum, a_part, b_part);
  }
  store_16x16(&staged[warp][0][0], sum, 16);
  __syncwarp();
#pragma unroll
  for (unsigned i = lane; i < 128; i += 32) {
    const float* from = &staged[warp][i / 8][i % 8 * 2];
    *reinterpret_cast<unsigned*>(c + size_t(row + i / 8) * n + column + i % 8 * 2) = pack_bf16(from[0], from[1]);
  }
}
