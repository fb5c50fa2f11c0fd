// out = softmax(Q K^T / sqrt(128)) V in bf16, a head a blockIdx.y. Two buffers of K and V, 64 KiB: the next 64 keys
// are on their way while these are used.
constexpr unsigned width = 128, keys = 64, queries = 64;  // of a head, and of tiles; a row is 16 chunks of 16 bytes
constexpr float log2_scale = 0.12751743f;                 // log2(e) / sqrt(128)
constexpr float nothing = -1e30f;

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

__device__ void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Until all groups of copies but the newest have arrived.
__device__ void copy_async_wait_1() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }

// Four 8 x 8 matrices: lane l names row l % 8 of matrix l / 8 and gets elements 2 (l % 4) and one more of row l / 4 of
// each.
__device__ void ldmatrix_x4(unsigned (&part)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(unsigned(__cvta_generic_to_shared(shared_row)))
               : "memory");
}

// The same, each matrix turned: the lane gets elements of column l / 4.
__device__ void ldmatrix_x4_turned(unsigned (&part)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(unsigned(__cvta_generic_to_shared(shared_row)))
               : "memory");
}

__device__ float quad_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

__device__ float quad_sum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

// Where a chunk lies: XORed with its row, so that eight rows of one column are in all 32 banks.
__device__ unsigned position(unsigned row, unsigned chunk) { return row * 16 + (chunk ^ row % 8); }

// 64 rows from `row` of a head; zeros past the last token.
__device__ void load_rows(uint4* to, const unsigned short* from, unsigned row, unsigned tokens) {
#pragma unroll
  for (unsigned i = threadIdx.x; i < keys * 16; i += 128) {
    const bool valid = row + i / 16 < tokens;
    copy_async_16(to + position(i / 16, i % 16), valid ? from + size_t(row) * width + i * 8 : from, valid);
  }
}

extern "C" __global__ void __launch_bounds__(128)
    attention_pipeline(const unsigned short* q, const unsigned short* k, const unsigned short* v, unsigned short* out,
                       unsigned tokens) {
  extern __shared__ __align__(1024) unsigned char dynamic_shared[];
  uint4* ring = reinterpret_cast<uint4*>(dynamic_shared);
  const unsigned lane = threadIdx.x % 32;
  const size_t head = size_t(blockIdx.y) * tokens * width;
  const unsigned row = blockIdx.x * queries + threadIdx.x / 32 * 16 + lane / 4;  // of the lane: this one and row + 8
  unsigned q_part[8][4];
#pragma unroll
  for (unsigned step = 0; step < 8; ++step)
#pragma unroll
    for (unsigned r = 0; r < 4; ++r) {
      const unsigned query = row + r % 2 * 8, column = 16 * step + r / 2 * 8 + lane % 4 * 2;
      q_part[step][r] =
          query < tokens ? *reinterpret_cast<const unsigned*>(q + head + size_t(query) * width + column) : 0;
    }
  float sum[16][4] = {}, largest[2] = {nothing, nothing}, total[2] = {};
  const auto load = [&](unsigned first) {
    uint4* to = ring + first / keys % 2 * (2 * keys * 16);
    load_rows(to, k + head, first, tokens);
    load_rows(to + keys * 16, v + head, first, tokens);
  };
  load(0);
  copy_async_commit();
  for (unsigned first = 0; first < tokens; first += keys) {
    if (first + keys < tokens) load(first + keys);
    copy_async_commit();
    copy_async_wait_1();
    __syncthreads();
    const uint4 *k_tile = ring + first / keys % 2 * (2 * keys * 16), *v_tile = k_tile + keys * 16;
    float score[8][4] = {};
#pragma unroll
    for (unsigned step = 0; step < 8; ++step)
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        unsigned part[4];
        ldmatrix_x4(part, k_tile + position(16 * j + lane / 16 * 8 + lane % 8, 2 * step + lane / 8 % 2));
        mma_m16n8k16(score[2 * j], q_part[step], part[0], part[1]);
        mma_m16n8k16(score[2 * j + 1], q_part[step], part[2], part[3]);
      }
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {  // the row, and the one 8 below
      float highest = largest[half];
#pragma unroll
      for (unsigned i = 0; i < 16; ++i) {
        float& s = score[i / 2][2 * half + i % 2];
        s = first + i / 2 * 8 + lane % 4 * 2 + i % 2 < tokens ? s * log2_scale : nothing;
        highest = fmaxf(highest, s);
      }
      highest = quad_max(highest);
      const float shrink = exp2f(largest[half] - highest);
      largest[half] = highest;
      total[half] *= shrink;
#pragma unroll
      for (unsigned i = 0; i < 16; ++i) {
        float& s = score[i / 2][2 * half + i % 2];
        s = exp2f(s - highest);
        total[half] += s;
      }
#pragma unroll
      for (unsigned j = 0; j < 16; ++j) {
        sum[j][2 * half] *= shrink;
        sum[j][2 * half + 1] *= shrink;
      }
    }
    // The sums of one mma.sync lie as the next one takes its A: the weights need not leave their registers.
#pragma unroll
    for (unsigned step = 0; step < 4; ++step) {
      const float(&left)[4] = score[2 * step], (&right)[4] = score[2 * step + 1];
      const unsigned weights[4] = {pack_bf16(left[0], left[1]), pack_bf16(left[2], left[3]),
                                   pack_bf16(right[0], right[1]), pack_bf16(right[2], right[3])};
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) {
        unsigned part[4];
        ldmatrix_x4_turned(part, v_tile + position(16 * step + lane % 16, 2 * j + lane / 16));
        mma_m16n8k16(sum[2 * j], weights, part[0], part[1]);
        mma_m16n8k16(sum[2 * j + 1], weights, part[2], part[3]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    const float scale = 1 / quad_sum(total[half]);
    const unsigned query = row + 8 * half;
    if (query >= tokens) continue;
#pragma unroll
    for (unsigned j = 0; j < 16; ++j)
      *reinterpret_cast<unsigned*>(out + head + size_t(query) * width + 8 * j + lane % 4 * 2) =
          pack_bf16(sum[j][2 * half] * scale, sum[j][2 * half + 1] * scale);
  }
}
