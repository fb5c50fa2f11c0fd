// One decode step of attention: out = softmax(q k / sqrt(128)) v over all tokens of a sequence, for 16 query heads of
// 128 numbers. K and V are BF16, [token][4 heads][128]; four query heads share a head of K and V. `sequences` holds for
// each sequence its tokens and its first page of 16. A block a query head and sequence: the longest sequence is one
// block's work.
__device__ float sequence_low(unsigned pair) { return __uint_as_float(pair << 16); }  // BF16 is the upper half of FP32
__device__ float sequence_high(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ void sequence_eight(uint4 from, float* to) {
  const unsigned pairs[4] = {from.x, from.y, from.z, from.w};
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) {
    to[2 * j] = sequence_low(pairs[j]);
    to[2 * j + 1] = sequence_high(pairs[j]);
  }
}

extern "C" __global__ void __launch_bounds__(128)
    decode_sequence(const uint4* __restrict__ q, const uint4* __restrict__ k, const uint4* __restrict__ v,
                    const uint2* __restrict__ sequences, float* __restrict__ out) {
  __shared__ float largest_of[8], sum_of[8], values_of[8][128];
  // Half a warp takes a token, every eighth of them; each of its lanes has eight of the 128 numbers.
  const unsigned half = threadIdx.x / 16, lane = threadIdx.x % 16;
  const unsigned head = blockIdx.x, sequence = blockIdx.y, tokens = sequences[sequence].x;
  float query[8], values[8] = {}, largest = -3.4e38f, sum = 0.0f;
  sequence_eight(q[(sequence * 16 + head) * 16 + lane], query);
  for (unsigned first = 0; first < tokens; first += 8) {
    const bool holds = first + half < tokens;
    const unsigned token = sequences[sequence].y * 16 + (holds ? first + half : 0);
    float key[8], value[8], score = 0.0f;
    sequence_eight(k[(token * 4 + head / 4) * 16 + lane], key);
    sequence_eight(v[(token * 4 + head / 4) * 16 + lane], value);
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) score += query[j] * key[j];
#pragma unroll
    for (int apart = 8; apart > 0; apart /= 2) score += __shfl_xor_sync(0xffffffffu, score, apart);
    score = holds ? score * 0.088388348f : largest;
    const float both = fmaxf(largest, score), before = expf(largest - both);
    const float weight = holds ? expf(score - both) : 0.0f;
    largest = both;
    sum = sum * before + weight;
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) values[j] = values[j] * before + weight * value[j];
  }
  // Eight halves have a maximum, a sum and 128 values each; thread d joins number d of them.
  if (lane == 0) {
    largest_of[half] = largest;
    sum_of[half] = sum;
  }
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) values_of[half][lane * 8 + j] = values[j];
  __syncthreads();
  largest = largest_of[0];
  for (unsigned h = 1; h < 8; ++h) largest = fmaxf(largest, largest_of[h]);
  float total = 0.0f, joined = 0.0f;
  for (unsigned h = 0; h < 8; ++h) {
    const float scale = expf(largest_of[h] - largest);
    total += sum_of[h] * scale;
    joined += values_of[h][threadIdx.x] * scale;
  }
  out[(sequence * 16 + head) * 128 + threadIdx.x] = joined / total;
}
