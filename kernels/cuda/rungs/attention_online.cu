// out = softmax(Q K^T / sqrt(128)) V in bf16, a head a blockIdx.y, without a tensor core. A block takes 32 queries and
// meets 32 keys at a time; eight lanes share a query. The largest score and the sum so far are kept, and what was added
// before shrinks when a larger score comes: no score is ever written to memory.
constexpr unsigned words = 64;  // a row of 128 bf16

__device__ float low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float high(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ unsigned pack_bf16(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

// A value of the eight lanes that share a query.
__device__ float eight_max(float value) {
#pragma unroll
  for (int apart = 4; apart > 0; apart /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, apart));
  return value;
}

__device__ float eight_sum(float value) {
#pragma unroll
  for (int apart = 4; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  return value;
}

extern "C" __global__ void __launch_bounds__(256)
    attention_online(const unsigned* q, const unsigned* k, const unsigned* v, unsigned* out, unsigned tokens) {
  __shared__ unsigned q_tile[32][words + 1], k_tile[32][words + 1], v_tile[32][words];
  const unsigned t = threadIdx.x, mine = t % 8, row = t / 8, query = blockIdx.x * 32 + row;
  const size_t head = size_t(blockIdx.y) * tokens * words;
  for (unsigned i = t; i < 32 * words; i += 256) {
    const unsigned r = blockIdx.x * 32 + i / words;
    q_tile[i / words][i % words] = r < tokens ? q[head + size_t(r) * words + i % words] : 0;
  }
  float sum[8][2] = {}, largest = -1e30f, total = 0;
  for (unsigned first = 0; first < tokens; first += 32) {
    for (unsigned i = t; i < 32 * words; i += 256) {
      const bool valid = first + i / words < tokens;
      k_tile[i / words][i % words] = valid ? k[head + size_t(first) * words + i] : 0;
      v_tile[i / words][i % words] = valid ? v[head + size_t(first) * words + i] : 0;
    }
    __syncthreads();
    float score[4] = {};  // of keys mine, mine + 8, ...
#pragma unroll 4
    for (unsigned i = 0; i < words; ++i) {
      const unsigned a = q_tile[row][i];
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned b = k_tile[mine + 8 * j][i];
        score[j] += low(a) * low(b) + high(a) * high(b);
      }
    }
    float highest = largest;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      score[j] = first + mine + 8 * j < tokens ? score[j] * 0.12751743f : -1e30f;  // log2(e) / sqrt(128)
      highest = fmaxf(highest, score[j]);
    }
    highest = eight_max(highest);
    const float shrink = exp2f(largest - highest);
    largest = highest;
    total *= shrink;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      score[j] = exp2f(score[j] - highest);
      total += score[j];
    }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
      sum[i][0] *= shrink;
      sum[i][1] *= shrink;
    }
#pragma unroll
    for (unsigned j = 0; j < 4; ++j)
#pragma unroll 2
      for (unsigned lane = 0; lane < 8; ++lane) {  // the one of the eight that has the key's weight
        const float weight = __shfl_sync(0xffffffffu, score[j], int(t % 32 / 8 * 8 + lane));
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) {
          const unsigned pair = v_tile[lane + 8 * j][mine + 8 * i];
          sum[i][0] += weight * low(pair);
          sum[i][1] += weight * high(pair);
        }
      }
    __syncthreads();
  }
  const float scale = 1 / eight_sum(total);
  if (query >= tokens) return;
#pragma unroll
  for (unsigned i = 0; i < 8; ++i)
    out[head + size_t(query) * words + mine + 8 * i] = pack_bf16(sum[i][0] * scale, sum[i][1] * scale);
}
