// One decode step of attention over K and V in BF16, [token][4 heads][128], for 16 query heads. `sequences` holds for
// each sequence its tokens and its first page of 16. Every 256 tokens of a sequence are a block of their own, so that a
// long sequence fills the GPU too. A block leaves 128 sums, its maximum and the sum of its weights in `parts`; a second
// kernel joins the parts of a sequence.
__device__ void split_eight(uint4 from, float* to) {  // BF16 is the upper half of FP32
  const unsigned pairs[4] = {from.x, from.y, from.z, from.w};
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) {
    to[2 * j] = __uint_as_float(pairs[j] << 16);
    to[2 * j + 1] = __uint_as_float(pairs[j] & 0xffff0000u);
  }
}

extern "C" __global__ void __launch_bounds__(128)
    decode_split(const uint4* __restrict__ q, const uint4* __restrict__ k, const uint4* __restrict__ v,
                 const uint2* __restrict__ sequences, float* __restrict__ parts) {
  __shared__ float largest_of[8], sum_of[8], values_of[8][128];
  const unsigned half = threadIdx.x / 16, lane = threadIdx.x % 16;
  const unsigned head = blockIdx.x, chunk = blockIdx.y, sequence = blockIdx.z, tokens = sequences[sequence].x;
  if (chunk * 256 >= tokens) return;
  const unsigned end = min(tokens, chunk * 256 + 256);
  float query[8], values[8] = {}, largest = -3.4e38f, sum = 0.0f;
  split_eight(q[(sequence * 16 + head) * 16 + lane], query);
#pragma unroll 2
  for (unsigned first = chunk * 256; first < end; first += 8) {
    const bool holds = first + half < end;
    const unsigned token = sequences[sequence].y * 16 + (holds ? first + half : 0);
    float key[8], value[8], score = 0.0f;
    split_eight(k[(token * 4 + head / 4) * 16 + lane], key);
    split_eight(v[(token * 4 + head / 4) * 16 + lane], value);
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
  float* part = parts + ((sequence * 16 + head) * gridDim.y + chunk) * 130;
  part[threadIdx.x] = joined;
  if (threadIdx.x == 0) {
    part[128] = largest;
    part[129] = total;
  }
}

extern "C" __global__ void __launch_bounds__(128)
    decode_split_join(const float* __restrict__ parts, const uint2* __restrict__ sequences, float* __restrict__ out,
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
