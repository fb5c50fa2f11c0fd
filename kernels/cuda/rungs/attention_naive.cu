// out = softmax(Q K^T / sqrt(128)) V in bf16, one head: three kernels, and between them a score for every pair of
// tokens in memory, four bytes each.
__device__ float low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float high(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ unsigned pack_bf16(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

// A thread makes one score; a row of 128 is 64 words of two bf16.
extern "C" __global__ void __launch_bounds__(256)
    attention_naive(const unsigned* q, const unsigned* k, float* scores, unsigned tokens) {
  const unsigned key = blockIdx.x * 32 + threadIdx.x, query = blockIdx.y * 8 + threadIdx.y;
  if (key >= tokens || query >= tokens) return;
  float sum = 0;
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned a = q[query * 64 + i], b = k[key * 64 + i];
    sum += low(a) * low(b) + high(a) * high(b);
  }
  scores[size_t(query) * tokens + key] = sum * 0.088388348f;  // 1 / sqrt(128)
}

// A warp makes one row of scores into weights: the largest, the sum, the quotients.
extern "C" __global__ void __launch_bounds__(256) attention_naive_softmax(float* scores, unsigned tokens) {
  const unsigned lane = threadIdx.x % 32, query = blockIdx.x * 8 + threadIdx.x / 32;
  if (query >= tokens) return;
  float* row = scores + size_t(query) * tokens;
  float largest = -1e30f, total = 0;
  for (unsigned key = lane; key < tokens; key += 32) largest = fmaxf(largest, row[key]);
  for (int apart = 16; apart > 0; apart /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
  for (unsigned key = lane; key < tokens; key += 32) total += expf(row[key] - largest);
  for (int apart = 16; apart > 0; apart /= 2) total += __shfl_xor_sync(0xffffffffu, total, apart);
  for (unsigned key = lane; key < tokens; key += 32) row[key] = expf(row[key] - largest) / total;
}

// A thread makes two neighbouring numbers of the output.
extern "C" __global__ void __launch_bounds__(256)
    attention_naive_values(const float* weights, const unsigned* v, unsigned* out, unsigned tokens) {
  const unsigned pair = threadIdx.x % 64, query = blockIdx.x * 4 + threadIdx.x / 64;
  if (query >= tokens) return;
  float left = 0, right = 0;
  for (unsigned key = 0; key < tokens; ++key) {
    const float weight = weights[size_t(query) * tokens + key];
    left += weight * low(v[key * 64 + pair]);
    right += weight * high(v[key * 64 + pair]);
  }
  out[size_t(query) * 64 + pair] = pack_bf16(left, right);
}
