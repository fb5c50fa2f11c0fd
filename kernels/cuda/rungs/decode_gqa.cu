// One decode step of attention over K and V in BF16 pages of [16 tokens][4 heads][128], found through `table`. A block
// serves the four query heads that share a head of K and V: what it loads of them is used four times, and a quarter of
// the blocks ask for it. `sequences` holds for each sequence its tokens and where its pages begin in the table.
__device__ void gqa_eight(uint4 from, float* to) {  // BF16 is the upper half of FP32
  const unsigned pairs[4] = {from.x, from.y, from.z, from.w};
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) {
    to[2 * j] = __uint_as_float(pairs[j] << 16);
    to[2 * j + 1] = __uint_as_float(pairs[j] & 0xffff0000u);
  }
}

extern "C" __global__ void __launch_bounds__(128, 4)
    decode_gqa(const uint4* __restrict__ q, const uint4* __restrict__ k, const uint4* __restrict__ v,
               const uint2* __restrict__ sequences, const unsigned* __restrict__ table, float* __restrict__ parts) {
  __shared__ float largest_of[4][8], sum_of[4][8], values_of[4][8][128];
  const unsigned half = threadIdx.x / 16, lane = threadIdx.x % 16;
  const unsigned group = blockIdx.x, chunk = blockIdx.y, sequence = blockIdx.z, tokens = sequences[sequence].x;
  if (chunk * 256 >= tokens) return;
  const unsigned end = min(tokens, chunk * 256 + 256);
  float query[4][8], values[4][8] = {}, largest[4], sum[4];
#pragma unroll
  for (unsigned h = 0; h < 4; ++h) {
    gqa_eight(q[(sequence * 16 + group * 4 + h) * 16 + lane], query[h]);
    largest[h] = -3.4e38f;
    sum[h] = 0.0f;
  }
  for (unsigned first = chunk * 256; first < end; first += 8) {
    const bool holds = first + half < end;
    const unsigned place = holds ? first + half : 0;  // in the sequence
    const unsigned token = table[sequences[sequence].y + place / 16] * 16 + place % 16;
    float key[8], value[8];
    gqa_eight(k[(token * 4 + group) * 16 + lane], key);
    gqa_eight(v[(token * 4 + group) * 16 + lane], value);
#pragma unroll
    for (unsigned h = 0; h < 4; ++h) {
      float score = 0.0f;
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) score += query[h][j] * key[j];
#pragma unroll
      for (int apart = 8; apart > 0; apart /= 2) score += __shfl_xor_sync(0xffffffffu, score, apart);
      score = holds ? score * 0.088388348f : largest[h];
      const float both = fmaxf(largest[h], score), before = expf(largest[h] - both);
      const float weight = holds ? expf(score - both) : 0.0f;
      largest[h] = both;
      sum[h] = sum[h] * before + weight;
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) values[h][j] = values[h][j] * before + weight * value[j];
    }
  }
#pragma unroll
  for (unsigned h = 0; h < 4; ++h) {
    if (lane == 0) {
      largest_of[h][half] = largest[h];
      sum_of[h][half] = sum[h];
    }
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) values_of[h][half][lane * 8 + j] = values[h][j];
  }
  __syncthreads();
  for (unsigned h = 0; h < 4; ++h) {
    float most = largest_of[h][0], total = 0.0f, joined = 0.0f;
    for (unsigned i = 1; i < 8; ++i) most = fmaxf(most, largest_of[h][i]);
    for (unsigned i = 0; i < 8; ++i) {
      const float scale = expf(largest_of[h][i] - most);
      total += sum_of[h][i] * scale;
      joined += values_of[h][i][threadIdx.x] * scale;
    }
    float* part = parts + ((sequence * 16 + group * 4 + h) * gridDim.y + chunk) * 130;
    part[threadIdx.x] = joined;
    if (threadIdx.x == 0) {
      part[128] = most;
      part[129] = total;
    }
  }
}

extern "C" __global__ void __launch_bounds__(128)
    decode_gqa_join(const float* __restrict__ parts, const uint2* __restrict__ sequences, float* __restrict__ out,
                    unsigned max_chunks) {
  const unsigned head = blockIdx.x, sequence = blockIdx.y, chunks = (sequences[sequence].x + 255) / 256;
  const float* part = parts + (sequence * 16 + head) * max_chunks * 130;
  float largest = part[128], total = 0.0f, joined = 0.0f;
  for (unsigned c = 1; c < chunks; ++c) largest = fmaxf(largest, part[c * 130 + 128]);
  for (unsigned c = 0; c < chunks; ++c) {
    const float scale = expf(part[c * 130 + 128] - largest);
    total += part[c * 130 + 129] * scale;
    joined += part[c * 130 + threadIdx.x] * scale;
  }
  out[(sequence * 16 + head) * 128 + threadIdx.x] = joined / total;
}
