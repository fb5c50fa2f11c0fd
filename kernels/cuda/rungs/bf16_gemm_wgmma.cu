// C = A B^T, n x n in bf16, n a multiple of 16. Two warpgroups make 256 x 128 of C, each 128 x 128: wgmma takes both
// operands from shared memory, by descriptors, and runs while the threads copy. The tiles lie in the same XOR order as
// before, which is the 128-byte swizzle that a descriptor can name. A ring of four buffers, 192 KiB.
constexpr unsigned rows = 256, columns = 128, depth = 64;  // of C, and of k
constexpr unsigned stages = 4, stage_chunks = (rows + columns) * 8;

__device__ unsigned pack_bf16(float low, float high) {
  unsigned both;
  asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
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

__device__ void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Until all groups of copies but the newest have arrived.
__device__ void copy_async_wait_1() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }

// Writes of this thread become visible to wgmma, which reads shared memory by another path.
__device__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until all groups of wgmma but the newest are done.
__device__ void wgmma_wait_1() { asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); }

__device__ void wgmma_wait_0() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

// 64 x 128 sums of a warpgroup from 64 rows of A and 128 of B, 16 in k.
__device__ void wgmma_m64n128k16(float (&sum)[64], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
        "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]),
        "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]),
        "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]),
        "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]), "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]),
        "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]), "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]),
        "+f"(sum[43]), "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]), "+f"(sum[48]), "+f"(sum[49]),
        "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]), "+f"(sum[56]),
        "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]), "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63])
      : "l"(a), "l"(b));
}

// Rows of 128 bytes in the 128-byte swizzle, groups of eight rows 1024 bytes apart: addresses in units of 16 bytes.
__device__ unsigned long long descriptor(const void* shared) {
  const unsigned long long address = unsigned(__cvta_generic_to_shared(shared));
  return (address & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// Where a chunk lies: XORed with its row.
__device__ unsigned position(unsigned row, unsigned chunk) { return row * 8 + (chunk ^ row % 8); }

// Rows `row` to row + count - 1, columns k to k + 63; zeros beyond the edge.
__device__ void load_tile(uint4* to, const unsigned short* from, unsigned count, unsigned row, unsigned k, unsigned n) {
#pragma unroll
  for (unsigned i = threadIdx.x; i < count * 8; i += 256) {
    const unsigned r = row + i / 8, column = k + i % 8 * 8;
    const bool valid = r < n && column < n;
    copy_async_16(to + position(i / 8, i % 8), valid ? from + size_t(r) * n + column : from, valid);
  }
}

extern "C" __global__ void __launch_bounds__(256, 1)
    bf16_gemm_wgmma(const unsigned short* a, const unsigned short* b, unsigned short* c, unsigned n) {
  extern __shared__ __align__(1024) unsigned char dynamic_shared[];
  uint4* ring = reinterpret_cast<uint4*>(dynamic_shared);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = threadIdx.x / 128;
  float top[64] = {}, bottom[64] = {};
  const unsigned tiles = (n + depth - 1) / depth;
  const auto load = [&](unsigned step) {
    uint4* to = ring + step % stages * stage_chunks;
    load_tile(to, a, rows, blockIdx.y * rows, step * depth, n);
    load_tile(to + rows * 8, b, columns, blockIdx.x * columns, step * depth, n);
  };
  const auto store = [&](const float(&sum)[64], unsigned first_row) {
#pragma unroll
    for (unsigned j = 0; j < 16; ++j)
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned row = first_row + warp % 4 * 16 + lane / 4 + 8 * half;
        const unsigned column = blockIdx.x * columns + 8 * j + lane % 4 * 2;
        if (row < n && column < n)
          *reinterpret_cast<unsigned*>(c + size_t(row) * n + column) =
              pack_bf16(sum[4 * j + 2 * half], sum[4 * j + 2 * half + 1]);
      }
  };
#pragma unroll
  for (unsigned ahead = 0; ahead < stages - 2; ++ahead) {
    if (ahead < tiles) load(ahead);
    copy_async_commit();
  }
  for (unsigned t = 0; t < tiles; ++t) {
    copy_async_wait_1();
    fence_async_proxy();
    __syncthreads();  // also: both groups are done with tile t - 2, whose buffer is filled next
    if (t + stages - 2 < tiles) load(t + stages - 2);
    copy_async_commit();
    const uint4 *a_tile = ring + t % stages * stage_chunks + group * 128 * 8,
                *b_tile = ring + t % stages * stage_chunks + rows * 8;
    const unsigned long long a_top = descriptor(a_tile), a_bottom = descriptor(a_tile + 64 * 8),
                             b_all = descriptor(b_tile);
    wgmma_fence();
#pragma unroll
    for (unsigned step = 0; step < 4; ++step) {  // 16 elements are 32 bytes, two units of an address
      wgmma_m64n128k16(top, a_top + 2 * step, b_all + 2 * step);
      wgmma_m64n128k16(bottom, a_bottom + 2 * step, b_all + 2 * step);
    }
    wgmma_commit();
    wgmma_wait_1();  // tile t - 1 is done
  }
  wgmma_wait_0();
  store(top, blockIdx.y * rows + group * 128);
  store(bottom, blockIdx.y * rows + group * 128 + 64);
}
